//! BBR over a modelled path: a pipe of fixed delay behind a bottleneck that serves packets one by one.

use std::collections::VecDeque;

use super::*;

const SEGMENT: u64 = 1000;
/// 1 MB/s: a packet a millisecond.
const SERVICE: Duration = Duration::from_millis(1);
const BASE_RTT: Duration = Duration::from_millis(50);
/// 50 packets fill the path.
const BDP: f64 = 50_000.0;

fn draft() -> BbrConfig {
    BbrConfig::draft()
}

/// What was seen at one ACK.
struct Seen {
    at: Time,
    mode: &'static str,
    rate: f64,
    cwnd: u64,
    in_flight: u64,
}

/// Run a flow that always has data for `seconds`.
fn run(config: BbrConfig, seconds: u64) -> Vec<Seen> {
    let mut bbr = Bbr::new(config, SEGMENT, 0);
    let mut acks: VecDeque<(Time, Time)> = VecDeque::new();
    let (mut now, mut next_send, mut link_free) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let mut in_flight = 0;
    let mut srtt = Duration::ZERO;
    let mut seen = Vec::new();
    while now < Time::from_secs(seconds) {
        let may_send = in_flight + SEGMENT <= bbr.cwnd_bytes();
        let send_at = may_send.then(|| next_send.max(now));
        let ack_at = acks.front().map(|&(at, _)| at);
        if send_at.is_some_and(|send| ack_at.is_none_or(|ack| send < ack)) {
            now = send_at.unwrap();
            bbr.on_sent(&Sent { now, bytes: SEGMENT, in_flight_before_bytes: in_flight });
            in_flight += SEGMENT;
            next_send = now + Duration::from_secs_f64(SEGMENT as f64 / bbr.rate_bytes_per_s().unwrap());
            link_free = link_free.max(now) + SERVICE;
            acks.push_back((link_free + BASE_RTT - SERVICE, now));
        } else {
            let (at, newest_sent) = acks.pop_front().unwrap();
            now = at;
            in_flight -= SEGMENT;
            let rtt = now - newest_sent;
            srtt = if srtt.is_zero() { rtt } else { (srtt * 7 + rtt) / 8 };
            let ack = Ack {
                now,
                acked_bytes: SEGMENT,
                acked_packets: 1,
                newest_sent,
                srtt,
                in_flight_bytes: in_flight,
                app_limited: false,
            };
            bbr.on_ack(&ack);
            let (mode, rate) = (bbr.state(), bbr.rate_bytes_per_s().unwrap());
            seen.push(Seen { at: now, mode, rate, cwnd: bbr.cwnd_bytes(), in_flight });
        }
    }
    seen
}

fn modes(seen: &[Seen]) -> Vec<&'static str> {
    let mut modes: Vec<_> = seen.iter().map(|seen| seen.mode).collect();
    modes.dedup();
    modes
}

#[test]
fn it_finds_the_bandwidth_and_paces_around_it() {
    let seen = run(draft(), 9);
    assert_eq!(modes(&seen), ["startup", "drain", "probe_bw"]);
    let steady = || seen.iter().filter(|seen| seen.at > Time::from_secs(3));
    let rates = |gain: f64| {
        steady().filter(|seen| (seen.rate / 0.99e6 / gain - 1.0).abs() < 0.01).count() as f64
            / steady().count() as f64
    };
    // One phase in eight each to probe and to drain.
    assert!((0.08..0.2).contains(&rates(1.25)), "{}", rates(1.25));
    assert!((0.04..0.2).contains(&rates(0.75)), "{}", rates(0.75));
    assert!((0.6..0.88).contains(&rates(1.0)), "{}", rates(1.0));
    // Two BDP, the quantum of six, and room for one ACK.
    assert!(steady().all(|seen| (2.0 * BDP..2.0 * BDP + 12_000.0).contains(&(seen.cwnd as f64))));
}

#[test]
fn startup_raises_the_rate_by_two_over_ln_two() {
    let seen = run(draft(), 1);
    let peak = seen.iter().filter(|seen| seen.mode == "startup").map(|seen| seen.rate).fold(0.0, f64::max);
    assert!((peak / 1e6 / 2.885 - 1.0).abs() < 0.02, "{peak}");
}

