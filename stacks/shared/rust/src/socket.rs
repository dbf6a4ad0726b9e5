//! The UDP socket: batched reads and writes with ECN marks, no fragmentation and no segmentation offload.
//!
//! A system call is what a packet costs in virtual time, so this layer sleeps inside recvmmsg(2) where it may and
//! sends a train by one sendmmsg(2). The layers that stacks bring along make one call a datagram and leave the sleeping
//! to poll; the datagrams on the wire are the same.

use std::io;
use std::mem::{size_of, zeroed, MaybeUninit};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, SockAddrStorage, Type};

use crate::ecn::{received_mark, Control, Ecn};
use crate::error::{Error, Result};
use crate::train::Outgoing;

/// Room asked for in either direction; the kernel gives what rmem_max and wmem_max allow.
const KERNEL_BUFFER_BYTES: usize = 32 << 20;

/// No datagram is longer: the laboratory's links carry IP packets of at most 1500 bytes.
const MAX_DATAGRAM_BYTES: usize = 1500;

/// Datagrams read by one system call.
const RECEIVE_BATCH: usize = 32;

/// Datagrams that `send` takes at a time.
pub const SEND_BATCH: usize = 20;

/// Longest sleep inside a read. Reads time out by the kernel's tick, so what is left of a longer wait is slept by
/// poll, which is exact.
const READ_SLEEP: Duration = Duration::from_millis(20);

pub struct Socket {
    udp: UdpSocket,
    may_fragment: bool,
}

/// One datagram as it came in.
pub struct Datagram<'a> {
    /// QUIC stacks decrypt it in place.
    pub payload: &'a mut [u8],
    pub source: SocketAddr,
    pub ecn: Ecn,
}

/// Room for one batch of arrivals, kept for reuse.
pub struct ReceiveBuffers(Box<[[u8; MAX_DATAGRAM_BYTES]; RECEIVE_BATCH]>);

impl Default for ReceiveBuffers {
    fn default() -> Self {
        Self::new()
    }
}

impl ReceiveBuffers {
    pub fn new() -> Self {
        Self(Box::new([[0; MAX_DATAGRAM_BYTES]; RECEIVE_BATCH]))
    }
}

impl Socket {
    /// Bind to `address`. Replies leave from the address that the kernel's routes choose, so on a host with several
    /// addresses a server wants one of them, not a wildcard.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        Self::try_bind(address).map_err(|error| Error::failed(&format!("UDP {address}"), error))
    }

    fn try_bind(address: SocketAddr) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_recv_buffer_size(KERNEL_BUFFER_BYTES)?;
        socket.set_send_buffer_size(KERNEL_BUFFER_BYTES)?;
        socket.set_read_timeout(Some(READ_SLEEP))?;
        let fd = socket.as_raw_fd();
        let may_fragment = if address.is_ipv4() {
            set_option(fd, libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
            set_option(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE).is_err()
        } else {
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE).is_err()
        };
        socket.bind(&address.into())?;
        Ok(Self { udp: socket.into(), may_fragment })
    }

    pub fn local_address(&self) -> Result<SocketAddr> {
        self.udp.local_addr().map_err(|error| Error::failed("UDP socket", error))
    }

    /// Whether datagrams may be fragmented on the way, which rules out path-MTU discovery.
    pub fn may_fragment(&self) -> bool {
        self.may_fragment
    }

    /// Read one batch of datagrams, sleeping for at most `wait` until there is one, and hand each to `take`.
    /// It may come back early with none: after a signal, or when a long wait is slept in parts. Returns whether
    /// more may be waiting.
    pub fn receive(
        &self,
        ReceiveBuffers(buffers): &mut ReceiveBuffers,
        wait: Duration,
        mut take: impl FnMut(Datagram<'_>) -> Result<()>,
    ) -> Result<bool> {
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
            slices[index] =
                libc::iovec { iov_base: buffers[index].as_mut_ptr().cast(), iov_len: MAX_DATAGRAM_BYTES };
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
                self.udp.as_raw_fd(),
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
                let payload = &mut buffers[index][..headers[index].msg_len as usize];
                take(Datagram { payload, source, ecn })?;
            }
        }
        Ok(count == RECEIVE_BATCH)
    }

    /// Sleep until a datagram is there, `timeout` has passed or a signal came. Returns whether there is one.
    ///
    /// Whole milliseconds are poll's; only a finer timeout is ppoll's, which reads the clock once more (to say how
    /// much is left) and so costs virtual time.
    fn poll(&self, timeout: Duration) -> Result<bool> {
        let mut descriptor = libc::pollfd { fd: self.udp.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let ready = if timeout.subsec_nanos() % 1_000_000 == 0 {
            let timeout_ms = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
            // SAFETY: `descriptor` is one valid pollfd that outlives the call.
            unsafe { libc::poll(&mut descriptor, 1, timeout_ms) }
        } else {
            let timeout = libc::timespec {
                tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: timeout.subsec_nanos().into(),
            };
            // SAFETY: `descriptor` is one valid pollfd and `timeout` a valid time, and both outlive the call.
            unsafe { libc::ppoll(&mut descriptor, 1, &timeout, std::ptr::null()) }
        };
        if ready >= 0 {
            return Ok(ready > 0);
        }
        match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(Error::failed("ppoll", error)),
        }
    }

    /// Send up to `SEND_BATCH` datagrams in order, waiting for room in the kernel's buffer. Any other error
    /// is taken for a loss, which QUIC repairs: a path-MTU probe that does not fit ends so.
    pub fn send(&self, datagrams: &[Outgoing]) {
        let names: [_; SEND_BATCH] = std::array::from_fn(|index| {
            datagrams.get(index).map(|datagram| SockAddr::from(datagram.destination))
        });
        let mut controls = [Control::EMPTY; SEND_BATCH];
        // SAFETY: all-zero is a valid value of these plain C structures.
        let (mut slices, mut headers) =
            unsafe { zeroed::<([libc::iovec; SEND_BATCH], [libc::mmsghdr; SEND_BATCH])>() };
        let mut count = 0;
        for (datagram, name) in datagrams.iter().zip(names.iter().flatten()) {
            let payload = &datagram.payload;
            slices[count] =
                libc::iovec { iov_base: payload.as_ptr().cast_mut().cast(), iov_len: payload.len() };
            let header = &mut headers[count].msg_hdr;
            header.msg_iov = &mut slices[count];
            header.msg_iovlen = 1;
            header.msg_name = name.as_ptr().cast_mut().cast();
            header.msg_namelen = name.len();
            controls[count].attach_mark(header, datagram.ecn, datagram.destination.is_ipv4());
            count += 1;
        }
        let mut sent = 0;
        while sent < count {
            // SAFETY: every header points to buffers of the stated lengths that outlive the call, which reads them.
            let status = unsafe {
                libc::sendmmsg(self.udp.as_raw_fd(), &mut headers[sent], (count - sent) as libc::c_uint, 0)
            };
            match usize::try_from(status) {
                Ok(more) => sent += more,
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => sent += 1,
            }
        }
    }

    /// Datagrams that the kernel dropped because this socket's receive buffer was full.
    pub fn receive_buffer_drops(&self) -> Option<u32> {
        // Indices of linux/sock_diag.h, which libc does not have.
        const SK_MEMINFO_DROPS: usize = 8;
        const SK_MEMINFO_VARS: usize = 9;
        let mut values = [0_u32; SK_MEMINFO_VARS];
        let mut length = size_of::<[u32; SK_MEMINFO_VARS]>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes into `values`, and the new length into `length`.
        let status = unsafe {
            libc::getsockopt(
                self.udp.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                values.as_mut_ptr().cast(),
                &mut length,
            )
        };
        let complete = length as usize == size_of::<[u32; SK_MEMINFO_VARS]>();
        (status == 0 && complete).then_some(values[SK_MEMINFO_DROPS])
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }
}

