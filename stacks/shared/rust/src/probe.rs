//! A line of a stack's own trace log, taken when it is asked for.
//!
//! Some stacks have no getters for their congestion controller, but write its state into trace lines of the `log`
//! crate. A probe turns tracing on, keeps the first line that it looks for and turns tracing off again, so that it
//! costs nothing at all other times.

use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use log::{LevelFilter, Log, Metadata, Record};

/// Longer lines are cut off, and are then not formatted to their end.
const LONGEST_LINE_BYTES: usize = 2048;

static PROBE: OnceLock<Probe> = OnceLock::new();

struct Probe {
    target: &'static str,
    needle: &'static str,
    line: Mutex<String>,
}

/// Look for lines of `target` (a module's path, or how it begins) that contain `needle`. Once a process.
///
/// # Panics
/// If the process has a logger already.
pub fn install(target: &'static str, needle: &'static str) {
    let line = Mutex::new(String::with_capacity(LONGEST_LINE_BYTES));
    let probe = PROBE.get_or_init(|| Probe { target, needle, line });
    assert!(log::set_logger(probe).is_ok(), "the process has a logger already");
}

/// Keep the next such line.
pub fn arm() {
    if let Some(probe) = PROBE.get() {
        probe.line().clear();
        log::set_max_level(LevelFilter::Trace);
    }
}

/// Stop looking, and read the line that was kept since `arm`, if there was one.
pub fn take<T>(read: impl FnOnce(&str) -> T) -> Option<T> {
    log::set_max_level(LevelFilter::Off);
    let mut line = PROBE.get()?.line();
    let value = (!line.is_empty()).then(|| read(&line));
    line.clear();
    value
}

impl Probe {
    fn line(&self) -> MutexGuard<'_, String> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for Probe {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.target)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut line = self.line();
        line.clear();
        // A line that is cut off is an error to the formatter, which then stops.
        let _ = Limited(&mut line).write_fmt(*record.args());
        if line.contains(self.needle) {
            log::set_max_level(LevelFilter::Off);
        } else {
            line.clear();
        }
    }

    fn flush(&self) {}
}

/// Text up to `LONGEST_LINE_BYTES`.
struct Limited<'a>(&'a mut String);

impl Write for Limited<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > LONGEST_LINE_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// What follows `key` in `line`.
pub fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.find(key).map(|start| &line[start + key.len()..])
}

/// The number that follows `key` in `line`.
pub fn number_after(line: &str, key: &str) -> Option<u64> {
    let rest = after(line, key)?;
    let length = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    rest[..length].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_is_kept_and_only_when_asked() {
        install("stack::recovery", "cwnd=");
        log::trace!(target: "stack::recovery", "cwnd=1");
        assert_eq!(take(str::to_owned), None);
        arm();
        log::trace!(target: "stack::packets", "cwnd=2");
        log::trace!(target: "stack::recovery::cubic", "nothing");
        log::trace!(target: "stack::recovery::cubic", "cwnd={} {}", 3, "x".repeat(LONGEST_LINE_BYTES));
        log::trace!(target: "stack::recovery", "cwnd=4");
        assert_eq!(take(|line| (line.len(), number_after(line, "cwnd="))), Some((7, Some(3))));
        assert_eq!(take(str::to_owned), None);
    }

    #[test]
    fn fields_are_found() {
        let line = "a=1 bb=22, c=x";
        assert_eq!(
            (number_after(line, "bb="), number_after(line, "c="), number_after(line, "d=")),
            (Some(22), None, None)
        );
        assert_eq!(after(line, "bb=22, "), Some("c=x"));
    }
}
