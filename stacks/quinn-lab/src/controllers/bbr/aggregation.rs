//! How much more arrives at once than the bandwidth estimate explains (BBR's `extra_acked`): the window makes room
//! for it, so that a flow whose ACKs come in bunches does not fall silent between them.

use super::super::Time;

/// Each half of the window lasts this many rounds (`bbr_extra_acked_win_rtts`).
const HALF_WINDOW_ROUNDS: u32 = 5;
/// No more than what the path carries in this time (`bbr_extra_acked_max_us`).
const MOST_S: f64 = 0.1;

/// Largest excess of the last five to ten rounds, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    excess_bytes: [f64; 2],
    half: usize,
    rounds: u32,
    epoch_start: Time,
    epoch_acked: f64,
}

impl Aggregation {
    /// An ACK of `acked_bytes`; `round` tells that it begins a round.
    pub fn on_ack(&mut self, now: Time, acked_bytes: u64, bytes_per_s: f64, cwnd_bytes: f64, round: bool) {
        if round {
            self.rounds += 1;
            if self.rounds >= HALF_WINDOW_ROUNDS {
                self.rounds = 0;
                self.half = 1 - self.half;
                self.excess_bytes[self.half] = 0.0;
            }
        }
        let mut expected = bytes_per_s * now.saturating_sub(self.epoch_start).as_secs_f64();
        if self.epoch_acked <= expected {
            (self.epoch_start, self.epoch_acked, expected) = (now, 0.0, 0.0);
        }
        self.epoch_acked += acked_bytes as f64;
        let excess = (self.epoch_acked - expected).min(cwnd_bytes);
        let best = &mut self.excess_bytes[self.half];
        *best = best.max(excess);
    }

    /// Bytes to add to the window at this bandwidth.
    pub fn excess_bytes(&self, bytes_per_s: f64) -> f64 {
        self.excess_bytes[0].max(self.excess_bytes[1]).min(bytes_per_s * MOST_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_acks_leave_one_ack_of_excess_and_bunches_more() {
        let ms = Time::from_millis;
        let mut smooth = Aggregation::default();
        for step in 1..100 {
            smooth.on_ack(ms(step), 1_000, 1e6, 1e6, step % 50 == 0);
        }
        assert_eq!(smooth.excess_bytes(1e6), 1_000.0);
        let mut bunched = Aggregation::default();
        for step in 1..10 {
            bunched.on_ack(ms(10 * step), 10_000, 1e6, 1e6, step % 5 == 0);
        }
        assert_eq!(bunched.excess_bytes(1e6), 10_000.0);
        // 100 ms of the bandwidth at most.
        assert_eq!(bunched.excess_bytes(1e4), 1_000.0);
    }
}
