//! Every knob of the lab, by the name that `--set NAME=VALUE` and the presets use.

use std::time::Duration;

use cambrian_quinn_family::endpoint::settings::{boolean, number, unknown, Pairs};
use cambrian_quinn_family::endpoint::{Error, Result};
use cambrian_quinn_family::proto::TransportConfig;
use cambrian_quinn_family::settings::TransportSettings;

use crate::controllers::{
    BbrConfig, CubicConfig, FastConvergence, Flavour, Growth, LossBasedConfig, ProbeRttWindow, RecoveryEnd,
    ShortRtt, SlowStartExit, CYCLE_LENGTH,
};
use crate::fault_knobs::{self, FaultKnobs};
use crate::pacer::Pacing;
use crate::presets;

/// Largest UDP payload of an IPv4 packet of 1500 bytes, the lab's default: as long on the wire as TCP's full
/// segments.
const FULL_DATAGRAM_BYTES: u16 = 1472;

/// UDP payload that every path must carry (RFC 9000, section 14).
const SMALLEST_DATAGRAM_BYTES: u16 = 1200;

/// Where a β that adapts changes: halfway, on a logarithmic scale, between 10 ms, up to which β 0.6 was published to
/// load pages sooner than 0.7, and 200 ms, from which on it was published to load them later (Zaher and Molnár).
const SHORT_RTT: Duration = Duration::from_millis(45);

/// The gain at which RFC 9002, section 7.7, suggests to pace.
const LOSS_BASED_PACING_GAIN: f64 = 1.25;

/// The algorithm, apart from its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Reno,
    Cubic,
    Bbr,
}

/// Where every knob stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Knobs {
    pub algorithm: Algorithm,
    pub initial_window_packets: f64,
    /// Infinite: no bound.
    pub max_window_packets: f64,
    pub pacing: Pacing,
    /// What `pacing = true` paces at.
    pub pacing_gain: f64,
    pub pacing_train_packets: u32,
    pub beta: f64,
    /// Whether CUBIC has another β where the round trip is short.
    pub beta_by_rtt: bool,
    pub short_rtt: ShortRtt,
    pub connections: f64,
    pub c: f64,
    pub fast_convergence: FastConvergence,
    pub reno_friendly: bool,
    pub flavour: Flavour,
    pub slow_start_exit: SlowStartExit,
    pub prr: bool,
    pub recovery_end: RecoveryEnd,
    pub rollback: bool,
    pub bbr: BbrConfig,
    pub tail_loss_probes: bool,
    pub faults: FaultKnobs,
    pub transport: TransportSettings,
}

/// The names that `set` takes besides those of faults and the transport's own.
pub const KEYS: [&str; 35] = [
    "preset",
    "initial_window_packets",
    "max_window_packets",
    "pacing",
    "pacing_gain",
    "pacing_train_packets",
    "beta",
    "beta_by_rtt",
    "beta_short_rtt",
    "short_rtt_ms",
    "connections",
    "c",
    "fast_convergence",
    "reno_friendly",
    "flavour",
    "slow_start_exit",
    "prr",
    "recovery_end",
    "rollback",
    "startup_gain",
    "startup_cwnd_gain",
    "drain_gain",
    "cwnd_gain",
    "probe_bw_gains",
    "full_bandwidth_threshold",
    "full_bandwidth_rounds",
    "bandwidth_window_rounds",
    "min_rtt_window_s",
    "probe_rtt_interval_s",
    "probe_rtt_duration_ms",
    "probe_rtt_packets",
    "probe_rtt_gain",
    "pacing_margin",
    "ack_aggregation",
    "tail_loss_probes",
];

impl Knobs {
    /// The defaults of an algorithm: the textbook's, and where that leaves a choice, Linux's.
    pub fn of(algorithm: Algorithm) -> Self {
        let cubic = algorithm == Algorithm::Cubic;
        Self {
            algorithm,
            initial_window_packets: 10.0,
            max_window_packets: f64::INFINITY,
            pacing: if algorithm == Algorithm::Bbr { Pacing::Factor(1.0) } else { Pacing::Off },
            pacing_gain: if algorithm == Algorithm::Bbr { 1.0 } else { LOSS_BASED_PACING_GAIN },
            pacing_train_packets: 1,
            beta: if cubic { 0.7 } else { 0.5 },
            beta_by_rtt: false,
            short_rtt: ShortRtt { below: SHORT_RTT, beta: 0.6 },
            connections: 1.0,
            c: 0.4,
            fast_convergence: FastConvergence::On,
            reno_friendly: true,
            flavour: Flavour::Linux,
            slow_start_exit: if cubic { SlowStartExit::HyStart } else { SlowStartExit::Loss },
            prr: true,
            recovery_end: RecoveryEnd::Rfc6675,
            rollback: false,
            bbr: BbrConfig::draft(),
            tail_loss_probes: true,
            faults: FaultKnobs::NONE,
            transport: TransportSettings {
                initial_udp_payload_bytes: Some(FULL_DATAGRAM_BYTES),
                ..TransportSettings::default()
            },
        }
    }

