use super::*;

const SEGMENT: u16 = 1000;

fn flow(settings: &[(&str, &str)]) -> (Flow, Instant) {
    let mut knobs = Knobs::of(Algorithm::Reno);
    for (key, value) in settings {
        knobs.set(key, value).unwrap();
    }
    let start = Instant::now();
    (Flow::new(&knobs, start, SEGMENT, 0), start)
}

/// Poll as the event loop does until nothing more may leave; datagrams sent, and when the next may.
fn poll(flow: &mut Flow, now: Instant) -> (u32, Option<Instant>) {
    let mut sent = 0;
    loop {
        let release = flow.open(now);
        if flow.window_bytes() < 2 {
            flow.close();
            return (sent, release);
        }
        flow.on_sent(now, SEGMENT.into());
        sent += 1;
    }
}

#[test]
fn a_whole_window_leaves_and_not_a_packet_more() {
    let (mut flow, start) = flow(&[]);
    assert_eq!(flow.window_bytes(), 10_000);
    assert_eq!(poll(&mut flow, start), (10, None));
    assert_eq!(flow.window_bytes(), 10_000);
    let later = start + Duration::from_millis(50);
    for _ in 0..2 {
        flow.on_packet_acked(start, SEGMENT.into(), Duration::from_millis(333));
    }
    flow.on_ack_end(later, 8_000, false);
    // Slow start: two acknowledged, four leave.
    assert_eq!(poll(&mut flow, later), (4, None));
    assert_eq!(flow.srtt, Duration::from_millis(50));
}

#[test]
fn the_pacer_shuts_the_gate_until_the_next_train() {
    let (mut flow, start) = flow(&[("pacing_gain", "2"), ("pacing_train_packets", "2")]);
    // No RTT is known yet, so the initial window is not spaced.
    assert_eq!(poll(&mut flow, start).0, 10);
    let now = start + Duration::from_millis(100);
    for _ in 0..10 {
        flow.on_packet_acked(start, SEGMENT.into(), Duration::from_millis(100));
    }
    flow.on_ack_end(now, 0, false);
    // 20 packets in 100 ms, times two: two every 5 ms, the first of all after half a packet's time less.
    assert_eq!(flow.pacing_bytes_per_s(), Some(400_000.0));
    let us = Duration::from_micros;
    assert_eq!(poll(&mut flow, now), (2, Some(now + us(3_750))));
    assert_eq!(poll(&mut flow, now + us(3_749)).0, 0);
    assert_eq!(poll(&mut flow, now + us(3_750)), (2, Some(now + us(8_750))));
}

#[test]
fn losses_leave_the_flight() {
    let (mut flow, start) = flow(&[("prr", "false")]);
    poll(&mut flow, start);
    let now = start + Duration::from_millis(50);
    flow.on_loss(now, start, 6_000, false);
    assert_eq!((flow.in_flight_bytes, flow.window_bytes()), (4_000, 5_000));
    assert_eq!(poll(&mut flow, now).0, 1);
}

#[test]
fn probes_of_the_first_timeout_are_withheld_and_no_others() {
    let (mut flow, start) = flow(&[("tail_loss_probes", "false")]);
    assert!(flow.passes());
    flow.on_timeout(start);
    assert!(!flow.passes() && !flow.passes() && flow.passes());
    flow.close();
    flow.on_timeout(start);
    assert!(flow.passes());
    flow.on_ack_end(start, 0, false);
    // A timer that finds losses sends retransmissions, not probes.
    flow.on_loss(start, start, 1_000, false);
    flow.on_timeout(start);
    assert!(flow.passes());
    flow.close();
    flow.on_timeout(start);
    assert!(!flow.passes());
}

#[test]
fn probes_pass_unless_switched_off() {
    let (mut flow, start) = flow(&[]);
    flow.on_timeout(start);
    assert!(flow.passes());
}

