//! What each fault does to the window, beside what is right.

use super::tests::{ack, cubic, lose, ms, reno, SEGMENT};
use super::*;

/// A controller with one fault, its window grown to 100 segments in slow start. Its round trip takes 100 ms.
fn grown(config: LossBasedConfig, turn: impl FnOnce(&mut Faults)) -> LossBased {
    let mut faults = Faults::NONE;
    turn(&mut faults);
    let mut controller = LossBased::new(LossBasedConfig { faults, ..config }, SEGMENT);
    controller.on_ack(&Ack {
        now: ms(100),
        acked_bytes: (90.0 * SEGMENT as f64 / faults.ack_count) as u64,
        acked_packets: 90,
        newest_sent: ms(0),
        srtt: ms(100),
        in_flight_bytes: 0,
        app_limited: false,
    });
    assert_eq!(controller.cwnd_bytes(), 100_000);
    controller
}

fn right(_: &mut Faults) {}

#[test]
fn a_cut_per_packet_cuts_for_each_that_is_lost() {
    let after = |turn: fn(&mut Faults)| {
        let mut cubic = grown(cubic(), turn);
        lose(&mut cubic, 200, 2);
        lose(&mut cubic, 210, 1);
        cubic.cwnd_bytes()
    };
    assert_eq!(after(right), 70_000);
    assert_eq!(after(|faults| faults.cut_per = CutPer::Packet), 34_300);
}

#[test]
fn a_recovery_that_starts_when_the_packet_was_sent_is_cut_again_by_the_same_flight() {
    let after = |turn: fn(&mut Faults)| {
        let mut reno = grown(reno(), turn);
        // Three losses of one flight, the last two by one ACK.
        lose(&mut reno, 200, 1);
        lose(&mut reno, 210, 2);
        reno.cwnd_bytes()
    };
    assert_eq!(after(right), 50_000);
    assert_eq!(after(|faults| faults.recovery_start = RecoveryStart::Sent), 25_000);
}

#[test]
fn of_every_two_events_one_is_ignored_with_all_of_its_losses() {
    let mut reno = grown(reno(), |faults| faults.ignore_event_every = 2);
    let mut windows = Vec::new();
    for event in 0..4 {
        let now_ms = 200 + 300 * event;
        lose(&mut reno, now_ms, 1);
        lose(&mut reno, now_ms + 50, 1);
        windows.push(reno.cwnd_bytes());
        // The recovery period ends.
        ack(&mut reno, now_ms + 101, 0);
    }
    assert_eq!(windows, [50_000, 50_000, 25_000, 25_000]);
}

#[test]
fn an_isolated_loss_is_ignored_and_two_in_a_round_trip_are_not() {
    let mut cubic = grown(cubic(), |faults| faults.event_min_packets = 2.0);
    lose(&mut cubic, 200, 1);
    assert_eq!(cubic.cwnd_bytes(), 100_000);
    // Sent after that loss was found: another round trip's.
    lose(&mut cubic, 301, 1);
    assert_eq!(cubic.cwnd_bytes(), 100_000);
    // Sent before the second was found: two in one round trip.
    lose(&mut cubic, 400, 1);
    assert_eq!(cubic.cwnd_bytes(), 70_000);
    // More of the same flight.
    lose(&mut cubic, 401, 5);
    assert_eq!(cubic.cwnd_bytes(), 70_000);
    lose(&mut cubic, 600, 2);
    assert_eq!(cubic.cwnd_bytes(), 49_000);
}

#[test]
fn a_threshold_that_is_not_reduced_leads_slow_start_back() {
    let after = |turn: fn(&mut Faults)| {
        let mut reno = grown(reno(), turn);
        lose(&mut reno, 200, 1);
        assert_eq!(reno.cwnd_bytes(), 50_000);
        ack(&mut reno, 301, 25);
        ack(&mut reno, 351, 75);
        reno.cwnd_bytes()
    };
    // 100 segments acknowledged: less than two windows of 50 and 51.
    assert_eq!(after(right), 51_000);
    // 50 lead back to 100, and the other 50 are half of what the next segment takes.
    assert_eq!(after(|faults| faults.ssthresh_after_loss = SsthreshAfterLoss::Window), 100_000);
    assert_eq!(after(|faults| faults.ssthresh_after_loss = SsthreshAfterLoss::Infinite), 150_000);
}

#[test]
fn proportional_rate_reduction_ends_at_the_reduced_window_whatever_the_threshold() {
    let mut reno = grown(LossBasedConfig { prr: true, ..reno() }, |faults| {
        faults.ssthresh_after_loss = SsthreshAfterLoss::Infinite;
    });
    lose(&mut reno, 200, 1);
    ack(&mut reno, 301, 0);
    assert_eq!((reno.cwnd_bytes(), reno.state()), (50_000, "slow_start"));
}