fn set_option(fd: libc::c_int, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is a readable integer of the stated size.
    match unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(destination: SocketAddr, ecn: Ecn, payload: &[u8]) -> Outgoing {
        Outgoing { destination, ecn, payload: payload.to_vec() }
    }

    /// Every datagram that comes within `wait` of the one before.
    fn receive_all(socket: &Socket, wait: Duration) -> Vec<(Vec<u8>, SocketAddr, Ecn)> {
        let mut seen = Vec::new();
        loop {
            let before = seen.len();
            socket
                .receive(&mut ReceiveBuffers::new(), wait, |datagram| {
                    seen.push((datagram.payload.to_vec(), datagram.source, datagram.ecn));
                    Ok(())
                })
                .unwrap();
            if seen.len() == before {
                return seen;
            }
        }
    }

    #[test]
    fn datagrams_arrive_in_order_with_source_and_mark_over_both_ip_versions() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let sender = Socket::bind(address.parse().unwrap()).unwrap();
            let receiver = Socket::bind(address.parse().unwrap()).unwrap();
            let (from, to) = (sender.local_address().unwrap(), receiver.local_address().unwrap());
            let marks = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce];
            sender.send(&marks.map(|mark| datagram(to, mark, b"hello")));
            for wait in [Duration::from_millis(5), READ_SLEEP] {
                let expected = marks.map(|mark| (b"hello".to_vec(), from, mark));
                assert_eq!(receive_all(&receiver, wait), expected, "{address}, {wait:?}");
                sender.send(&marks.map(|mark| datagram(to, mark, b"hello")));
            }
            assert_eq!(receiver.receive_buffer_drops(), Some(0));
        }
    }

    #[test]
    fn a_datagram_that_does_not_fit_is_lost_and_the_next_one_is_sent() {
        let sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let to = receiver.local_address().unwrap();
        sender.send(&[datagram(to, Ecn::NotEct, &[0; 70_000]), datagram(to, Ecn::NotEct, b"next")]);
        let payloads: Vec<_> =
            receive_all(&receiver, Duration::from_micros(5_500)).into_iter().map(|seen| seen.0).collect();
        assert_eq!(payloads, [b"next"]);
    }
}
