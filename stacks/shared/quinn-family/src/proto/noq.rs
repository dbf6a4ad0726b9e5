//! noq-proto, a fork of quinn-proto with several paths a connection. The laboratory's connections keep to one.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use serde_json::{json, Value};

pub use noq_proto::*;

/// An endpoint; `may_probe_mtu` if its datagrams are never fragmented.
pub fn endpoint(server_config: Option<ServerConfig>, may_probe_mtu: bool) -> Endpoint {
    Endpoint::new(Arc::new(EndpointConfig::default()), server_config.map(Arc::new), may_probe_mtu)
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
    endpoint.handle(now, FourTuple::from_remote(source), ecn, data, reply)
}

/// The next datagram that the connection may send, one at a time.
pub fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

/// Queue a piece of a stream; returns how many of its bytes there was room for.
pub fn write_chunk(stream: &mut SendStream<'_>, chunk: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [chunk].as_mut_slice())
}

/// The controller that decides, at this moment.
pub fn controller(connection: &Connection) -> Option<&dyn congestion::Controller> {
    connection.congestion_state(PathId::ZERO)
}

/// A rate of `ControllerMetrics` in bits per second; noq's own unit is bytes per second.
pub fn pacing_bps(metrics: &congestion::ControllerMetrics) -> Option<u64> {
    metrics.pacing_rate.map(|bytes_per_second| bytes_per_second.saturating_mul(8))
}

/// UDP payload that the connection has sent, retransmissions and all.
pub fn sent_bytes(connection: &mut Connection) -> u64 {
    connection.stats().udp_tx.bytes
}

/// A connection's counters.
pub fn stats(connection: &mut Connection) -> Value {
    let stats = connection.stats();
    let mut fields = json!({
        "packets_sent": stats.sent_packets,
        "packets_lost": stats.lost_packets,
        "bytes_lost": stats.lost_bytes,
        "datagrams_sent": stats.udp_tx.datagrams,
        "datagram_bytes_sent": stats.udp_tx.bytes,
        "datagrams_received": stats.udp_rx.datagrams,
        "datagram_bytes_received": stats.udp_rx.bytes,
    });
    // A path is forgotten when its connection has drained.
    if let Some(path) = connection.path_stats(PathId::ZERO) {
        fields["congestion_events"] = path.congestion_events.into();
        fields["congestion_events_spurious"] = path.spurious_congestion_events.into();
        fields["black_holes"] = path.black_holes_detected.into();
        fields["mtu_probes_sent"] = path.sent_plpmtud_probes.into();
        fields["mtu_probes_lost"] = path.lost_plpmtud_probes.into();
        fields["mtu_bytes"] = path.current_mtu.into();
        fields["cwnd_bytes"] = path.cwnd.into();
        fields["srtt_us"] = (path.rtt.as_micros() as u64).into();
    }
    fields
}
