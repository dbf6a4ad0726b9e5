//! The whole program against itself over the loopback interface.

use cambrian_endpoint::testing::{check_path, check_transfer, check_unsupported, Server};

#[cfg(feature = "older-bbr")]
const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-quiche-0-24");
#[cfg(not(feature = "older-bbr"))]
const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-quiche");

#[test]
fn every_cca_carries_bytes_and_is_read_back() {
    let mut ccas = vec!["cubic", "reno", "bbr2_gcongestion"];
    if cfg!(feature = "older-bbr") {
        ccas.extend(["bbr", "bbr2"]);
    }
    for cca in ccas {
        let events = check_transfer(PROGRAM, cca, 3_000_001, 3, &[]);
        assert_eq!(events[0]["confirmed"], cca);
    }
}

#[test]
fn http3_carries_bytes_too() {
    let server = Server::start(PROGRAM, "cubic", &["--alpn", "h3"]);
    let output = server.fetch(&["--alpn", "h3", "--bytes", "1000001", "--streams", "120"]);
    assert!(output.status.success(), "{output:?}");
    let events = server.stop();
    assert_eq!(events.last().unwrap()["bytes"], 1_000_001);
}

#[test]
fn what_it_does_not_know_ends_with_a_reason() {
    check_path(PROGRAM, "cubic");
    check_unsupported(PROGRAM);
}
