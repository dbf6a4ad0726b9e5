//! The server role: the sender, whose congestion controller is under test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use cambrian_endpoint::cli::ServerArguments;
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::transport_log::{lock, SharedLog, TransportLog};
use cambrian_endpoint::{contract, Result};
use serde_json::json;
use tquic::{Connection, Endpoint, TransportHandler};

use crate::controller::{self, path_stats, Observer};
use crate::driver::{Driver, Host};
use crate::settings::Settings;
use crate::transfers::Transfers;
use crate::transport;

/// Serve until SIGTERM.
pub fn run(arguments: &ServerArguments) -> Result<()> {
    // The clock is read whether or not there is a log: a read takes virtual time, and a log may not shift a trial.
    let anchor = Anchor::now();
    let log =
        arguments.transport_log.as_deref().map(|path| TransportLog::create(path, anchor)).transpose()?;
    let settings = Settings::parse(&arguments.settings)?;
    let config = transport::server(arguments, &settings)?;
    controller::install();
    let mut driver = Driver::bind(arguments.listen)?;
    contract::ready(driver.local_address().port());
    let server = Rc::new(RefCell::new(Server {
        cca: arguments.cca.clone(),
        paced: settings.pacing.unwrap_or(true),
        log: log.clone(),
        links: BTreeMap::new(),
        bytes: 0,
        complete: true,
    }));
    let mut endpoint = driver.endpoint(config, true, Box::new(Handler(server.clone())));
    let outcome = driver.run(&mut endpoint, &mut Handler(server.clone()));

    if let Some(log) = &log {
        lock(log).flush();
    }
    let open: Vec<u64> = server.borrow().links.keys().copied().collect();
    for index in open {
        if let Some(connection) = endpoint.conn_get_mut(index) {
            server.borrow_mut().account(connection, driver.receive_buffer_drops());
            // Closing is a courtesy to the client.
            let _ = connection.close(true, 0, b"");
        }
    }
    let outcome = outcome.and_then(|()| driver.finish(&mut endpoint));
    let error = outcome.as_ref().err().map(ToString::to_string);
    let server = server.borrow();
    contract::done(server.bytes, server.complete && server.bytes > 0, error.as_deref());
    outcome
}

struct Server {
    cca: String,
    paced: bool,
    log: Option<SharedLog>,
    /// By tquic's index of the connection.
    links: BTreeMap<u64, Link>,
    /// Body bytes of the connections that have ended.
    bytes: u64,
    /// Whether they got all that they asked for.
    complete: bool,
}

struct Link {
    transfers: Transfers,
    observer: Observer,
}

impl Server {
    fn link(&mut self, connection: &Connection) -> Option<&mut Link> {
        self.links.get_mut(&connection.index()?)
    }

    /// Take down what a connection has done that is over.
    fn account(&mut self, connection: &mut Connection, receive_buffer_drops: Option<u32>) {
        let Some(link) = connection.index().and_then(|index| self.links.remove(&index)) else { return };
        self.bytes += link.transfers.bytes;
        self.complete &= link.transfers.complete();
        let Some(path) = path_stats(connection) else { return };
        contract::stats(json!({
            "packets_sent": path.sent_count,
            "packets_received": path.recv_count,
            "packets_lost": path.lost_count,
            "packets_acked": path.acked_count,
            "bytes_sent": path.sent_bytes,
            "bytes_lost": path.lost_bytes,
            "bytes_acked": path.acked_bytes,
            "cwnd_bytes": path.final_cwnd,
            "cwnd_bytes_max": path.max_cwnd,
            "in_flight_bytes_max": path.max_inflight,
            "srtt_us": path.srtt,
            "receive_buffer_drops": receive_buffer_drops,
        }));
    }
}

/// tquic owns its handler, so the server's state is shared between it and the loop.
struct Handler(Rc<RefCell<Server>>);

impl Handler {
    /// Call `act` on every connection that there is.
    fn each(&self, endpoint: &mut Endpoint, mut act: impl FnMut(&mut Link, &mut Connection)) {
        for (&index, link) in &mut self.0.borrow_mut().links {
            if let Some(connection) = endpoint.conn_get_mut(index) {
                act(link, connection);
            }
        }
    }
}

impl Host for Handler {
    fn before_packets(&mut self, endpoint: &mut Endpoint, now: Instant) {
        self.each(endpoint, |link, connection| link.observer.tell_loss(connection, now));
        self.each(endpoint, |link, connection| {
            let acked_bytes = path_stats(connection).map_or(0, |stats| stats.acked_bytes);
            link.transfers.write(connection, acked_bytes);
            link.observer.before_packets(connection);
        });
    }

    fn after_packets(&mut self, endpoint: &mut Endpoint, now: Instant) -> bool {
        self.each(endpoint, |link, connection| link.observer.after_packets(connection, now));
        controller::watch_losses();
        false
    }
}

impl TransportHandler for Handler {
    fn on_conn_created(&mut self, connection: &mut Connection) {
        let mut server = self.0.borrow_mut();
        let observer = Observer::new(&server.cca, server.paced, server.log.clone());
        if let Some(index) = connection.index() {
            server.links.insert(index, Link { transfers: Transfers::default(), observer });
        }
    }

    fn on_conn_established(&mut self, _connection: &mut Connection) {}

    fn on_conn_closed(&mut self, connection: &mut Connection) {
        self.0.borrow_mut().account(connection, None);
    }

    fn on_stream_created(&mut self, _connection: &mut Connection, _id: u64) {}

    fn on_stream_readable(&mut self, connection: &mut Connection, id: u64) {
        let mut server = self.0.borrow_mut();
        let Some(link) = server.link(connection) else { return };
        link.transfers.read(connection, id);
        let acked_bytes = path_stats(connection).map_or(0, |stats| stats.acked_bytes);
        link.transfers.write(connection, acked_bytes);
    }

    fn on_stream_writable(&mut self, connection: &mut Connection, id: u64) {
        // The loop writes when acknowledgements make room; tquic would ask each millisecond.
        let _ = connection.stream_want_write(id, false);
    }

    fn on_stream_closed(&mut self, connection: &mut Connection, id: u64) {
        if let Some(link) = self.0.borrow_mut().link(connection) {
            link.transfers.closed(id);
        }
    }

    fn on_new_token(&mut self, _connection: &mut Connection, _token: Vec<u8>) {}
}
