//! hq-interop at the server: requests of the form `GET /N`, answered with N bytes.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use cambrian_endpoint::hq::{RequestLine, BLOCK, MAX_REQUEST_BYTES};
use tquic::{Connection, Error, Shutdown};

/// Body bytes that tquic may hold unacknowledged. It takes all that the client's flow control allows, which may be
/// without end. What it holds are views of one static block.
const SEND_WINDOW_BYTES: u64 = 64 << 20;

/// Application error code for a request that is not `GET /N`.
const BAD_REQUEST: u64 = 1;

/// The streams of one connection.
#[derive(Default)]
pub struct Transfers {
    pub requests: usize,
    /// Streams whose answer has been acknowledged to the last byte.
    pub finished: usize,
    /// Body bytes that tquic has taken.
    pub bytes: u64,
    /// Streams that the client has not ended yet.
    incoming: HashMap<u64, RequestLine>,
    /// Bodies still to be written, each with the bytes that are left; served in turn.
    outgoing: VecDeque<(u64, u64)>,
    /// Streams whose body tquic has taken whole.
    answered: Vec<u64>,
}

impl Transfers {
    /// A stream has something to read.
    pub fn read(&mut self, connection: &mut Connection, id: u64) {
        let requests = &mut self.requests;
        let line = self.incoming.entry(id).or_insert_with(|| {
            *requests += 1;
            RequestLine::default()
        });
        let mut buffer = [0; MAX_REQUEST_BYTES];
        let ended = loop {
            match connection.stream_read(id, &mut buffer) {
                Ok((length, ended)) => {
                    line.push(&buffer[..length]);
                    if ended {
                        break true;
                    }
                }
                Err(Error::Done) => break false,
                Err(_) => break true,
            }
        };
        let answer = line.answer(ended);
        if ended {
            self.incoming.remove(&id);
        }
        match answer {
            Some(Some(bytes)) => self.outgoing.push_back((id, bytes)),
            Some(None) => {
                eprintln!("stream {id}: not a request of the form GET /N");
                // The client may have given the stream up already.
                let _ = connection.stream_shutdown(id, Shutdown::Write, BAD_REQUEST);
            }
            None => {}
        }
    }

    /// Fill the send window, a block a stream in turn. `acked_bytes`: bytes of all packets that have been
    /// acknowledged, of which bodies are the most.
    pub fn write(&mut self, connection: &mut Connection, acked_bytes: u64) {
        let mut blocked = 0;
        while blocked < self.outgoing.len() && self.bytes < acked_bytes + SEND_WINDOW_BYTES {
            let Some((id, left)) = self.outgoing.pop_front() else { break };
            let length = usize::try_from(left).map_or(BLOCK.len(), |left| left.min(BLOCK.len()));
            match connection.stream_write(id, Bytes::from_static(&BLOCK[..length]), length as u64 == left) {
                Ok(written) => {
                    blocked = 0;
                    self.bytes += written as u64;
                    match left - written as u64 {
                        0 => self.answered.push(id),
                        left => self.outgoing.push_back((id, left)),
                    }
                }
                Err(Error::Done) => {
                    self.outgoing.push_back((id, left));
                    blocked += 1;
                }
                // The client wants no more of it.
                Err(_) => {}
            }
        }
    }

    /// tquic forgets a stream: all of it has been acknowledged, or it was given up.
    pub fn closed(&mut self, id: u64) {
        self.finished += usize::from(self.answered.contains(&id));
    }

    pub fn complete(&self) -> bool {
        self.requests > 0 && self.requests == self.finished
    }
}
