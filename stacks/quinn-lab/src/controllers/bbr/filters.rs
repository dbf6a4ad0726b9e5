//! The two windowed filters of BBR, without allocation.

use std::time::Duration;

use super::super::Time;

/// Largest value of the last `length` rounds. It keeps the best three candidates, each newer than the one before,
/// as Linux's `win_minmax` does (Kathleen Nichols' algorithm).
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax {
    length: u64,
    best: [(u64, f64); 3],
}

impl WindowedMax {
    pub fn new(length: u64) -> Self {
        Self { length, best: [(0, 0.0); 3] }
    }

    pub fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Take `value` of `round`.
    pub fn update(&mut self, round: u64, value: f64) {
        let sample = (round, value);
        let age = |of: (u64, f64)| round - of.0;
        if value >= self.best[0].1 || age(self.best[2]) > self.length {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        if age(self.best[0]) > self.length {
            self.best = [self.best[1], self.best[2], sample];
            if age(self.best[0]) > self.length {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age(self.best[1]) > self.length / 4 {
            // A quarter of the window without a better second: take this one, lest all three expire together.
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && age(self.best[2]) > self.length / 2 {
            self.best[2] = sample;
        }
    }
}

/// Least RTT, forgotten when nothing has gone below it for a while.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt {
    window: Duration,
    rtt: Option<Duration>,
    stamp: Time,
}

impl MinRtt {
    pub fn new(window: Duration) -> Self {
        Self { window, rtt: None, stamp: Time::ZERO }
    }

    pub fn get(&self) -> Option<Duration> {
        self.rtt
    }

    /// Take a sample; whether it is the least of the window.
    pub fn update(&mut self, now: Time, rtt: Duration) -> bool {
        let lower = self.rtt.is_none_or(|least| rtt < least);
        if lower || now > self.stamp + self.window {
            (self.rtt, self.stamp) = (Some(rtt), now);
        }
        lower
    }

    /// The estimate holds as of `now`: ProbeRTT has just looked.
    pub fn refresh(&mut self, now: Time) {
        self.stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_lives_as_long_as_its_window() {
        let mut filter = WindowedMax::new(10);
        filter.update(1, 100.0);
        for round in 2..=11 {
            filter.update(round, 50.0);
            assert_eq!(filter.get(), 100.0, "{round}");
        }
        filter.update(12, 50.0);
        assert_eq!(filter.get(), 50.0);
        filter.update(13, 70.0);
        assert_eq!(filter.get(), 70.0);
    }

    #[test]
    fn the_second_best_takes_over() {
        let mut filter = WindowedMax::new(10);
        for (round, value) in [(1, 100.0), (4, 80.0), (10, 60.0)] {
            filter.update(round, value);
        }
        filter.update(12, 10.0);
        assert_eq!(filter.get(), 80.0);
        filter.update(15, 10.0);
        assert_eq!(filter.get(), 60.0);
    }

    #[test]
    fn the_least_rtt_expires() {
        let ms = Duration::from_millis;
        let mut filter = MinRtt::new(ms(10_000));
        assert!(filter.update(ms(0), ms(50)));
        assert!(!filter.update(ms(10_000), ms(60)));
        assert_eq!(filter.get(), Some(ms(50)));
        assert!(!filter.update(ms(10_001), ms(60)));
        assert_eq!(filter.get(), Some(ms(60)));
        filter.refresh(ms(15_000));
        filter.update(ms(25_000), ms(61));
        assert_eq!(filter.get(), Some(ms(60)));
    }
}
