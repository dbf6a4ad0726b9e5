//! The program itself, server and client, over the loopback interface.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cambrian-quinn");

struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    port: u64,
}

impl Server {
    fn start(cca: &str) -> Self {
        let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/cambrian/testbed/certs");
        let mut process = Command::new(PROGRAM)
            .args(["server", "--listen", "127.0.0.1:0", "--cca", cca])
            .arg("--cert")
            .arg(certificates.join("cert.pem"))
            .arg("--key")
            .arg(certificates.join("key.pem"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&ready["event"], &ready["role"]), (&"ready".into(), &"server".into()));
        Self { process, stdout, port: ready["port"].as_u64().unwrap() }
    }

    fn fetch(&self, options: &[&str]) -> Output {
        let address = format!("127.0.0.1:{}", self.port);
        Command::new(PROGRAM).args(["client", "--connect", &address]).args(options).output().unwrap()
    }

    /// SIGTERM; returns the events after `ready`.
    fn stop(mut self) -> Vec<serde_json::Value> {
        let process = self.process.id() as libc::pid_t;
        // SAFETY: a plain system call on a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(process, libc::SIGTERM) }, 0);
        assert!(self.process.wait().unwrap().success());
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).unwrap();
        events(text.as_bytes())
    }
}

fn events(stdout: &[u8]) -> Vec<serde_json::Value> {
    stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[test]
fn a_transfer_is_complete_and_the_cca_is_read_back() {
    for cca in ["cubic", "reno", "bbr"] {
        let server = Server::start(cca);
        let output = server.fetch(&["--bytes", "3000001", "--streams", "3"]);
        assert!(output.status.success(), "{output:?}");
        let done = events(&output.stdout).pop().unwrap();
        assert_eq!((done["bytes"].as_u64(), done["complete"].as_bool()), (Some(3_000_001), Some(true)));
        let events = server.stop();
        assert_eq!((&events[0]["event"], &events[0]["confirmed"]), (&"cca".into(), &cca.into()));
        assert_eq!(events.last().unwrap()["event"], "done");
    }
}

#[test]
fn streams_beyond_the_servers_limit_follow_as_others_end() {
    let server = Server::start("cubic");
    let output = server.fetch(&["--bytes", "1500", "--streams", "1500"]);
    let done = events(&output.stdout).pop().unwrap();
    assert_eq!((done["bytes"].as_u64(), done["complete"].as_bool()), (Some(1500), Some(true)));
    server.stop();
}

#[test]
fn a_path_that_the_server_does_not_know_fails_with_a_reason() {
    let server = Server::start("cubic");
    let output = server.fetch(&["--path", "/index.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("reset"), "{output:?}");
    server.stop();
}

#[test]
fn what_the_stack_lacks_ends_with_127() {
    let output =
        Command::new(PROGRAM).args(["client", "--connect", "127.0.0.1:1", "--alpn", "h3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}
