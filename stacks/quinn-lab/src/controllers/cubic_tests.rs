//! CUBIC against the numbers of RFC 9438.

use super::*;

const RTT: Duration = Duration::from_millis(100);

fn rfc() -> CubicConfig {
    CubicConfig {
        c: 0.4,
        beta: 0.7,
        short_rtt: None,
        connections: 1.0,
        fast_convergence: FastConvergence::On,
        reno_friendly: false,
        flavour: Flavour::Rfc9438,
    }
}

fn seconds(s: f64) -> Time {
    Time::from_secs_f64(s)
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6, "{left} is not {right}");
}

/// Grow once a round trip by a whole window from a loss at `w_max` on; the windows after each.
fn rounds(config: CubicConfig, w_max: f64, count: u32) -> Vec<f64> {
    let mut cubic = Cubic::new(config);
    let mut cwnd = cubic.reduce(w_max, RTT);
    (0..count)
        .map(|round| {
            cwnd = cubic.grow(RTT * round, cwnd, cwnd, RTT, RTT);
            cwnd
        })
        .collect()
}

#[test]
fn k_is_the_cube_root_of_the_cut_over_c() {
    let mut cubic = Cubic::new(rfc());
    let cwnd = cubic.reduce(100.0, RTT);
    close(cwnd, 70.0);
    cubic.grow(seconds(7.0), cwnd, 0.0, RTT, RTT);
    let epoch = cubic.epoch.unwrap();
    close(epoch.k_s, (30.0_f64 / 0.4).cbrt());
    close(epoch.k_s, 4.217_163_327);
    assert_eq!((epoch.start, epoch.origin_segments), (seconds(7.0), 100.0));
}

#[test]
fn a_window_a_round_trip_follows_w_cubic() {
    // With a whole window acknowledged, cwnd += (target - cwnd)/cwnd for each segment lands on W_cubic(t + RTT).
    let k = (30.0_f64 / 0.4).cbrt();
    for (round, cwnd) in rounds(rfc(), 100.0, 60).into_iter().enumerate() {
        let t = (round + 1) as f64 * 0.1;
        close(cwnd, 0.4 * (t - k).powi(3) + 100.0);
    }
}

#[test]
fn the_target_is_at_most_one_and_a_half_windows() {
    let mut cubic = Cubic::new(rfc());
    let cwnd = cubic.reduce(10.0, RTT);
    cubic.grow(Time::ZERO, cwnd, 0.0, RTT, RTT);
    close(cubic.grow(seconds(60.0), cwnd, cwnd, RTT, RTT), 1.5 * cwnd);
}

#[test]
fn a_window_never_shrinks_by_an_ack() {
    let mut cubic = Cubic::new(rfc());
    let cwnd = cubic.reduce(100.0, RTT);
    close(cubic.grow(Time::ZERO, cwnd, 0.0, RTT, RTT), 70.0);
    close(cubic.grow(Time::ZERO, 90.0, 90.0, RTT, RTT), 90.0);
}

#[test]
fn fast_convergence_remembers_less_and_cuts_by_beta() {
    let mut cubic = Cubic::new(rfc());
    cubic.reduce(100.0, RTT);
    close(cubic.reduce(80.0, RTT), 56.0);
    close(cubic.w_max_segments, 80.0 * 0.85);
    // Back above the old maximum there is nothing to give up.
    close(cubic.reduce(90.0, RTT), 63.0);
    close(cubic.w_max_segments, 90.0);
}

#[test]
fn fast_convergence_off_and_twice() {
    let mut off = Cubic::new(CubicConfig { fast_convergence: FastConvergence::Off, ..rfc() });
    off.reduce(100.0, RTT);
    off.reduce(80.0, RTT);
    close(off.w_max_segments, 80.0);
    let mut twice = Cubic::new(CubicConfig { fast_convergence: FastConvergence::Twice, ..rfc() });
    close(twice.reduce(100.0, RTT), 70.0);
    close(twice.reduce(80.0, RTT), 80.0 * 0.595);
}

