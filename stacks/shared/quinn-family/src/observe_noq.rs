//! noq-proto's controller interface, passed on.

use std::any::Any;
use std::time::{Duration, Instant};

use super::{Logged, Observed};
use crate::proto::congestion::{Bbr3, Controller, ControllerMetrics};
use crate::proto::RttEstimator;

impl Observed for Bbr3 {
    /// BBR's state is a private field that only `Debug` shows.
    fn state(&self) -> Option<&'static str> {
        const STATES: [(&str, &str); 4] =
            [("Startup", "startup"), ("Drain", "drain"), ("ProbeBw", "probe_bw"), ("ProbeRtt", "probe_rtt")];
        super::debug_field(self, "state", &STATES)
    }
}

impl<C: Observed> Controller for Logged<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.inner.on_sent(now, bytes, largest);
        self.sent(now);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
        self.acknowledged(sent, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.acknowledgements_end(now, in_flight);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        self.inner.on_congestion_event(now, sent, is_persistent, is_ecn, lost_bytes, largest_lost);
        self.congested(now, sent, is_persistent);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, number, now);
    }

    /// Every packet of the last congestion event has arrived after all. A controller that takes its reaction back is
    /// in recovery no more.
    fn on_spurious_congestion_event(&mut self) {
        let before_bytes = self.inner.window();
        self.inner.on_spurious_congestion_event();
        if self.inner.window() > before_bytes {
            self.recovery_start = None;
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
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
