//! The server role: the sender, whose congestion controller is under test.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use quinn_proto::{
    Connection, ConnectionHandle, Dir, Event, ReadError, ServerConfig, StreamEvent, StreamId, VarInt,
    WriteError,
};

use crate::cca::Cca;
use crate::cli::ServerArguments;
use crate::clock::Anchor;
use crate::driver::{Application, Driver};
use crate::error::Result;
use crate::socket::Socket;
use crate::transport_log::{lock, TransportLog};
use crate::{contract, hq, tls, transport};

/// Body bytes are views of this block, so they are neither made nor copied. quinn gives its send window back block
/// by block.
static BLOCK: [u8; 64 * 1024] = [0; 64 * 1024];

/// Application error code for a request that is not `GET /N`.
const BAD_REQUEST: VarInt = VarInt::from_u32(1);

/// Serve until SIGTERM.
pub fn run(arguments: &ServerArguments) -> Result<()> {
    // The clock is read whether or not there is a log: a read takes virtual time, and a log may not shift a trial.
    let anchor = Anchor::now();
    let log =
        arguments.transport_log.as_deref().map(|path| TransportLog::create(path, anchor)).transpose()?;
    let factory = arguments.cca.factory(arguments.settings.initial_window_bytes, log.clone());
    let mut config = ServerConfig::with_crypto(tls::server(&arguments.certificate, &arguments.key)?);
    config.transport_config(transport::config(&arguments.settings, Some(factory)));

    let mut driver = Driver::new(Socket::bind(arguments.listen)?, Some(config))?;
    contract::ready(driver.socket().local_address()?.port());
    let mut server = Server::new(arguments.cca);
    let outcome = driver.run(&mut server);

    if let Some(log) = log {
        lock(&log).flush();
    }
    for (handle, connection) in driver.connections() {
        if server.connections.contains_key(&handle) {
            server.account(connection, driver.socket().receive_buffer_drops());
        }
    }
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(server.sent_bytes, server.complete(), error.as_deref());
    outcome
}

struct Server {
    cca: Cca,
    /// Of the connections that are up.
    connections: HashMap<ConnectionHandle, Transfers>,
    requests: usize,
    /// Responses that a client has acknowledged to the last byte.
    finished: usize,
    /// UDP payload, retransmissions and all: quinn does not say how much of a body is acknowledged.
    sent_bytes: u64,
}

impl Server {
    fn new(cca: Cca) -> Self {
        Self { cca, connections: HashMap::new(), requests: 0, finished: 0, sent_bytes: 0 }
    }

    /// Tell a connection's counters, once, when it has ended.
    fn account(&mut self, connection: &Connection, receive_buffer_drops: Option<u32>) {
        let stats = connection.stats();
        self.sent_bytes += stats.udp_tx.bytes;
        contract::stats(&stats, receive_buffer_drops);
    }

    fn complete(&self) -> bool {
        self.requests > 0 && self.requests == self.finished
    }

    fn on_stream_event(
        &mut self,
        handle: ConnectionHandle,
        connection: &mut Connection,
        event: StreamEvent,
    ) -> bool {
        let transfers = self.connections.entry(handle).or_default();
        match event {
            StreamEvent::Opened { dir: Dir::Bi } => {
                let mut more = false;
                while let Some(id) = connection.streams().accept(Dir::Bi) {
                    self.requests += 1;
                    more |= transfers.begin(connection, id);
                }
                more
            }
            StreamEvent::Readable { id } => transfers.read(connection, id),
            StreamEvent::Writable { .. } => transfers.write(connection),
            StreamEvent::Finished { .. } => {
                self.finished += 1;
                false
            }
            StreamEvent::Stopped { id, .. } => transfers.abandon(connection, id),
            _ => false,
        }
    }
}

impl Application for Server {
    fn on_event(&mut self, handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool {
        match event {
            Event::Connected => {
                self.connections.entry(handle).or_default();
                contract::cca(self.cca, connection);
                contract::connected();
                false
            }
            Event::ConnectionLost { reason } => {
                eprintln!("cambrian-quinn: connection ended: {reason}");
                if self.connections.remove(&handle).is_some() {
                    self.account(connection, None);
                }
                false
            }
            Event::Stream(event) => self.on_stream_event(handle, connection, event),
            _ => false,
        }
    }

    fn on_wake(&mut self, _now: Instant) -> bool {
        false
    }
}

#[derive(Default)]
struct Request {
    line: Vec<u8>,
    answered: bool,
}

/// The streams of one connection. Each method returns whether there may be something to send because of it.
#[derive(Default)]
struct Transfers {
    /// Streams that the client has not ended yet.
    incoming: HashMap<StreamId, Request>,
    /// Bodies still to be written, each with the bytes that are left; served in turn.
    outgoing: VecDeque<(StreamId, u64)>,
}

impl Transfers {
    fn begin(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        self.incoming.insert(id, Request::default());
        self.read(connection, id)
    }

    /// Read what there is of a request; when its line ends, begin the body. The stream is read on to its own end,
    /// without which quinn would not let the client open another in its place.
    fn read(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        let Some(request) = self.incoming.get_mut(&id) else { return false };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return false };
        let ended = loop {
            match chunks.next(hq::MAX_REQUEST_BYTES) {
                Ok(Some(chunk)) => {
                    if !request.answered && request.line.len() <= hq::MAX_REQUEST_BYTES {
                        request.line.extend_from_slice(&chunk.bytes);
                    }
                }
                Err(ReadError::Blocked) => break false,
                Ok(None) | Err(ReadError::Reset(_)) => break true,
            }
        };
        let mut transmit = chunks.finalize().should_transmit();
        let line_ended = ended || request.line.contains(&b'\n') || request.line.len() > hq::MAX_REQUEST_BYTES;
        let answer = (line_ended && !request.answered).then(|| hq::requested_bytes(&request.line));
        request.answered = line_ended;
        if ended {
            self.incoming.remove(&id);
        }
        if let Some(bytes) = answer {
            transmit |= self.respond(connection, id, bytes);
        }
        transmit
    }

    fn respond(&mut self, connection: &mut Connection, id: StreamId, bytes: Option<u64>) -> bool {
        match bytes {
            Some(bytes) => {
                self.outgoing.push_back((id, bytes));
                self.write(connection)
            }
            None => {
                eprintln!("cambrian-quinn: stream {id}: not a request of the form GET /N");
                self.abandon(connection, id)
            }
        }
    }

    /// Fill the send window, a block a stream in turn.
    fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        let mut blocked = 0;
        while blocked < self.outgoing.len() {
            let Some((id, left)) = self.outgoing.pop_front() else { break };
            let mut stream = connection.send_stream(id);
            if left == 0 {
                wrote |= stream.finish().is_ok();
                continue;
            }
            let length = usize::try_from(left).map_or(BLOCK.len(), |left| left.min(BLOCK.len()));
            match stream.write_chunks(&mut [Bytes::from_static(&BLOCK[..length])]) {
                Ok(written) => {
                    self.outgoing.push_back((id, left - written.bytes as u64));
                    (wrote, blocked) = (true, 0);
                }
                Err(WriteError::Blocked) => {
                    self.outgoing.push_back((id, left));
                    blocked += 1;
                }
                // The client wants no more of it, which its `Stopped` event tells.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {}
            }
        }
        wrote
    }

    /// Give a response up.
    fn abandon(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        self.outgoing.retain(|&(stream, _)| stream != id);
        connection.send_stream(id).reset(BAD_REQUEST).is_ok()
    }
}
