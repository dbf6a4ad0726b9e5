//! hq-interop at the server: requests of the form `GET /N`, answered with N bytes.

use std::collections::{HashMap, VecDeque};

use cambrian_endpoint::hq::{RequestLine, BLOCK, MAX_REQUEST_BYTES};
use quiche::{Connection, Error, Shutdown};

use crate::controller::active_path;
use crate::link::Session;

/// Application error code for a request that is not `GET /N`.
const BAD_REQUEST: u64 = 1;

/// Body bytes beyond two windows that quiche may hold.
const SPARE_BYTES: u64 = 64 * 1024;

/// How much more of bodies quiche may be given, of which it has taken `given_bytes`. It takes what the window has
/// room for, but while a probe timeout lasts all that the client's flow control allows, which may be without end.
pub fn room(connection: &Connection, given_bytes: u64) -> u64 {
    let cwnd_bytes = active_path(connection).map_or(0, |path| path.cwnd as u64);
    (connection.stats().acked_bytes + 2 * cwnd_bytes + SPARE_BYTES).saturating_sub(given_bytes)
}

/// What a server has done on one connection.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub requests: usize,
    /// Body bytes that quiche has taken.
    pub bytes: u64,
    /// Streams whose answer quiche has taken whole.
    pub answered: Vec<u64>,
}

impl Tally {
    /// Whether every answer has been acknowledged to the last byte: quiche then forgets the stream.
    pub fn complete(&self, connection: &mut Connection) -> bool {
        self.requests > 0
            && self.requests == self.answered.len()
            && self
                .answered
                .iter()
                .all(|&id| connection.stream_capacity(id) == Err(Error::InvalidStreamState(id)))
    }
}

/// The streams of one connection.
#[derive(Default)]
pub struct Transfers {
    pub tally: Tally,
    /// Streams that the client has not ended yet.
    incoming: HashMap<u64, RequestLine>,
    /// Bodies still to be written, each with the bytes that are left; served in turn.
    outgoing: VecDeque<(u64, u64)>,
}

impl Transfers {
    fn read_stream(&mut self, connection: &mut Connection, id: u64) {
        let tally = &mut self.tally;
        let line = self.incoming.entry(id).or_insert_with(|| {
            tally.requests += 1;
            RequestLine::default()
        });
        let mut buffer = [0; MAX_REQUEST_BYTES];
        let ended = loop {
            match connection.stream_recv(id, &mut buffer) {
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
}

impl Session for Transfers {
    fn read(&mut self, connection: &mut Connection) {
        for id in connection.readable() {
            self.read_stream(connection, id);
        }
    }

    fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        let mut blocked = 0;
        let mut room = room(connection, self.tally.bytes);
        while blocked < self.outgoing.len() && room > 0 {
            let Some((id, left)) = self.outgoing.pop_front() else { break };
            let length = usize::try_from(left.min(room)).map_or(BLOCK.len(), |most| most.min(BLOCK.len()));
            match connection.stream_send(id, &BLOCK[..length], length as u64 == left) {
                Ok(written) => {
                    (wrote, blocked) = (true, 0);
                    self.tally.bytes += written as u64;
                    room -= written as u64;
                    match left - written as u64 {
                        0 => self.tally.answered.push(id),
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
        wrote
    }
}
