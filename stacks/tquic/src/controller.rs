//! What tquic says of a connection's controller.
//!
//! The window, the pacing rate and whether this is slow start come from the path's statistics. The CCA and the bytes
//! in flight have no getter, but each packet that tquic sends makes it write a trace line that names both. So does each
//! detection of losses; that line also has the window, which the statistics only have as of the last packet sent.

use std::time::{Duration, Instant};

use cambrian_endpoint::contract;
use cambrian_endpoint::probe::{self, number_after};
use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use tquic::{Connection, PathStats};

const SENT: &str = " ON_SENT ";
const LOST: &str = " ON_CONGESTION_EVENT ";

/// Make trace lines readable; once a process.
pub fn install() {
    probe::install("tquic::connection::recovery");
}

/// Watches the controller of one connection.
pub struct Observer {
    cca: String,
    paced: bool,
    log: Option<SharedLog>,
    told: bool,
    seen: Option<Seen>,
}

/// A change of any of these makes a row: an acknowledgement also changes the window, the pacing rate and the state.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    acked_packets: u64,
    lost_packets: u64,
}

/// A trace line's contents.
#[derive(Debug, PartialEq, Eq)]
struct Sample {
    cca: Option<&'static str>,
    in_flight_bytes: Option<u64>,
    cwnd_bytes: Option<u64>,
}

impl Observer {
    /// Of a connection that was asked to use `cca`, and to pace it or not.
    pub fn new(cca: &str, paced: bool, log: Option<SharedLog>) -> Self {
        Self { cca: cca.to_owned(), paced, log, told: false, seen: None }
    }

    /// Take down that cubic has found losses, at the wake-up of `now`. A cut window sends nothing until the flight has
    /// fallen below it, so the row must not wait for a packet. The windows of the other controllers are only known with
    /// the next packet: an acknowledgement changes them after the trace line.
    pub fn tell_loss(&mut self, connection: &mut Connection, now: Instant) {
        let Some(sample) = probe::take(|line| parse(line, LOST, connection.trace_id())) else { return };
        let (Some(cwnd_bytes), Some(stats)) = (sample.cwnd_bytes, path_stats(connection)) else { return };
        if self.cca == "cubic" && self.seen.is_some() {
            self.seen = Some(look(stats));
            self.record(stats, Event::Loss, cwnd_bytes, sample.in_flight_bytes, now);
        }
    }

    /// Ask for a sample if there has been an acknowledgement or a loss since the last row. Whether or not there is a
    /// log: the trial is then the same.
    pub fn before_packets(&mut self, connection: &mut Connection) {
        let Some(stats) = path_stats(connection) else { return };
        if self.seen != Some(look(stats)) {
            probe::arm(SENT);
        }
    }

    /// Take down what there was to see, if a packet has been sent.
    pub fn after_packets(&mut self, connection: &mut Connection, now: Instant) {
        let Some(sample) = probe::take(|line| parse(line, SENT, connection.trace_id())) else { return };
        if !self.told && connection.is_established() {
            self.told = true;
            contract::cca(&self.cca, sample.cca, "tquic's trace line of the packet sent");
            contract::connected();
        }
        let Some(stats) = path_stats(connection) else { return };
        let seen = look(stats);
        let event = match self.seen {
            Some(before) if seen.lost_packets > before.lost_packets => Event::Loss,
            Some(_) => Event::Ack,
            None => Event::Start,
        };
        self.seen = Some(seen);
        self.record(stats, event, stats.final_cwnd, sample.in_flight_bytes, now);
    }

    fn record(
        &self,
        stats: &PathStats,
        event: Event,
        cwnd_bytes: u64,
        in_flight_bytes: Option<u64>,
        now: Instant,
    ) {
        let state = match self.cca.as_str() {
            "cubic" | "copa" if stats.in_slow_start => Some("slow_start"),
            "bbr" if stats.in_slow_start => Some("startup"),
            // bbr3 does not answer, and takes tquic's default, which is yes.
            _ => None,
        };
        let row = Row {
            event,
            cwnd_bytes: Some(cwnd_bytes),
            ssthresh_bytes: None,
            in_flight_bytes,
            srtt: (stats.acked_count > 0).then(|| Duration::from_micros(stats.srtt)),
            pacing_bps: self.paced.then_some(stats.pacing_rate * 8).filter(|&rate| rate > 0),
            state,
        };
        if let Some(log) = &self.log {
            lock(log).record(now, &row);
        }
    }
}

/// Ask for what tquic does at a loss, while it takes datagrams and timeouts.
pub fn watch_losses() {
    probe::arm(LOST);
}

fn look(stats: &PathStats) -> Seen {
    Seen { acked_packets: stats.acked_count, lost_packets: stats.lost_count }
}

/// The statistics of the path in use.
pub fn path_stats(connection: &mut Connection) -> Option<&PathStats> {
    let path = connection.get_active_path().ok()?;
    let (local, remote) = (path.local_addr(), path.remote_addr());
    connection.get_path_stats(local, remote).ok()
}

/// What a line of this kind says, if it is one of the connection with this trace ID: the process has one probe.
fn parse(line: &str, kind: &str, trace_id: &str) -> Option<Sample> {
    let names = [("CUBIC", "cubic"), ("BBRv3", "bbr3"), ("BBR", "bbr"), ("COPA", "copa")];
    let before = line.split(kind).next().filter(|before| before.len() < line.len())?;
    let name = before.contains(trace_id).then(|| before.rsplit(' ').next())?;
    Some(Sample {
        cca: names.into_iter().find(|(stack, _)| Some(*stack) == name).map(|(_, ours)| ours),
        in_flight_bytes: number_after(line, " inflight="),
        cwnd_bytes: number_after(line, " cwnd="),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_controller_and_the_bytes_in_flight() {
        for (name, cca) in [("CUBIC", "cubic"), ("BBR", "bbr"), ("BBRv3", "bbr3"), ("COPA", "copa")] {
            let line = format!(
                "now=Instant {{ 1 }} SERVER-1-0 {name} ON_SENT pn=7 size=1200 inflight=2400 cwnd=12000"
            );
            let sample = Sample { cca: Some(cca), in_flight_bytes: Some(2400), cwnd_bytes: Some(12_000) };
            assert_eq!(parse(&line, SENT, "SERVER-1"), Some(sample));
        }
    }

    #[test]
    fn a_line_of_another_kind_or_connection_is_not_taken() {
        let line = "x SERVER-1-0 CUBIC ON_CONGESTION_EVENT lost_size=1200 inflight=2400 cwnd=8400";
        assert_eq!(parse(line, LOST, "SERVER-1").and_then(|sample| sample.cwnd_bytes), Some(8400));
        assert_eq!(parse(line, SENT, "SERVER-1"), None);
        assert_eq!(parse(line, LOST, "SERVER-2"), None);
    }

    #[test]
    fn other_names_are_not_guessed() {
        assert_eq!(parse("x SERVER-1-0 DUMMY ON_SENT pn=7", SENT, "SERVER-1").unwrap().cca, None);
    }
}