#[test]
fn every_ten_seconds_the_flight_falls_to_four_packets_for_two_hundred_milliseconds() {
    let seen = run(draft(), 25);
    let probing: Vec<_> = seen.iter().filter(|seen| seen.mode == "probe_rtt").collect();
    let starts: Vec<_> = seen
        .windows(2)
        .filter(|pair| pair[0].mode != "probe_rtt" && pair[1].mode == "probe_rtt")
        .map(|pair| pair[1].at.as_secs_f64())
        .collect();
    assert_eq!(starts.len(), 2, "{starts:?}");
    assert!((10.0..10.6).contains(&(starts[1] - starts[0])), "{starts:?}");
    assert!(probing.iter().all(|seen| seen.cwnd <= 4_000));
    assert_eq!(probing.iter().map(|seen| seen.in_flight).min(), Some(3_000));
    let drained = probing.iter().find(|seen| seen.in_flight <= 4_000).unwrap().at;
    let end = seen.iter().find(|seen| seen.at > drained && seen.mode != "probe_rtt").unwrap().at;
    assert!((0.2..0.26).contains(&(end - drained).as_secs_f64()), "{:?}", end - drained);
}

#[test]
fn probe_rtt_by_gain_keeps_that_many_bdp() {
    let config = BbrConfig {
        probe_rtt_window: ProbeRttWindow::BdpGain(0.75),
        probe_rtt_duration: Duration::from_millis(100),
        ..draft()
    };
    let seen = run(config, 15);
    let least = seen.iter().filter(|seen| seen.mode == "probe_rtt").map(|seen| seen.cwnd).min().unwrap();
    assert!((least as f64 / BDP - 0.75).abs() < 0.05, "{least}");
}

#[test]
fn a_lower_threshold_for_a_full_pipe_keeps_startup_longer() {
    let length = |threshold| {
        let seen = run(BbrConfig { full_bandwidth_threshold: threshold, ..draft() }, 3);
        seen.iter().rfind(|seen| seen.mode == "startup").unwrap().at
    };
    assert!(length(1.01) >= length(1.25));
    assert!(length(1.25) > length(2.5));
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_the_window_is_back() {
    let mut bbr = Bbr::new(draft(), SEGMENT, 0);
    bbr.cwnd_bytes = 100_000.0;
    bbr.on_loss(&Loss {
        now: Time::from_millis(1_000),
        lost_bytes: 2_000,
        newest_sent: Time::from_millis(900),
        in_flight_bytes: 60_000,
        persistent: false,
    });
    assert_eq!(bbr.cwnd_bytes(), 61_000);
    let ack = |now_ms, sent_ms| Ack {
        now: Time::from_millis(now_ms),
        acked_bytes: 1_000,
        acked_packets: 1,
        newest_sent: Time::from_millis(sent_ms),
        srtt: BASE_RTT,
        in_flight_bytes: 60_000,
        app_limited: false,
    };
    bbr.on_ack(&ack(1_010, 950));
    assert_eq!(bbr.cwnd_bytes(), 61_000);
    bbr.on_ack(&ack(1_060, 1_001));
    assert!(bbr.cwnd_bytes() >= 100_000);
}

#[test]
fn with_a_loss_in_every_round_packets_are_conserved_in_the_first_alone() {
    let mut bbr = Bbr::new(draft(), SEGMENT, 0);
    bbr.cwnd_bytes = 100_000.0;
    let loss = |now_ms| Loss {
        now: Time::from_millis(now_ms),
        lost_bytes: 1_000,
        newest_sent: Time::from_millis(now_ms - 50),
        in_flight_bytes: 60_000,
        persistent: false,
    };
    let ack = |now_ms| Ack {
        now: Time::from_millis(now_ms),
        acked_bytes: 1_000,
        acked_packets: 1,
        newest_sent: Time::from_millis(now_ms - 50),
        srtt: BASE_RTT,
        in_flight_bytes: 60_000,
        app_limited: false,
    };
    for sent in (900..1_100).step_by(10) {
        bbr.on_sent(&Sent { now: Time::from_millis(sent), bytes: 1_000, in_flight_before_bytes: 60_000 });
    }
    bbr.on_loss(&loss(1_000));
    assert_eq!(bbr.cwnd_bytes(), 61_000);
    // The next loss is found before anything sent after the first has arrived: recovery goes on ...
    bbr.on_loss(&loss(1_040));
    assert_eq!(bbr.cwnd_bytes(), 60_000);
    bbr.on_ack(&ack(1_060));
    assert!(bbr.recovery.is_some());
    // ... and a loss of what was sent in it takes what was lost off the window, not down to what is in flight.
    let before = bbr.cwnd_bytes();
    bbr.on_loss(&loss(1_065));
    assert_eq!(bbr.cwnd_bytes(), before - 1_000);
    bbr.on_ack(&ack(1_120));
    assert!(bbr.recovery.is_none());
    assert!(bbr.cwnd_bytes() >= 100_000);
}
