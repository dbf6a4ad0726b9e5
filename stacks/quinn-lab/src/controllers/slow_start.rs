//! Slow start (RFC 5681, section 3.1) and what may end it before a loss does.

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::Ack;

/// What ends slow start besides a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartExit {
    Loss,
    /// HyStart as Linux's CUBIC has it.
    HyStart,
    /// HyStart++ (RFC 9406).
    HyStartPlusPlus,
}

#[derive(Clone, Debug)]
pub enum SlowStart {
    Plain,
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

impl SlowStart {
    /// `paced`: the sender spaces its packets, which both kinds of HyStart allow for.
    pub fn new(exit: SlowStartExit, paced: bool) -> Self {
        match exit {
            SlowStartExit::Loss => Self::Plain,
            SlowStartExit::HyStart => Self::HyStart(HyStart::new(paced)),
            SlowStartExit::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::new(paced)),
        }
    }

    /// Slow start is over. HyStart++ is for the first one alone (RFC 9406, section 4.3): a later one, from the minimum
    /// window, would end at the first delay, far below the path's capacity.
    pub fn leave(&mut self) {
        if matches!(self, Self::HyStartPlusPlus(_)) {
            *self = Self::Plain;
        }
    }

    /// Segments by which the window grows, and whether slow start ends with this ACK.
    pub fn on_ack(&mut self, ack: &Ack, cwnd_segments: f64, acked_segments: f64) -> (f64, bool) {
        match self {
            Self::Plain => (acked_segments, false),
            Self::HyStart(hystart) => {
                let ends = hystart.on_ack(ack, cwnd_segments);
                (if ends { 0.0 } else { acked_segments }, ends)
            }
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack, acked_segments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hystart_plus_plus_is_for_the_first_slow_start_alone() {
        let mut first = SlowStart::new(SlowStartExit::HyStartPlusPlus, true);
        assert!(matches!(first, SlowStart::HyStartPlusPlus(_)));
        first.leave();
        assert!(matches!(first, SlowStart::Plain));
        // Linux's HyStart starts again with each slow start.
        let mut linux = SlowStart::new(SlowStartExit::HyStart, true);
        linux.leave();
        assert!(matches!(linux, SlowStart::HyStart(_)));
    }
}
