//! quinn-proto's controller interface, passed on.

use std::any::Any;
use std::time::Instant;

use super::{Logged, Observed};
use crate::proto::congestion::{Bbr, Controller, ControllerMetrics};
use crate::proto::RttEstimator;

impl Observed for Bbr {
    /// BBR's mode is a private field that only `Debug` shows.
    fn state(&self) -> Option<&'static str> {
        const MODES: [(&str, &str); 4] =
            [("Startup", "startup"), ("Drain", "drain"), ("ProbeBw", "probe_bw"), ("ProbeRtt", "probe_rtt")];
        super::debug_field(self, "mode", &MODES)
    }
}

impl<C: Observed> Controller for Logged<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
        self.sent(now);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.acknowledged(sent, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.acknowledgements_end(now, in_flight);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, is_persistent, lost_bytes);
        self.congested(now, sent, is_persistent);
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

    /// The observed controller, so that a read-back sees the type that decides.
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        Box::new(self.inner)
    }
}
