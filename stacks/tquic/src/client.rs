//! The client role: asks for bytes, counts what arrives, and drops it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::Fetch;
use cambrian_endpoint::{contract, Error, Result};
use tquic::{Connection, Endpoint, TransportHandler};

use crate::driver::{Driver, Host};
use crate::settings::Settings;
use crate::transport;

const READ_BYTES: usize = 64 * 1024;

/// Fetch until everything has arrived or SIGTERM.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let config = transport::client(arguments, &Settings::parse(&arguments.settings)?)?;
    let any_port = if arguments.connect.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let any_port = any_port.parse().map_err(|error| Error::failed("local address", error))?;
    let mut driver = Driver::bind(any_port)?;
    let client = Rc::new(RefCell::new(Client {
        fetch: Fetch::new(arguments),
        connected: false,
        buffer: vec![0; READ_BYTES],
    }));
    let mut endpoint = driver.endpoint(config, false, Box::new(Handler(client.clone())));
    let index = endpoint
        .connect(driver.local_address(), arguments.connect, Some(&arguments.server_name), None, None, None)
        .map_err(|error| Error::failed(&format!("connect to {}", arguments.connect), error))?;
    let outcome = driver.run(&mut endpoint, &mut Handler(client.clone()));

    if let Some(connection) = endpoint.conn_get_mut(index) {
        contract::stats(serde_json::json!({
            "packets_received": connection.stats().recv_count,
            "packets_sent": connection.stats().sent_count,
            "receive_buffer_drops": driver.receive_buffer_drops(),
        }));
        // Closing is a courtesy to the server.
        let _ = connection.close(true, 0, b"");
    }
    let outcome = outcome.and_then(|()| driver.finish(&mut endpoint));
    // The endpoint's own share of the client's state goes with it.
    drop(endpoint);
    match Rc::try_unwrap(client) {
        Ok(client) => client.into_inner().fetch.done(outcome),
        Err(_) => Err(Error::Failed("the client's state is still in use".into())),
    }
}

struct Client {
    fetch: Fetch,
    connected: bool,
    buffer: Vec<u8>,
}

impl Client {
    /// Send as many requests as the server has room for.
    fn ask(&mut self, connection: &mut Connection) {
        while self.connected && self.fetch.wants_stream() {
            let Ok(id) = connection.stream_bidi_new(0, true) else { break };
            let Some(request) = self.fetch.next_request() else { break };
            let line = request.line();
            let length = line.len();
            if connection.stream_write(id, Bytes::from(line), true).ok() != Some(length) {
                self.fetch.fail(format!("the request on stream {id} did not fit the server's window"));
            }
        }
    }
}

/// tquic owns its handler, so the client's state is shared between it and the loop.
struct Handler(Rc<RefCell<Client>>);

impl Host for Handler {
    fn before_packets(&mut self, _endpoint: &mut Endpoint, _now: Instant) {}

    fn after_packets(&mut self, _endpoint: &mut Endpoint, now: Instant) -> bool {
        let mut client = self.0.borrow_mut();
        client.fetch.tell_progress(now);
        client.fetch.finished()
    }
}

impl TransportHandler for Handler {
    fn on_conn_created(&mut self, _connection: &mut Connection) {}

    fn on_conn_established(&mut self, connection: &mut Connection) {
        let mut client = self.0.borrow_mut();
        client.connected = true;
        contract::connected();
        client.ask(connection);
    }

    fn on_conn_closed(&mut self, connection: &mut Connection) {
        let mut client = self.0.borrow_mut();
        if !client.fetch.finished() {
            let told = |who: &str, error: &tquic::error::ConnectionError| {
                format!(
                    "{who} closed it with code {}: {}",
                    error.error_code,
                    String::from_utf8_lossy(&error.reason)
                )
            };
            let reason = match (connection.peer_error(), connection.local_error()) {
                (Some(error), _) => told("the server", error),
                (None, Some(error)) => told("the client", error),
                (None, None) if connection.is_idle_timeout() => "it timed out".into(),
                (None, None) if connection.is_handshake_timeout() => "the handshake timed out".into(),
                (None, None) => "no reason is known".into(),
            };
            client.fetch.fail(format!("connection lost: {reason}"));
        }
    }

    fn on_stream_created(&mut self, _connection: &mut Connection, _id: u64) {}

    fn on_stream_readable(&mut self, connection: &mut Connection, id: u64) {
        let Client { fetch, buffer, .. } = &mut *self.0.borrow_mut();
        loop {
            match connection.stream_read(id, buffer) {
                Ok((length, ended)) => {
                    fetch.received(length as u64);
                    if ended {
                        fetch.stream_ended();
                        break;
                    }
                }
                Err(tquic::Error::StreamReset(code)) => {
                    fetch.fail(format!("the server reset stream {id} with code {code}"));
                    break;
                }
                Err(_) => break,
            }
        }
    }

    fn on_stream_writable(&mut self, connection: &mut Connection, id: u64) {
        // A request is written whole.
        let _ = connection.stream_want_write(id, false);
    }

    fn on_stream_closed(&mut self, connection: &mut Connection, _id: u64) {
        self.0.borrow_mut().ask(connection);
    }

    fn on_new_token(&mut self, _connection: &mut Connection, _token: Vec<u8>) {}
}
