//! Datagrams that wait for the time at which quiche wants them sent.
//!
//! quiche leaves pacing to its caller: `send` gives each datagram a time, for SO_TXTIME and Linux's fq or for timers
//! of the caller's. This is the latter, to the nanosecond.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use cambrian_endpoint::train::Train;
use cambrian_endpoint::Ecn;

/// Datagrams of one connection, in the order in which quiche made them.
#[derive(Default)]
pub struct Outbox {
    waiting: VecDeque<Timed>,
}

struct Timed {
    at: Instant,
    to: SocketAddr,
    payload: Vec<u8>,
}

impl Outbox {
    pub fn push(&mut self, at: Instant, to: SocketAddr, payload: Vec<u8>) {
        self.waiting.push_back(Timed { at, to, payload });
    }

    /// When the first datagram is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.at)
    }

    /// When the last datagram is due, by which all are: quiche's times do not go back.
    pub fn last_due(&self) -> Option<Instant> {
        self.waiting.back().map(|last| last.at)
    }

    /// Put what is due at `now` into the train; none overtakes another.
    pub fn release(&mut self, now: Instant, train: &mut Train) {
        while self.next_due().is_some_and(|at| at <= now) {
            let Some(first) = self.waiting.pop_front() else { break };
            train.push(first.to, Ecn::NotEct, first.payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn datagrams_leave_when_they_are_due_and_in_order() {
        let (mut outbox, mut train) = (Outbox::default(), Train::default());
        let start = Instant::now();
        let at = |ns| start + Duration::from_nanos(ns);
        let to = "127.0.0.1:1".parse().unwrap();
        for (index, ns) in [0, 0, 500, 499].into_iter().enumerate() {
            outbox.push(at(ns), to, vec![index as u8]);
        }
        let mut released = |now| {
            outbox.release(now, &mut train);
            let payloads = train.datagrams().iter().flat_map(|datagram| datagram.payload.clone()).collect();
            train.clear();
            (payloads, outbox.next_due())
        };
        assert_eq!(released(at(499)), (vec![0, 1], Some(at(500))));
        assert_eq!(released(at(500)), (vec![2, 3], None));
    }
}
