//! The whole program against itself over the loopback interface.

use cambrian_endpoint::testing::{check_path, check_transfer, check_unsupported};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-tquic");

#[test]
fn every_cca_carries_bytes_and_is_read_back() {
    for cca in ["cubic", "bbr", "bbr3", "copa"] {
        let events = check_transfer(PROGRAM, cca, 3_000_001, 3, &[]);
        assert_eq!(events[0]["confirmed"], cca);
    }
}

#[test]
fn what_it_does_not_know_ends_with_a_reason() {
    check_path(PROGRAM, "cubic");
    check_unsupported(PROGRAM);
}
