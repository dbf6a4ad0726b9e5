//! The event loop: connections on one socket and one thread.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Error, Result};

use crate::link::{Link, Session};

/// Bytes of the connection IDs that an endpoint gives itself.
pub const CONNECTION_ID_BYTES: usize = 16;

/// Who owns the connections.
pub trait Host {
    type Session: Session;

    /// The connection that a datagram is for, which may be a new one, or none.
    fn route(&mut self, payload: &mut [u8], info: quiche::RecvInfo) -> Option<&mut Link<Self::Session>>;

    /// Every connection.
    fn links(&mut self) -> impl Iterator<Item = &mut Link<Self::Session>>;

    /// Called once a wake-up, when all has been done; returns whether the host has finished.
    fn on_wake(&mut self, now: Instant) -> bool;
}

pub struct Driver {
    socket: Socket,
    local: SocketAddr,
    /// What leaves with the next sleep.
    train: Train,
    stop: Stop,
}

impl Driver {
    /// An event loop on `address`; SIGTERM and SIGINT end `run`.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        let socket = Socket::bind(address)?;
        let local = socket.local_address()?;
        Ok(Self { socket, local, train: Train::default(), stop: Stop::on_signals()? })
    }

    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Datagrams that the kernel dropped because the receive buffer was full.
    pub fn receive_buffer_drops(&self) -> Option<u32> {
        self.socket.receive_buffer_drops()
    }

    /// Run until the host has finished or a signal asks to stop; then close every connection.
    pub fn run(&mut self, host: &mut impl Host) -> Result<()> {
        let mut more = false;
        loop {
            let now = Instant::now();
            for link in host.links() {
                link.drive(now, &mut self.train);
            }
            if host.on_wake(now) || self.stop.requested() {
                break;
            }
            let wait = if more { Duration::ZERO } else { wait(host) };
            let to = self.local;
            more = self.socket.exchange(&mut self.train, wait, |_, datagram| {
                let info = quiche::RecvInfo { from: datagram.source, to };
                if let Some(link) = host.route(datagram.payload, info) {
                    link.receive(datagram.payload, info);
                }
                Ok(())
            })?;
        }
        for link in host.links() {
            link.close(&mut self.train);
        }
        self.socket.send(&mut self.train)
    }
}

/// How long nothing is due.
fn wait(host: &mut impl Host) -> Duration {
    let Some(next) = host.links().filter_map(|link| link.next_wake()).min() else { return LONGEST_SLEEP };
    next.saturating_duration_since(Instant::now()).min(LONGEST_SLEEP)
}

/// A connection ID of random bytes, from the operating system.
pub fn connection_id() -> Result<[u8; CONNECTION_ID_BYTES]> {
    let mut id = [0; CONNECTION_ID_BYTES];
    // SAFETY: the kernel writes at most as many bytes as the array has.
    let length = unsafe { libc::getrandom(id.as_mut_ptr().cast(), id.len(), 0) };
    if length == id.len() as isize {
        Ok(id)
    } else {
        Err(Error::failed("getrandom", std::io::Error::last_os_error()))
    }
}
