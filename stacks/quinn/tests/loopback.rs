//! The program itself, server and client, over the loopback interface.

use cambrian_endpoint::testing::{check_h3, check_path, check_transfer, check_unsupported};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-quinn");

#[test]
fn a_transfer_is_complete_and_the_cca_is_read_back() {
    for cca in ["cubic", "reno", "bbr"] {
        let events = check_transfer(PROGRAM, cca, 3_000_001, 3, &[]);
        assert_eq!(events[0]["confirmed"], cca);
    }
}

#[test]
fn streams_beyond_the_servers_limit_follow_as_others_end() {
    check_transfer(PROGRAM, "cubic", 1500, 1500, &[]);
}

#[test]
fn bodies_and_files_come_over_h3() {
    check_h3(PROGRAM, "cubic", concat!(env!("CARGO_MANIFEST_DIR"), "/src"), "main.rs");
}

#[test]
fn a_path_that_the_server_does_not_know_fails_with_a_reason() {
    check_path(PROGRAM, "cubic");
}

#[test]
fn what_the_stack_lacks_ends_with_127() {
    check_unsupported(PROGRAM);
}
