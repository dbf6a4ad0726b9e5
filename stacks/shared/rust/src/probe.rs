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

/// A line with another beginning is not formatted further: one for each packet would cost.
const NEEDLE_WITHIN_BYTES: usize = 256;

static PROBE: OnceLock<Probe> = OnceLock::new();

struct Probe {
    target: &'static str,
    kept: Mutex<Kept>,
}

struct Kept {
    needle: &'static str,
    line: String,
}

/// Look at lines of `target` (a module's path, or how it begins). Once a process.
///
/// # Panics
/// If the process has a logger already.
pub fn install(target: &'static str) {
    let kept = Kept { needle: "", line: String::with_capacity(LONGEST_LINE_BYTES) };
    let probe = PROBE.get_or_init(|| Probe { target, kept: Mutex::new(kept) });
    assert!(log::set_logger(probe).is_ok(), "the process has a logger already");
}

/// Keep the next line that contains `needle` near its beginning.
pub fn arm(needle: &'static str) {
    if let Some(probe) = PROBE.get() {
        let mut kept = probe.kept();
        kept.needle = needle;
        kept.line.clear();
        log::set_max_level(LevelFilter::Trace);
    }
}

/// Stop looking, and read the line that was kept since `arm`, if there was one. A line of which `read` makes nothing
/// stays for another reader.
pub fn take<T>(read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    log::set_max_level(LevelFilter::Off);
    let mut kept = PROBE.get()?.kept();
    let value = if kept.line.is_empty() { None } else { read(&kept.line) };
    if value.is_some() {
        kept.line.clear();
    }
    value
}

impl Probe {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut kept = self.kept();
        let Kept { needle, line } = &mut *kept;
        line.clear();
        // A line that is cut off is an error to the formatter, which then stops.
        let _ = Limited { line, needle }.write_fmt(*record.args());
        if line.contains(*needle) {
            log::set_max_level(LevelFilter::Off);
        } else {
            line.clear();
        }
    }

    fn flush(&self) {}
}

/// Text up to `LONGEST_LINE_BYTES`, or `NEEDLE_WITHIN_BYTES` without the needle.
struct Limited<'a> {
    line: &'a mut String,
    needle: &'a str,
}

impl Write for Limited<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let before = self.line.len();
        let passes = before < NEEDLE_WITHIN_BYTES && before + text.len() >= NEEDLE_WITHIN_BYTES;
        if before + text.len() > LONGEST_LINE_BYTES {
            return Err(std::fmt::Error);
        }
        self.line.push_str(text);
        if passes && !self.line.contains(self.needle) {
            return Err(std::fmt::Error);
        }
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
        let text = |line: &str| Some(line.to_owned());
        install("stack::recovery");
        log::trace!(target: "stack::recovery", "cwnd=1");
        assert_eq!(take(text), None);
        arm("cwnd=");
        log::trace!(target: "stack::packets", "cwnd=2");
        log::trace!(target: "stack::recovery::cubic", "nothing");
        log::trace!(target: "stack::recovery::cubic", "cwnd={} {}", 3, "x".repeat(LONGEST_LINE_BYTES));
        log::trace!(target: "stack::recovery", "cwnd=4");
        assert_eq!(take(|_| None::<()>), None, "not this reader's");
        assert_eq!(take(|line| Some((line.len(), number_after(line, "cwnd=")))), Some((7, Some(3))));
        assert_eq!(take(text), None);

        // The one test of the process's only probe.
        arm("LOST");
        log::trace!(target: "stack::recovery", "ACKED {} {}", "x".repeat(NEEDLE_WITHIN_BYTES), NeverFormatted);
        log::trace!(target: "stack::recovery", "LOST 5");
        assert_eq!(take(text).as_deref(), Some("LOST 5"));
    }

    struct NeverFormatted;

    impl std::fmt::Display for NeverFormatted {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("formatted though the line's beginning is another")
        }
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
