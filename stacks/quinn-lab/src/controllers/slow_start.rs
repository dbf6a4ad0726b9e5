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
