//! The endpoint against itself on the loopback interface.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cambrian_endpoint::testing::{check_path, check_transfer, check_unsupported, events};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-msquic");

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
fn the_transport_log_has_a_row_for_each_acknowledgement() {
    let log = std::env::temp_dir().join(format!("cambrian-msquic-{}.csv", std::process::id()));
    check_transfer(PROGRAM, "bbr", 3_000_001, 1, &["--transport-log", log.to_str().unwrap()]);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert_eq!(text.matches(",start,").count(), 1);
    assert!(text.contains(",ack,"), "{text}");
}

#[test]
fn unknown_paths_and_unsupported_protocols_are_refused() {
    check_path(PROGRAM, "cubic");
    check_unsupported(PROGRAM);
}

/// Start the program with these arguments.
fn start(arguments: &[&str]) -> Child {
    Command::new(PROGRAM).args(arguments).stdout(Stdio::piped()).spawn().unwrap()
}

/// Pass on datagrams between a client and the server at `server`, one each 10 ms; returns the client's address of it.
fn slow_path(server: &str) -> String {
    let path = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (address, server) = (path.local_addr().unwrap().to_string(), server.parse().unwrap());
    std::thread::spawn(move || {
        let (mut client, mut datagram) = (None, [0; 2048]);
        while let Ok((length, from)) = path.recv_from(&mut datagram) {
            std::thread::sleep(Duration::from_millis(10));
            if from != server {
                client = Some(from);
            }
            let to = if from == server { client } else { Some(server) };
            let _ = path.send_to(&datagram[..length], to.unwrap());
        }
    });
    address
}

#[test]
fn a_connection_that_is_open_at_the_end_has_its_statistics() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/cambrian/testbed/certs");
    let (cert, key) = (format!("{folder}/cert.pem"), format!("{folder}/key.pem"));
    let listen = ["server", "--listen", "127.0.0.1:0", "--cca", "cubic", "--cert", &cert, "--key", &key];
    let mut server = start(&listen);
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut ready = String::new();
    stdout.read_line(&mut ready).unwrap();
    let port = &events(ready.as_bytes())[0]["port"];
    let mut client = start(&["client", "--connect", &slow_path(&format!("127.0.0.1:{port}"))]);
    std::thread::sleep(Duration::from_secs(2));
    // SAFETY: a plain system call on a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(server.id() as libc::pid_t, libc::SIGTERM) }, 0);
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    assert!(server.wait().unwrap().success());
    client.kill().unwrap();
    client.wait().unwrap();
    let events = events(text.as_bytes());
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!(of("stats").len(), 1, "{text}");
    assert_eq!(of("stats")[0]["datagram_bytes_sent"], of("done")[0]["bytes"]);
}
