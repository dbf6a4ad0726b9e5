//! The server role: the sender, whose congestion controller is under test.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use cambrian_endpoint::cli::ServerArguments;
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::serve::Service;
use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::transport_log::{lock, SharedLog, TransportLog};
use cambrian_endpoint::{contract, Result};

use crate::driver::{Application, Driver};
use crate::gate::GateSource;
use crate::proto::congestion::{Controller, ControllerFactory};
use crate::proto::{
    self, Connection, ConnectionHandle, Dir, Event, ServerConfig, StreamEvent, TransportConfig,
};
use crate::tls;
use crate::transfers::{Handover, Transfers};

/// Tells the name of a live connection's CCA by what its controller is.
pub type ReadBack = Box<dyn Fn(&dyn Controller) -> Option<String>>;

/// What a stack brings to the server: the thing under test.
pub struct Sender {
    /// Makes the controller of each connection.
    pub factory: Arc<dyn ControllerFactory + Send + Sync>,
    /// `transport::config()` with the stack's changes; the factory is put into it.
    pub transport: TransportConfig,
    pub read_back: ReadBack,
    /// Gates of the connections, for a stack with a pacer of its own.
    pub gates: Option<GateSource>,
    pub handover: Handover,
}

/// Serve until SIGTERM. `sender` is told the log that its controllers are to write, if there is one.
pub fn run(arguments: &ServerArguments, sender: impl FnOnce(Option<SharedLog>) -> Sender) -> Result<()> {
    let service = Service::new(arguments)?;
    // The clock is read whether or not there is a log: a read takes virtual time, and a log may not shift a trial.
    let anchor = Anchor::now();
    let log =
        arguments.transport_log.as_deref().map(|path| TransportLog::create(path, anchor)).transpose()?;
    let Sender { factory, mut transport, read_back, gates, handover } = sender(log.clone());
    transport.congestion_controller_factory(factory);
    let crypto = tls::server(&arguments.certificate, &arguments.key, &arguments.alpn)?;
    let mut config = ServerConfig::with_crypto(crypto);
    config.transport_config(Arc::new(transport));

    let mut driver = Driver::new(Socket::bind(arguments.listen)?, Some(config), gates)?;
    contract::ready(driver.socket().local_address()?.port());
    let mut server = Server::new(&arguments.cca, read_back, service, handover);
    let outcome = driver.run(&mut server);

    if let Some(log) = log {
        lock(&log).flush();
    }
    let drops = driver.socket().receive_buffer_drops();
    for (handle, connection) in driver.connections() {
        if server.connections.contains_key(&handle) {
            server.account(connection, drops);
        }
    }
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(server.sent_bytes, server.complete(), error.as_deref());
    outcome
}

struct Server<'a> {
    cca: &'a str,
    read_back: ReadBack,
    service: Service,
    handover: Handover,
    /// Of the connections that are up.
    connections: HashMap<ConnectionHandle, Transfers>,
    requests: usize,
    /// Responses that a client has acknowledged to the last byte.
    finished: usize,
    /// UDP payload, retransmissions and all: quinn does not say how much of a body is acknowledged.
    sent_bytes: u64,
}

impl<'a> Server<'a> {
    fn new(cca: &'a str, read_back: ReadBack, service: Service, handover: Handover) -> Self {
        Self {
            cca,
            read_back,
            service,
            handover,
            connections: HashMap::new(),
            requests: 0,
            finished: 0,
            sent_bytes: 0,
        }
    }

    fn transfers(&mut self, handle: ConnectionHandle) -> &mut Transfers {
        let (service, handover) = (&self.service, self.handover);
        self.connections.entry(handle).or_insert_with(|| Transfers::new(service.clone(), handover))
    }

    /// Tell a connection's counters, once, when it has ended.
    fn account(&mut self, connection: &mut Connection, receive_buffer_drops: Option<u32>) {
        self.sent_bytes += proto::sent_bytes(connection);
        let mut stats = proto::stats(connection);
        stats["receive_buffer_drops"] = receive_buffer_drops.into();
        contract::stats(stats);
    }

    /// Tell the CCA of a connection, as its controller's type has it.
    fn confirm(&self, connection: &Connection) {
        let confirmed = proto::controller(connection).and_then(&self.read_back);
        contract::cca(self.cca, confirmed.as_deref(), "type of the connection's congestion_state()");
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
        let transfers = self.transfers(handle);
        match event {
            StreamEvent::Opened { dir: Dir::Bi } => {
                let (mut requests, mut more) = (0, false);
                while let Some(id) = connection.streams().accept(Dir::Bi) {
                    requests += 1;
                    more |= transfers.begin(connection, id);
                }
                self.requests += requests;
                more
            }
            StreamEvent::Opened { dir: Dir::Uni } => transfers.pass_over(connection),
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

impl Application for Server<'_> {
    fn on_event(&mut self, handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool {
        match event {
            Event::Connected => {
                self.confirm(connection);
                contract::connected();
                self.transfers(handle).open(connection)
            }
            Event::ConnectionLost { reason } => {
                eprintln!("connection ended: {reason}");
                if self.connections.remove(&handle).is_some() {
                    self.account(connection, None);
                }
                false
            }
            Event::Stream(event) => self.on_stream_event(handle, connection, event),
            _ => false,
        }
    }

    fn on_transmitted(&mut self, handle: ConnectionHandle, connection: &mut Connection) {
        if let Some(transfers) = self.connections.get_mut(&handle) {
            transfers.next_piece(connection);
        }
    }

    fn on_wake(&mut self, _now: Instant) -> bool {
        false
    }
}
