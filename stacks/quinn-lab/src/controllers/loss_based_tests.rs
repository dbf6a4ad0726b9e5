//! Slow start, decrease and recovery with exact windows.

use super::super::cubic::{FastConvergence, Flavour, ShortRtt};
use super::*;

pub(super) const SEGMENT: u64 = 1000;
const RTT_MS: u64 = 100;

pub(super) fn reno() -> LossBasedConfig {
    LossBasedConfig {
        growth: Growth::Reno { beta: 0.5, connections: 1.0 },
        initial_window_segments: 10.0,
        max_window_segments: f64::INFINITY,
        slow_start_exit: SlowStartExit::Loss,
        paced: false,
        prr: false,
        recovery_end: RecoveryEnd::Rfc9002,
        rollback: false,
        faults: Faults::NONE,
    }
}

pub(super) fn cubic() -> LossBasedConfig {
    let config = CubicConfig {
        c: 0.4,
        beta: 0.7,
        short_rtt: None,
        connections: 1.0,
        fast_convergence: FastConvergence::On,
        reno_friendly: true,
        flavour: Flavour::Rfc9438,
    };
    LossBasedConfig { growth: Growth::Cubic(config), ..reno() }
}

pub(super) fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// `segments` acknowledged at `now_ms`, one RTT after they left.
pub(super) fn ack(controller: &mut LossBased, now_ms: u64, segments: u64) {
    controller.on_ack(&Ack {
        now: ms(now_ms),
        acked_bytes: segments * SEGMENT,
        acked_packets: segments,
        newest_sent: ms(now_ms - RTT_MS),
        srtt: ms(RTT_MS),
        in_flight_bytes: 0,
        app_limited: false,
    });
}

/// `segments` found lost at `now_ms`; the newest left an RTT before.
pub(super) fn lose(controller: &mut LossBased, now_ms: u64, segments: u64) {
    controller.on_loss(&Loss {
        now: ms(now_ms),
        lost_bytes: segments * SEGMENT,
        newest_sent: ms(now_ms - RTT_MS),
        in_flight_bytes: 0,
        persistent: false,
    });
}

#[test]
fn slow_start_doubles_and_ends_at_the_threshold() {
    let mut reno = LossBased::new(reno(), SEGMENT);
    assert_eq!((reno.cwnd_bytes(), reno.ssthresh_bytes(), reno.state()), (10_000, None, "slow_start"));
    ack(&mut reno, 100, 10);
    ack(&mut reno, 200, 20);
    assert_eq!(reno.cwnd_bytes(), 40_000);
    lose(&mut reno, 300, 5);
    assert_eq!((reno.cwnd_bytes(), reno.ssthresh_bytes()), (20_000, Some(20_000)));
    assert_eq!(reno.state(), "recovery");
    reno.on_loss(&Loss {
        now: ms(600),
        lost_bytes: SEGMENT,
        newest_sent: ms(500),
        in_flight_bytes: 0,
        persistent: true,
    });
    assert_eq!((reno.cwnd_bytes(), reno.ssthresh_bytes(), reno.state()), (2_000, Some(10_000), "slow_start"));
    // 8 segments to the threshold; the other 10 earn one more segment.
    ack(&mut reno, 800, 18);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (11_000, "congestion_avoidance"));
}

#[test]
fn reno_adds_one_segment_a_round_trip_and_halves() {
    let mut reno = LossBased::new(reno(), SEGMENT);
    ack(&mut reno, 100, 90);
    lose(&mut reno, 200, 1);
    assert_eq!(reno.cwnd_bytes(), 50_000);
    for round in 0..10 {
        ack(&mut reno, 400 + 100 * round, 50 + round);
    }
    assert_eq!(reno.cwnd_bytes(), 60_000);
    lose(&mut reno, 2_000, 1);
    assert_eq!(reno.cwnd_bytes(), 30_000);
}

