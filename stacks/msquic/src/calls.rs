//! msquic's system calls, without those whose answer is known.
//!
//! The linker gives msquic these functions in place of the C library's (`--wrap`, build.rs). msquic would send each
//! datagram by a call, read a socket until there is nothing more, ask for its thread's number at each turn, and wake the
//! thread that does its work, which is the one that it runs on. Here its socket is the endpoint's: what msquic sends
//! leaves at the next wait, and what has arrived then is in memory when msquic reads. Where the kernel refuses io_uring,
//! the socket is msquic's own, and only reads of an empty one are left out.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Ecn, Result};
use libc::{c_uint, cmsghdr, epoll_event, in6_addr, in6_pktinfo, mmsghdr, msghdr, sockaddr_in6, timespec};

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
    fn __real_sendmmsg(socket: c_int, headers: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    fn __real_epoll_ctl(queue: c_int, operation: c_int, descriptor: c_int, event: *mut epoll_event) -> c_int;
    fn __real_eventfd_write(descriptor: c_int, value: u64) -> c_int;
    fn __real_CxPlatCurThreadID() -> u32;
}

const NO_SOCKET: c_int = -1;
/// What msquic wants to know of each datagram and has no use for: a hop limit that is not 0.
const HOP_LIMIT: c_int = 64;

