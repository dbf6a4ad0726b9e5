//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with each of its gains and times a knob.
//!
//! Where the draft leaves room this does as Linux does (net/ipv4/tcp_bbr.c): a pacing margin of 1 %, room for ACK
//! aggregation, packet conservation in the first round of a recovery. Linux's policer detection is left out.

mod aggregation;
mod config;
mod cycle;
mod delivery;
mod filters;
mod full_pipe;

use std::time::Duration;

use super::{Ack, CongestionControl, LastAck, Loss, Sent, Time};
use aggregation::Aggregation;
pub use config::{BbrConfig, ProbeRttWindow, CYCLE_LENGTH};
use cycle::Cycle;
use delivery::{DeliveryRate, Sample};
use filters::{MinRtt, WindowedMax};
use full_pipe::FullPipe;

/// Segments that keep a flow with delayed ACKs moving (BBRMinPipeCwnd).
const MIN_WINDOW_SEGMENTS: f64 = 4.0;
/// Segments that end hosts hold back in three places, in units of two (Linux's `bbr_quantization_budget`).
const QUANTUM_SEGMENTS: f64 = 6.0;
/// RTT that is assumed for the first pacing rate, before there is a sample.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// ProbeRTT's own clock.
#[derive(Clone, Copy, Debug, Default)]
struct ProbeRtt {
    /// Set when the flight has come down.
    done_at: Option<Time>,
    round_done: bool,
}

/// Loss recovery, which lasts until what was lost has been sent again and has arrived, as in Linux: the retransmission
/// leaves when the loss is found, so the ACK of anything sent after the last one ends it. Where each round loses
/// something it goes on, and packets are conserved in its first round alone.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    last_loss: Time,
    conserving: bool,
}

pub struct Bbr {
    config: BbrConfig,
    segment_bytes: f64,
    cwnd_bytes: f64,
    /// The last good window, to go back to after recovery and ProbeRTT.
    prior_cwnd_bytes: f64,
    rate_bytes_per_s: f64,
    seen_rtt: bool,
    mode: Mode,
    delivery: DeliveryRate,
    bandwidth: WindowedMax,
    min_rtt: MinRtt,
    /// When an RTT below the least one was last seen, or ProbeRTT ended.
    min_rtt_seen: Time,
    aggregation: Aggregation,
    round: u64,
    next_round_delivered: u64,
    pipe: FullPipe,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    recovery: Option<Recovery>,
    last_ack: LastAck,
}

