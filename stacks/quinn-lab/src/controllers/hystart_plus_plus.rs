//! HyStart++ (RFC 9406): delay ends slow start, but first makes it conservative for five round trips, and a round
//! trip without delay takes that back.

use std::time::Duration;

use super::{Ack, Time};

/// The constants of RFC 9406, section 4.3.
const MIN_RTT_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_RTT_THRESHOLD: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u32 = 8;
const RTT_SAMPLES: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L: segments by which one ACK may raise the window of a sender that does not pace.
const LIMIT_SEGMENTS: f64 = 8.0;

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline_rtt: Duration,
    rounds: u32,
}

#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    paced: bool,
    round_start: Time,
    samples: u32,
    least_rtt: Duration,
    last_least_rtt: Duration,
    conservative: Option<Conservative>,
}

impl HyStartPlusPlus {
    pub fn new(paced: bool) -> Self {
        Self {
            paced,
            round_start: Time::ZERO,
            samples: 0,
            least_rtt: Duration::MAX,
            last_least_rtt: Duration::MAX,
            conservative: None,
        }
    }

    /// Take an ACK of slow start. Returns by how many segments the window grows and whether slow start ends now.
    pub fn on_ack(&mut self, ack: &Ack, acked_segments: f64) -> (f64, bool) {
        if ack.newest_sent >= self.round_start && self.end_round(ack.now) {
            return (0.0, true);
        }
        self.least_rtt = self.least_rtt.min(ack.rtt());
        self.samples += 1;
        if self.samples >= RTT_SAMPLES {
            self.judge();
        }
        let limited = if self.paced { acked_segments } else { acked_segments.min(LIMIT_SEGMENTS) };
        (if self.conservative.is_some() { limited / CSS_GROWTH_DIVISOR } else { limited }, false)
    }

    /// A round trip is over; whether it was the last of conservative slow start.
    fn end_round(&mut self, now: Time) -> bool {
        self.round_start = now;
        self.samples = 0;
        self.last_least_rtt = std::mem::replace(&mut self.least_rtt, Duration::MAX);
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= CSS_ROUNDS
    }

    fn judge(&mut self) {
        match self.conservative {
            Some(Conservative { baseline_rtt, .. }) if self.least_rtt < baseline_rtt => {
                self.conservative = None;
            }
            Some(_) => {}
            None if self.last_least_rtt != Duration::MAX => {
                let threshold =
                    (self.last_least_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
                if self.least_rtt >= self.last_least_rtt + threshold {
                    self.conservative = Some(Conservative { baseline_rtt: self.least_rtt, rounds: 0 });
                }
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip that begins at `start_ms`: ten ACKs of two segments, each `rtt_ms` after its packets. Returns
    /// the growth of each and whether one ended slow start.
    fn round(hystart: &mut HyStartPlusPlus, start_ms: u64, rtt_ms: u64) -> (Vec<f64>, bool) {
        let mut growth = Vec::new();
        for index in 0..10 {
            let sent = Time::from_millis(start_ms) + Time::from_micros(10 * index);
            let ack = Ack {
                now: sent + Time::from_millis(rtt_ms),
                acked_bytes: 2400,
                acked_packets: 1,
                newest_sent: sent,
                srtt: Duration::from_millis(50),
                in_flight_bytes: 0,
                app_limited: false,
            };
            let (segments, ended) = hystart.on_ack(&ack, 2.0);
            growth.push(segments);
            if ended {
                return (growth, true);
            }
        }
        (growth, false)
    }

    #[test]
    fn delay_slows_growth_to_a_quarter_after_eight_samples_and_ends_it_after_five_rounds() {
        let mut hystart = HyStartPlusPlus::new(true);
        assert_eq!(round(&mut hystart, 0, 50), (vec![2.0; 10], false));
        // 50/8 = 6.25 ms more is delay. The eighth sample tells.
        let (growth, ended) = round(&mut hystart, 1_000, 57);
        assert_eq!(growth, [[2.0; 7].as_slice(), &[0.5; 3]].concat());
        assert!(!ended);
        for index in 2..6 {
            assert_eq!(round(&mut hystart, 1_000 * index, 57), (vec![0.5; 10], false), "{index}");
        }
        assert!(round(&mut hystart, 6_000, 57).1);
    }

    #[test]
    fn a_round_without_delay_goes_back_to_slow_start() {
        let mut hystart = HyStartPlusPlus::new(true);
        round(&mut hystart, 0, 50);
        round(&mut hystart, 1_000, 57);
        let (growth, _) = round(&mut hystart, 2_000, 51);
        assert_eq!(growth, [[0.5; 7].as_slice(), &[2.0; 3]].concat());
    }

    #[test]
    fn one_ack_adds_at_most_eight_segments_without_pacing() {
        let ack = Ack {
            now: Time::from_millis(50),
            acked_bytes: 24_000,
            acked_packets: 1,
            newest_sent: Time::ZERO,
            srtt: Duration::from_millis(50),
            in_flight_bytes: 0,
            app_limited: false,
        };
        assert_eq!(HyStartPlusPlus::new(false).on_ack(&ack, 20.0), (8.0, false));
        assert_eq!(HyStartPlusPlus::new(true).on_ack(&ack, 20.0), (20.0, false));
    }
}
