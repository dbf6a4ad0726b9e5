//! Published behaviours and planted faults, as settings of the knobs. Each is a CCA of the manifest.

use cambrian_quinn_family::endpoint::{Error, Result};

use crate::knobs::{Algorithm, Knobs};
use Algorithm::{Bbr, Cubic, Reno};

/// A named setting.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub algorithm: Algorithm,
    /// Knobs and values, turned in this order from the algorithm's defaults.
    pub settings: &'static [(&'static str, &'static str)],
}

/// All of them, the plain algorithms first. Sources are in the manifest and in docs/reference/lab-stack.md.
pub const PRESETS: &[Preset] = &[
    preset("cubic", Cubic, &[]),
    preset("reno", Reno, &[]),
    preset("bbr", Bbr, &[]),
    // The textbooks without Linux's choices.
    preset(
        "cubic-rfc9438",
        Cubic,
        &[("flavour", "rfc9438"), ("slow_start_exit", "loss"), ("prr", "false"), ("recovery_end", "rfc9002")],
    ),
    preset("cubic-hystart-pp", Cubic, &[("slow_start_exit", "hystart++")]),
    preset("reno-rfc9002", Reno, &[("prr", "false"), ("recovery_end", "rfc9002")]),
    // Google QUIC.
    preset("gquic-cubic-n2", Cubic, GQUIC_N2),
    preset("gquic-cubic-n1", Cubic, GQUIC_N1),
    preset("gquic-cubic-n2-macw107", Cubic, GQUIC_N2_MACW107),
    preset("gquic-cubic-n2-beta-by-rtt", Cubic, GQUIC_N2_BETA_BY_RTT),
    preset("cubic-n2", Cubic, &[("connections", "2")]),
    // One thing off the textbook at a time.
    preset("cubic-beta-0.6", Cubic, &[("beta", "0.6")]),
    preset("cubic-beta-0.7", Cubic, &[("beta", "0.7")]),
    preset("cubic-beta-0.75", Cubic, &[("beta", "0.75")]),
    preset("cubic-beta-0.8", Cubic, &[("beta", "0.8")]),
    preset("cubic-rollback", Cubic, &[("rollback", "true"), ("recovery_end", "rfc9002")]),
    preset("cubic-fast-convergence-twice", Cubic, &[("fast_convergence", "twice")]),
    preset("cubic-no-fast-convergence", Cubic, &[("fast_convergence", "none")]),
    preset("cubic-no-reno-friendly", Cubic, &[("reno_friendly", "false")]),
    preset("cubic-no-hystart", Cubic, &[("slow_start_exit", "loss")]),
    preset("cubic-iw32", Cubic, &[("initial_window_packets", "32")]),
    preset("cubic-paced-1.25", Cubic, &[("pacing_gain", "1.25")]),
    preset("cubic-ack10", Cubic, &[("ack_every_packets", "10")]),
    preset("cubic-nack30", Cubic, &[("packet_threshold", "30"), ("time_threshold", "4")]),
    preset("cubic-no-tlp", Cubic, &[("tail_loss_probes", "false")]),
    preset("reno-iw32", Reno, &[("initial_window_packets", "32")]),
    preset("bbr-cwnd-gain-2.5", Bbr, &[("cwnd_gain", "2.5")]),
    preset("bbr-full-bw-1.1", Bbr, &[("full_bandwidth_threshold", "1.1")]),
    preset("bbr-probe-rtt-0.75", Bbr, &[("probe_rtt_gain", "0.75"), ("probe_rtt_duration_ms", "100")]),
    preset("bbr-pacing-1.2", Bbr, &[("pacing_gain", "1.2")]),
    preset("bbr-ack10", Bbr, &[("ack_every_packets", "10")]),
    // Several at once, as one stack had them.
    preset("xquic-bbr", Bbr, XQUIC),
    preset("mvfst-bbr", Bbr, &[("pacing_gain", "1.2"), ("ack_every_packets", "10")]),
    // Faults that are no parameter, one at a time.
    preset("cubic-cut-per-packet", Cubic, &[("preset", "cubic-rfc9438"), ("cut_per", "packet")]),
    preset("cubic-cut-again", Cubic, &[("preset", "cubic-rfc9438"), ("recovery_start", "sent")]),
    preset("reno-cut-again", Reno, &[("preset", "reno-rfc9002"), ("recovery_start", "sent")]),
    preset("cubic-every-second-event", Cubic, &[("preset", "cubic-rfc9438"), ("ignore_event_every", "2")]),
    preset("reno-every-second-event", Reno, &[("preset", "reno-rfc9002"), ("ignore_event_every", "2")]),
    preset(
        "cubic-ignores-isolated-losses",
        Cubic,
        &[("preset", "cubic-rfc9438"), ("event_min_packets", "2")],
    ),
    preset(
        "cubic-slow-start-after-loss",
        Cubic,
        &[("preset", "cubic-rfc9438"), ("ssthresh_after_loss", "window")],
    ),
    preset(
        "reno-slow-start-after-loss",
        Reno,
        &[("preset", "reno-rfc9002"), ("ssthresh_after_loss", "window")],
    ),
    preset("reno-no-ssthresh", Reno, &[("preset", "reno-rfc9002"), ("ssthresh_after_loss", "infinite")]),
    preset(
        "cubic-growth-in-recovery",
        Cubic,
        &[("preset", "cubic-rfc9438"), ("growth_in_recovery", "normal")],
    ),
    preset("reno-growth-in-recovery", Reno, &[("preset", "reno-rfc9002"), ("growth_in_recovery", "normal")]),
    preset("reno-inflation-stays", Reno, &[("preset", "reno-rfc9002"), ("growth_in_recovery", "inflates")]),
    preset("cubic-acks-twice", Cubic, &[("preset", "cubic-rfc9438"), ("ack_count", "2")]),
    preset("reno-acks-twice", Reno, &[("preset", "reno-rfc9002"), ("ack_count", "2")]),
    preset("cubic-no-ecn-reaction", Cubic, &[("preset", "cubic-rfc9438"), ("ecn_reaction", "false")]),
    preset("reno-no-ecn-reaction", Reno, &[("preset", "reno-rfc9002"), ("ecn_reaction", "false")]),
    preset("cubic-paced-2", Cubic, &[("pacing_gain", "2")]),
    preset("bbr-pacing-1.6", Bbr, &[("pacing_gain", "1.6")]),
    preset("bbr-unpaced", Bbr, &[("pacing", "false")]),
    preset("reno-send-buffer", Reno, &[("preset", "reno-rfc9002"), ("send_buffer_bytes", "30000")]),
    preset(
        "reno-app-limited-growth",
        Reno,
        &[("preset", "reno-send-buffer"), ("app_limited_growth", "true")],
    ),
    preset("cubic-c-in-bytes", Cubic, &[("preset", "cubic-rfc9438"), ("c", "0.000272")]),
    preset("cubic-small-packets", Cubic, &[("preset", "cubic-rfc9438"), ("piece_bytes", "600")]),
    preset("reno-small-packets", Reno, &[("preset", "reno-rfc9002"), ("piece_bytes", "600")]),
    preset("reno-growth-per-packet", Reno, &[("preset", "reno-small-packets"), ("growth_unit", "packets")]),
    preset(
        "cubic-silent-after-burst",
        Cubic,
        &[("preset", "cubic-rfc9438"), ("silence_after_packets", "8"), ("silence_ms", "1000")],
    ),
    // The same, where the log or the counters of the sender show them.
    preset("cubic-srtt-doubled", Cubic, &[("preset", "cubic-rfc9438"), ("srtt_gain", "0.25")]),
    preset("cubic-lost-in-flight", Cubic, &[("lost_in_flight", "true")]),
    preset("cubic-timeout-reset", Cubic, &[("preset", "cubic-rfc9438"), ("timeout_window", "reset")]),
    preset("reno-timeout-reset", Reno, &[("preset", "reno-rfc9002"), ("timeout_window", "reset")]),
    preset("cubic-timeout-restored", Cubic, &[("preset", "cubic-rfc9438"), ("timeout_window", "restored")]),
    preset("reno-timeout-restored", Reno, &[("preset", "reno-rfc9002"), ("timeout_window", "restored")]),
    preset(
        "cubic-refused-datagrams",
        Cubic,
        &[("preset", "cubic-rfc9438"), ("refuse_datagrams_every", "5000"), ("refused_datagrams", "20")],
    ),
    preset("cubic-window-in-packets", Cubic, &[("preset", "cubic-rfc9438"), ("logged_window", "packets")]),
];

