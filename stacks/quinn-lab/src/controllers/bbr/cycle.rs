//! ProbeBW's gain cycle (draft, section 4.3.4.3).

use std::time::Duration;

use super::super::Time;
use super::config::CYCLE_LENGTH;

#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    gains: [f64; CYCLE_LENGTH],
    phase: usize,
    start: Time,
    /// Something was lost since the last ACK.
    lost: bool,
}

impl Cycle {
    /// A cycle that begins at any phase but the one that drains, by `random`.
    pub fn new(gains: [f64; CYCLE_LENGTH], random: u64) -> Self {
        let phase = (random % (CYCLE_LENGTH as u64 - 1)) as usize;
        let phase = if phase == 0 { 0 } else { phase + 1 };
        Self { gains, phase, start: Time::ZERO, lost: false }
    }

    pub fn gain(&self) -> f64 {
        self.gains[self.phase]
    }

    /// Whether this is the phase that probes for more.
    pub fn probes(&self) -> bool {
        self.phase == 0
    }

    /// ProbeBW begins, or begins anew, with the present phase.
    pub fn begin(&mut self, now: Time) {
        self.start = now;
    }

    pub fn on_loss(&mut self) {
        self.lost = true;
    }

    /// Go to the next phase if this one has lasted: a least RTT; one that fills the pipe until it is full or
    /// this ACK tells of a loss; one that drains it no longer than until it is drained. `full` and `drained` tell of the flight.
    pub fn advance(&mut self, now: Time, min_rtt: Duration, full: bool, drained: bool) {
        let long = now.saturating_sub(self.start) > min_rtt;
        let lost = std::mem::take(&mut self.lost);
        let gain = self.gain();
        let ends = if gain > 1.0 {
            long && (lost || full)
        } else if gain < 1.0 {
            long || drained
        } else {
            long
        };
        if ends {
            self.phase = (self.phase + 1) % CYCLE_LENGTH;
            self.begin(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAINS: [f64; CYCLE_LENGTH] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

    #[test]
    fn the_first_phase_never_drains() {
        let phases: Vec<_> = (0..7).map(|random| Cycle::new(GAINS, random).phase).collect();
        assert_eq!(phases, [0, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn probing_waits_for_a_full_pipe_or_a_loss_and_draining_for_nothing() {
        let ms = Time::from_millis;
        let rtt = ms(50);
        let mut cycle = Cycle::new(GAINS, 0);
        cycle.advance(ms(60), rtt, false, false);
        assert_eq!(cycle.gain(), 1.25);
        cycle.advance(ms(70), rtt, true, false);
        assert_eq!(cycle.gain(), 0.75);
        cycle.advance(ms(71), rtt, false, true);
        assert_eq!((cycle.gain(), cycle.phase), (1.0, 2));
        cycle.advance(ms(120), rtt, false, true);
        assert_eq!(cycle.phase, 2);
        cycle.advance(ms(122), rtt, false, false);
        assert_eq!(cycle.phase, 3);
        let mut cycle = Cycle::new(GAINS, 0);
        cycle.on_loss();
        cycle.advance(ms(60), rtt, false, false);
        assert_eq!(cycle.gain(), 0.75);
    }
}
