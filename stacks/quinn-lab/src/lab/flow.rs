//! One connection's sender: its algorithm, its pacer, and the gate before its datagrams.

use std::time::{Duration, Instant};

use crate::controllers::{Ack, Bbr, CongestionControl, Loss, LossBased, RoundLosses, Sent, Time};
use crate::fault_knobs::{FaultKnobs, WindowUnit};
use crate::knobs::{Algorithm, Knobs};
use crate::pacer::{Pacer, Pacing};

/// What `window()` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// Nothing is being polled: the congestion window.
    Ajar,
    /// A datagram may leave: no bound.
    Open,
    /// None may: one byte.
    Shut,
}

/// A window at which quinn neither limits nor paces.
const NO_BOUND_BYTES: u64 = u64::MAX / 2;

/// Probes that the first timeout in a row sends (RFC 9002, section 6.2.4).
const PROBES: u32 = 2;

/// Share of a smoothed RTT that a new sample leaves (RFC 9002, section 5.3).
const SRTT_KEPT: f64 = 0.875;

/// What the packets of one ACK add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    packets: u64,
    newest_sent: Time,
    srtt: Duration,
}

pub struct Flow {
    algorithm: Box<dyn CongestionControl>,
    pacing: Pacing,
    pacer: Pacer,
    /// The connection's start, from which the algorithms count.
    start: Instant,
    segment_bytes: u64,
    initial_window_bytes: u64,
    in_flight_bytes: u64,
    /// By a fault: lost packets that still count as in flight.
    leaked_bytes: u64,
    srtt: Duration,
    batch: Batch,
    last_sent: Time,
    door: Door,
    probes: Probes,
    faults: FaultKnobs,
    round_losses: RoundLosses,
    silent_until: Time,
    /// The algorithm has reacted to a timeout that is not logged yet.
    reacted_to_timeout: bool,
    /// Datagrams so far.
    datagrams: u64,
}

impl Flow {
    /// A flow whose full packets have `segment_bytes`. `random` is for the algorithm to draw from.
    pub fn new(knobs: &Knobs, start: Instant, segment_bytes: u16, random: u64) -> Self {
        let segment_bytes = u64::from(segment_bytes);
        let algorithm: Box<dyn CongestionControl> = match knobs.algorithm {
            Algorithm::Reno | Algorithm::Cubic => Box::new(LossBased::new(knobs.loss_based(), segment_bytes)),
            Algorithm::Bbr => Box::new(Bbr::new(knobs.bbr(), segment_bytes, random)),
        };
        Self {
            initial_window_bytes: algorithm.cwnd_bytes(),
            algorithm,
            pacing: knobs.pacing,
            pacer: Pacer::new(knobs.pacing_train_packets),
            start,
            segment_bytes,
            in_flight_bytes: 0,
            leaked_bytes: 0,
            srtt: Duration::ZERO,
            batch: Batch::default(),
            last_sent: Time::ZERO,
            door: Door::Ajar,
            probes: Probes::new(!knobs.tail_loss_probes),
            faults: knobs.faults.clone(),
            round_losses: RoundLosses::default(),
            silent_until: Time::ZERO,
            reacted_to_timeout: false,
            datagrams: 0,
        }
    }

    fn time(&self, at: Instant) -> Time {
        at.saturating_duration_since(self.start)
    }

    /// The window for quinn: see [`Door`].
    pub fn window_bytes(&self) -> u64 {
        match self.door {
            Door::Ajar => self.algorithm.cwnd_bytes(),
            Door::Open => NO_BOUND_BYTES,
            Door::Shut => 1,
        }
    }

    pub fn algorithm(&self) -> &dyn CongestionControl {
        &*self.algorithm
    }

    pub fn initial_window_bytes(&self) -> u64 {
        self.initial_window_bytes
    }

    /// The window that the log is told.
    pub fn told_window(&self) -> u64 {
        let cwnd_bytes = self.algorithm.cwnd_bytes();
        match self.faults.logged_window {
            WindowUnit::Bytes => cwnd_bytes,
            WindowUnit::Packets => cwnd_bytes / self.segment_bytes,
        }
    }

    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// The smoothed RTT, if it is the flow's own and not quinn's.
    pub fn own_srtt(&self) -> Option<Duration> {
        (self.faults.srtt_gain.is_some() && !self.srtt.is_zero()).then_some(self.srtt)
    }

    /// Whether the algorithm has reacted to a timeout since this was last asked.
    pub fn take_reaction_to_timeout(&mut self) -> bool {
        std::mem::take(&mut self.reacted_to_timeout)
    }

    /// The rate at which packets are spaced; `None` when they are not.
    pub fn pacing_bytes_per_s(&self) -> Option<f64> {
        let Pacing::Factor(factor) = self.pacing else { return None };
        let rate = self.algorithm.rate_bytes_per_s().or_else(|| {
            let window = self.algorithm.cwnd_bytes() as f64;
            (!self.srtt.is_zero()).then(|| window / self.srtt.as_secs_f64())
        })?;
        Some(rate * factor)
    }

    pub fn on_sent(&mut self, now: Instant, bytes: u64) {
        let now = self.time(now);
        self.algorithm.on_sent(&Sent { now, bytes, in_flight_before_bytes: self.in_flight_bytes });
        self.in_flight_bytes += bytes;
        self.last_sent = now;
        if let Some(rate) = self.pacing_bytes_per_s() {
            self.pacer.on_sent(now, bytes, rate);
        }
    }

