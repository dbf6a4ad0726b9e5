//! s2n-quic's events, turned into the transport log and counters.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cambrian_endpoint::clock::realtime_ns;
use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use s2n_quic::provider::event::events::{self, BbrState, CongestionSource, PacketHeader};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Meta, Subscriber, Timestamp};
use serde_json::{json, Value};

use crate::cca;

/// What one connection has done.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    packets_sent: u64,
    packets_lost: u64,
    bytes_lost: u64,
    mtu_probes_lost: u64,
    congestion_events: u64,
    ptos: u64,
    datagrams_sent: u64,
    datagram_bytes_sent: u64,
    mtu_bytes: u16,
    cwnd_bytes: u32,
    srtt_us: u64,
}

impl Counters {
    /// UDP payload sent, retransmissions and all.
    pub fn sent_bytes(&self) -> u64 {
        self.datagram_bytes_sent
    }

    /// The fields of a `stats` line.
    pub fn stats(&self) -> Value {
        json!({
            "packets_sent": self.packets_sent,
            "packets_lost": self.packets_lost,
            "bytes_lost": self.bytes_lost,
            "mtu_probes_lost": self.mtu_probes_lost,
            "congestion_events": self.congestion_events,
            "ptos": self.ptos,
            "datagrams_sent": self.datagrams_sent,
            "datagram_bytes_sent": self.datagram_bytes_sent,
            "mtu_bytes": self.mtu_bytes,
            "cwnd_bytes": self.cwnd_bytes,
            "srtt_us": self.srtt_us,
        })
    }
}

/// The counters of every connection that there has been, in the order of their beginning.
#[derive(Clone, Debug, Default)]
pub struct AllCounters(Arc<Mutex<Vec<Counters>>>);

impl AllCounters {
    pub fn get(&self) -> MutexGuard<'_, Vec<Counters>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subscribes to a server's events.
pub struct Observer {
    log: Option<SharedLog>,
    counters: AllCounters,
    /// The phase that the CCA begins in, of which no event tells.
    first_phase: &'static str,
    /// CLOCK_REALTIME at the start of s2n-quic's own clock.
    epoch_ns: Option<u64>,
}

impl Observer {
    /// For a server that runs `cca`.
    pub fn new(cca: &str, log: Option<SharedLog>, counters: AllCounters) -> Self {
        let first_phase = if cca == cca::BBR { STARTUP } else { SLOW_START };
        Self { log, counters, first_phase, epoch_ns: None }
    }

    fn time_ns(&self, at: Timestamp) -> u64 {
        self.epoch_ns.unwrap_or_default() + at.duration_since_start().as_nanos() as u64
    }

    fn record(&self, connection: &Connection, at: Timestamp, event: Event) {
        let Some(log) = &self.log else { return };
        let row = Row {
            event,
            cwnd_bytes: Some(connection.counters.cwnd_bytes.into()),
            in_flight_bytes: Some(connection.in_flight_bytes.into()),
            srtt: (connection.counters.srtt_us > 0)
                .then(|| Duration::from_micros(connection.counters.srtt_us)),
            pacing_bps: connection.pacing_bps,
            state: Some(connection.state()),
            ..Row::default()
        };
        lock(log).record_ns(self.time_ns(at), &row);
    }
}

/// One connection, as its events have told.
pub struct Connection {
    index: usize,
    counters: Counters,
    started: bool,
    in_flight_bytes: u32,
    pacing_bps: Option<u64>,
    pto_count: u32,
    /// The phase that the controller last said it entered.
    phase: &'static str,
    /// A congestion event, and an ACK, have come since the last row.
    congested: bool,
    acked: bool,
    /// Before the first ACK, s2n-quic names a round trip that nobody has measured.
    ever_acked: bool,
    recovery: Recovery,
}

impl Connection {
    fn new(index: usize, phase: &'static str) -> Self {
        Self {
            index,
            counters: Counters::default(),
            started: false,
            in_flight_bytes: 0,
            pacing_bps: None,
            pto_count: 0,
            phase,
            congested: false,
            acked: false,
            ever_acked: false,
            recovery: Recovery::default(),
        }
    }

