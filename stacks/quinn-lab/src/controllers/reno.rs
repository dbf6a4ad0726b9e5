//! Additive increase: one segment a window of acknowledged data (RFC 5681 section 3.1, RFC 9002 section 7.3.3).

/// Counts acknowledged segments until a window of them has earned an increase.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    credit_segments: f64,
}

impl Reno {
    /// The window after `acked_segments` more were acknowledged. `increase_segments` are added a window.
    pub fn grow(&mut self, cwnd_segments: f64, acked_segments: f64, increase_segments: f64) -> f64 {
        self.credit_segments += acked_segments * increase_segments;
        let mut cwnd = cwnd_segments;
        while self.credit_segments >= cwnd {
            self.credit_segments -= cwnd;
            cwnd += 1.0;
        }
        cwnd
    }

    /// A window was cut: what it had earned is void.
    pub fn reset(&mut self) {
        self.credit_segments = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_segment_a_window() {
        let mut reno = Reno::default();
        let mut cwnd = 10.0;
        for _ in 0..9 {
            cwnd = reno.grow(cwnd, 1.0, 1.0);
        }
        assert_eq!(cwnd, 10.0);
        cwnd = reno.grow(cwnd, 1.0, 1.0);
        assert_eq!(cwnd, 11.0);
        // Ten more round trips, each acknowledging a whole window two packets at a time, add ten segments.
        for window in 11..21 {
            for _ in 0..window {
                cwnd = reno.grow(cwnd, 0.5, 1.0);
                cwnd = reno.grow(cwnd, 0.5, 1.0);
            }
        }
        assert_eq!(cwnd, 21.0);
    }

    #[test]
    fn two_connections_grow_twice_as_fast() {
        let mut reno = Reno::default();
        assert_eq!(reno.grow(10.0, 5.0, 2.0), 11.0);
    }
}
