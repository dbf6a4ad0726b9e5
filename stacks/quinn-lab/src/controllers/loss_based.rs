//! A loss-based controller: slow start, a growth function, multiplicative decrease, recovery.

use std::time::Duration;

use super::cubic::{Cubic, CubicConfig};
use super::faults::{
    CutPer, Faults, GrowthInRecovery, GrowthUnit, RecoveryStart, RoundLosses, SsthreshAfterLoss,
    TimeoutWindow,
};
use super::prr::Prr;
use super::reno::Reno;
use super::slow_start::{SlowStart, SlowStartExit};
use super::{Ack, CongestionControl, LastAck, Loss, Sent, Time};

/// The window is never cut below this (RFC 5681, equation 4; RFC 9002, section 7.2).
const MIN_WINDOW_SEGMENTS: f64 = 2.0;

/// An episode that lost fewer packets than this share of the window, or than the count, is taken for spurious
/// (quiche's ROLLBACK_THRESHOLD_PERCENT and MIN_ROLLBACK_THRESHOLD).
const ROLLBACK_SHARE: f64 = 0.2;
const ROLLBACK_MIN_PACKETS: f64 = 2.0;

/// How the window grows in congestion avoidance, and what it falls to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Additive increase. `beta` is one connection's; N `connections` add N segments a round trip and back off by
    /// 1 - (1-β)/N.
    Reno {
        beta: f64,
        connections: f64,
    },
    Cubic(CubicConfig),
}

/// When a recovery period is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryEnd {
    /// When a packet sent in it is acknowledged (RFC 9002, section 7.3.2): after one round trip.
    Rfc9002,
    /// When everything that was outstanding at its start has arrived (RFC 6675, RecoveryPoint), what was lost of it
    /// included: a round trip after the last of these losses was found. Packets sent in it that are lost count when
    /// it is over.
    Rfc6675,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossBasedConfig {
    pub growth: Growth,
    pub initial_window_segments: f64,
    /// The window grows no further; infinite for no bound.
    pub max_window_segments: f64,
    pub slow_start_exit: SlowStartExit,
    /// The sender spaces its packets, which HyStart allows for.
    pub paced: bool,
    /// Proportional rate reduction in recovery; without it the window falls at once.
    pub prr: bool,
    pub recovery_end: RecoveryEnd,
    /// Take a congestion event back when few packets were lost in it, as quiche does.
    pub rollback: bool,
    /// What it does wrong.
    pub faults: Faults,
}

/// The growth function's own state.
#[derive(Clone, Debug)]
enum GrowthState {
    Reno { reno: Reno, increase_segments: f64, beta: f64 },
    Cubic(Cubic),
}

impl GrowthState {
    fn new(growth: Growth) -> Self {
        match growth {
            Growth::Reno { beta, connections } => Self::Reno {
                reno: Reno::default(),
                increase_segments: connections,
                beta: (connections - 1.0 + beta) / connections,
            },
            Growth::Cubic(config) => Self::Cubic(Cubic::new(config)),
        }
    }
}

/// A recovery period (RFC 9002, section 7.3.2): packets sent before it began neither grow nor cut the window.
#[derive(Clone, Debug)]
struct Recovery {
    /// It is over when a packet sent after this time is acknowledged.
    ends_after: Time,
    /// A packet sent in it was lost, which calls for another reduction when it is over (RFC 6675).
    lost_again: bool,
    /// The window at its end, in segments.
    target: f64,
    prr: Option<Prr>,
    lost_packets: f64,
    /// What to go back to, should the event turn out to be spurious.
    before: Option<Box<Checkpoint>>,
}

#[derive(Clone, Debug)]
struct Checkpoint {
    cwnd: f64,
    ssthresh: f64,
    growth: GrowthState,
}

pub struct LossBased {
    config: LossBasedConfig,
    segment_bytes: f64,
    /// Segments, as is `ssthresh`.
    cwnd: f64,
    ssthresh: f64,
    slow_start: SlowStart,
    growth: GrowthState,
    min_rtt: Duration,
    recovery: Option<Recovery>,
    /// When the last recovery period began, whether or not it is over.
    last_reduction: Option<Time>,
    /// Congestion events so far, those ignored included.
    events: u32,
    round_losses: RoundLosses,
    last_ack: LastAck,
    /// By a fault: what a timeout, after which nothing has been acknowledged yet, has reset.
    before_timeout: Option<Box<Checkpoint>>,
}

impl LossBased {
    pub fn new(config: LossBasedConfig, segment_bytes: u64) -> Self {
        Self {
            config,
            segment_bytes: segment_bytes as f64,
            cwnd: config.initial_window_segments.min(config.max_window_segments),
            ssthresh: f64::INFINITY,
            slow_start: SlowStart::new(config.slow_start_exit, config.paced),
            growth: GrowthState::new(config.growth),
            min_rtt: Duration::MAX,
            recovery: None,
            last_reduction: None,
            events: 0,
            round_losses: RoundLosses::default(),
            last_ack: LastAck::default(),
            before_timeout: None,
        }
    }

