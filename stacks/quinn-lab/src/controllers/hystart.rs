//! HyStart as Linux's CUBIC has it (Ha and Rhee, 2011; net/ipv4/tcp_cubic.c): leave slow start when the ACKs of a
//! round trip stretch over half the base RTT, or when its packets are delayed.

use std::time::Duration;

use super::{Ack, Time};

/// Below this window it does not look (`hystart_low_window`).
const LOW_WINDOW_SEGMENTS: f64 = 16.0;
/// ACKs this close together belong to one train (`hystart_ack_delta_us`).
const ACK_SPACING: Duration = Duration::from_millis(2);
/// RTT samples of a round that are taken before it is judged.
const MIN_SAMPLES: u32 = 8;
/// A round is delayed when its least RTT exceeds the base RTT by an eighth of it, within these bounds.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);
/// Linux allows a train this much more for segmentation offload, at the rates at which the bound applies.
const OFFLOAD_ALLOWANCE: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
pub struct HyStart {
    /// Packets are paced: a train may last a whole base RTT, not half of it.
    paced: bool,
    base_rtt: Duration,
    round_start: Time,
    last_train_ack: Time,
    least_rtt: Duration,
    samples: u32,
}

impl HyStart {
    pub fn new(paced: bool) -> Self {
        Self {
            paced,
            base_rtt: Duration::MAX,
            round_start: Time::ZERO,
            last_train_ack: Time::ZERO,
            least_rtt: Duration::MAX,
            samples: 0,
        }
    }

    /// Take an ACK of slow start; whether slow start ought to end now.
    pub fn on_ack(&mut self, ack: &Ack, cwnd_segments: f64) -> bool {
        let rtt = ack.rtt();
        self.base_rtt = self.base_rtt.min(rtt);
        if ack.newest_sent >= self.round_start {
            self.round_start = ack.now;
            self.last_train_ack = ack.now;
            self.least_rtt = Duration::MAX;
            self.samples = 0;
        }
        if cwnd_segments < LOW_WINDOW_SEGMENTS {
            return false;
        }
        self.train_is_long(ack.now) || self.is_delayed(rtt)
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now - self.last_train_ack > ACK_SPACING {
            return false;
        }
        self.last_train_ack = now;
        let allowed = self.base_rtt + OFFLOAD_ALLOWANCE;
        let allowed = if self.paced { allowed } else { allowed / 2 };
        now - self.round_start > allowed
    }

    fn is_delayed(&mut self, rtt: Duration) -> bool {
        self.least_rtt = self.least_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least_rtt > self.base_rtt + (self.base_rtt / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now_us: u64, sent_us: u64) -> Ack {
        Ack {
            now: Time::from_micros(now_us),
            acked_bytes: 2400,
            acked_packets: 1,
            newest_sent: Time::from_micros(sent_us),
            srtt: Duration::from_millis(50),
            in_flight_bytes: 0,
            app_limited: false,
        }
    }

    #[test]
    fn a_train_over_half_the_base_rtt_ends_slow_start() {
        let mut hystart = HyStart::new(false);
        assert!(!hystart.on_ack(&ack(50_000, 0), 32.0));
        // The round's packets were sent at once; their ACKs come 1.5 ms apart. (50 + 1)/2 = 25.5 ms is the limit.
        let ends = (1..40).find(|index| hystart.on_ack(&ack(50_000 + 1_500 * index, 0), 32.0));
        assert_eq!(ends, Some(18));
    }

    #[test]
    fn paced_trains_may_last_a_base_rtt() {
        let mut hystart = HyStart::new(true);
        hystart.on_ack(&ack(50_000, 0), 32.0);
        let ends = (1..60).find(|index| hystart.on_ack(&ack(50_000 + 1_500 * index, 0), 32.0));
        assert_eq!(ends, Some(35));
    }

    #[test]
    fn a_gap_breaks_the_train() {
        let mut hystart = HyStart::new(false);
        hystart.on_ack(&ack(50_000, 0), 32.0);
        assert!(
            !(1..7).any(|index| hystart.on_ack(&ack(50_000 + 8_000 * index, 8_000 * index - 7_000), 32.0))
        );
    }

    #[test]
    fn eight_delayed_samples_end_slow_start() {
        let mut hystart = HyStart::new(false);
        hystart.on_ack(&ack(50_000, 0), 8.0);
        // A new round, 6.3 ms later than the base RTT of 50 ms: more than 50/8 = 6.25 ms.
        let ends =
            (0..20).find(|index| hystart.on_ack(&ack(106_300 + 20 * index, 50_000 + 20 * index), 32.0));
        assert_eq!(ends, Some(8));
        // 6.2 ms are not enough.
        let mut hystart = HyStart::new(false);
        hystart.on_ack(&ack(50_000, 0), 8.0);
        assert!(!(0..20).any(|index| hystart.on_ack(&ack(106_200 + 20 * index, 50_000 + 20 * index), 32.0)));
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut hystart = HyStart::new(false);
        hystart.on_ack(&ack(50_000, 0), 15.0);
        assert!(!(0..30).any(|index| hystart.on_ack(&ack(90_000 + 1_000 * index, 50_000), 15.9)));
    }
}
