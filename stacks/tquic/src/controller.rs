//! What tquic says of a connection's controller.
//!
//! The window, the pacing rate and whether this is slow start come from the path's statistics. The CCA and the bytes
//! in flight have no getter, but each packet that tquic sends makes it write a trace line that names both.

use std::time::{Duration, Instant};

use cambrian_endpoint::contract;
use cambrian_endpoint::probe::{self, number_after};
use cambrian_endpoint::transport_log::{lock, Event, Row, SharedLog};
use tquic::{Connection, PathStats};

/// Make trace lines readable; once a process.
pub fn install() {
    probe::install("tquic::connection::recovery", " ON_SENT ");
}

/// Watches the controller of one connection.
pub struct Observer {
    cca: String,
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
}

impl Observer {
    /// Of a connection that was asked to use `cca`.
    pub fn new(cca: &str, log: Option<SharedLog>) -> Self {
        Self { cca: cca.to_owned(), log, told: false, seen: None }
    }

    /// Ask for a sample if there has been an acknowledgement or a loss since the last. Whether or not there is a log: a
    /// sample takes virtual time, and a log may not shift a trial.
    pub fn before_packets(&mut self, connection: &mut Connection) {
        let Some(stats) = path_stats(connection) else { return };
        if self.seen != Some(look(stats)) {
            probe::arm();
        }
    }

    /// Take down what there was to see, if a packet has been sent.
    pub fn after_packets(&mut self, connection: &mut Connection, now: Instant) {
        let Some(sample) = probe::take(parse) else { return };
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
        let state = match self.cca.as_str() {
            "cubic" | "copa" if stats.in_slow_start => Some("slow_start"),
            "bbr" if stats.in_slow_start => Some("startup"),
            // bbr3 does not answer, and takes tquic's default, which is yes.
            _ => None,
        };
        let row = Row {
            event,
            cwnd_bytes: Some(stats.final_cwnd),
            ssthresh_bytes: None,
            in_flight_bytes: sample.in_flight_bytes,
            srtt: (stats.acked_count > 0).then(|| Duration::from_micros(stats.srtt)),
            pacing_bps: Some(stats.pacing_rate * 8).filter(|&rate| rate > 0),
            state,
        };
        if let Some(log) = &self.log {
            lock(log).record(now, &row);
        }
    }
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

fn parse(line: &str) -> Sample {
    let names = [("CUBIC", "cubic"), ("BBRv3", "bbr3"), ("BBR", "bbr"), ("COPA", "copa")];
    let name = line.split(" ON_SENT ").next().and_then(|before| before.rsplit(' ').next());
    Sample {
        cca: names.into_iter().find(|(stack, _)| Some(*stack) == name).map(|(_, ours)| ours),
        in_flight_bytes: number_after(line, " inflight="),
    }
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
            assert_eq!(parse(&line), Sample { cca: Some(cca), in_flight_bytes: Some(2400) });
        }
    }

    #[test]
    fn other_names_are_not_guessed() {
        assert_eq!(parse("x DUMMY ON_SENT pn=7").cca, None);
    }
}
