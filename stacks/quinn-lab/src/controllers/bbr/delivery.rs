//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation): what arrived between a packet's departure and
//! its ACK, over the longer of the times in which it was sent and acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::{Ack, Sent, Time};

/// How things stood when packets left. Those of one moment share a record.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Time,
    delivered_bytes: u64,
    delivered_at: Time,
    first_sent: Time,
    app_limited: bool,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub bytes_per_s: f64,
    /// What had been delivered when the packet left, which tells rounds.
    pub prior_delivered_bytes: u64,
    pub app_limited: bool,
}

#[derive(Debug, Default)]
pub struct DeliveryRate {
    delivered_bytes: u64,
    delivered_at: Time,
    first_sent: Time,
    /// The flow is limited by its application until this much has been delivered; 0: it is not.
    app_limited_until: u64,
    departures: VecDeque<Departure>,
}

impl DeliveryRate {
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    pub fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight_before_bytes == 0 {
            self.first_sent = sent.now;
            self.delivered_at = sent.now;
        }
        if self.departures.back().is_some_and(|last| last.at == sent.now) {
            return;
        }
        self.departures.push_back(Departure {
            at: sent.now,
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until != 0,
        });
    }

    /// What the flow sends does not show what the path could carry, until all that is in flight has arrived.
    pub fn set_app_limited(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// The sample of an ACK; `None` for one that tells nothing (an interval shorter than `min_rtt` misleads).
    pub fn on_ack(&mut self, ack: &Ack, min_rtt: Option<Duration>) -> Option<Sample> {
        self.delivered_bytes += ack.acked_bytes;
        self.delivered_at = ack.now;
        if self.app_limited_until != 0 && self.delivered_bytes > self.app_limited_until {
            self.app_limited_until = 0;
        }
        while self.departures.front().is_some_and(|first| first.at < ack.newest_sent) {
            self.departures.pop_front();
        }
        let packet = *self.departures.front().filter(|first| first.at == ack.newest_sent)?;
        self.first_sent = packet.at;
        let send_time = packet.at.saturating_sub(packet.first_sent);
        let ack_time = ack.now.saturating_sub(packet.delivered_at);
        let interval = send_time.max(ack_time);
        if interval.is_zero() || min_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(Sample {
            bytes_per_s: (self.delivered_bytes - packet.delivered_bytes) as f64 / interval.as_secs_f64(),
            prior_delivered_bytes: packet.delivered_bytes,
            app_limited: packet.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn ack(now: Time, newest_sent: Time, acked_bytes: u64) -> Ack {
        Ack {
            now,
            acked_bytes,
            acked_packets: 1,
            newest_sent,
            srtt: ms(50),
            in_flight_bytes: 0,
            app_limited: false,
        }
    }

    #[test]
    fn a_paced_flow_is_measured_at_its_rate() {
        let mut rate = DeliveryRate::default();
        // 1000 bytes a millisecond, 50 ms away.
        let mut in_flight = 0;
        for step in 0..200 {
            rate.on_sent(&Sent { now: ms(step), bytes: 1000, in_flight_before_bytes: in_flight });
            in_flight += 1000;
            if step >= 50 {
                in_flight -= 1000;
                let sample = rate.on_ack(&ack(ms(step), ms(step - 50), 1000), Some(ms(50))).unwrap();
                if step > 100 {
                    assert!((sample.bytes_per_s - 1e6).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn compressed_acks_do_not_raise_the_estimate_above_the_send_rate() {
        let mut rate = DeliveryRate::default();
        for step in 0..100 {
            rate.on_sent(&Sent { now: ms(step), bytes: 1000, in_flight_before_bytes: step * 1000 });
        }
        // All the ACKs come together.
        let best = (0..100)
            .filter_map(|step| rate.on_ack(&ack(ms(150), ms(step), 1000), Some(ms(50))))
            .map(|sample| sample.bytes_per_s)
            .fold(0.0, f64::max);
        assert!(best <= 1e6, "{best}");
    }

    #[test]
    fn samples_taken_while_limited_say_so() {
        let mut rate = DeliveryRate::default();
        rate.set_app_limited(0);
        rate.on_sent(&Sent { now: ms(0), bytes: 1000, in_flight_before_bytes: 0 });
        assert!(rate.on_ack(&ack(ms(50), ms(0), 1000), None).unwrap().app_limited);
        rate.on_sent(&Sent { now: ms(51), bytes: 1000, in_flight_before_bytes: 0 });
        assert!(!rate.on_ack(&ack(ms(101), ms(51), 1000), None).unwrap().app_limited);
    }
}
