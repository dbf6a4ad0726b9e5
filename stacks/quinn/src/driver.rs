//! The event loop: quinn-proto's endpoint and connections on one socket and one thread.
//!
//! This is what the quinn crate does on tokio, without tokio: the same calls in the same order (transmit, timers,
//! endpoint events, application events), the same limit on a train of datagrams and the same timer granularity. It
//! reads the clock once a wake-up, and reads the socket until a batch comes short instead of until it would block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, ServerConfig,
    Transmit, VarInt,
};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::clock::Ticks;
use crate::error::{Error, Result};
use crate::socket::{ReceiveBuffers, Socket, SEND_BATCH};

/// Datagrams in one go before arrivals are looked at again (MAX_TRANSMIT_DATAGRAMS in quinn).
const MAX_TRAIN: usize = SEND_BATCH;

/// Longest sleep, so that a signal which falls between the check and the sleep is seen in time.
const LONGEST_SLEEP_MS: u64 = 50;

/// Datagrams that quinn-proto builds at a time: one, with segmentation offload off.
const MAX_SEGMENTS: usize = 1;

/// What runs on the connections.
pub trait Application {
    /// Take one event of a connection. Returns whether the connection may have something to send because of it.
    fn on_event(&mut self, handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool;

    /// Called once a wake-up, after all events; returns whether the application has finished.
    fn on_wake(&mut self, now: Instant) -> bool;
}

pub struct Driver {
    socket: Socket,
    endpoint: Endpoint,
    /// Indexed by `ConnectionHandle`.
    connections: Vec<Option<Connection>>,
    ticks: Ticks,
    stop: Arc<AtomicBool>,
    receive_buffers: ReceiveBuffers,
    train: Train,
}

/// Datagrams that wait to be sent; their buffers are kept for reuse.
#[derive(Default)]
struct Train {
    datagrams: Vec<(Transmit, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
}

impl Train {
    /// An empty buffer for the next datagram.
    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Put a buffer back that was not needed.
    fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare.push(buffer);
    }

    fn push(&mut self, transmit: Transmit, payload: Vec<u8>) {
        self.datagrams.push((transmit, payload));
    }

    fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Hand everything to the kernel.
    fn send(&mut self, socket: &Socket) {
        if !self.datagrams.is_empty() {
            socket.send(&self.datagrams);
        }
        while let Some((_, buffer)) = self.datagrams.pop() {
            self.give_back(buffer);
        }
    }
}

impl Driver {
    /// An endpoint on `socket`; SIGTERM and SIGINT will end `run`.
    pub fn new(socket: Socket, server_config: Option<ServerConfig>) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, stop.clone())
                .map_err(|error| Error::failed("signal handler", error))?;
        }
        let endpoint = Endpoint::new(
            Arc::new(EndpointConfig::default()),
            server_config.map(Arc::new),
            !socket.may_fragment(),
            None,
        );
        Ok(Self {
            socket,
            endpoint,
            connections: Vec::new(),
            ticks: Ticks::starting(Instant::now()),
            stop,
            receive_buffers: ReceiveBuffers::new(),
            train: Train::default(),
        })
    }

    /// Begin a connection to `remote`.
    pub fn connect(
        &mut self,
        config: ClientConfig,
        remote: std::net::SocketAddr,
        server_name: &str,
    ) -> Result<()> {
        let (handle, connection) = self
            .endpoint
            .connect(Instant::now(), config, remote, server_name)
            .map_err(|error| Error::failed(&format!("connect to {remote}"), error))?;
        insert(&mut self.connections, handle, connection);
        Ok(())
    }

    /// Run until the application has finished or a signal asks to stop; then close every connection.
    pub fn run(&mut self, application: &mut impl Application) -> Result<()> {
        let mut now = Instant::now();
        let mut more = self.drive(now, application);
        while !application.on_wake(now) && !self.stop.load(Ordering::Relaxed) {
            let wait_ms = if more { 0 } else { self.sleep_ms(now) };
            now = self.receive(wait_ms, &mut more)?;
            more |= self.drive(now, application);
        }
        self.close(now);
        Ok(())
    }

    /// The connections that have not been forgotten yet.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionHandle, &Connection)> {
        let entries = self.connections.iter().enumerate();
        entries.filter_map(|(index, entry)| Some((ConnectionHandle(index), entry.as_ref()?)))
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    fn sleep_ms(&mut self, now: Instant) -> u64 {
        let deadlines = self.connections.iter_mut().flatten().filter_map(Connection::poll_timeout);
        let wait_ms = deadlines.min().map_or(LONGEST_SLEEP_MS, |deadline| self.ticks.wait_ms(now, deadline));
        wait_ms.min(LONGEST_SLEEP_MS)
    }

    /// Sleep for at most `wait_ms` until datagrams arrive, and take one batch of them. Returns the time, and in
    /// `more` whether there may be others.
    fn receive(&mut self, wait_ms: u64, more: &mut bool) -> Result<Instant> {
        let Self { socket, endpoint, connections, receive_buffers, train, .. } = self;
        let mut woken = None;
        *more = socket.receive(receive_buffers, wait_ms, |datagram| {
            let now = *woken.get_or_insert_with(Instant::now);
            let mut buffer = train.buffer();
            let data = BytesMut::from(datagram.payload);
            let reply = match endpoint.handle(now, datagram.source, None, datagram.ecn, data, &mut buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(connection) = connections.get_mut(handle.0).and_then(Option::as_mut) {
                        connection.handle_event(event);
                    }
                    None
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    match endpoint.accept(incoming, now, &mut buffer, None) {
                        Ok((handle, connection)) => {
                            insert(connections, handle, connection);
                            None
                        }
                        Err(refusal) => {
                            eprintln!("cambrian-quinn: connection not accepted: {}", refusal.cause);
                            refusal.response
                        }
                    }
                }
                Some(DatagramEvent::Response(reply)) => Some(reply),
                None => None,
            };
            match reply {
                Some(reply) => {
                    train.push(reply, buffer);
                    train.send(socket);
                }
                None => train.give_back(buffer),
            }
            Ok(())
        })?;
        Ok(woken.unwrap_or_else(Instant::now))
    }

    /// Let every connection act. Returns whether one broke off a long train and wants to go on.
    fn drive(&mut self, now: Instant, application: &mut impl Application) -> bool {
        let mut more = false;
        for index in 0..self.connections.len() {
            if let Some(mut connection) = self.connections[index].take() {
                more |= self.drive_one(ConnectionHandle(index), &mut connection, now, application);
                if !connection.is_drained() {
                    self.connections[index] = Some(connection);
                }
            }
        }
        more
    }

    fn drive_one(
        &mut self,
        handle: ConnectionHandle,
        connection: &mut Connection,
        mut now: Instant,
        application: &mut impl Application,
    ) -> bool {
        loop {
            let train_broken = self.transmit(connection, now);
            let mut again = false;
            if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
                connection.handle_timeout(now);
                // A timer that is set anew for this very instant must not hold the clock still.
                now = Instant::now();
                again = true;
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = self.endpoint.handle_event(handle, event) {
                    connection.handle_event(answer);
                    again = true;
                }
            }
            if !again {
                // The application comes last, as its task does on tokio.
                while let Some(event) = connection.poll() {
                    again |= application.on_event(handle, connection, event);
                }
            }
            if train_broken || !again {
                return train_broken;
            }
        }
    }

    /// Send what the connection may send at `now`. Returns whether it stopped at `MAX_TRAIN` datagrams.
    fn transmit(&mut self, connection: &mut Connection, now: Instant) -> bool {
        while self.train.len() < MAX_TRAIN {
            let mut buffer = self.train.buffer();
            match connection.poll_transmit(now, MAX_SEGMENTS, &mut buffer) {
                Some(transmit) => self.train.push(transmit, buffer),
                None => {
                    self.train.give_back(buffer);
                    break;
                }
            }
        }
        let train_broken = self.train.len() == MAX_TRAIN;
        self.train.send(&self.socket);
        train_broken
    }

    /// Tell every peer that this is the end.
    fn close(&mut self, now: Instant) {
        for index in 0..self.connections.len() {
            if let Some(mut connection) = self.connections[index].take() {
                connection.close(now, VarInt::from_u32(0), Bytes::new());
                self.transmit(&mut connection, now);
                self.connections[index] = Some(connection);
            }
        }
    }
}

fn insert(connections: &mut Vec<Option<Connection>>, handle: ConnectionHandle, connection: Connection) {
    if connections.len() <= handle.0 {
        connections.resize_with(handle.0 + 1, || None);
    }
    connections[handle.0] = Some(connection);
}