    /// One packet of an ACK.
    pub fn on_packet_acked(&mut self, sent: Instant, bytes: u64, srtt: Duration) {
        let newest_sent = self.time(sent).max(self.batch.newest_sent);
        let Batch { bytes: earlier_bytes, packets, .. } = self.batch;
        self.batch = Batch { bytes: earlier_bytes + bytes, packets: packets + 1, newest_sent, srtt };
    }

    /// The ACK is complete; `in_flight_bytes` is quinn's count after it.
    pub fn on_ack_end(&mut self, now: Instant, in_flight_bytes: u64, app_limited: bool) {
        self.in_flight_bytes = in_flight_bytes + self.leaked_bytes;
        self.probes.on_ack();
        let batch = std::mem::take(&mut self.batch);
        if batch.bytes == 0 {
            return;
        }
        // quinn's first estimate is a guess of 333 ms, which one sample replaces.
        let now = self.time(now);
        let sample = now.saturating_sub(batch.newest_sent);
        self.srtt = match self.faults.srtt_gain {
            _ if self.srtt.is_zero() => sample,
            Some(gain) => self.srtt.mul_f64(SRTT_KEPT) + sample.mul_f64(gain),
            None => batch.srtt,
        };
        self.algorithm.on_ack(&Ack {
            now,
            acked_bytes: batch.bytes,
            acked_packets: batch.packets,
            newest_sent: batch.newest_sent,
            srtt: self.srtt,
            in_flight_bytes: self.in_flight_bytes,
            app_limited,
        });
    }

    pub fn on_loss(&mut self, now: Instant, newest_sent: Instant, lost_bytes: u64, persistent: bool) {
        if self.faults.lost_in_flight {
            self.leaked_bytes += lost_bytes;
        } else {
            self.in_flight_bytes = self.in_flight_bytes.saturating_sub(lost_bytes);
        }
        self.probes.on_loss();
        let loss = Loss {
            now: self.time(now),
            lost_bytes,
            newest_sent: self.time(newest_sent),
            in_flight_bytes: self.in_flight_bytes,
            persistent,
        };
        self.algorithm.on_loss(&loss);
        self.fall_silent(&loss);
    }

    /// Where that knob is turned: begin a silence with the packet that makes the burst.
    fn fall_silent(&mut self, loss: &Loss) {
        if loss.is_mark() {
            return;
        }
        let packets = loss.packets(self.segment_bytes as f64);
        let in_round = self.round_losses.add(loss, packets);
        let burst = self.faults.silence.after_packets;
        if in_round >= burst && in_round - packets < burst {
            self.silent_until = loss.now + self.faults.silence.lasts;
        }
    }

    pub fn set_segment_bytes(&mut self, segment_bytes: u16) {
        self.segment_bytes = u64::from(segment_bytes);
        self.algorithm.set_segment_bytes(self.segment_bytes);
    }

    /// Open the door for one datagram or shut it; the time at which the pacer would open it, if it alone shuts it.
    pub fn open(&mut self, now: Instant) -> Option<Instant> {
        self.door = Door::Shut;
        if self.time(now) < self.silent_until {
            return Some(self.start + self.silent_until);
        }
        if self.in_flight_bytes + self.segment_bytes > self.algorithm.cwnd_bytes() {
            return None;
        }
        if self.pacing != Pacing::Off {
            if let Some(release) = self.pacer.release(self.time(now)) {
                return Some(self.start + release);
            }
        }
        self.door = Door::Open;
        None
    }

    /// The polling is over.
    pub fn close(&mut self) {
        self.door = Door::Ajar;
        self.probes.on_poll_end();
    }

    /// One of the connection's timers has run out. Others than that of a probe timeout do not wait for a round trip
    /// after the last packet.
    pub fn on_timeout(&mut self, now: Instant) {
        let found_loss = self.probes.on_timeout();
        let now = self.time(now);
        let waited = !self.srtt.is_zero() && now.saturating_sub(self.last_sent) >= self.srtt;
        if !found_loss && waited && self.in_flight_bytes > 0 && self.algorithm.on_timeout(now) {
            self.reacted_to_timeout = true;
        }
    }

    /// Whether the datagram that has just been built may leave.
    pub fn passes(&mut self) -> bool {
        self.datagrams += 1;
        let refused = self.faults.refuses_datagram(self.datagrams);
        self.probes.passes() && !refused
    }
}

/// Tail loss probes, withheld where they are switched off: those of the first timeout in a row never leave, so that
/// a lost tail waits for the second, three probe timeouts after it was sent.
#[derive(Clone, Debug)]
struct Probes {
    withhold: bool,
    /// Probe timeouts since anything was acknowledged.
    timeouts: u32,
    /// The timer that runs out has found losses, so it is no probe timeout.
    found_loss: bool,
    /// Datagrams to come that are probes of the first timeout.
    pending: u32,
}

impl Probes {
    fn new(withhold: bool) -> Self {
        Self { withhold, timeouts: 0, found_loss: false, pending: 0 }
    }

    fn on_ack(&mut self) {
        (self.timeouts, self.pending) = (0, 0);
    }

    fn on_loss(&mut self) {
        self.found_loss = true;
    }

    /// quinn has no other timer that makes a sender send but that of a late ACK, of which a sender has few. Returns
    /// whether the timer found losses.
    fn on_timeout(&mut self) -> bool {
        if std::mem::take(&mut self.found_loss) {
            return true;
        }
        self.timeouts += 1;
        if self.withhold && self.timeouts == 1 {
            self.pending = PROBES;
        }
        false
    }

    fn on_poll_end(&mut self) {
        (self.pending, self.found_loss) = (0, false);
    }

    fn passes(&mut self) -> bool {
        let passes = self.pending == 0;
        self.pending = self.pending.saturating_sub(1);
        passes
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
