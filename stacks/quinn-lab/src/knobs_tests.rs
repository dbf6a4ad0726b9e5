use cambrian_quinn_family::transfers::Handover;

use super::*;

fn turned(cca: &str, assignments: &[&str]) -> Result<Knobs> {
    let pairs = assignments.iter().map(|pair| cambrian_quinn_family::endpoint::settings::pair(pair));
    Knobs::of_cca(cca, &pairs.collect::<Result<_>>()?)
}

#[test]
fn every_key_is_taken() {
    for (key, value) in [
        ("preset", "cubic-n2"),
        ("initial_window_packets", "32"),
        ("max_window_packets", "430"),
        ("pacing", "true"),
        ("pacing_gain", "1.25"),
        ("pacing_train_packets", "10"),
        ("beta", "0.8"),
        ("beta_by_rtt", "true"),
        ("beta_short_rtt", "0.5"),
        ("short_rtt_ms", "20"),
        ("connections", "2"),
        ("c", "0.5"),
        ("fast_convergence", "twice"),
        ("reno_friendly", "false"),
        ("flavour", "rfc9438"),
        ("slow_start_exit", "hystart++"),
        ("prr", "false"),
        ("recovery_end", "rfc9002"),
        ("rollback", "true"),
        ("startup_gain", "2.77"),
        ("startup_cwnd_gain", "2"),
        ("drain_gain", "0.5"),
        ("cwnd_gain", "2.5"),
        ("probe_bw_gains", "1.5/0.5/1/1/1/1/1/1"),
        ("full_bandwidth_threshold", "1.1"),
        ("full_bandwidth_rounds", "5"),
        ("bandwidth_window_rounds", "20"),
        ("min_rtt_window_s", "5"),
        ("probe_rtt_interval_s", "5"),
        ("probe_rtt_duration_ms", "100"),
        ("probe_rtt_packets", "8"),
        ("probe_rtt_gain", "0.75"),
        ("pacing_margin", "0"),
        ("ack_aggregation", "false"),
        ("tail_loss_probes", "false"),
        ("ack_every_packets", "10"),
        ("cut_per", "packet"),
        ("recovery_start", "sent"),
        ("ignore_event_every", "2"),
        ("event_min_packets", "2"),
        ("ssthresh_after_loss", "infinite"),
        ("growth_in_recovery", "inflates"),
        ("ack_count", "2"),
        ("growth_unit", "packets"),
        ("app_limited_growth", "true"),
        ("ecn_reaction", "false"),
        ("timeout_window", "reset"),
        ("srtt_gain", "0.25"),
        ("lost_in_flight", "true"),
        ("logged_window", "packets"),
        ("refuse_datagrams_every", "5000"),
        ("refused_datagrams", "20"),
        ("silence_after_packets", "8"),
        ("silence_ms", "500"),
        ("piece_bytes", "600"),
        ("send_buffer_bytes", "60000"),
        ("initial_udp_payload_bytes", "1200"),
        ("packet_threshold", "30"),
        ("time_threshold", "2"),
    ] {
        let mut knobs = Knobs::of(Algorithm::Cubic);
        knobs.set(key, value).unwrap();
        assert_ne!(knobs, Knobs::of(Algorithm::Cubic), "{key}");
        assert!(
            KEYS.contains(&key) || fault_knobs::KEYS.contains(&key) || TransportSettings::KEYS.contains(&key),
            "{key}"
        );
    }
}

#[test]
fn bad_assignments_are_usage_errors() {
    for bad in [
        "beta=1",
        "beta=x",
        "beta_by_rtt=on",
        "short_rtt_ms=-1",
        "pacing=on",
        "slow_start_exit=on",
        "fast_convergence=2",
        "probe_bw_gains=1/1",
        "probe_rtt_duration_ms=-1",
        "initial_udp_payload_bytes=1500",
        "cut_per=flight",
        "ignore_event_every=1",
        "silence_ms=-1",
        "timeout_window=cut",
        "srtt_gain=0",
        "refuse_datagrams_every=1",
        "piece_bytes=1500",
        "cwnd=1",
        "preset=vegas",
        "preset=bbr",
    ] {
        assert!(matches!(turned("cubic", &[bad]), Err(Error::Usage(_))), "{bad}");
    }
}

