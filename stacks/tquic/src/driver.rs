//! The event loop: a tquic endpoint on one socket and one thread.
//!
//! tquic paces by a timer of its own; sleeps are exact to the nanosecond, where tquic's tools sleep in milliseconds.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Ecn, Error, Result};
use tquic::{Config, Endpoint, PacketInfo, PacketSendHandler, TransportHandler};

/// What the loop calls besides tquic's handlers.
pub trait Host {
    /// When tquic has taken what came until the wake-up of `now`, before it makes packets.
    fn before_packets(&mut self, endpoint: &mut Endpoint, now: Instant);

    /// When all that may be sent now has been sent; returns whether the host has finished.
    fn after_packets(&mut self, endpoint: &mut Endpoint, now: Instant) -> bool;
}

pub struct Driver {
    socket: Socket,
    sender: Rc<Sender>,
    local: SocketAddr,
    stop: Stop,
}

/// Takes tquic's packets, which leave with the next sleep.
#[derive(Default)]
struct Sender(RefCell<Train>);

impl PacketSendHandler for Sender {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> tquic::Result<usize> {
        let mut train = self.0.borrow_mut();
        for (payload, info) in packets {
            let mut buffer = train.buffer();
            buffer.extend_from_slice(payload);
            train.push(info.dst, Ecn::NotEct, buffer);
        }
        Ok(packets.len())
    }
}

impl Driver {
    /// An event loop on `address`; SIGTERM and SIGINT end `run`.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        let socket = Socket::bind(address)?;
        let local = socket.local_address()?;
        Ok(Self { socket, sender: Rc::default(), local, stop: Stop::on_signals()? })
    }

    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Datagrams that the kernel dropped because the receive buffer was full.
    pub fn receive_buffer_drops(&self) -> Option<u32> {
        self.socket.receive_buffer_drops()
    }

    /// An endpoint that sends through this loop's socket.
    pub fn endpoint(&self, config: Config, is_server: bool, handler: Box<dyn TransportHandler>) -> Endpoint {
        Endpoint::new(Box::new(config), is_server, handler, self.sender.clone())
    }

    /// Send what there is left to send.
    pub fn finish(&mut self, endpoint: &mut Endpoint) -> Result<()> {
        process(endpoint)?;
        self.socket.send(&mut self.sender.0.borrow_mut())
    }

    /// Run until the host has finished or a signal asks to stop.
    pub fn run(&mut self, endpoint: &mut Endpoint, host: &mut impl Host) -> Result<()> {
        let mut more = false;
        loop {
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
            // tquic sends nothing while it takes datagrams.
            more = self.socket.exchange(&mut self.sender.0.borrow_mut(), wait, |_, datagram| {
                let time = *woken.get_or_insert_with(Instant::now);
                // A datagram that is refused closes its connection where the protocol asks for that.
                if let Err(error) =
                    endpoint.recv(datagram.payload, &PacketInfo { src: datagram.source, dst, time })
                {
                    eprintln!("a datagram was refused: {error}");
                }
                Ok(())
            })?;
            let now = woken.unwrap_or_else(Instant::now);
            endpoint.on_timeout(now);
            host.before_packets(endpoint, now);
        }
    }
}

/// Let tquic handle its events and make packets.
fn process(endpoint: &mut Endpoint) -> Result<()> {
    endpoint.process_connections().map_err(|error| Error::failed("tquic", error))
}
