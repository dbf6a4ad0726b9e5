//! Proportional rate reduction with the slow-start reduction bound (RFC 6937): what may be sent in recovery.
//!
//! Instead of falling silent until half a window has drained, the sender sends in proportion to what arrives, so
//! that it ends the recovery at ssthresh. All amounts in bytes.

#[derive(Clone, Copy, Debug)]
pub struct Prr {
    ssthresh: u64,
    /// RecoverFS: the flight when recovery began.
    flight: u64,
    delivered: u64,
    out: u64,
    segment: u64,
    /// Delivered by the present ACK, and whether it told of losses.
    last_delivered: u64,
    lost_now: bool,
}

impl Prr {
    /// Recovery begins with an ACK that acknowledged `delivered` and told of the first losses.
    pub fn new(ssthresh: u64, flight: u64, segment: u64, delivered: u64) -> Self {
        Self { ssthresh, flight, delivered, out: 0, segment, last_delivered: delivered, lost_now: true }
    }

    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    pub fn on_ack(&mut self, acked: u64) {
        self.delivered += acked;
        self.last_delivered = acked;
        self.lost_now = false;
    }

    /// The present ACK told of more losses.
    pub fn on_loss(&mut self) {
        self.lost_now = true;
    }

    /// Bytes that may leave now with `pipe` in flight (sndcnt).
    pub fn allowance(&self, pipe: u64) -> u64 {
        let allowance = if pipe > self.ssthresh {
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            let due = share.div_ceil(u128::from(self.flight.max(1))) as u64;
            due.saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(self.last_delivered);
            let limit = if self.lost_now { limit } else { limit + self.segment };
            (self.ssthresh - pipe).min(limit)
        };
        // The first retransmission leaves at once. And with less than a packet in flight one may always leave, as
        // in Google's sender: what is in flight may be something that no peer acknowledges yet, such as data
        // that it can read only after a lost part of the handshake.
        if self.out == 0 || pipe < self.segment {
            allowance.max(self.segment)
        } else {
            allowance
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sends_in_proportion_until_the_pipe_is_at_ssthresh() {
        // 20 segments of 1000 bytes, one lost, ssthresh 10: every second ACK lets one out (RFC 6937, section 4).
        let mut prr = Prr::new(10_000, 20_000, 1000, 1_000);
        let mut pipe = 18_000;
        let mut sent = 0;
        assert_eq!(prr.allowance(pipe), 1000);
        prr.on_sent(1000);
        pipe += 1000;
        for _ in 0..17 {
            prr.on_ack(1000);
            pipe -= 1000;
            let allowance = prr.allowance(pipe);
            if allowance >= 1000 {
                prr.on_sent(1000);
                (pipe, sent) = (pipe + 1000, sent + 1);
            }
        }
        assert_eq!(sent, 8);
        assert_eq!(pipe, 10_000);
    }

    #[test]
    fn a_small_packet_does_not_stop_the_retransmission() {
        // 146 bytes of data left before the lost part of the handshake could, and nobody acknowledges them.
        let mut prr = Prr::new(40_000, 47_000, 1420, 207);
        prr.on_sent(146);
        assert_eq!(prr.allowance(146), 1420);
        prr.on_sent(1420);
        assert!(prr.allowance(1566) < 1420);
    }

    #[test]
    fn below_ssthresh_it_slow_starts_back() {
        // Half of the flight was lost: the pipe is far below ssthresh, and each ACK lets two segments out.
        let mut prr = Prr::new(10_000, 20_000, 1000, 0);
        prr.on_sent(1000);
        prr.on_ack(1000);
        assert_eq!(prr.allowance(4_000), 2_000);
        prr.on_loss();
        assert_eq!(prr.allowance(4_000), 1_000);
        assert_eq!(prr.allowance(9_500), 500);
    }
}