    fn bytes(&self, segments: f64) -> u64 {
        (segments * self.segment_bytes) as u64
    }

    /// What an ACK counts for when the window grows, in segments.
    fn counted(&self, ack: &Ack) -> f64 {
        let faults = &self.config.faults;
        let segments = match faults.growth_unit {
            GrowthUnit::Bytes => ack.acked_bytes as f64 / self.segment_bytes,
            GrowthUnit::Packets => ack.acked_packets as f64,
            GrowthUnit::Acks => 1.0,
        };
        segments * faults.ack_count
    }

    fn grow(&mut self, ack: &Ack) {
        if ack.app_limited && !self.config.faults.app_limited_growth {
            if let GrowthState::Cubic(cubic) = &mut self.growth {
                cubic.skip(ack.now);
            }
            return;
        }
        let mut acked = self.counted(ack);
        if self.cwnd < self.ssthresh {
            let (segments, ends) = self.slow_start.on_ack(ack, self.cwnd, acked);
            if ends {
                self.ssthresh = self.cwnd;
                self.slow_start.leave();
            } else {
                // What goes beyond ssthresh counts for congestion avoidance.
                let room = self.ssthresh - self.cwnd;
                self.cwnd += segments.min(room);
                acked = segments - room;
            }
        }
        if self.cwnd >= self.ssthresh && acked > 0.0 {
            self.cwnd = match &mut self.growth {
                GrowthState::Reno { reno, increase_segments, .. } => {
                    reno.grow(self.cwnd, acked, *increase_segments)
                }
                GrowthState::Cubic(cubic) => cubic.grow(ack.now, self.cwnd, acked, ack.srtt, self.min_rtt),
            };
        }
        self.cwnd = self.cwnd.min(self.config.max_window_segments);
    }

    /// The recovery period is over.
    fn end_recovery(&mut self, now: Time) {
        let Some(recovery) = self.recovery.take() else { return };
        if recovery.prr.is_some() {
            self.cwnd = recovery.target;
        }
        if recovery.lost_again {
            self.reduce(now, now, 0);
            return;
        }
        if let Some(before) = recovery.before {
            let threshold = (self.cwnd * ROLLBACK_SHARE).floor().max(ROLLBACK_MIN_PACKETS);
            // Never back into slow start, and never to a smaller window.
            if recovery.lost_packets < threshold && before.cwnd >= before.ssthresh && self.cwnd < before.cwnd
            {
                self.return_to(*before);
            }
        }
    }

    fn checkpoint(&self) -> Box<Checkpoint> {
        Box::new(Checkpoint { cwnd: self.cwnd, ssthresh: self.ssthresh, growth: self.growth.clone() })
    }

    fn return_to(&mut self, before: Checkpoint) {
        (self.cwnd, self.ssthresh, self.growth) = (before.cwnd, before.ssthresh, before.growth);
    }

    /// Slow start from the smallest window, as after TCP's retransmission timeout.
    fn collapse(&mut self) {
        self.recovery = None;
        self.cwnd = MIN_WINDOW_SEGMENTS;
        if let GrowthState::Cubic(cubic) = &mut self.growth {
            cubic.reset();
        }
    }

    /// A congestion event: one reduction for all that is lost of the packets in flight now, which are those sent up
    /// to `start`.
    fn reduce(&mut self, now: Time, start: Time, lost_bytes: u64) {
        let before = self.config.rollback.then(|| self.checkpoint());
        self.slow_start.leave();
        let flight = self.bytes(self.cwnd);
        let target = match &mut self.growth {
            GrowthState::Reno { reno, beta, .. } => {
                reno.reset();
                self.cwnd * *beta
            }
            GrowthState::Cubic(cubic) => cubic.reduce(self.cwnd, self.min_rtt),
        };
        let target = target.max(MIN_WINDOW_SEGMENTS);
        self.ssthresh = match self.config.faults.ssthresh_after_loss {
            SsthreshAfterLoss::Reduced => target,
            SsthreshAfterLoss::Window => self.cwnd,
            SsthreshAfterLoss::Infinite => f64::INFINITY,
        };
        let prr = self.config.prr.then(|| {
            Prr::new(self.bytes(target), flight, self.segment_bytes as u64, self.last_ack.bytes_at(now))
        });
        if prr.is_none() {
            self.cwnd = target;
        }
        let lost_packets = lost_bytes as f64 / self.segment_bytes;
        self.recovery =
            Some(Recovery { ends_after: start, lost_again: false, target, prr, lost_packets, before });
        self.last_reduction = Some(start);
    }

    /// By a fault: is this loss none to react to?
    fn overlooks(&mut self, loss: &Loss) -> bool {
        let faults = &self.config.faults;
        if loss.is_mark() {
            return !faults.ecn_reaction;
        }
        self.round_losses.add(loss, loss.packets(self.segment_bytes)) < faults.event_min_packets
    }