#[test]
fn acks_in_recovery_grow_the_window_or_inflate_it() {
    let after = |turn: fn(&mut Faults)| {
        let mut reno = grown(reno(), turn);
        lose(&mut reno, 200, 1);
        ack(&mut reno, 299, 99);
        assert_eq!(reno.state(), "recovery");
        ack(&mut reno, 301, 0);
        reno.cwnd_bytes()
    };
    assert_eq!(after(right), 50_000);
    assert_eq!(after(|faults| faults.growth_in_recovery = GrowthInRecovery::On), 51_000);
    assert_eq!(after(|faults| faults.growth_in_recovery = GrowthInRecovery::Inflates), 149_000);
}

#[test]
fn acks_that_count_twice_double_the_growth() {
    let growth = |config: LossBasedConfig, turn: fn(&mut Faults)| {
        let mut controller = grown(config, turn);
        lose(&mut controller, 200, 1);
        ack(&mut controller, 301, 0);
        let before = controller.cwnd_bytes();
        // A little more than a window of 50 acknowledged, an ACK for every two packets.
        for pair in 0..26 {
            ack(&mut controller, 302 + pair, 2);
        }
        controller.cwnd_bytes() - before
    };
    let twice: fn(&mut Faults) = |faults| faults.ack_count = 2.0;
    assert_eq!((growth(reno(), right), growth(reno(), twice)), (1_000, 2_000));
    // CUBIC's curve goes by the clock, which more ACKs only follow more closely; Reno's estimate goes by the ACKs.
    let (once, more) = (growth(cubic(), right), growth(cubic(), twice));
    assert!(once > 300 && more > once + 300, "{once}, {more}");
}

#[test]
fn growth_may_count_packets_or_acks_in_place_of_bytes() {
    let after = |unit| {
        let mut reno = grown(reno(), |_| {});
        reno.config.faults.growth_unit = unit;
        lose(&mut reno, 200, 1);
        ack(&mut reno, 301, 0);
        // Packets of 500 bytes, acknowledged four at a time: 52 segments in 26 ACKs.
        for four in 0..26 {
            reno.on_ack(&Ack {
                now: ms(302 + four),
                acked_bytes: 2 * SEGMENT,
                acked_packets: 4,
                newest_sent: ms(202 + four),
                srtt: ms(100),
                in_flight_bytes: 0,
                app_limited: false,
            });
        }
        reno.cwnd_bytes()
    };
    assert_eq!(after(GrowthUnit::Bytes), 51_000);
    assert_eq!(after(GrowthUnit::Acks), 50_000);
    assert_eq!(after(GrowthUnit::Packets), 52_000);
}

#[test]
fn a_window_may_grow_while_the_application_leaves_it_unfilled() {
    let after = |turn: fn(&mut Faults)| {
        let mut reno = grown(reno(), turn);
        for round in 2..5 {
            reno.on_ack(&Ack {
                now: ms(100 * round),
                acked_bytes: 10 * SEGMENT,
                acked_packets: 10,
                newest_sent: ms(100 * (round - 1)),
                srtt: ms(100),
                in_flight_bytes: 0,
                app_limited: true,
            });
        }
        reno.cwnd_bytes()
    };
    assert_eq!(after(right), 100_000);
    assert_eq!(after(|faults| faults.app_limited_growth = true), 130_000);
}

#[test]
fn a_mark_cuts_unless_it_is_not_reacted_to() {
    let after = |turn: fn(&mut Faults)| {
        let mut cubic = grown(cubic(), turn);
        lose(&mut cubic, 200, 0);
        let marked = cubic.cwnd_bytes();
        lose(&mut cubic, 500, 1);
        (marked, cubic.cwnd_bytes())
    };
    assert_eq!(after(right), (70_000, 49_000));
    assert_eq!(after(|faults| faults.ecn_reaction = false), (100_000, 70_000));
    // Marks are no lost packets: where isolated losses are ignored, a mark is not.
    assert_eq!(after(|faults| faults.event_min_packets = 2.0), (70_000, 70_000));
}

#[test]
fn a_timeout_resets_the_window_for_good_or_until_the_next_acknowledgement() {
    let after = |turn: fn(&mut Faults)| {
        let mut reno = grown(reno(), turn);
        let reacts = reno.on_timeout(ms(500));
        let timed_out = reno.cwnd_bytes();
        // Only the first of a series does anything.
        reno.on_timeout(ms(900));
        assert_eq!(reno.cwnd_bytes(), timed_out);
        ack(&mut reno, 1000, 100);
        let acked = reno.cwnd_bytes();
        ack(&mut reno, 1100, 2);
        (reacts, timed_out, acked, reno.cwnd_bytes(), reno.ssthresh_bytes())
    };
    assert_eq!(after(right), (false, 100_000, 200_000, 202_000, None));
    let reset = after(|faults| faults.timeout_window = TimeoutWindow::Reset);
    assert_eq!(reset, (true, 2_000, 2_000, 4_000, Some(50_000)));
    let restored = after(|faults| faults.timeout_window = TimeoutWindow::Restored);
    assert_eq!(restored, (true, 2_000, 200_000, 202_000, None));
}