#[test]
fn a_preset_can_be_named_either_way_and_changed_further() {
    assert_eq!(turned("cubic-n2", &[]).unwrap(), turned("cubic", &["preset=cubic-n2"]).unwrap());
    let knobs = turned("cubic-n2", &["beta=0.5", "initial_window_packets=4"]).unwrap();
    assert_eq!((knobs.connections, knobs.beta, knobs.initial_window_packets), (2.0, 0.5, 4.0));
}

#[test]
fn the_order_of_the_changes_does_not_matter() {
    for (cca, pair) in [
        ("cubic", ["preset=cubic-beta-0.8", "beta=0.5"]),
        ("cubic", ["pacing=false", "pacing_gain=2"]),
        ("cubic", ["pacing=true", "pacing_gain=2"]),
        ("bbr", ["preset=xquic-bbr", "probe_rtt_packets=8"]),
    ] {
        let [first, second] = pair;
        assert_eq!(
            turned(cca, &[first, second]).unwrap(),
            turned(cca, &[second, first]).unwrap(),
            "{pair:?}"
        );
    }
    assert_eq!(turned("cubic", &["beta=0.5", "preset=cubic-beta-0.8"]).unwrap().beta, 0.5);
    let both = ["probe_rtt_gain=0.75", "probe_rtt_packets=8"];
    assert!(matches!(turned("bbr", &both), Err(Error::Usage(_))));
}

#[test]
fn the_defaults_are_the_textbooks() {
    let cubic = Knobs::of(Algorithm::Cubic);
    assert_eq!((cubic.beta, cubic.c, cubic.initial_window_packets), (0.7, 0.4, 10.0));
    let reno = Knobs::of(Algorithm::Reno);
    assert_eq!((reno.beta, reno.slow_start_exit, reno.pacing), (0.5, SlowStartExit::Loss, Pacing::Off));
    let bbr = Knobs::of(Algorithm::Bbr);
    assert_eq!((bbr.pacing, bbr.bbr().cwnd_gain), (Pacing::Factor(1.0), 2.0));
}

#[test]
fn an_adapting_beta_is_a_short_round_trips_own() {
    let short_rtt = |cca, settings: &[&str]| match turned(cca, settings).unwrap().loss_based().growth {
        Growth::Cubic(config) => config.short_rtt,
        Growth::Reno { .. } => None,
    };
    assert_eq!(short_rtt("gquic-cubic-n2", &["beta_short_rtt=0.5"]), None);
    let preset = ShortRtt { below: Duration::from_millis(45), beta: 0.6 };
    assert_eq!(short_rtt("gquic-cubic-n2-beta-by-rtt", &[]), Some(preset));
    let other = ShortRtt { below: Duration::from_micros(7500), beta: 0.5 };
    assert_eq!(
        short_rtt("cubic", &["beta_by_rtt=true", "beta_short_rtt=0.5", "short_rtt_ms=7.5"]),
        Some(other)
    );
}

#[test]
fn a_gain_turns_pacing_on() {
    let pacing = |settings: &[&str]| turned("cubic", settings).unwrap().pacing;
    assert_eq!(pacing(&["pacing=true"]), Pacing::Factor(1.25));
    assert_eq!(pacing(&["pacing_gain=2"]), Pacing::Factor(2.0));
    assert_eq!(pacing(&["pacing_gain=2", "pacing=false"]), Pacing::Off);
    assert_eq!(pacing(&["pacing_gain=2", "pacing=false", "pacing=true"]), Pacing::Factor(2.0));
}

#[test]
fn the_application_hands_over_as_the_knobs_say() {
    let handover = |settings: &[&str]| turned("reno", settings).unwrap().faults.handover();
    assert_eq!(handover(&[]), Handover::Whole);
    assert_eq!(handover(&["piece_bytes=600"]), Handover::OneADatagram(600));
    assert!(matches!(handover(&["send_buffer_bytes=30000"]), Handover::Chunks(1000)));
    assert_eq!(handover(&["piece_bytes=600", "piece_bytes=none"]), Handover::Whole);
}