    /// s2n-quic tells its metrics after each ACK, each timeout and each transmission. Returns what has happened.
    fn on_metrics(&mut self, cwnd_bytes: u32, in_flight_bytes: u32, srtt: Duration, pto_count: u32) -> Event {
        let acked = std::mem::take(&mut self.acked);
        let in_flight_before = std::mem::replace(&mut self.in_flight_bytes, in_flight_bytes);
        // An ACK that says nothing new leaves the flight as it is.
        let acks_new = acked && in_flight_bytes < in_flight_before;
        let congested = std::mem::take(&mut self.congested);
        let timed_out = pto_count > self.pto_count;
        let before_bytes = std::mem::replace(&mut self.counters.cwnd_bytes, cwnd_bytes);
        self.pto_count = pto_count;
        self.counters.ptos += u64::from(timed_out);
        self.ever_acked |= acked;
        if self.ever_acked {
            self.counters.srtt_us = srtt.as_micros() as u64;
        }
        self.recovery.on_ack_processed();
        // A cut leaves cubic 0.7 of its window, persistent congestion two packets, and then it is in slow start.
        if congested && self.phase == CONGESTION_AVOIDANCE && cwnd_bytes < before_bytes / 2 {
            self.phase = SLOW_START;
            self.recovery.period_start = None;
        }
        if !std::mem::replace(&mut self.started, true) {
            Event::Start
        } else if congested {
            Event::Loss
        } else if timed_out {
            Event::Pto
        } else if acks_new {
            Event::Ack
        } else {
            Event::Sample
        }
    }

    fn on_congestion(&mut self) {
        if self.recovery.on_congestion() {
            self.counters.congestion_events += 1;
            self.congested = true;
        }
    }

    fn state(&self) -> &'static str {
        if self.phase == CONGESTION_AVOIDANCE && self.recovery.period_start.is_some() {
            "recovery"
        } else {
            self.phase
        }
    }
}

const STARTUP: &str = "startup";
const SLOW_START: &str = "slow_start";
const CONGESTION_AVOIDANCE: &str = "congestion_avoidance";

/// Recovery periods by the rule of RFC 9002 (section 7.3.2), which is s2n-quic's: a loss or a CE mark begins
/// one, and the acknowledgement of a packet sent since then ends it.
#[derive(Debug, Default)]
struct Recovery {
    largest_sent: u64,
    largest_acked: u64,
    /// The largest packet sent when the period began; `None` outside of one.
    period_start: Option<u64>,
}

impl Recovery {
    /// A packet is lost or marked. Returns whether a period begins with it.
    fn on_congestion(&mut self) -> bool {
        let begins = self.period_start.is_none();
        self.period_start.get_or_insert(self.largest_sent);
        begins
    }

    /// An ACK has been dealt with, losses first.
    fn on_ack_processed(&mut self) {
        self.period_start = self.period_start.filter(|&start| self.largest_acked <= start);
    }
}

fn one_rtt_number(header: &PacketHeader) -> Option<u64> {
    match header {
        PacketHeader::OneRtt { number, .. } => Some(*number),
        _ => None,
    }
}

impl Subscriber for Observer {
    type ConnectionContext = Connection;

    fn create_connection_context(&mut self, _meta: &ConnectionMeta, _info: &ConnectionInfo) -> Connection {
        let mut all = self.counters.get();
        all.push(Counters::default());
        Connection::new(all.len() - 1, self.first_phase)
    }

    /// The first event of all comes as soon as s2n-quic's clock has started.
    fn on_event<M: Meta, E: s2n_quic::provider::event::Event>(&mut self, meta: &M, _event: &E) {
        if self.epoch_ns.is_none() {
            let since_start = meta.timestamp().duration_since_start().as_nanos() as u64;
            self.epoch_ns = Some(realtime_ns().saturating_sub(since_start));
        }
    }

    fn on_recovery_metrics(
        &mut self,
        connection: &mut Connection,
        meta: &ConnectionMeta,
        metrics: &events::RecoveryMetrics,
    ) {
        let event = connection.on_metrics(
            metrics.congestion_window,
            metrics.bytes_in_flight,
            metrics.smoothed_rtt,
            metrics.pto_count,
        );
        self.record(connection, meta.timestamp, event);
    }

    fn on_packet_sent(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::PacketSent,
    ) {
        connection.counters.packets_sent += 1;
        if let Some(number) = one_rtt_number(&event.packet_header) {
            connection.recovery.largest_sent = number;
        }
    }

