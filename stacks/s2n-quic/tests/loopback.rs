//! The endpoint against itself on the loopback interface.

use cambrian_endpoint::testing::{check_path, check_transfer, check_unsupported};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-s2n-quic");

#[test]
fn each_cca_transfers_every_byte_and_is_read_back() {
    for cca in ["cubic", "bbr"] {
        let events = check_transfer(PROGRAM, cca, 3_000_001, 3, &[]);
        assert_eq!(events[0]["confirmed"], cca);
        let stats = events.iter().find(|event| event["event"] == "stats").unwrap();
        assert!(stats["datagram_bytes_sent"].as_u64().unwrap() > 3_000_001, "{stats}");
    }
}

#[test]
fn the_transport_log_has_the_controllers_states() {
    let log = std::env::temp_dir().join(format!("cambrian-s2n-quic-{}.csv", std::process::id()));
    check_transfer(PROGRAM, "bbr", 3_000_001, 1, &["--transport-log", log.to_str().unwrap()]);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert_eq!(text.matches(",start,").count(), 1);
    assert!(text.contains(",startup\n") && text.contains(",ack,"), "{text}");
}

#[test]
fn unknown_paths_and_unsupported_protocols_are_refused() {
    check_path(PROGRAM, "cubic");
    check_unsupported(PROGRAM);
}
