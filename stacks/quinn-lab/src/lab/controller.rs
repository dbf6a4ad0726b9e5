//! quinn's interfaces on top of a [`Flow`].

use std::any::Any;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cambrian_quinn_family::gate::{Gate, GateSource};
use cambrian_quinn_family::observe::Observed;
use cambrian_quinn_family::proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use cambrian_quinn_family::proto::RttEstimator;

use super::flow::Flow;
use crate::knobs::Knobs;

/// A flow, shared by its controller and its gate. Both are called by one thread, in turn.
#[derive(Clone)]
struct Shared(Arc<Mutex<Flow>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Flow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the controllers of a preset, and leaves the last one's gate to be fetched.
pub struct LabFactory {
    name: &'static str,
    knobs: Knobs,
    newest: Mutex<Option<Shared>>,
}

impl LabFactory {
    pub fn new(name: &'static str, knobs: Knobs) -> Arc<Self> {
        Arc::new(Self { name, knobs, newest: Mutex::new(None) })
    }

    fn newest(&self) -> MutexGuard<'_, Option<Shared>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for LabFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        // Hash keys are the standard library's way to the operating system's randomness.
        let random = RandomState::new().hash_one(0_u8);
        let flow = Shared(Arc::new(Mutex::new(Flow::new(&self.knobs, now, current_mtu, random))));
        *self.newest() = Some(flow.clone());
        Box::new(LabController { name: self.name, flow })
    }
}

/// The gates of a factory's controllers, in the order in which these are made.
pub fn gates(factory: Arc<LabFactory>) -> GateSource {
    Box::new(move || {
        let flow = factory.newest().take()?;
        Some(Box::new(flow) as Box<dyn Gate>)
    })
}

/// The preset that a live connection's controller was made from, or `None` if it is not the lab's.
pub fn name_of(controller: &dyn Controller) -> Option<String> {
    let controller = controller.clone_box().into_any();
    controller.downcast_ref::<LabController>().map(|lab| lab.name.to_owned())
}

/// A controller of the lab. Its clones, which quinn makes when a path changes, go on with the same flow.
#[derive(Clone)]
pub struct LabController {
    name: &'static str,
    flow: Shared,
}

impl fmt::Debug for LabController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabController").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Observed for LabController {
    fn state(&self) -> Option<&'static str> {
        Some(self.flow.lock().algorithm().state())
    }

    fn srtt(&self) -> Option<Duration> {
        self.flow.lock().own_srtt()
    }

    fn in_flight_bytes(&self) -> Option<u64> {
        Some(self.flow.lock().in_flight_bytes())
    }

    fn timed_out(&mut self) -> bool {
        self.flow.lock().take_reaction_to_timeout()
    }
}

impl Controller for LabController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.flow.lock().on_sent(now, bytes);
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        self.flow.lock().on_packet_acked(sent, bytes, rtt.get());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.flow.lock().on_ack_end(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.flow.lock().on_loss(now, sent, lost_bytes, is_persistent_congestion);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.lock().set_segment_bytes(new_mtu);
    }

    fn window(&self) -> u64 {
        self.flow.lock().window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let flow = self.flow.lock();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = flow.told_window();
        metrics.ssthresh = flow.algorithm().ssthresh_bytes();
        metrics.pacing_rate = flow.pacing_bytes_per_s().map(|rate| (rate * 8.0) as u64);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.flow.lock().initial_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Gate for Shared {
    fn open(&mut self, now: Instant) -> Option<Instant> {
        self.lock().open(now)
    }

    fn passes(&mut self, _now: Instant) -> bool {
        self.lock().passes()
    }

    fn timed_out(&mut self, now: Instant) {
        self.lock().on_timeout(now);
    }

    fn close(&mut self) {
        self.lock().close();
    }
}

#[cfg(test)]
mod tests {
    use cambrian_quinn_family::cca::logged;
    use cambrian_quinn_family::endpoint::clock::Anchor;
    use cambrian_quinn_family::endpoint::transport_log::{lock, TransportLog};

    use super::*;
    use crate::presets::{self, PRESETS};

    #[test]
    fn every_preset_is_read_back_and_its_gate_belongs_to_its_controller() {
        for preset in PRESETS {
            let factory = LabFactory::new(preset.name, preset.knobs().unwrap());
            let mut gates = gates(factory.clone());
            assert!(gates().is_none());
            let now = Instant::now();
            let controller = factory.build(now, 1200);
            assert_eq!(name_of(&*controller).as_deref(), Some(preset.name));
            let (cwnd, told) = (controller.window(), controller.metrics().congestion_window);
            let mut gate = gates().unwrap();
            gate.open(now);
            assert!(controller.window() > u64::from(u32::MAX), "{}", preset.name);
            gate.close();
            assert_eq!((controller.window(), controller.metrics().congestion_window), (cwnd, told));
        }
    }

    #[test]
    fn the_log_has_the_flow_s_own_figures_and_a_row_for_each_timeout_that_it_reacts_to() {
        let mut knobs = presets::find("cubic-timeout-reset").unwrap().knobs().unwrap();
        for (key, value) in [("srtt_gain", "0.25"), ("lost_in_flight", "true")] {
            knobs.set(key, value).unwrap();
        }
        let factory = LabFactory::new("cubic-timeout-reset", knobs);
        let file = std::env::temp_dir().join(format!("quinn-lab-log-{}", std::process::id()));
        let (start, rtt) = (Instant::now(), Duration::from_millis(100));
        let log = TransportLog::create(&file, Anchor::now()).unwrap();
        let mut controller = logged::<LabController>(factory.clone(), Some(log.clone())).build(start, 1000);
        let flow = factory.newest().take().unwrap();
        controller.on_sent(start, 1000, 0);
        flow.lock().on_packet_acked(start, 1000, 2 * rtt);
        controller.on_end_acks(start + rtt, 5000, false, None);
        controller.on_congestion_event(start + rtt, start, false, 2000);
        controller.on_end_acks(start + rtt, 3000, false, None);
        let mut gate: Box<dyn Gate> = Box::new(flow);
        gate.close();
        gate.timed_out(start + 4 * rtt);
        controller.on_sent(start + 4 * rtt, 1000, 1);
        controller.on_sent(start + 4 * rtt, 1000, 2);
        lock(&log).flush();
        let rows = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        let column = |row: &str, number: usize| row.split(',').nth(number).unwrap().to_owned();
        let rows: Vec<_> = rows.lines().skip(2).map(|row| [1, 2, 4, 5].map(|n| column(row, n))).collect();
        assert_eq!(
            rows,
            [
                ["ack", "11000", "5000", "100000"],
                ["loss", "7699", "", "100000"],
                ["ack", "7699", "5000", "100000"],
                ["pto", "2000", "", "100000"],
            ]
        );
    }
}
