//! The UDP socket: batched reads and writes with ECN marks, no fragmentation and no segmentation offload.
//!
//! A system call is what decides how fast a trial runs, so a wake-up makes one: `exchange` sends what there is to send,
//! sleeps, and reads, by one io_uring_enter(2) ([`ring`]). Where the kernel refuses io_uring, [`calls`] makes the system
//! calls that are older. The layers that stacks bring along make one call a datagram and leave the sleeping to poll; the
//! datagrams on the wire are the same.

mod arrivals;
mod calls;
mod departures;
mod ring;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use socket2::{Domain, Protocol, Type};

use self::calls::Calls;
use self::ring::Ring;
use crate::ecn::Ecn;
use crate::error::{Error, Result};
use crate::train::Train;

/// Room asked for in either direction; the kernel gives what rmem_max and wmem_max allow.
const KERNEL_BUFFER_BYTES: usize = 32 << 20;

/// No datagram is longer: the laboratory's links carry IP packets of at most 1500 bytes.
const MAX_DATAGRAM_BYTES: usize = 1500;

/// Datagrams handed over by one `exchange`.
const RECEIVE_BATCH: usize = 32;

pub struct Socket {
    // Goes before the socket that it uses: fields are dropped in their order.
    way: Way,
    udp: UdpSocket,
    may_fragment: bool,
}

/// How the socket is written and read.
enum Way {
    Ring(Box<Ring>),
    Calls(Calls),
}

/// One datagram as it came in.
pub struct Datagram<'a> {
    /// QUIC stacks decrypt it in place.
    pub payload: &'a mut [u8],
    pub source: SocketAddr,
    pub ecn: Ecn,
}

impl Socket {
    /// Bind to `address`. Replies leave from the address that the kernel's routes choose, so on a host with several
    /// addresses a server wants one of them, not a wildcard. The thread that binds is the one that may use the socket.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        Self::bind_with(address, Way::for_socket)
    }

    /// A UDP socket that a library bound and keeps, read and written by an io_uring from now on. Only IP_RECVTOS and
    /// IPV6_RECVTCLASS may be set on it: there is no room for other control messages.
    pub fn of_library(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let udp = UdpSocket::from(socket.try_clone_to_owned()?);
        let ring = Ring::for_socket(udp.as_raw_fd())?;
        Ok(Self { way: Way::Ring(Box::new(ring)), udp, may_fragment: false })
    }

    fn bind_with(address: SocketAddr, way: impl FnOnce(&socket2::Socket) -> io::Result<Way>) -> Result<Self> {
        Self::try_bind(address, way).map_err(|error| Error::failed(&format!("UDP {address}"), error))
    }

    fn try_bind(
        address: SocketAddr,
        way: impl FnOnce(&socket2::Socket) -> io::Result<Way>,
    ) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_recv_buffer_size(KERNEL_BUFFER_BYTES)?;
        socket.set_send_buffer_size(KERNEL_BUFFER_BYTES)?;
        let fd = socket.as_raw_fd();
        let may_fragment = if address.is_ipv4() {
            set_option(fd, libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
            set_option(fd, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE).is_err()
        } else {
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
            set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE).is_err()
        };
        socket.bind(&address.into())?;
        Ok(Self { way: way(&socket)?, udp: socket.into(), may_fragment })
    }

    pub fn local_address(&self) -> Result<SocketAddr> {
        self.udp.local_addr().map_err(|error| Error::failed("UDP socket", error))
    }

    /// Whether datagrams may be fragmented on the way, which rules out path-MTU discovery.
    pub fn may_fragment(&self) -> bool {
        self.may_fragment
    }

    /// Send the datagrams of `train`, sleep for at most `wait` until a datagram is there, and hand one batch of those that
    /// have arrived to `take`, with the train, which is empty then. It may come back early with none: after a signal, or
    /// when a long wait is slept in parts. Returns whether more may be waiting.
    ///
    /// The datagrams leave in their order and wait for room in the kernel's buffer. Any other error is taken for a loss,
    /// which QUIC repairs: a path-MTU probe that does not fit ends so.
    pub fn exchange(
        &mut self,
        train: &mut Train,
        wait: Duration,
        take: impl FnMut(&mut Train, Datagram<'_>) -> Result<()>,
    ) -> Result<bool> {
        match &mut self.way {
            Way::Ring(ring) => ring.exchange(train, wait, take),
            Way::Calls(calls) => calls.exchange(train, wait, take),
        }
    }

    /// Send the datagrams of `train` as `exchange` does, without reading.
    pub fn send(&mut self, train: &mut Train) -> Result<()> {
        match &mut self.way {
            Way::Ring(ring) => ring.send(train),
            Way::Calls(calls) => {
                calls.send(train);
                Ok(())
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

impl Way {
    /// The ring, if the kernel has one for us.
    fn for_socket(socket: &socket2::Socket) -> io::Result<Self> {
        Ring::for_socket(socket.as_raw_fd())
            .map(|ring| Self::Ring(Box::new(ring)))
            .or_else(|_| Calls::for_socket(socket).map(Self::Calls))
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
mod tests;
