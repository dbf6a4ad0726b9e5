//! What msquic tells of a connection: its statistics, and a row of the transport log at each acknowledgement.

use std::cell::Cell;
use std::time::{Duration, Instant};

use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use msquic::ffi::{
    QUIC_CONNECTION_EVENT__bindgen_ty_1__bindgen_ty_19 as NetworkStatistics, HQUIC,
    QUIC_PARAM_CONN_STATISTICS_V2, QUIC_STATISTICS_V2,
};
use msquic::Api;
use serde_json::{json, Value};

/// The statistics of a live connection.
///
/// # Safety
/// `connection` must be the handle of a connection that has not been closed.
pub unsafe fn of(connection: HQUIC) -> Option<QUIC_STATISTICS_V2> {
    unsafe { Api::get_param_auto(connection, QUIC_PARAM_CONN_STATISTICS_V2) }.ok()
}

/// The fields of a `stats` line. `packets_lost` has all that were declared lost, the spurious ones too.
pub fn fields(statistics: &QUIC_STATISTICS_V2) -> Value {
    json!({
        "packets_sent": statistics.SendTotalPackets,
        "packets_lost": statistics.SendSuspectedLostPackets,
        "packets_lost_spurious": statistics.SendSpuriousLostPackets,
        "congestion_events": statistics.SendCongestionCount,
        "persistent_congestion_events": statistics.SendPersistentCongestionCount,
        "datagram_bytes_sent": statistics.SendTotalBytes,
        "stream_bytes_sent": statistics.SendTotalStreamBytes,
        "mtu_bytes": statistics.SendPathMtu,
        "cwnd_bytes": statistics.SendCongestionWindow,
        "srtt_us": statistics.Rtt,
    })
}

/// Writes one connection's rows.
pub struct Observer {
    log: Option<SharedLog>,
    congestion_events: Cell<u32>,
}

impl Observer {
    pub fn new(log: Option<SharedLog>) -> Self {
        Self { log, congestion_events: Cell::new(0) }
    }

    /// The controller as it stands after an acknowledgement; msquic says neither its threshold nor its state.
    /// `congestion_events` is the connection's count of them. The first row is no "start": the controller has
    /// dealt with the handshake's acknowledgement by then.
    pub fn on_acknowledgement(&self, controller: &NetworkStatistics, congestion_events: u32) {
        // The clock is read whether or not there is a log: a read takes virtual time.
        let now = Instant::now();
        let event = if self.congestion_events.replace(congestion_events) < congestion_events {
            Event::Loss
        } else {
            Event::Ack
        };
        let Some(log) = &self.log else { return };
        let row = Row {
            event,
            cwnd_bytes: Some(controller.CongestionWindow.into()),
            in_flight_bytes: Some(controller.BytesInFlight.into()),
            srtt: Some(Duration::from_micros(controller.SmoothedRTT)),
            ..Row::default()
        };
        lock(log).record(now, &row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spurious_losses_are_among_the_lost() {
        // SAFETY: all its fields are integers.
        let mut statistics: QUIC_STATISTICS_V2 = unsafe { std::mem::zeroed() };
        statistics.SendSuspectedLostPackets = 5;
        statistics.SendSpuriousLostPackets = 4;
        let fields = fields(&statistics);
        assert_eq!((&fields["packets_lost"], &fields["packets_lost_spurious"]), (&json!(5), &json!(4)));
    }
}
