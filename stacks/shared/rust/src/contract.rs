//! The JSON lines of the endpoint contract, on standard output, each flushed as it is written.

use std::io::Write;

use serde_json::{json, Value};

use crate::clock::realtime_ns;
use crate::Stack;

/// Write one line. A reader that has gone away does not stop the transfer.
fn emit(line: &Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// What the stack is: the whole output of `describe`.
pub fn describe(stack: &Stack) {
    emit(&json!({
        "name": stack.name,
        "version": stack.version,
        "ccas": stack.ccas,
        "roles": ["server", "client"],
        "alpns": stack.alpns,
    }));
}

/// A server's socket is bound.
pub fn ready(port: u16) {
    emit(&json!({"event": "ready", "role": "server", "port": port}));
}

/// The CCA that was asked for, the one that the live connection says it has (`None`: it does not say), and how it
/// says so.
pub fn cca(requested: &str, confirmed: Option<&str>, how: &str) {
    emit(&json!({"event": "cca", "requested": requested, "confirmed": confirmed, "how": how}));
}

/// The handshake is done.
pub fn connected() {
    emit(&json!({"event": "connected", "time_ns": realtime_ns()}));
}

/// Body bytes that a client has received so far.
pub fn progress(bytes: u64) {
    emit(&json!({"event": "progress", "time_ns": realtime_ns(), "bytes": bytes}));
}

/// A stack's counters for one connection: the fields of a JSON object.
pub fn stats(mut fields: Value) {
    fields["event"] = "stats".into();
    emit(&fields);
}

/// The last line.
pub fn done(bytes: u64, complete: bool, error: Option<&str>) {
    emit(&json!({
        "event": "done", "time_ns": realtime_ns(), "bytes": bytes, "complete": complete, "error": error,
    }));
}
