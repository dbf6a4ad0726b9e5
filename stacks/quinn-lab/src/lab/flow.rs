//! One connection's sender: its algorithm, its pacer, and the gate before its datagrams.

use std::time::{Duration, Instant};

use crate::controllers::{Ack, Bbr, CongestionControl, Loss, LossBased, RoundLosses, Sent, Time};
use crate::fault_knobs::Silence;
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
    srtt: Duration,
    batch: Batch,
    door: Door,
    probes: Probes,
    silence: Silence,
    round_losses: RoundLosses,
    silent_until: Time,
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
            srtt: Duration::ZERO,
            batch: Batch::default(),
            door: Door::Ajar,
            probes: Probes::new(!knobs.tail_loss_probes),
            silence: knobs.faults.silence,
            round_losses: RoundLosses::default(),
            silent_until: Time::ZERO,
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
        self.in_flight_bytes = in_flight_bytes;
        self.probes.on_ack();
        let batch = std::mem::take(&mut self.batch);
        if batch.bytes == 0 {
            return;
        }
        // quinn's first estimate is a guess of 333 ms, which one sample replaces.
        let now = self.time(now);
        let first = self.srtt.is_zero();
        self.srtt = if first { now.saturating_sub(batch.newest_sent) } else { batch.srtt };
        self.algorithm.on_ack(&Ack {
            now,
            acked_bytes: batch.bytes,
            acked_packets: batch.packets,
            newest_sent: batch.newest_sent,
            srtt: self.srtt,
            in_flight_bytes,
            app_limited,
        });
    }

    pub fn on_loss(&mut self, now: Instant, newest_sent: Instant, lost_bytes: u64, persistent: bool) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(lost_bytes);
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
        let burst = self.silence.after_packets;
        if in_round >= burst && in_round - packets < burst {
            self.silent_until = loss.now + self.silence.lasts;
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

    /// One of the connection's timers has run out.
    pub fn on_timeout(&mut self) {
        self.probes.on_timeout();
    }

    /// Whether the datagram that has just been built may leave.
    pub fn passes(&mut self) -> bool {
        self.probes.passes()
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

    /// quinn has no other timer that makes a sender send but that of a late ACK, of which a sender has few.
    fn on_timeout(&mut self) {
        if std::mem::take(&mut self.found_loss) {
            return;
        }
        self.timeouts += 1;
        if self.withhold && self.timeouts == 1 {
            self.pending = PROBES;
        }
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
