//! A controller that passes every call on to one of quinn's own and writes down what came of it.
//!
//! It decides nothing: each method delegates before it looks, and it looks only through the public `window()`,
//! `metrics()` and `Debug`. Packet traces with and without it are the same.

use std::any::Any;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::congestion::{Bbr, Controller, ControllerFactory, ControllerMetrics, Cubic, NewReno};
use quinn_proto::RttEstimator;

use crate::transport_log::{lock, Event, Row, SharedLog};

/// A controller of quinn's whose state has a name.
pub trait Observed: Controller + Clone + 'static {
    /// The controller's own word for the mode it is in, where it keeps one.
    fn mode(&self) -> Option<&'static str> {
        None
    }
}

impl Observed for Cubic {}

impl Observed for NewReno {}

impl Observed for Bbr {
    /// BBR's mode is a private field that only `Debug` shows.
    fn mode(&self) -> Option<&'static str> {
        let mut finder = ModeFinder { armed: false, mode: None };
        // The finder stops the formatting with an error as soon as it has seen the field.
        let _ = write!(finder, "{self:?}");
        finder.mode
    }
}

/// Picks the value of the field `mode` out of derived `Debug` output, in which a name, the `": "` after it and a
/// fieldless variant each come as one piece.
struct ModeFinder {
    armed: bool,
    mode: Option<&'static str>,
}

impl Write for ModeFinder {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if !self.armed {
            self.armed = piece == "mode";
            return Ok(());
        }
        if piece == ": " {
            return Ok(());
        }
        self.mode = match piece {
            "Startup" => Some("startup"),
            "Drain" => Some("drain"),
            "ProbeBw" => Some("probe_bw"),
            "ProbeRtt" => Some("probe_rtt"),
            _ => None,
        };
        Err(fmt::Error)
    }
}

/// Builds logged controllers. `build` is the constructor of quinn's controller.
pub struct LoggedFactory<Config, Build> {
    config: Arc<Config>,
    build: Build,
    log: SharedLog,
}

impl<Config, Build> LoggedFactory<Config, Build> {
    pub fn new<C>(config: Arc<Config>, build: Build, log: SharedLog) -> Self
    where
        Build: Fn(Arc<Config>, Instant, u16) -> C,
    {
        Self { config, build, log }
    }
}

impl<Config, Build, C> ControllerFactory for LoggedFactory<Config, Build>
where
    Config: Send + Sync,
    Build: Fn(Arc<Config>, Instant, u16) -> C,
    C: Observed,
{
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = (self.build)(self.config.clone(), now, current_mtu);
        Box::new(Logged::start(inner, now, self.log.clone()))
    }
}

/// One of quinn's controllers, observed.
#[derive(Clone)]
struct Logged<C> {
    inner: C,
    /// Smoothed RTT at the last acknowledgement.
    srtt: Option<Duration>,
    /// When the present recovery period began: packets sent up to then neither grow nor cut the window
    /// (RFC 9002 section 7.3.2; quinn's cubic and reno keep the same time, privately).
    recovery_start: Option<Instant>,
    log: SharedLog,
}

impl<C: Observed> Logged<C> {
    /// Observe `inner` from its first moment on.
    fn start(inner: C, now: Instant, log: SharedLog) -> Self {
        let controller = Self { inner, srtt: None, recovery_start: None, log };
        controller.record(now, Event::Start, None);
        controller
    }

    /// A packet sent after the recovery period began is acknowledged: it is over.
    fn note_ack(&mut self, sent: Instant) {
        if self.recovery_start.is_some_and(|start| sent > start) {
            self.recovery_start = None;
        }
    }

    fn state(&self, ssthresh_bytes: Option<u64>) -> Option<&'static str> {
        if let Some(mode) = self.inner.mode() {
            return Some(mode);
        }
        let ssthresh_bytes = ssthresh_bytes?;
        Some(if self.recovery_start.is_some() {
            "recovery"
        } else if self.inner.window() < ssthresh_bytes {
            "slow_start"
        } else {
            "congestion_avoidance"
        })
    }

    fn record(&self, at: Instant, event: Event, in_flight_bytes: Option<u64>) {
        let metrics = self.inner.metrics();
        lock(&self.log).record(&Row {
            at,
            event,
            cwnd_bytes: metrics.congestion_window,
            // Before the first loss the threshold is infinite, which no number says.
            ssthresh_bytes: metrics.ssthresh.filter(|&bytes| bytes != u64::MAX),
            in_flight_bytes,
            srtt: self.srtt,
            pacing_bps: metrics.pacing_rate,
            state: self.state(metrics.ssthresh),
        });
    }
}

impl<C: Observed> Controller for Logged<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.srtt = Some(rtt.get());
        self.note_ack(sent);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.record(now, Event::Ack, Some(in_flight));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        if is_persistent_congestion {
            // The window collapses, and slow start follows.
            self.recovery_start = None;
        } else if self.recovery_start.is_none_or(|start| sent > start) {
            self.recovery_start = Some(now);
        }
        self.record(now, Event::Loss, None);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    /// quinn's own controller, so that a read-back sees the type that decides.
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        Box::new(self.inner)
    }
}

#[cfg(test)]
#[path = "controller_tests.rs"]
mod tests;