#[test]
fn one_reduction_for_the_packets_of_one_flight() {
    let mut reno = LossBased::new(reno(), SEGMENT);
    ack(&mut reno, 100, 90);
    lose(&mut reno, 200, 1);
    // Sent before the reduction: neither a loss nor an ACK moves the window.
    lose(&mut reno, 250, 1);
    ack(&mut reno, 299, 50);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (50_000, "recovery"));
    ack(&mut reno, 301, 1);
    assert_eq!(reno.state(), "congestion_avoidance");
    lose(&mut reno, 302, 1);
    assert_eq!(reno.cwnd_bytes(), 25_000);
}

#[test]
fn an_application_that_leaves_the_window_unfilled_does_not_grow_it() {
    let mut reno = LossBased::new(reno(), SEGMENT);
    reno.on_ack(&Ack {
        now: ms(100),
        acked_bytes: 5_000,
        acked_packets: 1,
        newest_sent: ms(0),
        srtt: ms(100),
        in_flight_bytes: 0,
        app_limited: true,
    });
    assert_eq!(reno.cwnd_bytes(), 10_000);
}

#[test]
fn the_window_has_a_ceiling_and_a_floor() {
    let mut bounded = LossBased::new(LossBasedConfig { max_window_segments: 32.0, ..reno() }, SEGMENT);
    ack(&mut bounded, 100, 90);
    assert_eq!(bounded.cwnd_bytes(), 32_000);
    for event in 0..8 {
        lose(&mut bounded, 1_000 * (event + 1), 1);
    }
    assert_eq!(bounded.cwnd_bytes(), 2_000);
}

#[test]
fn the_first_retransmission_of_prr_fits_whatever_is_in_flight() {
    for (segment, in_flight_bytes) in
        [1200, 1452, 1472].into_iter().flat_map(|s| (0..3000).map(move |f| (s, f)))
    {
        let mut reno = LossBased::new(LossBasedConfig { prr: true, ..reno() }, segment);
        let loss = Loss {
            now: ms(200),
            lost_bytes: segment,
            newest_sent: ms(100),
            in_flight_bytes,
            persistent: false,
        };
        reno.on_loss(&loss);
        assert!(reno.cwnd_bytes() >= in_flight_bytes + segment, "{segment} {in_flight_bytes}");
    }
}

#[test]
fn prr_ends_recovery_at_ssthresh() {
    let mut reno = LossBased::new(LossBasedConfig { prr: true, ..reno() }, SEGMENT);
    ack(&mut reno, 100, 10);
    assert_eq!(reno.cwnd_bytes(), 20_000);
    let mut in_flight = 19_000;
    reno.on_loss(&Loss {
        now: ms(200),
        lost_bytes: SEGMENT,
        newest_sent: ms(100),
        in_flight_bytes: in_flight,
        persistent: false,
    });
    // One packet leaves at once, then one for every two that arrive.
    let mut sent = 0;
    for step in 0..19 {
        if reno.cwnd_bytes() >= in_flight + SEGMENT {
            reno.on_sent(&Sent { now: ms(200 + step), bytes: SEGMENT, in_flight_before_bytes: in_flight });
            (in_flight, sent) = (in_flight + SEGMENT, sent + 1);
        }
        in_flight -= SEGMENT;
        reno.on_ack(&Ack {
            now: ms(201 + step),
            acked_bytes: SEGMENT,
            acked_packets: 1,
            newest_sent: ms(150),
            srtt: ms(100),
            in_flight_bytes: in_flight,
            app_limited: false,
        });
    }
    assert_eq!((sent, reno.state()), (9, "recovery"));
    ack(&mut reno, 301, 1);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (10_000, "congestion_avoidance"));
}

#[test]
fn rollback_takes_a_small_loss_back_and_keeps_a_large_one() {
    let mut cubic = LossBased::new(LossBasedConfig { rollback: true, ..cubic() }, SEGMENT);
    ack(&mut cubic, 100, 90);
    // The first loss ends slow start, to which there is no way back.
    lose(&mut cubic, 200, 1);
    ack(&mut cubic, 301, 0);
    assert_eq!(cubic.cwnd_bytes(), 70_000);
    // Fewer than 20 % of the 49 packets of the reduced window: taken back.
    lose(&mut cubic, 500, 8);
    assert_eq!(cubic.cwnd_bytes(), 49_000);
    ack(&mut cubic, 601, 0);
    assert_eq!(cubic.cwnd_bytes(), 70_000);
    lose(&mut cubic, 800, 9);
    ack(&mut cubic, 901, 0);
    assert_eq!(cubic.cwnd_bytes(), 49_000);
}

