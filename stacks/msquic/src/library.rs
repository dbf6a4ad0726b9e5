//! msquic's library on this thread. It would start a thread for each processor; by its preview API, a program may run
//! its work instead.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::{Error, Result};
use msquic::ffi::{QUIC_EXECUTION, QUIC_EXECUTION_CONFIG, QUIC_SQE};
use msquic::{Api, Registration, RegistrationConfig, Status};

use crate::calls;

/// Completions taken from the event queue at a time, as in msquic's own threads.
const COMPLETIONS: usize = 16;

pub struct Library {
    /// What msquic waits for: an epoll instance.
    queue: OwnedFd,
    execution: *mut QUIC_EXECUTION,
    /// Never closed: that, too, would wait for work that only this thread could do.
    registration: ManuallyDrop<Registration>,
}

impl Library {
    /// Open the library, with UDP segmentation and receive offload off.
    pub fn open() -> Result<Self> {
        let failed = |error| Error::failed("epoll", error);
        // SAFETY: a plain system call.
        let descriptor = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if descriptor < 0 {
            return Err(failed(std::io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is open and nobody else's.
        let queue = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let mut event_queue = queue.as_raw_fd();
        let mut config = QUIC_EXECUTION_CONFIG { IdealProcessor: 0, EventQ: &raw mut event_queue };
        let mut execution = std::ptr::null_mut();
        leave_open_at_exit();
        calls::begin();
        // SAFETY: one configuration and one place for the result; msquic copies the queue's descriptor.
        let status =
            unsafe { Api::get_ffi().ExecutionCreate.unwrap()(0, 0, 1, &raw mut config, &raw mut execution) };
        Status::ok_from_raw(status).map_err(|status| Error::failed("msquic", status))?;
        let registration = without_new_descriptors(|| Registration::new(&RegistrationConfig::new()))?
            .map_err(|status| Error::failed("msquic", status))?;
        Ok(Self { queue, execution, registration: ManuallyDrop::new(registration) })
    }

    pub fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Do msquic's work until `finished` says so after some of it, or a signal asks to stop.
    pub fn run(&self, stop: &Stop, mut finished: impl FnMut() -> bool) -> Result<()> {
        while !stop.requested() && !finished() {
            self.turn(LONGEST_SLEEP.as_millis() as u32)?;
        }
        Ok(())
    }

    /// Do what there is to do, then sleep for at most `longest_ms` until there is more.
    pub fn turn(&self, longest_ms: u32) -> Result<()> {
        let mut wait_ms = self.work();
        loop {
            let woken = calls::woken();
            if woken.is_empty() {
                break;
            }
            for entry in woken {
                complete(&mut libc::epoll_event { events: libc::EPOLLIN as u32, u64: entry });
            }
            wait_ms = self.work();
        }
        let wait_ms = wait_ms.min(longest_ms);
        let readable = match calls::exchange(with_slack(wait_ms)) {
            Some(entries) => entries?,
            None => self.wait(wait_ms)?,
        };
        for entry in readable {
            complete(&mut libc::epoll_event { events: libc::EPOLLIN as u32, u64: entry });
        }
        Ok(())
    }

    /// Ask the event queue, for as long as that.
    fn wait(&self, wait_ms: u32) -> Result<Vec<u64>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; COMPLETIONS];
        // SAFETY: the queue is open, and there is room for as many events as are asked for.
        let count = unsafe {
            let events = events.as_mut_ptr();
            libc::epoll_wait(self.queue.as_raw_fd(), events, COMPLETIONS as i32, wait_ms as i32)
        };
        calls::waited();
        if count < 0 {
            let error = std::io::Error::last_os_error();
            return match error.kind() {
                std::io::ErrorKind::Interrupted => Ok(vec![]),
                _ => Err(Error::failed("epoll", error)),
            };
        }
        Ok(events[..count as usize].iter().map(|event| event.u64).collect())
    }

    /// Do msquic's work; returns how many milliseconds there is none.
    fn work(&self) -> u32 {
        // SAFETY: the execution lives as long as `self`.
        unsafe { Api::get_ffi().ExecutionPoll.unwrap()(self.execution) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // What msquic sent last; the peer's own timers deal with an error.
        let _ = calls::send();
    }
}

/// How long epoll_wait(2) sleeps: Linux may add a thousandth to a timeout, and at least 50 µs.
fn with_slack(wait_ms: u32) -> Duration {
    if wait_ms == 0 {
        return Duration::ZERO;
    }
    let wait = Duration::from_millis(wait_ms.into());
    wait + (wait / 1000).max(Duration::from_micros(50))
}

/// Tell msquic of an event.
fn complete(event: &mut libc::epoll_event) {
    let entry = event.u64 as *const QUIC_SQE;
    // SAFETY: msquic registers its descriptors with a pointer to the entry that completes them.
    unsafe {
        if let Some(complete) = (*entry).Completion {
            complete(event);
        }
    }
}

/// End the process without MsQuicClose, which the crate calls at its end: it would wait for work of msquic's that only
/// this thread, which waits, could do.
fn leave_open_at_exit() {
    extern "C" {
        /// atexit(3) whose function is told the status; of the GNU C library.
        fn on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
    }
    extern "C" fn leave(status: i32, _: *mut c_void) {
        // SAFETY: a plain system call. Each line of output has been flushed as it was written.
        unsafe { libc::_exit(status) }
    }
    // SAFETY: the function may run at any time. There is room for it: the C library promises 32 such functions.
    unsafe { on_exit(leave, std::ptr::null_mut()) };
}

/// Run `open` while the process may open no file descriptor.
///
/// msquic has no switch for segmentation and receive offload: it uses them if they work between two sockets that it
/// opens for a trial when its first registration opens (CxPlatDataPathCalculateFeatureSupport). So it finds that they
/// do not.
fn without_new_descriptors<T>(open: impl FnOnce() -> T) -> Result<T> {
    let limit = |action: &dyn Fn(*mut libc::rlimit) -> i32, limits: &mut libc::rlimit| match action(limits) {
        0 => Ok(()),
        _ => Err(Error::failed("RLIMIT_NOFILE", std::io::Error::last_os_error())),
    };
    // SAFETY: plain system calls on a structure that lives through them.
    let get = |limits: *mut libc::rlimit| unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, limits) };
    let set = |limits: *mut libc::rlimit| unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limits) };
    let mut usual = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    limit(&get, &mut usual)?;
    limit(&set, &mut libc::rlimit { rlim_cur: 0, ..usual })?;
    let outcome = open();
    limit(&set, &mut usual)?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_descriptor_can_be_opened_inside_and_any_outside() {
        let open = || std::net::UdpSocket::bind("127.0.0.1:0");
        assert!(without_new_descriptors(open).unwrap().is_err());
        assert!(open().is_ok());
    }
}
