//! The client role: asks for bytes, counts what arrives, and drops it.

use std::time::Instant;

use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::{Fetch, Request};
use cambrian_endpoint::{contract, Error, Result};
use quiche::h3::{self, Header, NameValue};
use quiche::{Connection, ConnectionId, RecvInfo};

use crate::driver::{connection_id, Driver, Host};
use crate::link::{Link, Session};
use crate::settings::Settings;
use crate::{report, transport};

const READ_BYTES: usize = 64 * 1024;

/// Fetch until everything has arrived or SIGTERM.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let mut config = transport::client(arguments, &Settings::parse(&arguments.settings)?)?;
    let any_port = if arguments.connect.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let any_port = any_port.parse().map_err(|error| Error::failed("local address", error))?;
    let mut driver = Driver::bind(any_port)?;
    let id = connection_id()?;
    let connection = quiche::connect(
        Some(&arguments.server_name),
        &ConnectionId::from_ref(&id),
        driver.local_address(),
        arguments.connect,
        &mut config,
    )
    .map_err(|error| Error::failed(&format!("connect to {}", arguments.connect), error))?;
    let session = Requests {
        fetch: Fetch::new(arguments),
        authority: arguments.server_name.clone(),
        over_h3: arguments.alpn == "h3",
        h3: None,
        waiting: None,
        next_stream: 0,
        connected: false,
        buffer: vec![0; READ_BYTES],
    };
    let mut client = Client(Link::new(connection, session, None, true));
    let outcome = driver.run(&mut client);
    report::stats(&client.0.connection, driver.receive_buffer_drops());
    client.0.session.fetch.done(outcome)
}

struct Client(Link<Requests>);

impl Host for Client {
    type Session = Requests;

    fn route(&mut self, _payload: &mut [u8], _info: RecvInfo) -> Option<&mut Link<Requests>> {
        Some(&mut self.0)
    }

    fn links(&mut self) -> impl Iterator<Item = &mut Link<Requests>> {
        std::iter::once(&mut self.0)
    }

    fn on_wake(&mut self, now: Instant) -> bool {
        let Link { connection, session, .. } = &mut self.0;
        if connection.is_closed() && !session.fetch.finished() {
            session.fetch.fail(format!("connection lost: {}", why_closed(connection)));
        }
        session.fetch.tell_progress(now);
        session.fetch.finished()
    }
}

fn why_closed(connection: &Connection) -> String {
    let told = |who: &str, error: &quiche::ConnectionError| {
        format!("{who} closed it with code {}: {}", error.error_code, String::from_utf8_lossy(&error.reason))
    };
    match (connection.peer_error(), connection.local_error()) {
        (Some(error), _) => told("the server", error),
        (None, Some(error)) => told("the client", error),
        (None, None) if connection.is_timed_out() => "it timed out".into(),
        (None, None) => "no reason is known".into(),
    }
}

/// The requests on the connection.
struct Requests {
    fetch: Fetch,
    authority: String,
    over_h3: bool,
    h3: Option<h3::Connection>,
    /// A request for which quiche had no room yet.
    waiting: Option<Request>,
    /// The next bidirectional stream's ID (hq-interop).
    next_stream: u64,
    connected: bool,
    buffer: Vec<u8>,
}

impl Requests {
    /// Send a request; false if there is no room for it now.
    fn ask(&mut self, connection: &mut Connection, request: &Request) -> bool {
        if !self.over_h3 {
            let line = request.line();
            let sent = connection.stream_send(self.next_stream, &line, true);
            if matches!(sent, Err(quiche::Error::Done | quiche::Error::StreamLimit)) {
                return false;
            }
            if sent != Ok(line.len()) {
                self.fetch.fail(format!("the request on stream {} did not fit", self.next_stream));
            }
            self.next_stream += 4;
            return true;
        }
        let Some(h3) = &mut self.h3 else { return false };
        let headers = [
            Header::new(b":method", b"GET"),
            Header::new(b":scheme", b"https"),
            Header::new(b":authority", self.authority.as_bytes()),
            Header::new(b":path", request.path.as_bytes()),
        ];
        match h3.send_request(connection, &headers, true) {
            Ok(_) => true,
            Err(h3::Error::StreamBlocked | h3::Error::Done) => false,
            Err(h3::Error::TransportError(quiche::Error::StreamLimit)) => false,
            Err(error) => {
                self.fetch.fail(format!("request {}: {error}", request.path));
                true
            }
        }
    }

    fn read_streams(&mut self, connection: &mut Connection) {
        for id in connection.readable() {
            loop {
                match connection.stream_recv(id, &mut self.buffer) {
                    Ok((length, ended)) => {
                        self.fetch.received(length as u64);
                        if ended {
                            self.fetch.stream_ended();
                            break;
                        }
                    }
                    Err(quiche::Error::StreamReset(code)) => {
                        self.fetch.fail(format!("the server reset stream {id} with code {code}"));
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
    }

    fn read_h3(&mut self, connection: &mut Connection) {
        let Self { h3: Some(h3), fetch, buffer, .. } = self else { return };
        loop {
            match h3.poll(connection) {
                Ok((id, h3::Event::Headers { list, .. })) => {
                    let status = list.iter().find(|header| header.name() == b":status").map(NameValue::value);
                    if status != Some(b"200") {
                        let status = String::from_utf8_lossy(status.unwrap_or_default());
                        fetch.fail(format!("stream {id}: status {status}"));
                    }
                }
                Ok((id, h3::Event::Data)) => {
                    while let Ok(length) = h3.recv_body(connection, id, buffer) {
                        fetch.received(length as u64);
                    }
                }
                Ok((_, h3::Event::Finished)) => fetch.stream_ended(),
                Ok((id, h3::Event::Reset(code))) => {
                    fetch.fail(format!("the server reset stream {id} with code {code}"));
                }
                Ok((_, h3::Event::PriorityUpdate | h3::Event::GoAway)) => {}
                Err(h3::Error::Done) => break,
                Err(error) => {
                    fetch.fail(format!("HTTP/3: {error}"));
                    break;
                }
            }
        }
    }
}

impl Session for Requests {
    fn read(&mut self, connection: &mut Connection) {
        if !self.connected && connection.is_established() {
            self.connected = true;
            contract::connected();
            if self.over_h3 {
                let created =
                    h3::Config::new().and_then(|config| h3::Connection::with_transport(connection, &config));
                match created {
                    Ok(h3) => self.h3 = Some(h3),
                    Err(error) => self.fetch.fail(format!("no HTTP/3: {error}")),
                }
            }
        }
        if self.over_h3 {
            self.read_h3(connection);
        } else {
            self.read_streams(connection);
        }
    }

    fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        while self.connected && (self.waiting.is_some() || self.fetch.wants_stream()) {
            let Some(request) = self.waiting.take().or_else(|| self.fetch.next_request()) else { break };
            if !self.ask(connection, &request) {
                self.waiting = Some(request);
                break;
            }
            wrote = true;
        }
        wrote
    }
}
