//! An endpoint's program, started as a process on the loopback interface: for the tests of the endpoints.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

/// A server process; `stop` ends it.
pub struct Server {
    program: &'static str,
    process: Child,
    stdout: BufReader<ChildStdout>,
    port: u64,
}

impl Server {
    /// Start `program server` with `cca`, the laboratory's certificate and more `options`, and wait until it is ready.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(program: &'static str, cca: &str, options: &[&str]) -> Self {
        let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../src/cambrian/testbed/certs");
        let mut process = Command::new(program)
            .args(["server", "--listen", "127.0.0.1:0", "--cca", cca])
            .arg("--cert")
            .arg(certificates.join("cert.pem"))
            .arg("--key")
            .arg(certificates.join("key.pem"))
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&ready["event"], &ready["role"]), (&"ready".into(), &"server".into()));
        Self { program, process, stdout, port: ready["port"].as_u64().unwrap() }
    }

    /// Run the program's client against this server, to its end.
    ///
    /// # Panics
    /// If the client cannot be started.
    pub fn fetch(&self, options: &[&str]) -> Output {
        let address = format!("127.0.0.1:{}", self.port);
        Command::new(self.program).args(["client", "--connect", &address]).args(options).output().unwrap()
    }

    /// SIGTERM; returns the events after `ready`.
    ///
    /// # Panics
    /// If the server does not end well.
    pub fn stop(mut self) -> Vec<Value> {
        let process = self.process.id() as libc::pid_t;
        // SAFETY: a plain system call on a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(process, libc::SIGTERM) }, 0);
        assert!(self.process.wait().unwrap().success());
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).unwrap();
        events(text.as_bytes())
    }
}

impl Drop for Server {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The JSON lines of an endpoint's standard output.
pub fn events(stdout: &[u8]) -> Vec<Value> {
    stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Fetch `bytes` over `streams`, check that they all came and return the server's events.
///
/// # Panics
/// If anything is otherwise.
pub fn check_transfer(
    program: &'static str,
    cca: &str,
    bytes: u64,
    streams: u64,
    options: &[&str],
) -> Vec<Value> {
    let server = Server::start(program, cca, options);
    let output = server.fetch(&["--bytes", &bytes.to_string(), "--streams", &streams.to_string()]);
    assert!(output.status.success(), "{output:?}");
    let done = events(&output.stdout).pop().unwrap();
    assert_eq!((done["bytes"].as_u64(), done["complete"].as_bool()), (Some(bytes), Some(true)));
    let events = server.stop();
    assert_eq!((&events[0]["event"], &events[0]["requested"]), (&"cca".into(), &cca.into()));
    assert_eq!(events.last().unwrap()["event"], "done");
    events
}

/// Fetch a generated body and a file of the folder `www` over HTTP/3, and fail to fetch one that is not there.
///
/// # Panics
/// If anything is otherwise.
pub fn check_h3(program: &'static str, cca: &str, www: &str, file: &str) {
    let file_bytes = std::fs::metadata(format!("{www}/{file}")).unwrap().len();
    let (generated, folder) = (&["--alpn", "h3"][..], &["--alpn", "h3", "--www", www][..]);
    for (options, path, bytes, complete) in [
        (generated, "/3000001", 3_000_001, true),
        (folder, &format!("/{file}"), file_bytes, true),
        (folder, "/not-there", 0, false),
    ] {
        let server = Server::start(program, cca, options);
        let output = server.fetch(&["--alpn", "h3", "--path", path]);
        let done = events(&output.stdout).pop().unwrap();
        assert_eq!(
            (done["bytes"].as_u64(), done["complete"].as_bool()),
            (Some(bytes), Some(complete)),
            "{path}"
        );
        server.stop();
    }
}

/// A path with hq-interop, which asks for a number of bytes, is a usage error that names the option.
///
/// # Panics
/// If it does not.
pub fn check_path(program: &'static str, cca: &str) {
    let server = Server::start(program, cca, &[]);
    let output = server.fetch(&["--path", "/index.html"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--path"));
    server.stop();
}

/// What the stack lacks ends with status 127 and one line.
///
/// # Panics
/// If it does not.
pub fn check_unsupported(program: &str) {
    let output =
        Command::new(program).args(["client", "--connect", "127.0.0.1:1", "--alpn", "h9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}