/// The names of all presets, for the command line.
pub const NAMES: [&str; PRESETS.len()] = {
    let mut names = [""; PRESETS.len()];
    let mut index = 0;
    while index < PRESETS.len() {
        names[index] = PRESETS[index].name;
        index += 1;
    }
    names
};

const GQUIC_N2: &[(&str, &str)] = &[
    ("connections", "2"),
    ("initial_window_packets", "32"),
    ("max_window_packets", "2000"),
    ("pacing_gain", "1.25"),
    ("pacing_train_packets", "1"),
    ("recovery_end", "rfc9002"),
];
const GQUIC_N1: &[(&str, &str)] = &[
    ("connections", "1"),
    ("initial_window_packets", "32"),
    ("max_window_packets", "2000"),
    ("pacing_gain", "1.25"),
    ("pacing_train_packets", "1"),
    ("recovery_end", "rfc9002"),
];
const GQUIC_N2_MACW107: &[(&str, &str)] = &[
    ("connections", "2"),
    ("initial_window_packets", "32"),
    ("max_window_packets", "107"),
    ("pacing_gain", "1.25"),
    ("pacing_train_packets", "1"),
    ("recovery_end", "rfc9002"),
];
const GQUIC_N2_BETA_BY_RTT: &[(&str, &str)] = &[
    ("connections", "2"),
    ("initial_window_packets", "32"),
    ("max_window_packets", "2000"),
    ("pacing_gain", "1.25"),
    ("pacing_train_packets", "1"),
    ("recovery_end", "rfc9002"),
    ("beta_by_rtt", "true"),
];
const XQUIC: &[(&str, &str)] = &[
    ("cwnd_gain", "2.5"),
    ("full_bandwidth_threshold", "1.1"),
    ("probe_rtt_gain", "0.75"),
    ("probe_rtt_duration_ms", "100"),
];

