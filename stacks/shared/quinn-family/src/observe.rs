//! A controller that passes every call on to the one it observes and writes down what came of it.
//!
//! It decides nothing: each method delegates before it looks, and it looks only through the public `window()`,
//! `metrics()` and `Debug`. Packet traces with and without it are the same.

use std::fmt::{self, Write};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cambrian_endpoint::transport_log::{self, lock, Row, SharedLog};

use crate::proto::congestion::{Controller, ControllerFactory, Cubic, NewReno};
use crate::proto::{pacing_bps, RttEstimator};

#[cfg(all(feature = "noq", not(feature = "quinn")))]
#[path = "observe_noq.rs"]
mod delegate;
#[cfg(feature = "quinn")]
#[path = "observe_quinn.rs"]
mod delegate;

/// A controller whose state has a name.
pub trait Observed: Controller + fmt::Debug + Clone + 'static {
    /// The controller's own word for the state it is in, where it keeps one. Without one, a controller with a slow
    /// start threshold is in `slow_start`, `congestion_avoidance` or, by RFC 9002 section 7.3.2, in `recovery`.
    fn state(&self) -> Option<&'static str> {
        None
    }

    /// The controller's own smoothed RTT, where it goes by another than the transport's.
    fn srtt(&self) -> Option<Duration> {
        None
    }

    /// The controller's own count of bytes in flight, likewise.
    fn in_flight_bytes(&self) -> Option<u64> {
        None
    }

    /// Has a probe timeout to which the controller reacts come since this was last asked?
    fn timed_out(&mut self) -> bool {
        false
    }
}

impl Observed for Cubic {}

impl Observed for NewReno {}

/// The value of the field `name` in the derived `Debug` output of `value`, looked up among `words` (variant, word):
/// for a private field that nothing else shows. In such output a name, the `": "` after it and a variant's name each
/// come as one piece.
pub fn debug_field(
    value: &impl fmt::Debug,
    name: &str,
    words: &[(&str, &'static str)],
) -> Option<&'static str> {
    let mut finder = FieldFinder { name, words, armed: false, found: None };
    // The finder stops the formatting with an error as soon as it has seen the field.
    let _ = write!(finder, "{value:?}");
    finder.found
}

struct FieldFinder<'a> {
    name: &'a str,
    words: &'a [(&'a str, &'static str)],
    armed: bool,
    found: Option<&'static str>,
}

impl Write for FieldFinder<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if !self.armed {
            self.armed = piece == self.name;
            return Ok(());
        }
        if piece == ": " {
            return Ok(());
        }
        self.found = self.words.iter().find(|(variant, _)| *variant == piece).map(|(_, word)| *word);
        Err(fmt::Error)
    }
}

/// A factory whose controllers, of type `C`, are observed.
pub fn observed<C: Observed>(
    factory: Arc<dyn ControllerFactory + Send + Sync>,
    log: SharedLog,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(ObservedFactory::<C> { factory, log, controller: PhantomData })
}

struct ObservedFactory<C> {
    factory: Arc<dyn ControllerFactory + Send + Sync>,
    log: SharedLog,
    controller: PhantomData<fn() -> C>,
}

impl<C: Observed> ControllerFactory for ObservedFactory<C> {
    /// # Panics
    /// If the factory's controllers are not of type `C`.
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        match self.factory.clone().build(now, current_mtu).into_any().downcast::<C>() {
            Ok(inner) => Box::new(Logged::start(*inner, now, self.log.clone())),
            Err(_) => panic!("the factory makes no {}", std::any::type_name::<C>()),
        }
    }
}

/// A controller, observed.
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

/// The observed controller's: the observer has nothing to show.
impl<C: fmt::Debug> fmt::Debug for Logged<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<C: Observed> Logged<C> {
    /// Observe `inner` from its first moment on.
    fn start(inner: C, now: Instant, log: SharedLog) -> Self {
        let controller = Self { inner, srtt: None, recovery_start: None, log };
        controller.record(now, transport_log::Event::Start, None);
        controller
    }

    /// A packet is acknowledged. If it was sent after the recovery period began, that is over.
    fn acknowledged(&mut self, sent: Instant, rtt: &RttEstimator) {
        self.srtt = Some(rtt.get());
        self.end_recovery(sent);
    }

    fn end_recovery(&mut self, sent: Instant) {
        if self.recovery_start.is_some_and(|start| sent > start) {
            self.recovery_start = None;
        }
    }

    /// A datagram has left. Timeouts do not reach a controller, but what they send does.
    fn sent(&mut self, now: Instant) {
        if self.inner.timed_out() {
            self.record(now, transport_log::Event::Pto, None);
        }
    }

    /// All packets of one acknowledgement have been seen to.
    fn acknowledgements_end(&self, now: Instant, in_flight_bytes: u64) {
        self.record(now, transport_log::Event::Ack, Some(in_flight_bytes));
    }

    /// Packets sent up to `sent` are lost or marked.
    fn congested(&mut self, now: Instant, sent: Instant, is_persistent: bool) {
        if is_persistent {
            // The window collapses, and slow start follows.
            self.recovery_start = None;
        } else if self.recovery_start.is_none_or(|start| sent > start) {
            self.recovery_start = Some(now);
        }
        self.record(now, transport_log::Event::Loss, None);
    }

    fn state(&self, ssthresh_bytes: Option<u64>) -> Option<&'static str> {
        if let Some(state) = self.inner.state() {
            return Some(state);
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

    fn record(&self, at: Instant, event: transport_log::Event, in_flight_bytes: Option<u64>) {
        let metrics = self.inner.metrics();
        let row = Row {
            event,
            cwnd_bytes: Some(metrics.congestion_window),
            // Before the first loss the threshold is infinite, which no number says.
            ssthresh_bytes: metrics.ssthresh.filter(|&bytes| bytes != u64::MAX),
            in_flight_bytes: in_flight_bytes.map(|bytes| self.inner.in_flight_bytes().unwrap_or(bytes)),
            srtt: self.inner.srtt().or(self.srtt),
            pacing_bps: pacing_bps(&metrics),
            state: self.state(metrics.ssthresh),
        };
        lock(&self.log).record(at, &row);
    }
}

#[cfg(test)]
#[path = "observe_tests.rs"]
mod tests;
