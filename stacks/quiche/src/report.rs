//! What a sender tells of its connections: the CCA read back, the transport log, the counters.

use std::time::Instant;

use cambrian_endpoint::contract;
use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use quiche::{Connection, PathStats};
use serde_json::json;

use crate::controller::{self, active_path, Sample};

/// Watches the controller of one connection.
pub struct Observer {
    cca: String,
    log: Option<SharedLog>,
    confirmed: Option<&'static str>,
    connected: bool,
    seen: Option<Seen>,
    recovery_start: Option<(u64, u64)>,
    /// The last row told of a cut before a packet was made.
    cut_told: bool,
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
        Self {
            cca: cca.to_owned(),
            log,
            confirmed: None,
            connected: false,
            seen: None,
            recovery_start: None,
            cut_told: false,
        }
    }

    /// Look at the controller if it has changed since the last look. Whether or not there is a log: a look takes
    /// virtual time, and a log may not shift a trial.
    pub fn before_packets(&mut self, connection: &Connection) {
        if self.seen.is_none() || look(connection) != self.seen {
            controller::arm();
        }
    }

    /// Take down what there was to see, at the wake-up of `now`: all of it if a packet has been made.
    pub fn after_packets(&mut self, connection: &Connection, now: Instant) {
        if let (Some(stats), Some(seen)) = (active_path(connection), look(connection)) {
            if let Some(sample) = controller::take(stats.cwnd as u64) {
                self.confirmed = sample.cca;
                let event = self.event(seen, &sample);
                self.record(event, &stats, &sample, now);
            } else if self.is_cut(seen) {
                (self.seen, self.cut_told) = (Some(seen), true);
                self.record(Event::Loss, &stats, &Sample::of_cut(stats.cwnd as u64), now);
            }
        }
        if !self.connected && connection.is_established() {
            self.connected = true;
            contract::cca(&self.cca, self.confirmed, "quiche's trace line of the connection's recovery");
            contract::connected();
        }
    }

    /// Whether a loss has cut the window of cubic or reno since the last row. A cut window sends nothing until the
    /// flight has fallen below it, so the row must not wait for a packet.
    fn is_cut(&self, seen: Seen) -> bool {
        matches!(self.confirmed, Some("cubic" | "reno"))
            && self.seen.is_some_and(|before| {
                seen.packets_lost > before.packets_lost && seen.cwnd_bytes < before.cwnd_bytes
            })
    }

    fn record(&self, event: Event, stats: &PathStats, sample: &Sample, now: Instant) {
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
    fn event(&mut self, now: Seen, sample: &Sample) -> Event {
        let before = self.seen.replace(now);
        let recovery_before = std::mem::replace(&mut self.recovery_start, sample.recovery_start);
        let cut_told = std::mem::take(&mut self.cut_told);
        let Some(before) = before else { return Event::Start };
        // bbr2_gcongestion has no recovery episodes: each loss is an event to it.
        let new_episode = sample.recovery_start.is_none()
            || sample.recovery_start > recovery_before && !(cut_told && now.cwnd_bytes >= before.cwnd_bytes);
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
    let stats = active_path(connection)?;
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
    let path = active_path(connection);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(cwnd_bytes: usize, packets_lost: usize) -> Seen {
        Seen { acked_bytes: 0, cwnd_bytes, packets_lost, ptos: 0 }
    }

    fn observer(confirmed: &'static str) -> Observer {
        let mut observer = Observer::new(confirmed, None);
        (observer.confirmed, observer.seen) = (Some(confirmed), Some(seen(24_000, 3)));
        observer
    }

    #[test]
    fn a_cut_is_told_before_the_next_packet_and_once() {
        let mut observer = observer("cubic");
        assert!(!observer.is_cut(seen(24_000, 4)), "a loss of the same episode");
        assert!(!observer.is_cut(seen(12_000, 3)), "no loss");
        assert!(observer.is_cut(seen(16_800, 4)));
        (observer.seen, observer.cut_told) = (Some(seen(16_800, 4)), true);

        let sample = Sample { recovery_start: Some((1, 0)), ..Sample::default() };
        assert_eq!(observer.event(seen(16_800, 6), &sample), Event::Ack);
        let sample = Sample { recovery_start: Some((2, 0)), ..Sample::default() };
        assert_eq!(observer.event(seen(11_760, 7), &sample), Event::Loss);
    }

    #[test]
    fn what_another_controller_does_at_a_loss_is_not_known() {
        assert!(!observer("bbr2_gcongestion").is_cut(seen(16_800, 4)));
    }
}
