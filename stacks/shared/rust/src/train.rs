//! Datagrams that wait to be sent together, in buffers that are kept for reuse.

use std::net::SocketAddr;

use crate::ecn::Ecn;

/// One datagram on its way out.
#[derive(Debug)]
pub struct Outgoing {
    pub destination: SocketAddr,
    pub ecn: Ecn,
    pub payload: Vec<u8>,
}

/// What leaves at the next `Socket::exchange`: take a `buffer`, fill it, and `push` it.
#[derive(Debug, Default)]
pub struct Train {
    datagrams: Vec<Outgoing>,
    spare: Vec<Vec<u8>>,
}

impl Train {
    /// An empty buffer for the next datagram.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Put a buffer back that was not needed.
    pub fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare.push(buffer);
    }

    pub fn push(&mut self, destination: SocketAddr, ecn: Ecn, payload: Vec<u8>) {
        self.datagrams.push(Outgoing { destination, ecn, payload });
    }

    /// The datagrams in the order in which they are to leave.
    pub fn datagrams(&self) -> &[Outgoing] {
        &self.datagrams
    }

    /// All datagrams have been sent: keep their buffers.
    pub fn clear(&mut self) {
        while let Some(datagram) = self.datagrams.pop() {
            self.give_back(datagram.payload);
        }
    }
}
