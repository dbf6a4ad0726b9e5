//! Whether Startup has filled the pipe: the bandwidth has stopped growing (draft, section 4.3.2.3).

#[derive(Clone, Copy, Debug)]
pub struct FullPipe {
    threshold: f64,
    rounds: u32,
    best_bandwidth: f64,
    rounds_without_growth: u32,
    filled: bool,
}

impl FullPipe {
    /// The pipe is full when `rounds` in a row have not raised the bandwidth by the factor `threshold`.
    pub fn new(threshold: f64, rounds: u32) -> Self {
        Self { threshold, rounds, best_bandwidth: 0.0, rounds_without_growth: 0, filled: false }
    }

    pub fn is_filled(&self) -> bool {
        self.filled
    }

    /// A round has ended in which the application was not the limit.
    pub fn on_round(&mut self, bandwidth: f64) {
        if self.filled {
            return;
        }
        if bandwidth >= self.best_bandwidth * self.threshold {
            self.best_bandwidth = bandwidth;
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.filled = self.rounds_without_growth >= self.rounds;
    }

    /// What was the best may be out of reach now (after persistent congestion).
    pub fn forget_best(&mut self) {
        self.best_bandwidth = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_in_a_row_without_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::new(1.25, 3);
        for bandwidth in [1.0, 1.25, 1.5, 1.5, 1.6, 1.9, 1.9] {
            pipe.on_round(bandwidth);
            assert!(!pipe.is_filled(), "{bandwidth}");
        }
        pipe.on_round(1.9);
        assert!(pipe.is_filled());
        pipe.on_round(100.0);
        assert!(pipe.is_filled());
    }
}
