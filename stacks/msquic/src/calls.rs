//! msquic's system calls, without those whose answer is known.
//!
//! The linker gives msquic these functions in place of the C library's (`--wrap`, build.rs). msquic would read a socket
//! until there is nothing more, ask for its thread's number at each turn, and wake the thread that does its work, which
//! is the one that it runs on.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use libc::{c_uint, epoll_event, mmsghdr, timespec};

// The functions of the C library (and one of msquic's platform) that msquic gets from here.
#[allow(non_snake_case)]
extern "C" {
    fn __real_recvmmsg(
        socket: c_int,
        headers: *mut mmsghdr,
        count: c_uint,
        flags: c_int,
        timeout: *mut timespec,
    ) -> c_int;
    fn __real_epoll_ctl(queue: c_int, operation: c_int, descriptor: c_int, event: *mut epoll_event) -> c_int;
    fn __real_eventfd_write(descriptor: c_int, value: u64) -> c_int;
    fn __real_CxPlatCurThreadID() -> u32;
}

const NO_SOCKET: c_int = -1;

thread_local! {
    static CALLS: RefCell<Calls> = const { RefCell::new(Calls::new()) };
    /// This thread's number; 0 is nobody's.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// What is known on one thread.
struct Calls {
    /// It waits for msquic, so that msquic need not wake it.
    waits: bool,
    /// A socket that was read to its end since the last wait.
    drained: c_int,
    /// What the event queue returns for each descriptor.
    watched: Vec<(c_int, u64)>,
    /// What it would return for wake-ups.
    woken: Vec<u64>,
}

impl Calls {
    const fn new() -> Self {
        Self { waits: false, drained: NO_SOCKET, watched: Vec::new(), woken: Vec::new() }
    }

    /// The entry of a descriptor that is not watched any more may go at any time.
    fn forget(&mut self, descriptor: c_int) {
        let Self { watched, woken, .. } = self;
        watched.retain(|&(known, entry)| {
            if known == descriptor {
                woken.retain(|&woken| woken != entry);
            }
            known != descriptor
        });
    }
}

/// From now on this thread waits for msquic's work and does it.
pub fn begin() {
    CALLS.with_borrow_mut(|calls| calls.waits = true);
}

/// The wake-ups since the last time, as the event queue would return them.
pub fn woken() -> Vec<u64> {
    CALLS.with_borrow_mut(|calls| std::mem::take(&mut calls.woken))
}

/// There was a wait: sockets may have datagrams.
pub fn waited() {
    CALLS.with_borrow_mut(|calls| calls.drained = NO_SOCKET);
}

#[no_mangle]
unsafe extern "C" fn __wrap_recvmmsg(
    socket: c_int,
    headers: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    CALLS.with_borrow_mut(|calls| {
        if calls.drained == socket {
            // SAFETY: this thread's own number.
            unsafe { *libc::__errno_location() = libc::EAGAIN };
            return -1;
        }
        // SAFETY: msquic's own arguments.
        let received = unsafe { __real_recvmmsg(socket, headers, count, flags, timeout) };
        if u32::try_from(received).is_ok_and(|received| received < count) {
            calls.drained = socket;
        }
        received
    })
}

#[no_mangle]
unsafe extern "C" fn __wrap_epoll_ctl(
    queue: c_int,
    operation: c_int,
    descriptor: c_int,
    event: *mut epoll_event,
) -> c_int {
    CALLS.with_borrow_mut(|calls| {
        match operation {
            // SAFETY: this operation has an event.
            libc::EPOLL_CTL_ADD => calls.watched.push((descriptor, unsafe { (*event).u64 })),
            libc::EPOLL_CTL_DEL => calls.forget(descriptor),
            _ => {}
        }
        // SAFETY: msquic's own arguments.
        unsafe { __real_epoll_ctl(queue, operation, descriptor, event) }
    })
}

#[no_mangle]
unsafe extern "C" fn __wrap_eventfd_write(descriptor: c_int, value: u64) -> c_int {
    CALLS.with_borrow_mut(|calls| {
        let watched = calls.watched.iter().find(|&&(known, _)| known == descriptor);
        match watched {
            Some(&(_, entry)) if calls.waits => {
                if !calls.woken.contains(&entry) {
                    calls.woken.push(entry);
                }
                0
            }
            // SAFETY: msquic's own arguments.
            _ => unsafe { __real_eventfd_write(descriptor, value) },
        }
    })
}

#[no_mangle]
#[allow(non_snake_case)]
extern "C" fn __wrap_CxPlatCurThreadID() -> u32 {
    THREAD.with(|thread| {
        if thread.get() == 0 {
            // SAFETY: it has no arguments.
            thread.set(unsafe { __real_CxPlatCurThreadID() });
        }
        thread.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::iovec;
    use std::mem::MaybeUninit;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_socket_that_was_read_to_its_end_is_empty_until_the_next_wait() {
        let here = UdpSocket::bind("127.0.0.1:0").unwrap();
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut bytes = [0_u8; 8];
        let mut part = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: zero is a valid value of C structures of numbers and pointers.
        let mut messages: [mmsghdr; 2] = unsafe { MaybeUninit::zeroed().assume_init() };
        for message in &mut messages {
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (&raw mut part, 1);
        }
        // SAFETY: two messages that live through the call.
        let mut read = || unsafe {
            __wrap_recvmmsg(
                there.as_raw_fd(),
                messages.as_mut_ptr(),
                2,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let send = || here.send_to(b"x", there.local_addr().unwrap()).unwrap();
        send();
        assert_eq!(read(), 1);
        send();
        assert_eq!(read(), -1);
        assert_eq!(std::io::Error::last_os_error().kind(), std::io::ErrorKind::WouldBlock);
        waited();
        assert_eq!(read(), 1);
    }

    #[test]
    fn a_thread_that_waits_is_not_woken_by_the_kernel() {
        const ENTRY: u64 = 7;
        // SAFETY: plain system calls on descriptors of this test.
        unsafe {
            let (queue, waker) = (libc::epoll_create1(0), libc::eventfd(0, 0));
            let mut event = epoll_event { events: libc::EPOLLIN as u32, u64: ENTRY };
            assert_eq!(__wrap_epoll_ctl(queue, libc::EPOLL_CTL_ADD, waker, &raw mut event), 0);
            assert_eq!(__wrap_eventfd_write(waker, 1), 0);
            assert_eq!((woken(), libc::epoll_wait(queue, &raw mut event, 1, 0)), (vec![], 1));
            begin();
            assert_eq!(__wrap_eventfd_write(waker, 1), 0);
            assert_eq!((woken(), woken()), (vec![ENTRY], vec![]));
            assert_eq!(__wrap_eventfd_write(waker, 1), 0);
            assert_eq!(__wrap_epoll_ctl(queue, libc::EPOLL_CTL_DEL, waker, std::ptr::null_mut()), 0);
            assert!(woken().is_empty());
            libc::close(queue);
            libc::close(waker);
        }
    }
}
