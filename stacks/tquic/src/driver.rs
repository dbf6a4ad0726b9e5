//! The event loop: a tquic endpoint on one socket and one thread.
//!
//! tquic paces by a timer of its own; sleeps are exact to the nanosecond, where tquic's tools sleep in milliseconds.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cambrian_endpoint::socket::{ReceiveBuffers, Socket};
use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Ecn, Error, Result};
use tquic::{Config, Endpoint, PacketInfo, PacketSendHandler, TransportHandler};

/// What the loop calls besides tquic's handlers.
pub trait Host {
    /// Before tquic makes packets.
    fn before_packets(&mut self, endpoint: &mut Endpoint);

    /// When all that may be sent now has been sent; returns whether the host has finished.
    fn after_packets(&mut self, endpoint: &mut Endpoint, now: Instant) -> bool;
}

pub struct Driver {
    sender: Rc<Sender>,
    local: SocketAddr,
    buffers: ReceiveBuffers,
    stop: Stop,
}

/// Hands tquic's packets to the kernel.
struct Sender {
    socket: Socket,
    train: RefCell<Train>,
}

impl PacketSendHandler for Sender {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> tquic::Result<usize> {
        let mut train = self.train.borrow_mut();
        for (payload, info) in packets {
            let mut buffer = train.buffer();
            buffer.extend_from_slice(payload);
            train.push(info.dst, Ecn::NotEct, buffer);
        }
        train.send(&self.socket);
        Ok(packets.len())
    }
}

impl Driver {
    /// An event loop on `address`; SIGTERM and SIGINT end `run`.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        precise_timers();
        let socket = Socket::bind(address)?;
        let local = socket.local_address()?;
        let sender = Rc::new(Sender { socket, train: RefCell::default() });
        Ok(Self { sender, local, buffers: ReceiveBuffers::new(), stop: Stop::on_signals()? })
    }

    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Datagrams that the kernel dropped because the receive buffer was full.
    pub fn receive_buffer_drops(&self) -> Option<u32> {
        self.sender.socket.receive_buffer_drops()
    }

    /// An endpoint that sends through this loop's socket.
    pub fn endpoint(&self, config: Config, is_server: bool, handler: Box<dyn TransportHandler>) -> Endpoint {
        Endpoint::new(Box::new(config), is_server, handler, self.sender.clone())
    }

    /// Run until the host has finished or a signal asks to stop.
    pub fn run(&mut self, endpoint: &mut Endpoint, host: &mut impl Host) -> Result<()> {
        let mut more = false;
        loop {
            host.before_packets(endpoint);
            process(endpoint)?;
            if host.after_packets(endpoint, Instant::now()) || self.stop.requested() {
                return Ok(());
            }
            let wait = if more {
                Duration::ZERO
            } else {
                endpoint.timeout().unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP)
            };
            let dst = self.local;
            let mut woken = None;
            more = self.sender.socket.receive(&mut self.buffers, wait, |datagram| {
                let time = *woken.get_or_insert_with(Instant::now);
                // A datagram that is refused closes its connection where the protocol asks for that.
                if let Err(error) =
                    endpoint.recv(datagram.payload, &PacketInfo { src: datagram.source, dst, time })
                {
                    eprintln!("a datagram was refused: {error}");
                }
                Ok(())
            })?;
            endpoint.on_timeout(woken.unwrap_or_else(Instant::now));
        }
    }
}

/// Let tquic handle its events and send.
pub fn process(endpoint: &mut Endpoint) -> Result<()> {
    endpoint.process_connections().map_err(|error| Error::failed("tquic", error))
}

/// Let the kernel end sleeps on time: it may put them off by 50 µs to save wake-ups, which is several packets' worth.
fn precise_timers() {
    // SAFETY: a plain system call; the slack is in nanoseconds, and 0 would mean the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
