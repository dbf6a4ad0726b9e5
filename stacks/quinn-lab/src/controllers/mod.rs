//! Congestion controllers as pure state machines.
//!
//! They know no socket, no QUIC stack and no clock: each call brings the time, counted from the connection's start,
//! and says in bytes what was sent, acknowledged or lost. A controller answers with a congestion window and, if it
//! paces, a rate. Windows are kept in segments (one segment is a full packet) as fractions; the sender rounds down
//! by sending whole packets only.

mod bbr;
mod cubic;
mod faults;
mod hystart;
mod hystart_plus_plus;
mod loss_based;
mod prr;
mod reno;
mod slow_start;

use std::time::Duration;

pub use bbr::{Bbr, BbrConfig, ProbeRttWindow, CYCLE_LENGTH};
pub use cubic::{CubicConfig, FastConvergence, Flavour, ShortRtt};
pub use faults::{
    CutPer, Faults, GrowthInRecovery, GrowthUnit, RecoveryStart, RoundLosses, SsthreshAfterLoss,
    TimeoutWindow,
};
pub use loss_based::{Growth, LossBased, LossBasedConfig, RecoveryEnd};
pub use slow_start::SlowStartExit;

/// Time since the connection's start.
pub type Time = Duration;

/// A packet that left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub now: Time,
    pub bytes: u64,
    /// Bytes in flight before it.
    pub in_flight_before_bytes: u64,
}

/// What one ACK acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Time,
    /// Bytes that it acknowledged for the first time.
    pub acked_bytes: u64,
    pub acked_packets: u64,
    /// When the newest of these packets was sent.
    pub newest_sent: Time,
    /// Smoothed RTT before this ACK.
    pub srtt: Duration,
    /// Bytes in flight after it.
    pub in_flight_bytes: u64,
    /// The application had left the window unfilled.
    pub app_limited: bool,
}

impl Ack {
    /// RTT sample of the newest packet, the receiver's delay included.
    pub fn rtt(&self) -> Duration {
        self.now.saturating_sub(self.newest_sent)
    }
}

/// The last ACK, for the losses that it reveals.
#[derive(Clone, Copy, Debug, Default)]
struct LastAck {
    at: Time,
    bytes: u64,
}

impl LastAck {
    fn of(ack: &Ack) -> Self {
        Self { at: ack.now, bytes: ack.acked_bytes }
    }

    /// What it acknowledged, if it came at `now`: a loss that a timer reveals comes without one.
    fn bytes_at(&self, now: Time) -> u64 {
        if self.at == now {
            self.bytes
        } else {
            0
        }
    }
}

/// Packets found lost at one moment, or (`lost_bytes` 0) an ECN mark.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub now: Time,
    pub lost_bytes: u64,
    /// When the newest of them was sent.
    pub newest_sent: Time,
    /// Bytes in flight after it.
    pub in_flight_bytes: u64,
    /// Persistent congestion (RFC 9002, section 7.6): nothing got through for several timeouts.
    pub persistent: bool,
}

impl Loss {
    /// Packets lost, at least one, if all are full.
    pub fn packets(&self, segment_bytes: f64) -> f64 {
        (self.lost_bytes as f64 / segment_bytes).round().max(1.0)
    }

    /// The loss is none: packets arrived marked.
    pub fn is_mark(&self) -> bool {
        self.lost_bytes == 0
    }
}

/// A congestion-control algorithm.
pub trait CongestionControl: Send + Sync {
    fn on_sent(&mut self, sent: &Sent);

    /// Called once an ACK, before the losses that the same ACK reveals.
    fn on_ack(&mut self, ack: &Ack);

    fn on_loss(&mut self, loss: &Loss);

    /// A probe timeout, which by RFC 9002 (section 6.2) is no loss. Returns whether the algorithm reacts to it.
    fn on_timeout(&mut self, _now: Time) -> bool {
        false
    }

    /// Full packets have this many bytes from now on.
    fn set_segment_bytes(&mut self, segment_bytes: u64);

    fn cwnd_bytes(&self) -> u64;

    /// Slow-start threshold; `None` while it is infinite, or where there is none.
    fn ssthresh_bytes(&self) -> Option<u64>;

    /// The rate at which the algorithm itself wants its packets spaced, in bytes a second; `None`: it has no opinion.
    fn rate_bytes_per_s(&self) -> Option<f64>;

    /// `slow_start`, `congestion_avoidance`, `recovery`, `startup`, `drain`, `probe_bw`, `probe_rtt`.
    fn state(&self) -> &'static str;
}
