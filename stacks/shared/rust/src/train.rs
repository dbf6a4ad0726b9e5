//! Datagrams that wait to be sent together, in buffers that are kept for reuse.

use std::net::SocketAddr;

use crate::ecn::Ecn;
use crate::socket::{Socket, SEND_BATCH};

/// One datagram on its way out.
#[derive(Debug)]
pub struct Outgoing {
    pub destination: SocketAddr,
    pub ecn: Ecn,
    pub payload: Vec<u8>,
}

/// A train of at most `Train::MAX` datagrams: take a `buffer`, fill it, `push` it, and `send` them all.
#[derive(Debug, Default)]
pub struct Train {
    datagrams: Vec<Outgoing>,
    spare: Vec<Vec<u8>>,
}

impl Train {
    /// Datagrams that one system call takes.
    pub const MAX: usize = SEND_BATCH;

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

    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.datagrams.len() >= Self::MAX
    }

    /// Hand everything to the kernel.
    pub fn send(&mut self, socket: &Socket) {
        for batch in self.datagrams.chunks(Self::MAX) {
            socket.send(batch);
        }
        while let Some(datagram) = self.datagrams.pop() {
            self.give_back(datagram.payload);
        }
    }
}
