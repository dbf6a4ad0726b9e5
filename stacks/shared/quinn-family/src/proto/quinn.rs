//! quinn-proto.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use serde_json::{json, Value};

pub use quinn_proto::*;

/// An endpoint; `may_probe_mtu` if its datagrams are never fragmented.
pub fn endpoint(server_config: Option<ServerConfig>, may_probe_mtu: bool) -> Endpoint {
    Endpoint::new(Arc::new(EndpointConfig::default()), server_config.map(Arc::new), may_probe_mtu, None)
}

/// Process a datagram from `source`.
pub fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    source: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    reply: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, source, None, ecn, data, reply)
}

/// The next datagram that the connection may send, one at a time.
pub fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

/// Queue a piece of a stream; returns how many of its bytes there was room for.
pub fn write_chunk(stream: &mut SendStream<'_>, chunk: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [chunk]).map(|written| written.bytes)
}

/// The controller that decides, at this moment.
pub fn controller(connection: &Connection) -> Option<&dyn congestion::Controller> {
    Some(connection.congestion_state())
}

/// A rate of `ControllerMetrics` in bits per second, which is quinn's own unit.
pub fn pacing_bps(metrics: &congestion::ControllerMetrics) -> Option<u64> {
    metrics.pacing_rate
}

/// UDP payload that the connection has sent, retransmissions and all.
pub fn sent_bytes(connection: &mut Connection) -> u64 {
    connection.stats().udp_tx.bytes
}

/// A connection's counters.
pub fn stats(connection: &mut Connection) -> Value {
    let stats = connection.stats();
    let path = &stats.path;
    json!({
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
    })
}
