//! The program itself, server and client, over the loopback interface.

use cambrian_endpoint::testing::{check_transfer, check_unknown_path, check_unsupported, events, Server};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-quinn-lab");

#[test]
fn a_transfer_is_complete_and_the_preset_is_read_back() {
    for cca in ["cubic", "reno", "bbr", "gquic-cubic-n2", "mvfst-bbr"] {
        let events = check_transfer(PROGRAM, cca, 3_000_001, 3, &[]);
        assert_eq!(events[0]["confirmed"], cca);
    }
}

#[test]
fn knobs_reach_the_server() {
    let settings = ["pacing=off", "initial_window_packets=32", "tail_loss_probes=off", "hystart=rfc9406"];
    let settings = settings.map(|setting| ["--set", setting]).concat();
    check_transfer(PROGRAM, "cubic", 3_000_001, 1, &settings);
}

#[test]
fn a_path_that_the_server_does_not_know_fails_with_a_reason() {
    check_unknown_path(PROGRAM, "cubic");
}

#[test]
fn what_the_stack_lacks_ends_with_127() {
    check_unsupported(PROGRAM);
}

#[test]
fn bodies_come_over_h3() {
    let server = Server::start(PROGRAM, "gquic-cubic-n2", &["--alpn", "h3"]);
    let output = server.fetch(&["--alpn", "h3", "--path", "/3000001"]);
    let done = events(&output.stdout).pop().unwrap();
    assert_eq!((done["bytes"].as_u64(), done["complete"].as_bool()), (Some(3_000_001), Some(true)));
    server.stop();
}
