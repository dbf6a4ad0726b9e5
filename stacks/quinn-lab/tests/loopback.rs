//! The program itself, server and client, over the loopback interface.

use cambrian_endpoint::testing::{check_path, check_transfer, check_unsupported, events, Server};

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
    let settings =
        ["pacing=false", "initial_window_packets=32", "tail_loss_probes=false", "slow_start_exit=hystart++"];
    let settings = settings.map(|setting| ["--set", setting]).concat();
    check_transfer(PROGRAM, "cubic", 3_000_001, 1, &settings);
}

#[test]
fn pieces_leave_in_packets_of_their_own() {
    let sent = |settings: &[&str]| {
        let settings: Vec<_> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let events = check_transfer(PROGRAM, "reno-rfc9002", 600_000, 2, &settings);
        let stats = events.iter().find(|event| event["event"] == "stats").unwrap();
        stats["datagrams_sent"].as_u64().unwrap()
    };
    let (full, pieces) = (sent(&[]), sent(&["piece_bytes=600"]));
    // 417 of 1440 bytes each, against 1000 of 600.
    assert!((417..500).contains(&full) && (1000..1150).contains(&pieces), "{full}, {pieces}");
}

#[test]
fn a_send_buffer_does_not_keep_a_transfer_from_its_end() {
    let settings = ["--set", "send_buffer_bytes=30000", "--set", "app_limited_growth=true"];
    check_transfer(PROGRAM, "reno-rfc9002", 3_000_001, 3, &settings);
}

#[test]
fn a_path_does_not_go_with_hq_interop() {
    check_path(PROGRAM, "cubic");
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