impl Bbr {
    /// A controller in Startup. `random` chooses ProbeBW's first phase.
    pub fn new(config: BbrConfig, segment_bytes: u64, random: u64) -> Self {
        let segment_bytes = segment_bytes as f64;
        let cwnd_bytes = config.initial_window_segments * segment_bytes;
        Self {
            config,
            segment_bytes,
            cwnd_bytes,
            prior_cwnd_bytes: 0.0,
            rate_bytes_per_s: config.startup_gain * cwnd_bytes / NOMINAL_RTT.as_secs_f64(),
            seen_rtt: false,
            mode: Mode::Startup,
            delivery: DeliveryRate::default(),
            bandwidth: WindowedMax::new(config.bandwidth_window_rounds),
            min_rtt: MinRtt::new(config.min_rtt_window),
            min_rtt_seen: Time::ZERO,
            aggregation: Aggregation::default(),
            round: 0,
            next_round_delivered: 0,
            pipe: FullPipe::new(config.full_bandwidth_threshold, config.full_bandwidth_rounds),
            cycle: Cycle::new(config.cycle_gains, random),
            probe_rtt: ProbeRtt::default(),
            recovery: None,
            last_ack: LastAck::default(),
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.config.startup_gain,
            Mode::Drain => self.config.drain_gain,
            Mode::ProbeBw => self.cycle.gain(),
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.config.startup_cwnd_gain,
            Mode::ProbeBw => self.config.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `gain` bandwidth-delay products; the initial window before there is an estimate.
    fn bdp_bytes(&self, gain: f64) -> f64 {
        match self.min_rtt.get() {
            Some(rtt) => self.bandwidth.get() * rtt.as_secs_f64() * gain,
            None => self.config.initial_window_segments * self.segment_bytes,
        }
    }

    /// The flight that `gain` wants: whole segments, an even number, and room for what end hosts hold back.
    fn target_bytes(&self, gain: f64, extra_bytes: f64) -> f64 {
        let segments = ((self.bdp_bytes(gain) + extra_bytes) / self.segment_bytes).ceil() + QUANTUM_SEGMENTS;
        let even = (segments / 2.0).ceil() * 2.0;
        let probing = self.mode == Mode::ProbeBw && self.cycle.probes();
        (even + if probing { 2.0 } else { 0.0 }) * self.segment_bytes
    }

    fn probe_rtt_cwnd_bytes(&self) -> f64 {
        let least = MIN_WINDOW_SEGMENTS * self.segment_bytes;
        match self.config.probe_rtt_window {
            ProbeRttWindow::Segments(segments) => segments * self.segment_bytes,
            ProbeRttWindow::BdpGain(gain) => self.bdp_bytes(gain).max(least),
        }
    }

    /// Whether the sample begins a packet-timed round trip.
    fn begins_round(&mut self, sample: &Sample) -> bool {
        if sample.prior_delivered_bytes < self.next_round_delivered {
            return false;
        }
        self.next_round_delivered = self.delivery.delivered_bytes();
        self.round += 1;
        if let Some(recovery) = &mut self.recovery {
            recovery.conserving = false;
        }
        true
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle.begin(now);
    }

    fn check_phase(&mut self, ack: &Ack) {
        if let (Mode::ProbeBw, Some(min_rtt)) = (self.mode, self.min_rtt.get()) {
            let before_bytes = (ack.in_flight_bytes + ack.acked_bytes) as f64;
            let full = before_bytes >= self.target_bytes(self.cycle.gain(), 0.0);
            let drained = before_bytes <= self.target_bytes(1.0, 0.0);
            self.cycle.advance(ack.now, min_rtt, full, drained);
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.pipe.is_filled() {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight_bytes as f64 <= self.target_bytes(1.0, 0.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    fn check_probe_rtt(&mut self, ack: &Ack, round: bool) {
        let due =
            self.min_rtt.get().is_some() && ack.now > self.min_rtt_seen + self.config.probe_rtt_interval;
        if self.min_rtt.update(ack.now, ack.rtt()) {
            self.min_rtt_seen = ack.now;
        }
        if due && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        // What is sent now says nothing about the path's bandwidth.
        self.delivery.set_app_limited(ack.in_flight_bytes);
        match self.probe_rtt.done_at {
            None if ack.in_flight_bytes as f64 <= self.probe_rtt_cwnd_bytes() => {
                self.probe_rtt.done_at = Some(ack.now + self.config.probe_rtt_duration);
                self.next_round_delivered = self.delivery.delivered_bytes();
            }
            None => {}
            Some(done_at) => {
                self.probe_rtt.round_done |= round;
                if self.probe_rtt.round_done && ack.now > done_at {
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.min_rtt.refresh(now);
        self.min_rtt_seen = now;
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
        if self.pipe.is_filled() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Note a good window before something cuts it.
    fn save_cwnd(&mut self) {
        self.prior_cwnd_bytes = if self.recovery.is_none() && self.mode != Mode::ProbeRtt {
            self.cwnd_bytes
        } else {
            self.prior_cwnd_bytes.max(self.cwnd_bytes)
        };
    }

    fn set_rate(&mut self, srtt: Duration) {
        let gain = self.pacing_gain();
        if !self.seen_rtt && !srtt.is_zero() {
            self.seen_rtt = true;
            self.rate_bytes_per_s = gain * self.cwnd_bytes / srtt.as_secs_f64();
        }
        let rate = gain * self.bandwidth.get() * (1.0 - self.config.pacing_margin);
        if rate > 0.0 && (self.pipe.is_filled() || rate > self.rate_bytes_per_s) {
            self.rate_bytes_per_s = rate;
        }
    }

    fn set_cwnd(&mut self, ack: &Ack) {
        let acked = ack.acked_bytes as f64;
        if self.recovery.is_some_and(|recovery| recovery.conserving) {
            self.cwnd_bytes = self.cwnd_bytes.max(ack.in_flight_bytes as f64 + acked);
        } else {
            let extra = match self.config.ack_aggregation && self.pipe.is_filled() {
                true => self.aggregation.excess_bytes(self.bandwidth.get()),
                false => 0.0,
            };
            let target = self.target_bytes(self.cwnd_gain(), extra);
            let initial = self.config.initial_window_segments * self.segment_bytes;
            if self.pipe.is_filled() {
                self.cwnd_bytes = (self.cwnd_bytes + acked).min(target);
            } else if self.cwnd_bytes < target || (self.delivery.delivered_bytes() as f64) < initial {
                self.cwnd_bytes += acked;
            }
            self.cwnd_bytes = self.cwnd_bytes.max(MIN_WINDOW_SEGMENTS * self.segment_bytes);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd_bytes = self.cwnd_bytes.min(self.probe_rtt_cwnd_bytes());
        }
        self.cwnd_bytes = self.cwnd_bytes.min(self.config.max_window_segments * self.segment_bytes);
    }
}

impl CongestionControl for Bbr {
    fn on_sent(&mut self, sent: &Sent) {
        self.delivery.on_sent(sent);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.last_ack = LastAck::of(ack);
        if ack.app_limited {
            self.delivery.set_app_limited(ack.in_flight_bytes);
        }
        if self.recovery.is_some_and(|recovery| ack.newest_sent > recovery.last_loss) {
            self.recovery = None;
            self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
        }
        let mut round = false;
        if let Some(sample) = self.delivery.on_ack(ack, self.min_rtt.get()) {
            round = self.begins_round(&sample);
            if !sample.app_limited || sample.bytes_per_s >= self.bandwidth.get() {
                self.bandwidth.update(self.round, sample.bytes_per_s);
            }
            self.aggregation.on_ack(ack.now, ack.acked_bytes, self.bandwidth.get(), self.cwnd_bytes, round);
            self.check_phase(ack);
            if round && !sample.app_limited {
                self.pipe.on_round(self.bandwidth.get());
            }
        }
        self.check_drain(ack);
        self.check_probe_rtt(ack, round);
        self.set_rate(ack.srtt);
        self.set_cwnd(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.cycle.on_loss();
        let in_flight = loss.in_flight_bytes as f64;
        if let Some(recovery) = &mut self.recovery {
            recovery.last_loss = loss.now;
            self.cwnd_bytes = (self.cwnd_bytes - loss.lost_bytes as f64).max(self.segment_bytes);
        } else {
            self.save_cwnd();
            self.recovery = Some(Recovery { last_loss: loss.now, conserving: true });
            self.next_round_delivered = self.delivery.delivered_bytes();
            self.cwnd_bytes = in_flight + (self.last_ack.bytes_at(loss.now) as f64).max(self.segment_bytes);
        }
        if loss.persistent {
            self.pipe.forget_best();
            self.cwnd_bytes = self.segment_bytes;
        }
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.segment_bytes = segment_bytes as f64;
    }

    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes as u64
    }

    fn ssthresh_bytes(&self) -> Option<u64> {
        None
    }

    fn rate_bytes_per_s(&self) -> Option<f64> {
        Some(self.rate_bytes_per_s)
    }

    fn state(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBw => "probe_bw",
            Mode::ProbeRtt => "probe_rtt",
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