    /// The knobs of a CCA of the manifest, with these changes. Their order is no part of a trial's description, so
    /// a preset comes first, and `pacing` after the gain that turns it on.
    pub fn of_cca(cca: &str, pairs: &Pairs) -> Result<Self> {
        let mut knobs = presets::find(cca)?.knobs()?;
        let mut ordered: Vec<_> = pairs.iter().collect();
        ordered.sort_by_key(|(key, _)| match key.as_str() {
            "preset" => 0,
            "pacing" => 2,
            _ => 1,
        });
        for (key, value) in &ordered {
            knobs.set(key, value)?;
        }
        let given = |name| ordered.iter().any(|(key, _)| key == name);
        if given("probe_rtt_gain") && given("probe_rtt_packets") {
            return Err(Error::Usage(
                "--set probe_rtt_gain, --set probe_rtt_packets: give one of them".into(),
            ));
        }
        Ok(knobs)
    }

    /// The knobs of a receiver, whose controller does not matter. Its first packets are as small as QUIC
    /// allows: some servers (quic-go) take no larger ones than an Ethernet's with IPv6.
    pub fn of_receiver(pairs: &Pairs) -> Result<Self> {
        let mut all: Pairs = vec![("initial_udp_payload_bytes".into(), SMALLEST_DATAGRAM_BYTES.to_string())];
        all.extend(pairs.iter().cloned());
        Self::of_cca("cubic", &all)
    }

