//! When the next packet may leave: trains of a few packets, spaced to a rate.

use std::time::Duration;

use crate::controllers::Time;

/// How a sender paces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// Not at all: packets leave as the window allows.
    Off,
    /// At this multiple of the algorithm's own rate, or of cwnd/sRTT for an algorithm that has none.
    Factor(f64),
}

/// Spaces trains so that their mean rate is the one asked for. Time in which nothing was sent
/// earns next to nothing.
#[derive(Clone, Debug)]
pub struct Pacer {
    train_packets: u32,
    left_in_train: u32,
    next_train: Time,
}

impl Pacer {
    pub fn new(train_packets: u32) -> Self {
        Self { train_packets, left_in_train: 0, next_train: Time::ZERO }
    }

    /// `None` if a packet may leave at `now`, or the time at which it may.
    pub fn release(&self, now: Time) -> Option<Time> {
        (self.left_in_train == 0 && now < self.next_train).then_some(self.next_train)
    }

    /// A packet leaves at `now`, at `bytes_per_s`. What it is late by is taken off the time that it needs, half of
    /// that at the most, as Linux does: timers of a process run up to 50 µs late (prctl(2), PR_SET_TIMERSLACK),
    /// which would cost 20 Mbit/s four per cent.
    pub fn on_sent(&mut self, now: Time, bytes: u64, bytes_per_s: f64) {
        if self.left_in_train == 0 {
            self.left_in_train = self.train_packets;
        }
        self.left_in_train -= 1;
        let needs = Duration::from_secs_f64(bytes as f64 / bytes_per_s);
        let late = now.saturating_sub(self.next_train);
        self.next_train = self.next_train.max(now) + needs - late.min(needs / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Departure times in ms of a sender that always has a packet of 1000 bytes, at 1 MB/s.
    fn departures(train_packets: u32, count: usize) -> Vec<u128> {
        let mut pacer = Pacer::new(train_packets);
        let mut now = Time::ZERO;
        (0..count)
            .map(|_| {
                now = pacer.release(now).unwrap_or(now);
                pacer.on_sent(now, 1000, 1e6);
                now.as_millis()
            })
            .collect()
    }

    #[test]
    fn single_packets_and_trains_have_the_same_rate() {
        assert_eq!(departures(1, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(departures(3, 6), [0, 0, 0, 3, 3, 3]);
    }

    #[test]
    fn silence_earns_half_a_packet() {
        let mut pacer = Pacer::new(1);
        pacer.on_sent(Time::ZERO, 1000, 1e6);
        let later = Time::from_millis(100);
        assert_eq!(pacer.release(later), None);
        pacer.on_sent(later, 1000, 1e6);
        assert_eq!(pacer.release(later), Some(later + Time::from_micros(500)));
    }

    #[test]
    fn late_timers_do_not_lower_the_rate() {
        let mut pacer = Pacer::new(2);
        let mut now = Time::ZERO;
        for _ in 0..1000 {
            now = pacer.release(now).map_or(now, |release| release + Time::from_micros(50));
            pacer.on_sent(now, 1000, 1e6);
        }
        assert_eq!(now.as_millis(), 998);
    }
}
