//! BBR's parameters: its gains, thresholds and times.

use std::time::Duration;

/// Phases of ProbeBW's gain cycle.
pub const CYCLE_LENGTH: usize = 8;

/// The window in ProbeRTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbeRttWindow {
    Segments(f64),
    /// This many bandwidth-delay products.
    BdpGain(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    pub initial_window_segments: f64,
    pub max_window_segments: f64,
    /// Pacing gain of Startup.
    pub startup_gain: f64,
    /// Window gain of Startup and Drain.
    pub startup_cwnd_gain: f64,
    pub drain_gain: f64,
    /// Window gain of ProbeBW.
    pub cwnd_gain: f64,
    /// Pacing gains of ProbeBW's phases.
    pub cycle_gains: [f64; CYCLE_LENGTH],
    /// Startup goes on while a round raises the bandwidth by this factor …
    pub full_bandwidth_threshold: f64,
    /// … and ends when this many rounds in a row have not.
    pub full_bandwidth_rounds: u32,
    pub bandwidth_window_rounds: u64,
    pub min_rtt_window: Duration,
    /// ProbeRTT comes when no RTT below the least one was seen for this long.
    pub probe_rtt_interval: Duration,
    pub probe_rtt_duration: Duration,
    pub probe_rtt_window: ProbeRttWindow,
    /// The pacing rate stays this share below the estimate.
    pub pacing_margin: f64,
    /// Make room for bunched ACKs.
    pub ack_aggregation: bool,
}

impl BbrConfig {
    /// The values of the draft, as Linux has them.
    pub fn draft() -> Self {
        Self {
            initial_window_segments: 10.0,
            max_window_segments: f64::INFINITY,
            startup_gain: 2.885,
            startup_cwnd_gain: 2.885,
            drain_gain: 1.0 / 2.885,
            cwnd_gain: 2.0,
            cycle_gains: [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            full_bandwidth_threshold: 1.25,
            full_bandwidth_rounds: 3,
            bandwidth_window_rounds: 10,
            min_rtt_window: Duration::from_secs(10),
            probe_rtt_interval: Duration::from_secs(10),
            probe_rtt_duration: Duration::from_millis(200),
            probe_rtt_window: ProbeRttWindow::Segments(4.0),
            pacing_margin: 0.01,
            ack_aggregation: true,
        }
    }
}