const fn preset(
    name: &'static str,
    algorithm: Algorithm,
    settings: &'static [(&'static str, &'static str)],
) -> Preset {
    Preset { name, algorithm, settings }
}

impl Preset {
    /// The knobs as this preset leaves them.
    pub fn knobs(&self) -> Result<Knobs> {
        let mut knobs = Knobs::of(self.algorithm);
        self.turn(&mut knobs)?;
        Ok(knobs)
    }

    /// Turn the preset's knobs and no others.
    pub fn turn(&self, knobs: &mut Knobs) -> Result<()> {
        self.settings.iter().try_for_each(|(key, value)| knobs.set(key, value))
    }
}

/// The preset called `name`; a usage error names those there are.
pub fn find(name: &str) -> Result<&'static Preset> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .ok_or_else(|| Error::Usage(format!("no preset {name:?}; there are: {}", NAMES.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cambrian_quinn_family::settings::TransportSettings;

    #[test]
    fn every_preset_can_be_had_and_no_two_are_alike_by_name() {
        for preset in PRESETS {
            preset.knobs().unwrap();
            assert_eq!(PRESETS.iter().filter(|other| other.name == preset.name).count(), 1);
        }
    }

    #[test]
    fn the_manifest_has_the_same_ccas() {
        let manifest = include_str!("../manifest.toml");
        let tables: Vec<&str> = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("[ccas.")?.strip_suffix(']'))
            .map(|name| name.trim_matches('"'))
            .collect();
        assert_eq!(tables, NAMES);
    }

    #[test]
    fn the_manifest_has_the_same_options() {
        let manifest = include_str!("../manifest.toml");
        let mut listed: Vec<&str> =
            manifest.lines().filter_map(|line| line.strip_prefix("[options.")?.strip_suffix(']')).collect();
        let knobs =
            crate::knobs::KEYS.iter().chain(&crate::fault_knobs::KEYS).chain(&TransportSettings::KEYS);
        let mut taken: Vec<&str> = knobs.copied().collect();
        listed.sort_unstable();
        taken.sort_unstable();
        assert_eq!(listed, taken);
    }
}
