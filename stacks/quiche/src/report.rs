//! What a sender tells of its connections: the CCA read back, the transport log, the counters.

use std::time::Instant;

use cambrian_endpoint::contract;
use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use quiche::Connection;
use serde_json::json;

use crate::controller::{self, Sample};

/// Watches the controller of one connection.
pub struct Observer {
    cca: String,
    log: Option<SharedLog>,
    confirmed: Option<&'static str>,
    connected: bool,
    seen: Option<Seen>,
    recovery_start: Option<(u64, u64)>,
}

/// A change of any of these makes a row: an acknowledgement also changes the pacing rate, the sRTT and the state.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    acked_bytes: u64,
    cwnd_bytes: usize,
    packets_lost: usize,
    ptos: usize,
}

impl Observer {
    /// Of a connection that was asked to use `cca`.
    pub fn new(cca: &str, log: Option<SharedLog>) -> Self {
        Self { cca: cca.to_owned(), log, confirmed: None, connected: false, seen: None, recovery_start: None }
    }

    /// Look at the controller if it has changed since the last look. Whether or not there is a log: a look takes
    /// virtual time, and a log may not shift a trial.
    pub fn before_packets(&mut self, connection: &Connection) {
        if self.seen.is_none() || look(connection) != self.seen {
            controller::arm();
        }
    }

    /// Take down what there was to see, once a packet has been made at the wake-up of `now`.
    pub fn after_packets(&mut self, connection: &Connection, now: Instant) {
        if let Some(stats) = connection.path_stats().next() {
            if let Some(sample) = controller::take(stats.cwnd as u64) {
                self.record(connection, &stats, sample, now);
            }
        }
        if !self.connected && connection.is_established() {
            self.connected = true;
            contract::cca(&self.cca, self.confirmed, "quiche's trace line of the connection's recovery");
            contract::connected();
        }
    }

    fn record(&mut self, connection: &Connection, stats: &quiche::PathStats, sample: Sample, now: Instant) {
        self.confirmed = sample.cca;
        let event = self.event(look(connection), &sample);
        let row = Row {
            event,
            cwnd_bytes: Some(stats.cwnd as u64),
            ssthresh_bytes: sample.ssthresh_bytes,
            in_flight_bytes: sample.in_flight_bytes,
            srtt: stats.min_rtt.map(|_| stats.rtt),
            pacing_bps: sample.pacing_bps,
            state: sample.state,
        };
        if let Some(log) = &self.log {
            lock(log).record(now, &row);
        }
    }

    /// What has happened since the last row.
    fn event(&mut self, now: Option<Seen>, sample: &Sample) -> Event {
        let before = std::mem::replace(&mut self.seen, now);
        let recovery_before = std::mem::replace(&mut self.recovery_start, sample.recovery_start);
        let (Some(before), Some(now)) = (before, now) else { return Event::Start };
        // bbr2_gcongestion has no recovery episodes: each loss is an event to it.
        let new_episode = sample.recovery_start.is_none() || sample.recovery_start > recovery_before;
        if now.packets_lost > before.packets_lost && new_episode {
            Event::Loss
        } else if now.ptos > before.ptos {
            Event::Pto
        } else {
            Event::Ack
        }
    }
}

fn look(connection: &Connection) -> Option<Seen> {
    let stats = connection.path_stats().next()?;
    Some(Seen {
        acked_bytes: connection.stats().acked_bytes,
        cwnd_bytes: stats.cwnd,
        packets_lost: stats.lost,
        ptos: stats.total_pto_count,
    })
}

/// A connection's counters, and what the kernel dropped at this endpoint's receive buffer.
pub fn stats(connection: &Connection, receive_buffer_drops: Option<u32>) {
    let stats = connection.stats();
    let path = connection.path_stats().next();
    let path = path.as_ref();
    contract::stats(json!({
        "packets_sent": stats.sent,
        "packets_received": stats.recv,
        "packets_lost": stats.lost,
        "packets_lost_spurious": stats.spurious_lost,
        "packets_retransmitted": stats.retrans,
        "bytes_sent": stats.sent_bytes,
        "bytes_acked": stats.acked_bytes,
        "bytes_lost": stats.lost_bytes,
        "ptos": path.map(|path| path.total_pto_count),
        "cwnd_bytes": path.map(|path| path.cwnd),
        "srtt_us": path.map(|path| path.rtt.as_micros() as u64),
        "mtu_bytes": path.map(|path| path.pmtu),
        "startup_exit": path.and_then(|path| path.startup_exit).map(|exit| format!("{:?}", exit.reason)),
        "receive_buffer_drops": receive_buffer_drops,
    }));
}