#[test]
fn a_burst_of_losses_silences_the_flow_for_a_while_and_fewer_do_not() {
    let (mut flow, start) = flow(&[("prr", "false"), ("silence_after_packets", "3"), ("silence_ms", "400")]);
    poll(&mut flow, start);
    let ms = Duration::from_millis;
    flow.on_loss(start + ms(50), start, 2_000, false);
    flow.on_ack_end(start + ms(50), 3_000, false);
    assert_eq!(poll(&mut flow, start + ms(50)), (2, None));
    // The third of the same flight.
    flow.on_loss(start + ms(60), start, 1_000, false);
    flow.on_ack_end(start + ms(60), 0, false);
    assert_eq!(poll(&mut flow, start + ms(60)), (0, Some(start + ms(460))));
    // More of them do not make it last longer.
    flow.on_loss(start + ms(70), start, 5_000, false);
    assert_eq!(poll(&mut flow, start + ms(459)), (0, Some(start + ms(460))));
    assert_eq!(poll(&mut flow, start + ms(460)), (5, None));
}

#[test]
fn a_gain_of_a_quarter_doubles_the_smoothed_rtt() {
    let smoothed = |settings: &[(&str, &str)]| {
        let (mut flow, start) = flow(settings);
        let rtt = Duration::from_millis(100);
        for round in 0..100 {
            flow.on_packet_acked(start + round * rtt, SEGMENT.into(), rtt);
            flow.on_ack_end(start + (round + 1) * rtt, 0, false);
        }
        let ms = |time: Duration| (1000.0 * time.as_secs_f64()).round();
        (ms(flow.srtt), flow.own_srtt().map(ms))
    };
    assert_eq!(smoothed(&[]), (100.0, None));
    assert_eq!(smoothed(&[("srtt_gain", "0.125")]), (100.0, Some(100.0)));
    assert_eq!(smoothed(&[("srtt_gain", "0.25")]), (200.0, Some(200.0)));
}

#[test]
fn lost_packets_may_stay_in_the_flight() {
    let (mut flow, start) = flow(&[("prr", "false"), ("lost_in_flight", "true")]);
    poll(&mut flow, start);
    let now = start + Duration::from_millis(50);
    flow.on_packet_acked(start, SEGMENT.into(), Duration::from_millis(50));
    flow.on_ack_end(now, 9_000, false);
    flow.on_loss(now, start, 3_000, false);
    assert_eq!((flow.in_flight_bytes(), flow.window_bytes()), (9_000, 5_500));
    // quinn has none left, and two more packets are all that fit.
    flow.on_ack_end(now, 0, false);
    assert_eq!((flow.in_flight_bytes(), poll(&mut flow, now).0), (3_000, 2));
}

#[test]
fn a_probe_timeout_reaches_the_algorithm_and_no_other_timer_does() {
    let timed_out = |waits_ms: u64, in_flight_bytes: u64, loss: bool| {
        let (mut flow, start) = flow(&[("timeout_window", "reset")]);
        poll(&mut flow, start);
        let rtt = Duration::from_millis(100);
        flow.on_packet_acked(start, SEGMENT.into(), rtt);
        flow.on_ack_end(start + rtt, 9_000, false);
        poll(&mut flow, start + rtt);
        flow.in_flight_bytes = in_flight_bytes;
        if loss {
            flow.on_loss(start + rtt, start, 1_000, false);
        }
        flow.on_timeout(start + rtt + Duration::from_millis(waits_ms));
        (flow.take_reaction_to_timeout(), flow.take_reaction_to_timeout())
    };
    assert_eq!(timed_out(300, 9_000, false), (true, false));
    assert_eq!(timed_out(50, 9_000, false), (false, false));
    assert_eq!(timed_out(300, 0, false), (false, false));
    assert_eq!(timed_out(300, 9_000, true), (false, false));
}

#[test]
fn refused_datagrams_do_not_pass() {
    let (mut flow, _) = flow(&[("refuse_datagrams_every", "5"), ("refused_datagrams", "2")]);
    let passed: Vec<bool> = (0..10).map(|_| flow.passes()).collect();
    assert_eq!(passed, [true, true, true, false, false, true, true, true, false, false]);
}

#[test]
fn the_log_may_have_the_window_in_packets() {
    let told = |settings: &[(&str, &str)]| flow(settings).0.told_window();
    assert_eq!((told(&[]), told(&[("logged_window", "packets")])), (10_000, 10));
}