thread_local! {
    static CALLS: RefCell<Calls> = RefCell::new(Calls::new());
    /// This thread's number; 0 is nobody's.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// What is known on one thread.
struct Calls {
    /// It waits for msquic, so that msquic need not wake it.
    waits: bool,
    /// The address at which msquic's listener accepts; its socket is bound to all.
    listens: Option<in6_addr>,
    /// msquic's socket, if the endpoint reads and writes it.
    ring: Option<RingSocket>,
    /// A socket that was read to its end since the last wait.
    drained: c_int,
    /// What the event queue returns for each descriptor.
    watched: Vec<(c_int, u64)>,
    /// What it would return for wake-ups.
    woken: Vec<u64>,
}

/// msquic's socket in the endpoint's hands.
struct RingSocket {
    descriptor: c_int,
    /// What the event queue would return when datagrams have arrived.
    entry: u64,
    /// Where its datagrams arrive, from when the first has.
    local: Option<in6_addr>,
    socket: Socket,
    /// What msquic has sent since the last wait.
    train: Train,
    arrived: VecDeque<Arrival>,
    /// Buffers of datagrams that msquic has read.
    spare: Vec<Vec<u8>>,
}

struct Arrival {
    payload: Vec<u8>,
    source: SocketAddr,
    ecn: Ecn,
}

impl Calls {
    const fn new() -> Self {
        Self {
            waits: false,
            listens: None,
            ring: None,
            drained: NO_SOCKET,
            watched: Vec::new(),
            woken: Vec::new(),
        }
    }

    /// The ring, if it is this descriptor's.
    fn ring_of(&mut self, descriptor: c_int) -> Option<&mut RingSocket> {
        self.ring.as_mut().filter(|ring| ring.descriptor == descriptor)
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

impl RingSocket {
    /// Take over msquic's socket; `None` if it is none, or if the kernel has no io_uring for it.
    fn over(descriptor: c_int, entry: u64, local: Option<in6_addr>) -> Option<Self> {
        let mut kind: c_int = 0;
        let mut length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: the kernel writes an integer of the stated size.
        let asked = unsafe {
            let kind = (&raw mut kind).cast();
            libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, kind, &raw mut length)
        };
        if asked != 0 || kind != libc::SOCK_DGRAM {
            return None;
        }
        // SAFETY: msquic keeps its socket open while it is in the event queue.
        let socket = Socket::of_library(unsafe { BorrowedFd::borrow_raw(descriptor) }).ok()?;
        // The other control messages: they are made here.
        for (level, name) in [
            (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
            (libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT),
            (libc::IPPROTO_IP, libc::IP_RECVTTL),
        ] {
            let off: c_int = 0;
            // SAFETY: an integer of the stated size.
            unsafe { libc::setsockopt(descriptor, level, name, (&raw const off).cast(), length) };
        }
        let (train, arrived) = (Train::default(), VecDeque::new());
        Some(Self { descriptor, entry, local, socket, train, arrived, spare: Vec::new() })
    }

    /// Queue a datagram of msquic's.
    ///
    /// # Safety
    /// `header` describes a datagram as sendmsg(2) wants it.
    unsafe fn send(&mut self, header: &msghdr) {
        let mut payload = self.train.buffer();
        // SAFETY: by the caller's promise.
        let (destination, ecn) = unsafe {
            for part in std::slice::from_raw_parts(header.msg_iov, header.msg_iovlen) {
                payload
                    .extend_from_slice(std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len));
            }
            // msquic's first control message is the mark.
            let mark = libc::CMSG_DATA(libc::CMSG_FIRSTHDR(header)).cast::<c_int>().read_unaligned();
            (address(header), Ecn::from_bits(mark as u8))
        };
        self.train.push(destination, ecn, payload);
    }

    /// Give msquic a datagram, as recvmsg(2) would.
    ///
    /// # Safety
    /// `message` has room for a datagram, its source and its control messages, as msquic provides it.
    unsafe fn receive(&mut self, message: &mut mmsghdr, local: in6_addr) -> bool {
        let Some(Arrival { mut payload, source, ecn }) = self.arrived.pop_front() else { return false };
        let header = &mut message.msg_hdr;
        // SAFETY: by the caller's promise; a length is that of the smaller side.
        unsafe {
            let room = &*header.msg_iov;
            let length = payload.len().min(room.iov_len);
            std::ptr::copy_nonoverlapping(payload.as_ptr(), room.iov_base.cast(), length);
            message.msg_len = length as c_uint;
            let mut name = zeroed::<sockaddr_in6>();
            name.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            name.sin6_port = source.port().to_be();
            name.sin6_addr = mapped(source.ip());
            header.msg_name.cast::<sockaddr_in6>().write_unaligned(name);
            header.msg_namelen = size_of::<sockaddr_in6>() as libc::socklen_t;
            let place = in6_pktinfo { ipi6_addr: local, ipi6_ifindex: 0 };
            let end = append(header, 0, libc::IPV6_PKTINFO, place);
            let end = append(header, end, libc::IPV6_HOPLIMIT, HOP_LIMIT);
            header.msg_controllen = append(header, end, libc::IPV6_TCLASS, c_int::from(ecn.bits()));
            header.msg_flags = 0;
        }
        payload.clear();
        self.spare.push(payload);
        true
    }

    /// The address at which datagrams arrive: the listener's, or the one that a client's socket is bound to.
    fn local(&mut self) -> in6_addr {
        *self.local.get_or_insert_with(|| {
            // SAFETY: all-zero is a valid value of this plain C structure, and the kernel writes no more than it has.
            unsafe {
                let mut name = zeroed::<sockaddr_in6>();
                let mut length = size_of::<sockaddr_in6>() as libc::socklen_t;
                libc::getsockname(self.descriptor, (&raw mut name).cast(), &raw mut length);
                name.sin6_addr
            }
        })
    }
}

/// An address as a socket of both IP versions has it.
fn mapped(ip: IpAddr) -> in6_addr {
    let ip = match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    in6_addr { s6_addr: ip.octets() }
}

/// Where a datagram goes: an IPv4 address as such, also if it is mapped to IPv6.
///
/// # Safety
/// The header's name is an address.
unsafe fn address(header: &msghdr) -> SocketAddr {
    // SAFETY: by the caller's promise.
    unsafe {
        let family = header.msg_name.cast::<libc::sa_family_t>().read_unaligned();
        if c_int::from(family) == libc::AF_INET {
            let name = header.msg_name.cast::<libc::sockaddr_in>().read_unaligned();
            let ip = u32::from_be(name.sin_addr.s_addr).to_be_bytes();
            return SocketAddr::from((ip, u16::from_be(name.sin_port)));
        }
        let name = header.msg_name.cast::<sockaddr_in6>().read_unaligned();
        let ip = std::net::Ipv6Addr::from(name.sin6_addr.s6_addr).to_canonical();
        SocketAddr::from((ip, u16::from_be(name.sin6_port)))
    }
}

/// Write a control message `end` bytes into the header's room for them; returns where it ends.
///
/// # Safety
/// There is room, and it is aligned as `cmsghdr`.
unsafe fn append<T>(header: &msghdr, end: usize, kind: c_int, value: T) -> usize {
    let size = size_of::<T>() as c_uint;
    // SAFETY: by the caller's promise.
    unsafe {
        let message = header.msg_control.cast::<u8>().add(end).cast::<cmsghdr>();
        (*message).cmsg_level = libc::IPPROTO_IPV6;
        (*message).cmsg_type = kind;
        (*message).cmsg_len = libc::CMSG_LEN(size) as usize;
        libc::CMSG_DATA(message).cast::<T>().write_unaligned(value);
        end + libc::CMSG_SPACE(size) as usize
    }
}

/// From now on this thread waits for msquic's work and does it.
pub fn begin() {
    CALLS.with_borrow_mut(|calls| calls.waits = true);
}

/// msquic's listener will accept at this address.
pub fn listen(ip: IpAddr) {
    CALLS.with_borrow_mut(|calls| calls.listens = Some(mapped(ip)));
}

/// The wake-ups since the last time, as the event queue would return them.
pub fn woken() -> Vec<u64> {
    CALLS.with_borrow_mut(|calls| std::mem::take(&mut calls.woken))
}

/// Send what msquic has sent, and sleep for at most so long until a datagram is there. Returns what the event queue would
/// return; `None` if the socket is msquic's own, so that the event queue has to be asked.
pub fn exchange(longest: Duration) -> Option<Result<Vec<u64>>> {
    CALLS.with_borrow_mut(|calls| {
        let RingSocket { entry, socket, train, arrived, spare, .. } = calls.ring.as_mut()?;
        let outcome = socket.exchange(train, longest, |_, datagram| {
            let mut payload = spare.pop().unwrap_or_default();
            payload.extend_from_slice(datagram.payload);
            arrived.push_back(Arrival { payload, source: datagram.source, ecn: datagram.ecn });
            Ok(())
        });
        let readable = if arrived.is_empty() { vec![] } else { vec![*entry] };
        Some(outcome.map(|_| readable))
    })
}

/// Send what msquic has sent.
pub fn send() -> Result<()> {
    CALLS.with_borrow_mut(|calls| match &mut calls.ring {
        Some(ring) => ring.socket.send(&mut ring.train),
        None => Ok(()),
    })
}

/// There was a wait: sockets may have datagrams.
pub fn waited() {
    CALLS.with_borrow_mut(|calls| calls.drained = NO_SOCKET);
}

fn empty() -> c_int {
    // SAFETY: this thread's own number.
    unsafe { *libc::__errno_location() = libc::EAGAIN };
    -1
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
        if let Some(ring) = calls.ring_of(socket) {
            if ring.arrived.is_empty() {
                return empty();
            }
            let local = ring.local();
            // SAFETY: msquic's own arguments.
            let messages = unsafe { std::slice::from_raw_parts_mut(headers, count as usize) };
            let mut received = 0;
            for message in messages {
                // SAFETY: as above.
                if !unsafe { ring.receive(message, local) } {
                    break;
                }
                received += 1;
            }
            return received;
        }
        if calls.drained == socket {
            return empty();
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
unsafe extern "C" fn __wrap_sendmmsg(
    socket: c_int,
    headers: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    CALLS.with_borrow_mut(|calls| {
        let Some(ring) = calls.ring_of(socket) else {
            // SAFETY: msquic's own arguments.
            return unsafe { __real_sendmmsg(socket, headers, count, flags) };
        };
        // SAFETY: msquic's own arguments.
        for message in unsafe { std::slice::from_raw_parts(headers, count as usize) } {
            // SAFETY: as above.
            unsafe { ring.send(&message.msg_hdr) };
        }
        count as c_int
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
            libc::EPOLL_CTL_ADD => {
                // SAFETY: this operation has an event.
                let entry = unsafe { (*event).u64 };
                if calls.waits && calls.ring.is_none() {
                    calls.ring = RingSocket::over(descriptor, entry, calls.listens);
                }
                calls.watched.push((descriptor, entry));
            }
            libc::EPOLL_CTL_DEL => calls.forget(descriptor),
            _ => {}
        }
        if calls.ring_of(descriptor).is_some() {
            if operation == libc::EPOLL_CTL_DEL {
                calls.ring = None;
            }
            return 0;
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

    #[test]
    fn a_waiting_threads_socket_is_read_and_written_by_one_call_a_wait() {
        const ENTRY: u64 = 9;
        let here = UdpSocket::bind("[::]:0").unwrap();
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        here.set_nonblocking(true).unwrap();
        there.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let socket = here.as_raw_fd();
        let on: c_int = 1;
        let mut bytes = [0_u8; 2000];
        let mut part = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut control = [0_u64; 16];
        // SAFETY: plain system calls on descriptors of this test, with structures that live through them; zero is a
        // valid value of C structures of numbers and pointers.
        unsafe {
            for (level, name) in
                [(libc::IPPROTO_IP, libc::IP_RECVTOS), (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)]
            {
                assert_eq!(libc::setsockopt(socket, level, name, (&raw const on).cast(), 4), 0);
            }
            let tos: c_int = 2;
            let there_fd = there.as_raw_fd();
            assert_eq!(
                libc::setsockopt(there_fd, libc::IPPROTO_IP, libc::IP_TOS, (&raw const tos).cast(), 4),
                0
            );
            let queue = libc::epoll_create1(0);
            let mut event = epoll_event { events: libc::EPOLLIN as u32, u64: ENTRY };
            begin();
            listen(IpAddr::from([127, 0, 0, 1]));
            assert_eq!(__wrap_epoll_ctl(queue, libc::EPOLL_CTL_ADD, socket, &raw mut event), 0);
            assert!(exchange(Duration::ZERO).expect("a ring").unwrap().is_empty());
            let port = here.local_addr().unwrap().port();
            there.send_to(b"question", ("127.0.0.1", port)).unwrap();
            assert_eq!(exchange(Duration::from_secs(5)).unwrap().unwrap(), [ENTRY]);

            let mut name: sockaddr_in6 = zeroed();
            let mut messages: [mmsghdr; 2] = zeroed();
            for message in &mut messages {
                let header = &mut message.msg_hdr;
                (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
                header.msg_name = (&raw mut name).cast();
                (header.msg_control, header.msg_controllen) = (control.as_mut_ptr().cast(), 128);
            }
            let read = |messages: &mut [mmsghdr; 2]| {
                __wrap_recvmmsg(socket, messages.as_mut_ptr(), 2, 0, std::ptr::null_mut())
            };
            assert_eq!(read(&mut messages), 1);
            assert_eq!(&bytes[..messages[0].msg_len as usize], b"question");
            assert_eq!(address(&messages[0].msg_hdr), there.local_addr().unwrap());
            let mut seen = Vec::new();
            let header = &raw const messages[0].msg_hdr;
            let mut message = libc::CMSG_FIRSTHDR(header);
            let place = libc::CMSG_DATA(message).cast::<in6_pktinfo>().read_unaligned();
            assert_eq!(place.ipi6_addr.s6_addr, mapped(IpAddr::from([127, 0, 0, 1])).s6_addr);
            while !message.is_null() {
                let value = libc::CMSG_DATA(message).cast::<c_int>().read_unaligned();
                seen.push(((*message).cmsg_type, value));
                message = libc::CMSG_NXTHDR(header, message);
            }
            let kinds: Vec<c_int> = seen.iter().map(|&(kind, _)| kind).collect();
            assert_eq!(kinds, [libc::IPV6_PKTINFO, libc::IPV6_HOPLIMIT, libc::IPV6_TCLASS]);
            assert_eq!(seen[2].1, tos);
            assert_eq!(read(&mut messages), -1);
            assert_eq!(std::io::Error::last_os_error().kind(), std::io::ErrorKind::WouldBlock);

            // Two answers leave at the next wait, in their order.
            messages[0].msg_hdr.msg_controllen = append(&messages[0].msg_hdr, 0, libc::IPV6_TCLASS, tos);
            for answer in [&b"one"[..], b"two"] {
                let mut part = iovec { iov_base: answer.as_ptr().cast_mut().cast(), iov_len: answer.len() };
                messages[0].msg_hdr.msg_iov = &raw mut part;
                assert_eq!(__wrap_sendmmsg(socket, messages.as_mut_ptr(), 1, 0), 1);
            }
            assert!(exchange(Duration::ZERO).unwrap().unwrap().is_empty());
            let mut answer = [0; 8];
            for text in [b"one", b"two"] {
                let (length, from) = there.recv_from(&mut answer).unwrap();
                assert_eq!((&answer[..length], from.port()), (&text[..], port));
            }

            assert_eq!(__wrap_epoll_ctl(queue, libc::EPOLL_CTL_DEL, socket, std::ptr::null_mut()), 0);
            assert!(exchange(Duration::ZERO).is_none());
            libc::close(queue);
        }
    }
}
