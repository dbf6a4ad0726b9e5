//! The JSON lines of the endpoint contract, on standard output, each flushed as it is written.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use quinn_proto::{Connection, ConnectionStats};
use serde_json::{json, Value};

use crate::cca::Cca;
use crate::cli::ALPN;

/// CLOCK_REALTIME in nanoseconds.
pub fn realtime_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}

/// Write one line. A reader that has gone away does not stop the transfer.
fn emit(line: &Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

pub fn describe() {
    emit(&json!({
        "name": "quinn",
        "version": "0.11.12",
        "ccas": Cca::ALL.map(Cca::name),
        "roles": ["server", "client"],
        "alpns": [ALPN],
    }));
}

pub fn ready(port: u16) {
    emit(&json!({"event": "ready", "role": "server", "port": port}));
}

/// The CCA that was asked for and the one that the live connection has.
pub fn cca(requested: Cca, connection: &Connection) {
    let confirmed = Cca::read_back(connection.congestion_state()).map(Cca::name);
    let how = "type of the connection's congestion_state()";
    emit(&json!({"event": "cca", "requested": requested.name(), "confirmed": confirmed, "how": how}));
}

pub fn connected() {
    emit(&json!({"event": "connected", "time_ns": realtime_ns()}));
}

pub fn progress(bytes: u64) {
    emit(&json!({"event": "progress", "time_ns": realtime_ns(), "bytes": bytes}));
}

/// quinn's counters for one connection, and what the kernel dropped at this endpoint's receive buffer.
pub fn stats(stats: &ConnectionStats, receive_buffer_drops: Option<u32>) {
    let path = &stats.path;
    emit(&json!({
        "event": "stats",
        "packets_sent": path.sent_packets,
        "packets_lost": path.lost_packets,
        "bytes_lost": path.lost_bytes,
        "congestion_events": path.congestion_events,
        "black_holes": path.black_holes_detected,
        "mtu_probes_sent": path.sent_plpmtud_probes,
        "mtu_probes_lost": path.lost_plpmtud_probes,
        "mtu_bytes": path.current_mtu,
        "cwnd_bytes": path.cwnd,
        "srtt_us": path.rtt.as_micros() as u64,
        "datagrams_sent": stats.udp_tx.datagrams,
        "datagram_bytes_sent": stats.udp_tx.bytes,
        "datagrams_received": stats.udp_rx.datagrams,
        "datagram_bytes_received": stats.udp_rx.bytes,
        "receive_buffer_drops": receive_buffer_drops,
    }));
}

pub fn done(bytes: u64, complete: bool, error: Option<&str>) {
    emit(&json!({
        "event": "done", "time_ns": realtime_ns(), "bytes": bytes, "complete": complete, "error": error,
    }));
}
