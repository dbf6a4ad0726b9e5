//! The streams of one connection of a server. Each method returns whether there may be something to send because of it.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use cambrian_endpoint::hq::BLOCK;
use cambrian_endpoint::serve::{Incoming, Response, Service};

use crate::proto::{self, Connection, Dir, ReadError, StreamId, VarInt, WriteError};

/// How bodies are handed over to the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handover {
    /// As much at a time as there is room for.
    #[default]
    Whole,
    /// At most so many bytes at a time, as long as there is room: the transport gives its room back write by write,
    /// so a send window that is not much larger wants small ones.
    Chunks(usize),
    /// So many bytes, and the next when a datagram has left: each leaves in a packet of its own, however much more
    /// would fit.
    OneADatagram(usize),
}

impl Handover {
    /// The most bytes of one write.
    fn at_most(self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Chunks(bytes) | Self::OneADatagram(bytes) => bytes,
        }
    }
}

pub struct Transfers {
    service: Service,
    handover: Handover,
    /// Request streams that the client has not ended yet.
    incoming: HashMap<StreamId, Incoming>,
    /// Responses still to be written; served in turn.
    outgoing: VecDeque<(StreamId, Outgoing)>,
}

/// What is left of a response.
struct Outgoing {
    content: Bytes,
    /// Bytes of `BLOCK` after it. Views of that block are neither made nor copied, and the transport gives its send
    /// window back block by block.
    zeros: u64,
}

impl Outgoing {
    fn new(Response { content, zeros }: Response) -> Self {
        Self { content: content.into(), zeros }
    }

    /// The next bytes to write, at most so many; none if all have been.
    fn piece(&self, at_most: usize) -> Bytes {
        if !self.content.is_empty() {
            return self.content.slice(..self.content.len().min(at_most));
        }
        let length = usize::try_from(self.zeros).map_or(BLOCK.len(), |zeros| zeros.min(BLOCK.len()));
        Bytes::from_static(&BLOCK[..length.min(at_most)])
    }

    /// That many bytes of the last piece have been written.
    fn advance(&mut self, bytes: usize) {
        if self.content.is_empty() {
            self.zeros -= bytes as u64;
        } else {
            self.content = self.content.split_off(bytes);
        }
    }
}

impl Transfers {
    pub fn new(service: Service, handover: Handover) -> Self {
        Self { service, handover, incoming: HashMap::new(), outgoing: VecDeque::new() }
    }

    /// The connection is up: send what the application protocol begins with.
    pub fn open(&mut self, connection: &mut Connection) -> bool {
        let Some(bytes) = self.service.control_stream() else { return false };
        let Some(id) = connection.streams().open(Dir::Uni) else { return false };
        connection.send_stream(id).write(bytes).is_ok()
    }

    /// Take unidirectional streams of the client's, which bring nothing that matters here.
    pub fn pass_over(&mut self, connection: &mut Connection) -> bool {
        let mut transmit = false;
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            transmit |= self.read(connection, id);
        }
        transmit
    }

    /// Take a new request stream.
    pub fn begin(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        self.incoming.insert(id, self.service.incoming());
        self.read(connection, id)
    }

    /// Read what there is of a request; when it is whole, begin the response. The stream is read on to its own end,
    /// without which the transport would not let the client open another in its place.
    pub fn read(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        let mut request = self.incoming.get_mut(&id);
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return false };
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Some(request) = &mut request {
                        request.push(&chunk.bytes);
                    }
                }
                Err(ReadError::Blocked) => break false,
                Ok(None) | Err(ReadError::Reset(_)) => break true,
            }
        };
        let mut transmit = chunks.finalize().should_transmit();
        let answer = request.and_then(|request| self.service.answer(request, ended));
        if ended {
            self.incoming.remove(&id);
        }
        match answer {
            Some(Ok(response)) => {
                self.outgoing.push_back((id, Outgoing::new(response)));
                transmit |= self.write(connection);
            }
            Some(Err(reason)) => {
                eprintln!("stream {id}: {reason}");
                transmit |= self.abandon(connection, id);
            }
            None => {}
        }
        transmit
    }

    /// Fill the send window, a piece a stream in turn, or hand one piece over where each has its datagram.
    pub fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        let mut blocked = 0;
        while blocked < self.outgoing.len() {
            let Some((id, mut response)) = self.outgoing.pop_front() else { break };
            let mut stream = connection.send_stream(id);
            let piece = response.piece(self.handover.at_most());
            if piece.is_empty() {
                wrote |= stream.finish().is_ok();
                continue;
            }
            match proto::write_chunk(&mut stream, piece) {
                Ok(written) => {
                    response.advance(written);
                    self.outgoing.push_back((id, response));
                    if matches!(self.handover, Handover::OneADatagram(_)) {
                        return true;
                    }
                    (wrote, blocked) = (true, 0);
                }
                Err(WriteError::Blocked) => {
                    self.outgoing.push_back((id, response));
                    blocked += 1;
                }
                // The client wants no more of it, which its `Stopped` event tells.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {}
            }
        }
        wrote
    }

    /// A datagram has left: hand the next piece over, where each has its datagram.
    pub fn next_piece(&mut self, connection: &mut Connection) {
        if matches!(self.handover, Handover::OneADatagram(_)) {
            self.write(connection);
        }
    }

    /// Give a response up.
    pub fn abandon(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        self.outgoing.retain(|&(stream, _)| stream != id);
        let code = VarInt::from_u32(self.service.bad_request_code());
        connection.send_stream(id).reset(code).is_ok()
    }
}