#[test]
fn alpha_and_beta_of_n_connections() {
    let one = rfc();
    close(one.effective_beta(RTT), 0.7);
    close(one.alpha(RTT), 9.0 / 17.0);
    let two = CubicConfig { connections: 2.0, ..rfc() };
    close(two.effective_beta(RTT), 0.85);
    close(two.alpha(RTT), 12.0 * 0.15 / 1.85);
    let mut cubic = Cubic::new(two);
    cubic.reduce(100.0, RTT);
    close(cubic.reduce(80.0, RTT), 68.0);
    close(cubic.w_max_segments, 80.0 * 0.925);
}

#[test]
fn alpha_follows_the_beta_of_a_short_round_trip() {
    let short_rtt = Some(ShortRtt { below: Duration::from_millis(45), beta: 0.6 });
    let config = CubicConfig { connections: 2.0, short_rtt, ..rfc() };
    let at = |rtt_ms| {
        let rtt = Duration::from_millis(rtt_ms);
        (config.effective_beta(rtt), config.alpha(rtt))
    };
    // N²·3·(1-β)/(1+β), which makes up for the deeper cut.
    close(at(44).0, 0.8);
    close(at(44).1, 12.0 * 0.2 / 1.8);
    close(at(45).0, 0.85);
    close(at(45).1, 12.0 * 0.15 / 1.85);
    let mut cubic = Cubic::new(config);
    close(cubic.reduce(100.0, Duration::from_millis(5)), 80.0);
    close(cubic.reduce(100.0, Duration::from_millis(200)), 85.0);
}

#[test]
fn the_reno_friendly_estimate_grows_by_alpha_and_then_by_one() {
    // A short round trip: Reno's line lies above the cubic curve.
    let friendly = CubicConfig { reno_friendly: true, ..rfc() };
    let rtt = Duration::from_millis(5);
    let mut cubic = Cubic::new(friendly);
    let mut cwnd = cubic.reduce(20.0, RTT);
    let mut estimate = 14.0;
    for round in 0..40 {
        cwnd = cubic.grow(rtt * round, cwnd, cwnd, rtt, rtt);
        estimate += if estimate >= 20.0 { 1.0 } else { 9.0 / 17.0 };
        close(cwnd, estimate);
    }
    assert!(cwnd > 40.0);
}

#[test]
fn linux_keeps_alpha() {
    let linux = CubicConfig { reno_friendly: true, flavour: Flavour::Linux, ..rfc() };
    let rtt = Duration::from_millis(5);
    let mut cubic = Cubic::new(linux);
    let mut cwnd = cubic.reduce(20.0, RTT);
    for round in 0..40 {
        cwnd = cubic.grow(rtt * round, cwnd, cwnd, rtt, rtt);
    }
    close(cwnd, 14.0 + 40.0 * 9.0 / 17.0);
}

#[test]
fn before_the_first_loss_linux_adds_five_percent_and_the_rfc_follows_the_curve() {
    let mut linux = Cubic::new(CubicConfig { flavour: Flavour::Linux, ..rfc() });
    close(linux.grow(Time::ZERO, 100.0, 100.0, RTT, RTT), 105.0);
    let mut rfc = Cubic::new(rfc());
    close(rfc.grow(Time::ZERO, 100.0, 100.0, RTT, RTT), 100.0 + 0.4 * 0.001);
}

#[test]
fn idle_time_does_not_count() {
    let mut cubic = Cubic::new(rfc());
    let cwnd = cubic.reduce(100.0, RTT);
    cubic.grow(seconds(1.0), cwnd, 0.0, RTT, RTT);
    cubic.skip(seconds(21.0));
    let epoch = cubic.epoch.unwrap();
    assert_eq!(epoch.start, seconds(21.0));
}
