//! The client role: asks for bytes, counts what arrives, and drops it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::Fetch;
use cambrian_endpoint::h3::{self, Malformed, ResponseReader};
use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::{contract, Error, Result};

use crate::driver::{Application, Driver};
use crate::proto::{
    self, ClientConfig, Connection, ConnectionHandle, Dir, Event, ReadError, StreamEvent, StreamId,
    TransportConfig,
};
use crate::tls;

/// Fetch until everything has arrived or SIGTERM.
pub fn run(arguments: &ClientArguments, transport: TransportConfig) -> Result<()> {
    let mut config = ClientConfig::new(tls::client(&arguments.alpn)?);
    config.transport_config(Arc::new(transport));
    let any_port = if arguments.connect.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let any_port = any_port.parse().map_err(|error| Error::failed("local address", error))?;

    let mut driver = Driver::new(Socket::bind(any_port)?, None, None)?;
    driver.connect(config, arguments.connect, &arguments.server_name)?;
    let mut client = Client::new(arguments);
    let outcome = driver.run(&mut client);

    let drops = driver.socket().receive_buffer_drops();
    for (_, connection) in driver.connections() {
        let mut stats = proto::stats(connection);
        stats["receive_buffer_drops"] = drops.into();
        contract::stats(stats);
    }
    client.fetch.done(outcome)
}

struct Client<'a> {
    arguments: &'a ClientArguments,
    fetch: Fetch,
    /// With HTTP/3: responses that have not ended.
    responses: HashMap<StreamId, ResponseReader>,
}

impl<'a> Client<'a> {
    fn new(arguments: &'a ClientArguments) -> Self {
        Self { arguments, fetch: Fetch::new(arguments), responses: HashMap::new() }
    }

    fn is_h3(&self) -> bool {
        self.arguments.alpn == "h3"
    }

    /// The connection is up: send what the application protocol begins with.
    fn begin(&mut self, connection: &mut Connection) -> bool {
        if self.is_h3() {
            if let Some(id) = connection.streams().open(Dir::Uni) {
                // It always fits; without it the server would close the connection.
                let _ = connection.send_stream(id).write(&h3::CONTROL_STREAM);
            }
        }
        self.ask(connection)
    }

    /// Send as many requests as the server has room for.
    fn ask(&mut self, connection: &mut Connection) -> bool {
        let mut asked = false;
        while self.fetch.wants_stream() {
            let Some(id) = connection.streams().open(Dir::Bi) else { break };
            let Some(request) = self.fetch.next_request() else { break };
            let line = if self.is_h3() {
                self.responses.insert(id, ResponseReader::default());
                let authority = format!("{}:{}", self.arguments.server_name, self.arguments.connect.port());
                h3::request(&authority, &request.path)
            } else {
                request.line()
            };
            let mut stream = connection.send_stream(id);
            if stream.write(&line).ok() != Some(line.len()) || stream.finish().is_err() {
                self.fetch.fail(format!("the request on stream {id} did not fit the server's window"));
            }
            asked = true;
        }
        asked
    }

    /// Take what has arrived on a stream: it is only counted. A bare body may come in any order.
    fn read(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        let mut response = self.responses.get_mut(&id);
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(response.is_some()) else { return false };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.fetch.received(match &mut response {
                    Some(response) => response.push(&chunk.bytes),
                    None => chunk.bytes.len() as u64,
                }),
                Ok(None) => {
                    match response.map(|response| response.status()) {
                        None | Some(Some(Ok(200))) => self.fetch.stream_ended(),
                        Some(Some(Ok(status))) => {
                            self.fetch.fail(format!("the server answered stream {id} with status {status}"));
                        }
                        Some(Some(Err(Malformed)) | None) => {
                            self.fetch.fail(format!("the response on stream {id} is not HTTP/3"));
                        }
                    }
                    self.responses.remove(&id);
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(code)) => {
                    self.fetch.fail(format!("the server reset stream {id} with code {code}"));
                    break;
                }
            }
        }
        chunks.finalize().should_transmit()
    }

    /// Take unidirectional streams of the server's, which bring nothing that matters here.
    fn pass_over(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(false) else { return false };
        while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        chunks.finalize().should_transmit()
    }
}

impl Application for Client<'_> {
    fn on_event(&mut self, _handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool {
        match event {
            Event::Connected => {
                contract::connected();
                self.begin(connection)
            }
            Event::Stream(StreamEvent::Available { dir: Dir::Bi }) => self.ask(connection),
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                let mut transmit = false;
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    transmit |= self.pass_over(connection, id);
                }
                transmit
            }
            Event::Stream(StreamEvent::Readable { id }) if id.dir() == Dir::Uni => {
                self.pass_over(connection, id)
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(connection, id),
            Event::ConnectionLost { reason } => {
                self.fetch.fail(format!("connection lost: {reason}"));
                false
            }
            _ => false,
        }
    }

    fn on_wake(&mut self, now: Instant) -> bool {
        self.fetch.tell_progress(now);
        self.fetch.finished()
    }
}
