//! SIGTERM and SIGINT, as a flag that a loop looks at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::error::{Error, Result};

/// Longest sleep of a loop that looks at the flag, so that a signal which falls between the look and the sleep is
/// seen within the contract's 100 ms.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Set by SIGTERM or SIGINT; a signal also ends a sleeping system call early.
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Catch both signals from now on.
    pub fn on_signals() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, flag.clone())
                .map_err(|error| Error::failed("signal handler", error))?;
        }
        Ok(Self(flag))
    }

    /// Has a signal asked to stop?
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_sets_the_flag() {
        let stop = Stop::on_signals().unwrap();
        assert!(!stop.requested());
        // SAFETY: the handler is installed; raise(3) runs it before it returns.
        unsafe { libc::raise(SIGTERM) };
        assert!(stop.requested());
    }
}