    /// Turn one knob. An unknown name or a bad value is a usage error.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let bbr = &mut self.bbr;
        match key {
            "preset" => return self.apply(value),
            "initial_window_packets" => self.initial_window_packets = number(key, value, 1.0, 1e6)?,
            "max_window_packets" => {
                self.max_window_packets =
                    if value == "unlimited" { f64::INFINITY } else { number(key, value, 2.0, 1e9)? };
            }
            "pacing" => {
                self.pacing =
                    if boolean(key, value)? { Pacing::Factor(self.pacing_gain) } else { Pacing::Off };
            }
            "pacing_gain" => {
                self.pacing_gain = number(key, value, 0.01, 100.0)?;
                self.pacing = Pacing::Factor(self.pacing_gain);
            }
            "pacing_train_packets" => self.pacing_train_packets = number(key, value, 1, 1000)?,
            "beta" => self.beta = number(key, value, 0.01, 0.99)?,
            "beta_by_rtt" => self.beta_by_rtt = boolean(key, value)?,
            "beta_short_rtt" => self.short_rtt.beta = number(key, value, 0.01, 0.99)?,
            "short_rtt_ms" => self.short_rtt.below = seconds(key, value, 1e-3)?,
            "connections" => self.connections = number(key, value, 1.0, 100.0)?,
            "c" => self.c = number(key, value, 1e-6, 100.0)?,
            "fast_convergence" => {
                self.fast_convergence = word(
                    key,
                    value,
                    &[
                        ("none", FastConvergence::Off),
                        ("rfc9438", FastConvergence::On),
                        ("twice", FastConvergence::Twice),
                    ],
                )?;
            }
            "reno_friendly" => self.reno_friendly = boolean(key, value)?,
            "flavour" => {
                self.flavour = word(key, value, &[("linux", Flavour::Linux), ("rfc9438", Flavour::Rfc9438)])?;
            }
            "slow_start_exit" => {
                self.slow_start_exit = word(
                    key,
                    value,
                    &[
                        ("loss", SlowStartExit::Loss),
                        ("hystart", SlowStartExit::HyStart),
                        ("hystart++", SlowStartExit::HyStartPlusPlus),
                    ],
                )?;
            }
            "prr" => self.prr = boolean(key, value)?,
            "recovery_end" => {
                self.recovery_end = word(
                    key,
                    value,
                    &[("rfc6675", RecoveryEnd::Rfc6675), ("rfc9002", RecoveryEnd::Rfc9002)],
                )?;
            }
            "rollback" => self.rollback = boolean(key, value)?,
            "startup_gain" => bbr.startup_gain = number(key, value, 1.0, 10.0)?,
            "startup_cwnd_gain" => bbr.startup_cwnd_gain = number(key, value, 1.0, 10.0)?,
            "drain_gain" => bbr.drain_gain = number(key, value, 0.01, 1.0)?,
            "cwnd_gain" => bbr.cwnd_gain = number(key, value, 0.5, 100.0)?,
            "probe_bw_gains" => bbr.cycle_gains = gains(key, value)?,
            "full_bandwidth_threshold" => bbr.full_bandwidth_threshold = number(key, value, 1.0, 10.0)?,
            "full_bandwidth_rounds" => bbr.full_bandwidth_rounds = number(key, value, 1, 1000)?,
            "bandwidth_window_rounds" => bbr.bandwidth_window_rounds = number(key, value, 1, 100_000)?,
            "min_rtt_window_s" => bbr.min_rtt_window = seconds(key, value, 1.0)?,
            "probe_rtt_interval_s" => bbr.probe_rtt_interval = seconds(key, value, 1.0)?,
            "probe_rtt_duration_ms" => bbr.probe_rtt_duration = seconds(key, value, 1e-3)?,
            "probe_rtt_packets" => {
                bbr.probe_rtt_window = ProbeRttWindow::Segments(number(key, value, 1.0, 1e6)?);
            }
            "probe_rtt_gain" => {
                bbr.probe_rtt_window = ProbeRttWindow::BdpGain(number(key, value, 0.01, 10.0)?);
            }
            "pacing_margin" => bbr.pacing_margin = number(key, value, 0.0, 0.9)?,
            "ack_aggregation" => bbr.ack_aggregation = boolean(key, value)?,
            "tail_loss_probes" => self.tail_loss_probes = boolean(key, value)?,
            _ if self.faults.set(key, value)? => {}
            _ if self.transport.set(key, value)? => {}
            _ => {
                let keys = [&KEYS[..], &fault_knobs::KEYS[..], &TransportSettings::KEYS[..]].concat();
                return Err(unknown(key, &keys));
            }
        }
        Ok(())
    }

    /// Turn the knobs of a preset of the same algorithm.
    fn apply(&mut self, name: &str) -> Result<()> {
        let preset = presets::find(name)?;
        if preset.algorithm != self.algorithm {
            return Err(Error::Usage(format!(
                "--set preset={name}: belongs to {:?}, not to {:?}",
                preset.algorithm, self.algorithm
            )));
        }
        preset.turn(self)
    }

    /// The transport's parameters. Packets keep one size, so the path's MTU is not probed.
    pub fn transport_config(&self) -> TransportConfig {
        let mut config = self.transport.config();
        config.mtu_discovery_config(None);
        if let Some(bytes) = self.transport.initial_udp_payload_bytes {
            config.min_mtu(bytes);
        }
        if let Some(bytes) = self.faults.send_buffer_bytes {
            config.send_window(bytes);
        }
        config
    }

    /// The parameters of a loss-based controller.
    pub fn loss_based(&self) -> LossBasedConfig {
        let growth = match self.algorithm {
            Algorithm::Cubic => Growth::Cubic(CubicConfig {
                c: self.c,
                beta: self.beta,
                short_rtt: self.beta_by_rtt.then_some(self.short_rtt),
                connections: self.connections,
                fast_convergence: self.fast_convergence,
                reno_friendly: self.reno_friendly,
                flavour: self.flavour,
            }),
            Algorithm::Reno | Algorithm::Bbr => {
                Growth::Reno { beta: self.beta, connections: self.connections }
            }
        };
        LossBasedConfig {
            growth,
            initial_window_segments: self.initial_window_packets,
            max_window_segments: self.max_window_packets,
            slow_start_exit: self.slow_start_exit,
            paced: self.pacing != Pacing::Off,
            prr: self.prr,
            recovery_end: self.recovery_end,
            rollback: self.rollback,
            faults: self.faults.controller,
        }
    }

    /// The parameters of BBR.
    pub fn bbr(&self) -> BbrConfig {
        BbrConfig {
            initial_window_segments: self.initial_window_packets,
            max_window_segments: self.max_window_packets,
            ..self.bbr
        }
    }
}

/// `value` as one of `words`.
pub fn word<T: Copy>(key: &str, value: &str, words: &[(&str, T)]) -> Result<T> {
    words.iter().find(|(name, _)| *name == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
        Error::Usage(format!("--set {key}={value}: wants one of {}", names.join(", ")))
    })
}

/// `value` in units of `unit_s` seconds, up to a day.
pub fn seconds(key: &str, value: &str, unit_s: f64) -> Result<Duration> {
    let count: f64 = number(key, value, 0.0, 86_400.0 / unit_s)?;
    Ok(Duration::from_secs_f64(count * unit_s))
}

/// Eight gains with slashes between them.
fn gains(key: &str, value: &str) -> Result<[f64; CYCLE_LENGTH]> {
    let gains: Vec<f64> =
        value.split('/').map(|gain| number(key, gain, 0.01, 10.0)).collect::<Result<_>>()?;
    gains.try_into().map_err(|_| {
        Error::Usage(format!("--set {key}={value}: wants {CYCLE_LENGTH} gains with slashes between them"))
    })
}

#[cfg(test)]
#[path = "knobs_tests.rs"]
mod tests;
