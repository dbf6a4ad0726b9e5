//! Time: when to wake, and what an `Instant` is on the wall.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// CLOCK_REALTIME in nanoseconds.
pub fn realtime_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}

/// Turns an `Instant` into CLOCK_REALTIME without another clock read.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    instant: Instant,
    realtime_ns: u64,
}

impl Anchor {
    pub fn now() -> Self {
        Self { instant: Instant::now(), realtime_ns: realtime_ns() }
    }

    /// CLOCK_REALTIME of `instant` in nanoseconds.
    pub fn realtime_ns(&self, instant: Instant) -> u64 {
        let since = instant.saturating_duration_since(self.instant).as_nanos() as u64;
        let before = self.instant.saturating_duration_since(instant).as_nanos() as u64;
        self.realtime_ns + since - before
    }
}

/// What the kernel puts a sleep of epoll_wait(2) off by, unless something else ends it before: the timer slack of a
/// thread that has not asked for another.
const TIMER_SLACK: Duration = Duration::from_micros(50);

/// Timers with the granularity of tokio's, which the users of a stack that runs on tokio get: deadlines are rounded
/// up to whole milliseconds since the start of the runtime, and the kernel adds its slack. A pacer made for that
/// (quinn's, by its BURST_INTERVAL) would put another packet train on the wire with finer timers.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    start: Instant,
}

impl Ticks {
    pub fn starting(start: Instant) -> Self {
        Self { start }
    }

    /// How long to sleep at `now` for a `deadline`: whole milliseconds, as tokio's time driver computes it, and the
    /// slack.
    pub fn wait(&self, now: Instant, deadline: Instant) -> Duration {
        let round_up = Duration::from_nanos(999_999);
        let deadline_tick = (deadline + round_up).saturating_duration_since(self.start).as_millis() as u64;
        let now_tick = now.saturating_duration_since(self.start).as_millis() as u64;
        match deadline_tick.saturating_sub(now_tick) {
            0 => Duration::ZERO,
            ticks => Duration::from_millis(ticks) + TIMER_SLACK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_round_as_tokio_does() {
        let start = Instant::now();
        let ticks = Ticks::starting(start);
        let at = |us| start + Duration::from_micros(us);
        assert_eq!(ticks.wait(at(0), at(1)).as_micros(), 1_050);
        assert_eq!(ticks.wait(at(900), at(1_100)).as_micros(), 2_050);
        assert_eq!(ticks.wait(at(1_000), at(2_000)).as_micros(), 1_050);
        assert_eq!(ticks.wait(at(5_000), at(2_000)).as_micros(), 0);
    }

    #[test]
    fn an_anchor_counts_both_ways() {
        let anchor = Anchor { instant: Instant::now(), realtime_ns: 1_800_000_000_000_000_000 };
        let second = Duration::from_secs(1);
        assert_eq!(anchor.realtime_ns(anchor.instant + second), 1_800_000_001_000_000_000);
        assert_eq!(anchor.realtime_ns(anchor.instant - second), 1_799_999_999_000_000_000);
    }
}