    /// By a fault: one reduction a lost packet, whether or not the flight has been answered for.
    fn reduce_per_packet(&mut self, loss: &Loss, start: Time) {
        for _ in 0..loss.packets(self.segment_bytes) as u32 {
            if let Some(Recovery { prr: Some(_), target, .. }) = self.recovery {
                self.cwnd = target;
            }
            self.reduce(loss.now, start, loss.lost_bytes);
        }
    }

    /// In recovery with PRR the window is what is in flight and what may join it.
    fn follow_prr(&mut self, in_flight_bytes: u64) {
        if let Some(Recovery { prr: Some(prr), .. }) = &self.recovery {
            let bytes = in_flight_bytes + prr.allowance(in_flight_bytes);
            // Half a byte more: the window in bytes is rounded down, and a packet must fit that just fits.
            self.cwnd = ((bytes as f64 + 0.5) / self.segment_bytes).max(1.0);
        }
    }
}

impl CongestionControl for LossBased {
    fn on_sent(&mut self, sent: &Sent) {
        if let (0, GrowthState::Cubic(cubic)) = (sent.in_flight_before_bytes, &mut self.growth) {
            // The connection was idle until now.
            cubic.skip(sent.now);
        }
        if let Some(Recovery { prr: Some(prr), .. }) = &mut self.recovery {
            prr.on_sent(sent.bytes);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.last_ack = LastAck::of(ack);
        self.min_rtt = self.min_rtt.min(ack.rtt());
        if let Some(before) = self.before_timeout.take() {
            if self.config.faults.timeout_window == TimeoutWindow::Reset {
                // Most of what it acknowledges was sent before the timeout, and grows no window, as in recovery.
                return;
            }
            self.return_to(*before);
        }
        if self.recovery.as_ref().is_some_and(|recovery| ack.newest_sent > recovery.ends_after) {
            self.end_recovery(ack.now);
        }
        let Some(recovery) = &mut self.recovery else {
            self.grow(ack);
            return;
        };
        if let Some(prr) = &mut recovery.prr {
            prr.on_ack(ack.acked_bytes);
            self.follow_prr(ack.in_flight_bytes);
            return;
        }
        match self.config.faults.growth_in_recovery {
            GrowthInRecovery::Off => {}
            GrowthInRecovery::On => self.grow(ack),
            GrowthInRecovery::Inflates => {
                self.cwnd = (self.cwnd + self.counted(ack)).min(self.config.max_window_segments);
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.overlooks(loss) {
            return;
        }
        let faults = self.config.faults;
        let start = match faults.recovery_start {
            RecoveryStart::Found => loss.now,
            RecoveryStart::Sent => loss.newest_sent,
        };
        let is_new = self.last_reduction.is_none_or(|start| loss.newest_sent > start);
        let waits = self.config.recovery_end == RecoveryEnd::Rfc6675;
        if faults.cut_per == CutPer::Packet {
            self.reduce_per_packet(loss, start);
        } else if is_new && !(waits && self.recovery.is_some()) {
            // A period that a new loss ends was not spurious.
            self.recovery = None;
            self.events += 1;
            if faults.ignores_event(self.events) {
                self.last_reduction = Some(start);
            } else {
                self.reduce(loss.now, start, loss.lost_bytes);
            }
        } else if let Some(recovery) = &mut self.recovery {
            if waits && is_new {
                // It was not outstanding when recovery began, so recovery does not wait for it. With a loss in
                // every round trip it would never end, and the window never be cut again.
                recovery.lost_again = true;
            } else if waits {
                recovery.ends_after = loss.now;
            }
            recovery.lost_packets += loss.lost_bytes as f64 / self.segment_bytes;
            if let Some(prr) = &mut recovery.prr {
                prr.on_loss();
            }
        }
        self.follow_prr(loss.in_flight_bytes);
        if loss.persistent {
            // RFC 9002, section 7.6.2.
            self.collapse();
        }
    }

    fn on_timeout(&mut self, now: Time) -> bool {
        if self.config.faults.timeout_window == TimeoutWindow::Kept {
            return false;
        }
        if self.before_timeout.is_none() {
            self.before_timeout = Some(self.checkpoint());
            self.reduce(now, now, 0);
            self.collapse();
        }
        true
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        let ratio = self.segment_bytes / segment_bytes as f64;
        self.cwnd = (self.cwnd * ratio).max(MIN_WINDOW_SEGMENTS);
        self.ssthresh *= ratio;
        if let Some(recovery) = &mut self.recovery {
            recovery.target *= ratio;
        }
        self.segment_bytes = segment_bytes as f64;
    }

    fn cwnd_bytes(&self) -> u64 {
        self.bytes(self.cwnd)
    }

    fn ssthresh_bytes(&self) -> Option<u64> {
        self.ssthresh.is_finite().then(|| self.bytes(self.ssthresh))
    }

    fn rate_bytes_per_s(&self) -> Option<f64> {
        None
    }

    fn state(&self) -> &'static str {
        if self.recovery.is_some() {
            "recovery"
        } else if self.cwnd < self.ssthresh {
            "slow_start"
        } else {
            "congestion_avoidance"
        }
    }
}

#[cfg(test)]
#[path = "loss_based_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fault_tests.rs"]
mod fault_tests;