#[test]
fn cubic_cuts_by_beta_and_n_connections_by_less() {
    let after = |connections| {
        let Growth::Cubic(config) = cubic().growth else { unreachable!() };
        let growth = Growth::Cubic(CubicConfig { connections, ..config });
        let mut cubic = LossBased::new(LossBasedConfig { growth, ..cubic() }, SEGMENT);
        ack(&mut cubic, 100, 90);
        lose(&mut cubic, 200, 1);
        cubic.cwnd_bytes()
    };
    assert_eq!((after(1.0), after(2.0)), (70_000, 85_000));
}

#[test]
fn a_beta_that_adapts_goes_by_the_least_round_trip_so_far() {
    let Growth::Cubic(config) = cubic().growth else { unreachable!() };
    let after = |short_ms| {
        let short_rtt = Some(ShortRtt { below: ms(short_ms), beta: 0.6 });
        let growth = Growth::Cubic(CubicConfig { connections: 2.0, short_rtt, ..config });
        let mut cubic = LossBased::new(LossBasedConfig { growth, ..cubic() }, SEGMENT);
        ack(&mut cubic, 100, 90);
        lose(&mut cubic, 200, 1);
        cubic.cwnd_bytes()
    };
    // The round trip is 100 ms: not below 100.
    assert_eq!((after(100), after(101)), (85_000, 80_000));
}

#[test]
fn by_rfc_6675_recovery_lasts_until_the_last_loss_of_the_flight_is_repaired() {
    let config = LossBasedConfig { recovery_end: RecoveryEnd::Rfc6675, ..reno() };
    let mut reno = LossBased::new(config, SEGMENT);
    ack(&mut reno, 100, 90);
    lose(&mut reno, 200, 1);
    lose(&mut reno, 290, 1);
    // Sent after the reduction, which ends it by RFC 9002, but before the second loss was found.
    ack(&mut reno, 301, 1);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (50_000, "recovery"));
    ack(&mut reno, 391, 1);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (50_000, "congestion_avoidance"));
}

#[test]
fn by_rfc_6675_a_packet_lost_in_recovery_counts_when_it_is_over() {
    let config = LossBasedConfig { recovery_end: RecoveryEnd::Rfc6675, ..reno() };
    let mut reno = LossBased::new(config, SEGMENT);
    ack(&mut reno, 100, 90);
    lose(&mut reno, 200, 1);
    lose(&mut reno, 302, 1);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (50_000, "recovery"));
    ack(&mut reno, 403, 1);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (25_000, "recovery"));
}

#[test]
fn by_rfc_6675_losses_in_every_round_trip_do_not_hold_recovery_open() {
    let config = LossBasedConfig { recovery_end: RecoveryEnd::Rfc6675, ..reno() };
    let mut reno = LossBased::new(config, SEGMENT);
    ack(&mut reno, 100, 90);
    // Each round trip loses a packet that was sent in it, and acknowledges one that was sent after the cut.
    for round in 2..7 {
        lose(&mut reno, 100 * round, 1);
        ack(&mut reno, 100 * round + 50, 1);
    }
    assert!(reno.cwnd_bytes() < 25_000, "cut once in {} bytes", reno.cwnd_bytes());
}

#[test]
fn an_idle_time_is_no_time_to_grow_in() {
    let grown_after = |idle_ms: u64| {
        let mut cubic = LossBased::new(cubic(), SEGMENT);
        ack(&mut cubic, 100, 90);
        lose(&mut cubic, 200, 1);
        ack(&mut cubic, 400, 1);
        let again = 400 + idle_ms;
        cubic.on_sent(&Sent { now: ms(again), bytes: SEGMENT, in_flight_before_bytes: 0 });
        ack(&mut cubic, again + RTT_MS, 70);
        cubic.cwnd_bytes()
    };
    assert_eq!(grown_after(60_000), grown_after(0));
}
