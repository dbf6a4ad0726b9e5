//! What a loss-based controller may do wrong that no value of a parameter says: bugs that such code has had, or that
//! one slip brings. All are off unless a knob turns them (docs/reference/lab-stack.md says what each stands for).

use super::{Loss, Time};

/// What calls for a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPer {
    /// A congestion event: all that is lost of one flight.
    Event,
    /// Each packet that is lost.
    Packet,
}

/// The time up to which packets count as sent before the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStart {
    /// When the loss was found (RFC 9002, section 7.3.2).
    Found,
    /// When the newest packet lost was sent: whatever else of the flight is found lost later cuts again.
    Sent,
}

/// The slow-start threshold after a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsthreshAfterLoss {
    /// The reduced window.
    Reduced,
    /// The window before the reduction, to which slow start leads straight back.
    Window,
    /// Infinite: slow start until the next loss.
    Infinite,
}

/// What ACKs do to the window in a recovery period whose reduction came at once (without PRR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthInRecovery {
    Off,
    /// They grow it as at any other time.
    On,
    /// Each segment acknowledged adds one, and nothing takes them back at the end (RFC 5681, section 3.2, without
    /// its step 6).
    Inflates,
}

/// What counts as one segment acknowledged when the window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthUnit {
    /// A full packet's bytes.
    Bytes,
    /// A packet, however small.
    Packets,
    /// An ACK, however much it acknowledges.
    Acks,
}

/// What a probe timeout does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutWindow {
    Kept,
    /// It is reset, as after TCP's retransmission timeout.
    Reset,
    /// The same, and the next acknowledgement restores it.
    Restored,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    pub cut_per: CutPer,
    pub recovery_start: RecoveryStart,
    /// Of so many congestion events the last is ignored; 0: none is.
    pub ignore_event_every: u32,
    /// Fewer packets lost in a round trip are no congestion event.
    pub event_min_packets: f64,
    pub ssthresh_after_loss: SsthreshAfterLoss,
    pub growth_in_recovery: GrowthInRecovery,
    /// How many times each ACK counts when the window grows.
    pub ack_count: f64,
    pub growth_unit: GrowthUnit,
    /// The window also grows while the application leaves it unfilled.
    pub app_limited_growth: bool,
    /// A mark of congestion (ECN-CE) is a congestion event.
    pub ecn_reaction: bool,
    pub timeout_window: TimeoutWindow,
}

impl Faults {
    pub const NONE: Self = Self {
        cut_per: CutPer::Event,
        recovery_start: RecoveryStart::Found,
        ignore_event_every: 0,
        event_min_packets: 1.0,
        ssthresh_after_loss: SsthreshAfterLoss::Reduced,
        growth_in_recovery: GrowthInRecovery::Off,
        ack_count: 1.0,
        growth_unit: GrowthUnit::Bytes,
        app_limited_growth: false,
        ecn_reaction: true,
        timeout_window: TimeoutWindow::Kept,
    };

    /// Is the n-th congestion event (from 1) one that is ignored?
    pub fn ignores_event(&self, n: u32) -> bool {
        self.ignore_event_every > 0 && n % self.ignore_event_every == 0
    }
}

/// Counts the packets lost in a round trip: those sent before the first of them was found lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundLosses {
    found: Option<Time>,
    packets: f64,
}

impl RoundLosses {
    /// `packets` more are lost; how many that makes in this round trip.
    pub fn add(&mut self, loss: &Loss, packets: f64) -> f64 {
        if self.found.is_none_or(|found| loss.newest_sent > found) {
            *self = Self { found: Some(loss.now), packets: 0.0 };
        }
        self.packets += packets;
        self.packets
    }
}
