//! CUBIC's window growth (RFC 9438), for one flow or for one that stands for N.
//!
//! All windows in segments, all times in seconds.

use std::time::Duration;

use super::Time;

/// Which of two texts decides where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// RFC 9438: the curve is read one smoothed RTT ahead; the Reno-friendly estimate grows by a whole segment a
    /// round trip once it has reached the window before the last reduction (section 4.3); a flow that left slow
    /// start without a loss follows the convex curve from there.
    Rfc9438,
    /// Linux (net/ipv4/tcp_cubic.c): the curve is read one *minimum* RTT ahead; the estimate always grows by α;
    /// before the first loss the window grows by at least 5 % a round trip.
    Linux,
}

/// What fast convergence (RFC 9438, section 4.7) does to a flow that lost before it was back at its old maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastConvergence {
    Off,
    /// It remembers less than it had: W_max = cwnd·(1+β)/2.
    On,
    /// A fault once seen in the field: the window, too, is cut from that lesser value: cwnd·β·(1+β)/2.
    Twice,
}

/// A β of its own for paths with a short round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortRtt {
    /// The minimum RTT below which it holds.
    pub below: Duration,
    pub beta: f64,
}

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// C, segments/s³.
    pub c: f64,
    /// β of one connection: the window after a loss over that before it.
    pub beta: f64,
    /// The same where the round trip is short, if that differs.
    pub short_rtt: Option<ShortRtt>,
    /// N, connections that this one stands for (Chromium's `num_connections`).
    pub connections: f64,
    pub fast_convergence: FastConvergence,
    /// Never slower than Reno would be (RFC 9438, section 4.3).
    pub reno_friendly: bool,
    pub flavour: Flavour,
}

impl CubicConfig {
    /// β of one connection at this minimum RTT.
    fn beta_at(&self, min_rtt: Duration) -> f64 {
        match self.short_rtt {
            Some(short) if min_rtt < short.below => short.beta,
            _ => self.beta,
        }
    }

    /// β of the whole: one of N connections backs off.
    pub fn effective_beta(&self, min_rtt: Duration) -> f64 {
        (self.connections - 1.0 + self.beta_at(min_rtt)) / self.connections
    }

    /// Additive increase of the Reno-friendly estimate in segments a round trip: 3·(1-β)/(1+β) for one connection
    /// (RFC 9438, section 4.3), 3·N²·(1-β)/(1+β) for N (Chromium's `CubicBytes::Alpha`).
    pub fn alpha(&self, min_rtt: Duration) -> f64 {
        let beta = self.effective_beta(min_rtt);
        3.0 * self.connections * self.connections * (1.0 - beta) / (1.0 + beta)
    }
}

/// Growth before the first loss in `Flavour::Linux`: the share of the window that each round trip adds at least.
const LINUX_FIRST_GROWTH: f64 = 0.05;

/// One congestion-avoidance stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    start: Time,
    k_s: f64,
    origin_segments: f64,
    estimate_segments: f64,
}

#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    /// W_max; 0 before the first loss.
    w_max_segments: f64,
    /// The window before the last reduction.
    prior_segments: f64,
    epoch: Option<Epoch>,
    last_ack: Time,
}

impl Cubic {
    pub fn new(config: CubicConfig) -> Self {
        Self { config, w_max_segments: 0.0, prior_segments: 0.0, epoch: None, last_ack: Time::ZERO }
    }

    /// The window after a loss at `cwnd_segments` (RFC 9438, sections 4.6 and 4.7).
    pub fn reduce(&mut self, cwnd_segments: f64, min_rtt: Duration) -> f64 {
        let beta = self.config.effective_beta(min_rtt);
        let converging =
            self.config.fast_convergence != FastConvergence::Off && cwnd_segments < self.w_max_segments;
        self.prior_segments = cwnd_segments;
        self.w_max_segments = if converging { cwnd_segments * (1.0 + beta) / 2.0 } else { cwnd_segments };
        self.epoch = None;
        if converging && self.config.fast_convergence == FastConvergence::Twice {
            return self.w_max_segments * beta;
        }
        cwnd_segments * beta
    }

    /// Everything that was known is void (after persistent congestion).
    pub fn reset(&mut self) {
        *self = Self::new(self.config);
    }

    /// Time in which the application sent less than the window, or nothing, does not count (RFC 9438, section 5.8).
    pub fn skip(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.saturating_sub(self.last_ack);
        }
        self.last_ack = now;
    }

    /// The window after `acked_segments` more were acknowledged in congestion avoidance.
    pub fn grow(
        &mut self,
        now: Time,
        cwnd_segments: f64,
        acked_segments: f64,
        srtt: Duration,
        min_rtt: Duration,
    ) -> f64 {
        self.last_ack = now;
        let (config, w_max) = (self.config, self.w_max_segments);
        let mut epoch = *self.epoch.get_or_insert_with(|| begin(&config, now, cwnd_segments, w_max));
        let cwnd = cwnd_segments;

        let ahead = if config.flavour == Flavour::Rfc9438 { srtt } else { min_rtt };
        let t_s = (now - epoch.start).as_secs_f64();
        let at = |t_s: f64| config.c * (t_s - epoch.k_s).powi(3) + epoch.origin_segments;
        let target = at(t_s + ahead.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        let mut step = (target - cwnd) / cwnd * acked_segments;
        if config.flavour == Flavour::Linux && self.w_max_segments == 0.0 {
            step = step.max(LINUX_FIRST_GROWTH * acked_segments);
        }
        let mut grown = cwnd + step;

        if config.reno_friendly {
            let alpha = match config.flavour {
                Flavour::Rfc9438 if epoch.estimate_segments >= self.prior_segments => {
                    config.connections * config.connections
                }
                _ => config.alpha(min_rtt),
            };
            epoch.estimate_segments += alpha * acked_segments / cwnd;
            if at(t_s) < epoch.estimate_segments {
                grown = grown.max(epoch.estimate_segments);
            }
        }
        self.epoch = Some(epoch);
        grown
    }
}

/// Begin a congestion-avoidance stage at `cwnd` segments (RFC 9438, section 4.2).
fn begin(config: &CubicConfig, now: Time, cwnd: f64, w_max: f64) -> Epoch {
    let (k_s, origin_segments) =
        if w_max > cwnd { (((w_max - cwnd) / config.c).cbrt(), w_max) } else { (0.0, cwnd) };
    Epoch { start: now, k_s, origin_segments, estimate_segments: cwnd }
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
