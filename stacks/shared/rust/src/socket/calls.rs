//! The socket by plain system calls, for kernels that refuse io_uring: a sleep inside recvmmsg(2) where it may be, a train
//! by one sendmmsg(2).

use std::io;
use std::mem::{size_of, zeroed, MaybeUninit};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use socket2::{SockAddr, SockAddrStorage, Socket};

use super::departures::Departures;
use super::{Datagram, MAX_DATAGRAM_BYTES, RECEIVE_BATCH};
use crate::ecn::{received_mark, Control};
use crate::error::{Error, Result};
use crate::train::Train;

/// Datagrams sent by one system call.
const SEND_BATCH: usize = 20;

/// Longest sleep inside a read. Reads time out by the kernel's tick, so what is left of a longer wait is slept by
/// poll, which is exact.
pub const READ_SLEEP: Duration = Duration::from_millis(20);

pub struct Calls {
    socket: RawFd,
    /// Room for one batch of arrivals.
    buffers: Box<[[u8; MAX_DATAGRAM_BYTES]; RECEIVE_BATCH]>,
    departures: Departures,
}

impl Calls {
    pub fn for_socket(socket: &Socket) -> io::Result<Self> {
        socket.set_read_timeout(Some(READ_SLEEP))?;
        // Polls end on time: the kernel may put them off by 50 µs to save wake-ups, which is several packets' worth.
        // SAFETY: a plain system call; the slack is in nanoseconds, and 0 would mean the default.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        let (socket, buffers) = (socket.as_raw_fd(), Box::new([[0; MAX_DATAGRAM_BYTES]; RECEIVE_BATCH]));
        Ok(Self { socket, buffers, departures: Departures::with_room_for(SEND_BATCH) })
    }

    /// See `Socket::exchange`.
    pub fn exchange(
        &mut self,
        train: &mut Train,
        wait: Duration,
        mut take: impl FnMut(&mut Train, Datagram<'_>) -> Result<()>,
    ) -> Result<bool> {
        self.send(train);
        let sleep_in_read = wait >= READ_SLEEP;
        if !sleep_in_read && !wait.is_zero() && !self.poll(wait)? {
            return Ok(false);
        }
        let mut names = [const { MaybeUninit::<SockAddrStorage>::uninit() }; RECEIVE_BATCH];
        let mut controls = [const { MaybeUninit::<Control>::uninit() }; RECEIVE_BATCH];
        // SAFETY: all-zero is a valid value of these plain C structures.
        let (mut slices, mut headers) =
            unsafe { zeroed::<([libc::iovec; RECEIVE_BATCH], [libc::mmsghdr; RECEIVE_BATCH])>() };
        for index in 0..RECEIVE_BATCH {
            slices[index] = libc::iovec {
                iov_base: self.buffers[index].as_mut_ptr().cast(),
                iov_len: MAX_DATAGRAM_BYTES,
            };
            let header = &mut headers[index].msg_hdr;
            header.msg_iov = &mut slices[index];
            header.msg_iovlen = 1;
            header.msg_name = names[index].as_mut_ptr().cast();
            header.msg_namelen = size_of::<SockAddrStorage>() as libc::socklen_t;
            header.msg_control = controls[index].as_mut_ptr().cast();
            header.msg_controllen = size_of::<Control>();
        }
        let flags = if sleep_in_read { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        // SAFETY: every header points to buffers of the stated lengths that outlive the call.
        let count = unsafe {
            libc::recvmmsg(
                self.socket,
                headers.as_mut_ptr(),
                RECEIVE_BATCH as libc::c_uint,
                flags,
                std::ptr::null_mut(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
                // An ICMP answer to something sent earlier; QUIC's own timers deal with it.
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => Ok(true),
                _ => Err(Error::failed("UDP receive", error)),
            };
        };
        for index in 0..count {
            let header = &headers[index].msg_hdr;
            // SAFETY: the kernel has written this name, of this length, and the control messages.
            let (name, ecn) = unsafe {
                (SockAddr::new(names[index].assume_init_read(), header.msg_namelen), received_mark(header))
            };
            let Some(source) = name.as_socket() else { continue };
            // A datagram longer than the buffer is not one of ours.
            if header.msg_flags & libc::MSG_TRUNC == 0 {
                let payload = &mut self.buffers[index][..headers[index].msg_len as usize];
                take(train, Datagram { payload, source, ecn })?;
            }
        }
        Ok(count == RECEIVE_BATCH)
    }

    /// See `Socket::send`.
    pub fn send(&mut self, train: &mut Train) {
        for batch in train.datagrams().chunks(SEND_BATCH) {
            let headers = self.departures.describe(batch);
            let mut sent = 0;
            while sent < headers.len() {
                let left = &mut headers[sent..];
                // SAFETY: every header points to buffers of the stated lengths that outlive the call, which reads them.
                let status =
                    unsafe { libc::sendmmsg(self.socket, left.as_mut_ptr(), left.len() as libc::c_uint, 0) };
                match usize::try_from(status) {
                    Ok(more) => sent += more,
                    Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => sent += 1,
                }
            }
        }
        train.clear();
    }

    /// Sleep until a datagram is there, `timeout` has passed or a signal came. Returns whether there is one.
    fn poll(&self, timeout: Duration) -> Result<bool> {
        let mut descriptor = libc::pollfd { fd: self.socket, events: libc::POLLIN, revents: 0 };
        let timeout = libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // SAFETY: `descriptor` is one valid pollfd and `timeout` a valid time, and both outlive the call.
        let ready = unsafe { libc::ppoll(&mut descriptor, 1, &timeout, std::ptr::null()) };
        if ready >= 0 {
            return Ok(ready > 0);
        }
        match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(Error::failed("ppoll", error)),
        }
    }
}
