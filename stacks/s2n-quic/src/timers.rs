//! Timers that wake when tokio's do: users run s2n-quic on tokio, and how it paces depends on it.
//!
//! tokio 1.54 counts in ticks of a millisecond since the runtime's start, and rounds deadlines up. Its wheel has levels
//! of 64 slots: a deadline beyond the next 64 ticks makes it wake at the start of its slot first. A deadline that is put
//! off stays where it is until the driver wakes for it and puts it in its new place. Each of these wakes ends a sleep,
//! which the kernel's timer slack has made a little longer.

use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// What the kernel adds to a sleep of epoll_wait(2): the timer slack of a thread that has not asked for another.
const TIMER_SLACK: Duration = Duration::from_micros(50);

const BITS_PER_LEVEL: u32 = 6;

/// The timers of one thread.
pub struct Timers {
    start: Instant,
    /// The tick of the last wake.
    elapsed: u64,
    entries: Vec<Entry>,
}

#[derive(Default)]
struct Entry {
    state: State,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Unset,
    /// It fires at tick `due`; until it is looked at again it has its place in the wheel at `placed`.
    Set {
        due: u64,
        placed: u64,
    },
    Fired,
}

impl Timers {
    pub fn starting(start: Instant) -> Self {
        Self { start, elapsed: 0, entries: Vec::new() }
    }

    /// A new timer, which is not set.
    pub fn add(&mut self) -> usize {
        self.entries.push(Entry::default());
        self.entries.len() - 1
    }

    /// Let `timer` fire once, at `deadline`.
    pub fn set(&mut self, timer: usize, deadline: Instant) {
        let due = self.tick(deadline + Duration::from_nanos(999_999));
        let entry = &mut self.entries[timer];
        entry.state = match entry.state {
            State::Set { due: before, placed } if due >= before => State::Set { due, placed },
            _ if due <= self.elapsed => State::Fired,
            _ => State::Set { due, placed: due },
        };
    }

    /// Ready once `timer` has fired, which unsets it.
    pub fn poll(&mut self, timer: usize, context: &mut Context<'_>) -> Poll<()> {
        let entry = &mut self.entries[timer];
        if entry.state == State::Fired {
            entry.state = State::Unset;
            return Poll::Ready(());
        }
        entry.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// How long to sleep at `now`, if a timer is set.
    pub fn sleep(&self, now: Instant) -> Option<Duration> {
        let wakes = self.entries.iter().filter_map(|entry| match entry.state {
            State::Set { placed, .. } => Some(self.wake(placed)),
            _ => None,
        });
        let ticks = wakes.min()?.saturating_sub(self.tick(now));
        Some(if ticks == 0 { Duration::ZERO } else { Duration::from_millis(ticks) + TIMER_SLACK })
    }

    /// The thread has woken at `now`: fire what is due.
    pub fn wake_up(&mut self, now: Instant) {
        let now = self.tick(now);
        for index in 0..self.entries.len() {
            let State::Set { due, placed } = self.entries[index].state else { continue };
            if self.wake(placed) > now {
                continue;
            }
            let entry = &mut self.entries[index];
            if due > now {
                entry.state = State::Set { due, placed: due };
            } else {
                entry.state = State::Fired;
                if let Some(waker) = entry.waker.take() {
                    waker.wake();
                }
            }
        }
        self.elapsed = self.elapsed.max(now);
    }

    fn tick(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.start).as_millis() as u64
    }

    /// The tick at which the driver looks at a timer that is placed at `tick`: the start of its slot.
    fn wake(&self, tick: u64) -> u64 {
        let least = (1 << BITS_PER_LEVEL) - 1;
        let level = ((self.elapsed ^ tick) | least).ilog2() / BITS_PER_LEVEL;
        let bits = level * BITS_PER_LEVEL;
        tick >> bits << bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Run {
        start: Instant,
        timers: Timers,
        timer: usize,
    }

    impl Run {
        fn new() -> Self {
            let start = Instant::now();
            let mut timers = Timers::starting(start);
            let timer = timers.add();
            Self { start, timers, timer }
        }

        fn at(&self, us: u64) -> Instant {
            self.start + Duration::from_micros(us)
        }

        fn set(&mut self, us: u64) {
            self.timers.set(self.timer, self.at(us));
        }

        fn sleep_us(&self, us: u64) -> Option<u128> {
            self.timers.sleep(self.at(us)).map(|sleep| sleep.as_micros())
        }

        fn fires_at(&mut self, us: u64) -> bool {
            self.timers.wake_up(self.at(us));
            self.timers.poll(self.timer, &mut Context::from_waker(Waker::noop())).is_ready()
        }
    }

    #[test]
    fn a_deadline_is_rounded_up_and_the_kernel_adds_its_slack() {
        let mut run = Run::new();
        assert_eq!(run.sleep_us(0), None);
        run.set(1);
        assert_eq!(run.sleep_us(0), Some(1_050));
        assert_eq!(run.sleep_us(900), Some(1_050));
        assert!(!run.fires_at(999));
        assert!(run.fires_at(1_950));
        assert!(!run.fires_at(2_000), "once");
        assert_eq!(run.sleep_us(2_000), None);
    }

    #[test]
    fn a_deadline_of_the_past_fires_at_once() {
        let mut run = Run::new();
        assert!(!run.fires_at(5_000));
        run.set(4_000);
        assert!(run.fires_at(5_000));
    }

    #[test]
    fn one_that_is_put_off_wakes_at_the_old_time_first() {
        let mut run = Run::new();
        run.set(10_000);
        run.set(12_000);
        assert_eq!(run.sleep_us(8_000), Some(2_050));
        assert!(!run.fires_at(10_050));
        assert_eq!(run.sleep_us(10_050), Some(2_050));
        assert!(run.fires_at(12_100));
    }

    #[test]
    fn one_that_is_brought_forward_forgets_the_old_time() {
        let mut run = Run::new();
        run.set(12_000);
        run.set(10_000);
        assert!(run.fires_at(10_050));
        assert_eq!(run.sleep_us(10_050), None);
    }

    #[test]
    fn one_beyond_the_next_64_ticks_wakes_at_the_start_of_its_slot() {
        let mut run = Run::new();
        run.set(150_000);
        assert_eq!(run.sleep_us(0), Some(128_050));
        assert!(!run.fires_at(128_050));
        assert_eq!(run.sleep_us(128_050), Some(22_050));
        assert!(run.fires_at(150_100));
    }
}
