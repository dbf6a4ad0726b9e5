//! The client role: asks for bytes, counts what arrives, and drops it.

use std::time::{Duration, Instant};

use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Dir, Event, ReadError, StreamEvent, StreamId};

use crate::cli::ClientArguments;
use crate::driver::{Application, Driver};
use crate::error::{Error, Result};
use crate::socket::Socket;
use crate::{contract, hq, tls, transport};

const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Fetch until everything has arrived or SIGTERM.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let mut config = ClientConfig::new(tls::client()?);
    config.transport_config(transport::config(&arguments.settings, None));
    let any_port = if arguments.connect.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let any_port = any_port.parse().map_err(|error| Error::failed("local address", error))?;

    let mut driver = Driver::new(Socket::bind(any_port)?, None)?;
    driver.connect(config, arguments.connect, &arguments.server_name)?;
    let mut client = Client::new(requests(arguments));
    let outcome =
        driver.run(&mut client).and_then(|()| client.error.map_or(Ok(()), |text| Err(Error::Failed(text))));

    let drops = driver.socket().receive_buffer_drops();
    for (_, connection) in driver.connections() {
        contract::stats(&connection.stats(), drops);
    }
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(client.bytes, client.complete, error.as_deref());
    outcome
}

/// The request line of each stream and the body bytes that it asks for, if it says.
fn requests(arguments: &ClientArguments) -> Vec<Request> {
    let total = if arguments.bytes == 0 { hq::ENDLESS_BYTES } else { arguments.bytes };
    let request = |bytes| match &arguments.path {
        Some(path) => Request { line: hq::request(path), bytes: hq::requested_bytes(&hq::request(path)) },
        None => Request { line: hq::request(&hq::path_for(bytes)), bytes: Some(bytes) },
    };
    hq::split(total, arguments.streams).map(request).collect()
}

struct Request {
    line: Vec<u8>,
    bytes: Option<u64>,
}

struct Client {
    /// Requests not yet sent, the last one first.
    waiting: Vec<Request>,
    /// Streams whose body has not ended.
    open_streams: usize,
    /// Body bytes that have been asked for, as far as the requests say.
    asked_bytes: u64,
    bytes: u64,
    next_progress: Option<Instant>,
    told_bytes: u64,
    finished: bool,
    complete: bool,
    error: Option<String>,
}

impl Client {
    fn new(mut requests: Vec<Request>) -> Self {
        requests.reverse();
        Self {
            asked_bytes: requests.iter().filter_map(|request| request.bytes).sum(),
            waiting: requests,
            open_streams: 0,
            bytes: 0,
            next_progress: None,
            told_bytes: 0,
            finished: false,
            complete: false,
            error: None,
        }
    }

    /// Send as many requests as the server has room for.
    fn ask(&mut self, connection: &mut Connection) -> bool {
        let mut asked = false;
        while !self.waiting.is_empty() {
            let Some(id) = connection.streams().open(Dir::Bi) else { break };
            let Some(request) = self.waiting.pop() else { break };
            let mut stream = connection.send_stream(id);
            if stream.write(&request.line).ok() != Some(request.line.len()) || stream.finish().is_err() {
                self.fail(format!("the request on stream {id} did not fit the server's window"));
            }
            self.open_streams += 1;
            asked = true;
        }
        asked
    }

    /// Take what has arrived on a stream, in any order: it is only counted.
    fn read(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(false) else { return false };
        let mut failure = None;
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.bytes += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(ReadError::Reset(code)) => {
                    failure = Some(format!("the server reset stream {id} with code {code}"));
                    break true;
                }
            }
        };
        let transmit = chunks.finalize().should_transmit();
        if let Some(text) = failure {
            self.fail(text);
        }
        if ended {
            self.open_streams -= 1;
            if self.open_streams == 0 && self.waiting.is_empty() {
                self.finished = true;
                self.complete = self.error.is_none() && self.bytes >= self.asked_bytes;
            }
        }
        transmit
    }

    fn fail(&mut self, text: String) {
        self.error.get_or_insert(text);
        self.finished = true;
    }
}

impl Application for Client {
    fn on_event(&mut self, _handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool {
        match event {
            Event::Connected => {
                contract::connected();
                self.ask(connection)
            }
            Event::Stream(StreamEvent::Available { dir: Dir::Bi }) => self.ask(connection),
            Event::Stream(StreamEvent::Readable { id }) => self.read(connection, id),
            Event::ConnectionLost { reason } => {
                self.fail(format!("connection lost: {reason}"));
                false
            }
            _ => false,
        }
    }

    fn on_wake(&mut self, now: Instant) -> bool {
        let due = *self.next_progress.get_or_insert(now + PROGRESS_INTERVAL);
        if now >= due {
            self.next_progress = Some(now + PROGRESS_INTERVAL);
            if self.bytes > self.told_bytes {
                contract::progress(self.bytes);
                self.told_bytes = self.bytes;
            }
        }
        self.finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn arguments(bytes: u64, streams: u64, path: Option<&str>) -> ClientArguments {
        ClientArguments {
            connect: "127.0.0.1:4433".parse().unwrap(),
            server_name: "cambrian.test".into(),
            bytes,
            streams,
            path: path.map(ToOwned::to_owned),
            settings: Settings::default(),
        }
    }

    fn lines(arguments: &ClientArguments) -> Vec<String> {
        requests(arguments).into_iter().map(|request| String::from_utf8(request.line).unwrap()).collect()
    }

    #[test]
    fn requests_split_the_bytes() {
        assert_eq!(lines(&arguments(5, 2, None)), ["GET /3\r\n", "GET /2\r\n"]);
    }

    #[test]
    fn no_bytes_means_an_endless_body() {
        assert_eq!(lines(&arguments(0, 1, None)), ["GET /1000000000000\r\n"]);
    }

    #[test]
    fn a_path_is_asked_for_on_every_stream() {
        assert_eq!(lines(&arguments(0, 2, Some("/17"))), ["GET /17\r\n", "GET /17\r\n"]);
    }
}