    fn on_datagram_sent(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::DatagramSent,
    ) {
        connection.counters.datagrams_sent += 1;
        connection.counters.datagram_bytes_sent += u64::from(event.len);
    }

    fn on_ack_range_received(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::AckRangeReceived,
    ) {
        connection.acked = true;
        if one_rtt_number(&event.packet_header).is_some() {
            let acked = &mut connection.recovery.largest_acked;
            *acked = (*acked).max(*event.ack_range.end());
        }
    }

    fn on_packet_lost(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::PacketLost,
    ) {
        if event.is_mtu_probe {
            connection.counters.mtu_probes_lost += 1;
            return;
        }
        connection.counters.packets_lost += 1;
        connection.counters.bytes_lost += u64::from(event.bytes_lost);
        connection.on_congestion();
    }

    fn on_congestion(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::Congestion,
    ) {
        // Losses have been counted one by one.
        if matches!(event.source, CongestionSource::Ecn { .. }) {
            connection.on_congestion();
        }
    }

    fn on_slow_start_exited(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        _event: &events::SlowStartExited,
    ) {
        connection.phase = CONGESTION_AVOIDANCE;
    }

    fn on_bbr_state_changed(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::BbrStateChanged,
    ) {
        connection.phase = match event.state {
            BbrState::Startup { .. } => STARTUP,
            BbrState::Drain { .. } => "drain",
            BbrState::ProbeBwDown { .. } => "probe_bw_down",
            BbrState::ProbeBwCruise { .. } => "probe_bw_cruise",
            BbrState::ProbeBwRefill { .. } => "probe_bw_refill",
            BbrState::ProbeBwUp { .. } => "probe_bw_up",
            BbrState::ProbeRtt { .. } => "probe_rtt",
            _ => "unknown",
        };
    }

    fn on_pacing_rate_updated(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::PacingRateUpdated,
    ) {
        connection.pacing_bps = Some(event.bytes_per_second.saturating_mul(8));
    }

    fn on_mtu_updated(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        event: &events::MtuUpdated,
    ) {
        connection.counters.mtu_bytes = event.mtu;
    }

    fn on_connection_closed(
        &mut self,
        connection: &mut Connection,
        _meta: &ConnectionMeta,
        _event: &events::ConnectionClosed,
    ) {
        self.counters.get()[connection.index] = connection.counters.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_recovery_period_covers_the_losses_of_a_flight() {
        let mut recovery = Recovery { largest_sent: 100, largest_acked: 80, period_start: None };
        assert!(recovery.on_congestion());
        recovery.largest_sent = 120;
        recovery.largest_acked = 100;
        assert!(!recovery.on_congestion(), "the flight of the first loss");
        recovery.on_ack_processed();
        assert!(recovery.period_start.is_some(), "nothing sent since has been acknowledged");
        recovery.largest_acked = 101;
        recovery.on_ack_processed();
        assert!(recovery.on_congestion(), "a new period");
    }

    const RTT: Duration = Duration::from_millis(50);

    #[test]
    fn only_an_ack_makes_a_row_ack_and_gives_a_round_trip() {
        let mut connection = Connection::new(0, SLOW_START);
        assert_eq!(connection.on_metrics(12_000, 2_400, Duration::from_millis(333), 0), Event::Start);
        assert_eq!(connection.counters.srtt_us, 0);
        connection.acked = true;
        assert_eq!(connection.on_metrics(13_200, 1_200, RTT, 0), Event::Ack);
        assert_eq!(connection.counters.srtt_us, 50_000);
        assert_eq!(connection.on_metrics(13_200, 1_200, RTT, 1), Event::Pto);
        assert_eq!(connection.on_metrics(13_200, 2_400, RTT, 1), Event::Sample, "the probe is sent");
        connection.acked = true;
        assert_eq!(connection.on_metrics(13_200, 2_400, RTT, 1), Event::Sample, "the ACK is old");
    }

    #[test]
    fn persistent_congestion_goes_back_to_slow_start() {
        for (cwnd_bytes, state) in [(84_000, "recovery"), (2_400, SLOW_START)] {
            let mut connection = Connection::new(0, CONGESTION_AVOIDANCE);
            connection.on_metrics(120_000, 0, RTT, 0);
            connection.on_congestion();
            assert_eq!(connection.on_metrics(cwnd_bytes, 0, RTT, 0), Event::Loss);
            assert_eq!(connection.state(), state);
        }
    }
}
