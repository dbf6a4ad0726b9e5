//! The event loop: the transport's endpoint and connections on one socket and one thread.
//!
//! This is what the quinn crate does on tokio, without tokio: the same calls in the same order (transmit, timers,
//! endpoint events, application events), the same limit on a train of datagrams and the same timer granularity. It
//! reads the clock once a wake-up, reads the socket until a batch comes short instead of until it would block, and sends
//! by the system call that sleeps.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use cambrian_endpoint::clock::Ticks;
use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Ecn, Error, Result};

use crate::gate::{Gate, GateSource};
use crate::proto::{
    self, ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event,
    ServerConfig, Transmit, VarInt,
};

/// What runs on the connections.
pub trait Application {
    /// Take one event of a connection. Returns whether the connection may have something to send because of it.
    fn on_event(&mut self, handle: ConnectionHandle, connection: &mut Connection, event: Event) -> bool;

    /// A datagram of a connection has left, and the next one will be asked for.
    fn on_transmitted(&mut self, _handle: ConnectionHandle, _connection: &mut Connection) {}

    /// Called once a wake-up, after all events; returns whether the application has finished.
    fn on_wake(&mut self, now: Instant) -> bool;
}

pub struct Driver {
    socket: Socket,
    endpoint: Endpoint,
    /// Indexed by `ConnectionHandle`.
    connections: Vec<Option<Driven>>,
    gates: Option<GateSource>,
    ticks: Ticks,
    stop: Stop,
    /// What leaves with the next sleep.
    train: Train,
}

/// Datagrams of a connection in one go before arrivals are looked at again (quinn's MAX_TRANSMIT_DATAGRAMS).
const MOST_IN_ONE_GO: usize = 20;

/// A connection, and what holds its datagrams back beside the transport itself.
struct Driven {
    connection: Connection,
    gate: Option<Box<dyn Gate>>,
    /// When the gate will let the next datagram go.
    release: Option<Instant>,
}

impl Driver {
    /// An endpoint on `socket`; SIGTERM and SIGINT will end `run`.
    pub fn new(
        socket: Socket,
        server_config: Option<ServerConfig>,
        gates: Option<GateSource>,
    ) -> Result<Self> {
        let stop = Stop::on_signals()?;
        let endpoint = proto::endpoint(server_config, !socket.may_fragment());
        Ok(Self {
            socket,
            endpoint,
            connections: Vec::new(),
            gates,
            ticks: Ticks::starting(Instant::now()),
            stop,
            train: Train::default(),
        })
    }

    /// Begin a connection to `remote`.
    pub fn connect(&mut self, config: ClientConfig, remote: SocketAddr, server_name: &str) -> Result<()> {
        let (handle, connection) = self
            .endpoint
            .connect(Instant::now(), config, remote, server_name)
            .map_err(|error| Error::failed(&format!("connect to {remote}"), error))?;
        insert(&mut self.connections, &mut self.gates, handle, connection);
        Ok(())
    }

    /// Run until the application has finished or a signal asks to stop; then close every connection.
    pub fn run(&mut self, application: &mut impl Application) -> Result<()> {
        let mut now = Instant::now();
        let mut more = self.drive(now, application);
        while !application.on_wake(now) && !self.stop.requested() {
            let wait = if more { Duration::ZERO } else { self.sleep(now) };
            now = self.exchange(wait, &mut more)?;
            more |= self.drive(now, application);
        }
        self.close(now, application);
        self.socket.send(&mut self.train)
    }

    /// The connections that have not been forgotten yet.
    pub fn connections(&mut self) -> impl Iterator<Item = (ConnectionHandle, &mut Connection)> {
        let entries = self.connections.iter_mut().enumerate();
        entries.filter_map(|(index, entry)| Some((ConnectionHandle(index), &mut entry.as_mut()?.connection)))
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// How long nothing is due: the transport's timers go by the ticks, a gate's releases are exact.
    fn sleep(&mut self, now: Instant) -> Duration {
        let Self { connections, ticks, .. } = self;
        let waits = connections.iter_mut().flatten().flat_map(|driven| {
            let timer = driven.connection.poll_timeout().map(|deadline| ticks.wait(now, deadline));
            let release = driven.release.map(|release| release.saturating_duration_since(now));
            timer.into_iter().chain(release)
        });
        waits.fold(LONGEST_SLEEP, Duration::min)
    }

    /// Send what there is to send, sleep for at most `wait` until datagrams arrive, and take one batch of them.
    /// Returns the time, and in `more` whether there may be others.
    fn exchange(&mut self, wait: Duration, more: &mut bool) -> Result<Instant> {
        let Self { socket, endpoint, connections, gates, train, .. } = self;
        let mut woken = None;
        *more = socket.exchange(train, wait, |train, datagram| {
            let now = *woken.get_or_insert_with(Instant::now);
            let mut buffer = train.buffer();
            let data = BytesMut::from(&*datagram.payload);
            let ecn = EcnCodepoint::from_bits(datagram.ecn.bits());
            let reply = match proto::handle(endpoint, now, datagram.source, ecn, data, &mut buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(driven) = connections.get_mut(handle.0).and_then(Option::as_mut) {
                        driven.connection.handle_event(event);
                        // A peer that has moved is sent to by a new controller, whose gate it is from then on.
                        if let Some(gate) = gates.as_mut().and_then(|next| next()) {
                            driven.gate = Some(gate);
                        }
                    }
                    None
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    match endpoint.accept(incoming, now, &mut buffer, None) {
                        Ok((handle, connection)) => {
                            insert(connections, gates, handle, connection);
                            None
                        }
                        Err(refusal) => {
                            eprintln!("connection not accepted: {}", refusal.cause);
                            refusal.response
                        }
                    }
                }
                Some(DatagramEvent::Response(reply)) => Some(reply),
                None => None,
            };
            match reply {
                Some(reply) => push(train, &reply, buffer),
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
            if let Some(mut driven) = self.connections[index].take() {
                more |= self.drive_one(ConnectionHandle(index), &mut driven, now, application);
                if !driven.connection.is_drained() {
                    self.connections[index] = Some(driven);
                }
            }
        }
        more
    }

    fn drive_one(
        &mut self,
        handle: ConnectionHandle,
        driven: &mut Driven,
        mut now: Instant,
        application: &mut impl Application,
    ) -> bool {
        loop {
            let train_broken = self.transmit(handle, driven, now, application);
            let connection = &mut driven.connection;
            let mut again = false;
            if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
                connection.handle_timeout(now);
                if let Some(gate) = &mut driven.gate {
                    gate.timed_out(now);
                }
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

    /// Take what the connection may send at `now`. Returns whether it may have more than that.
    fn transmit(
        &mut self,
        handle: ConnectionHandle,
        driven: &mut Driven,
        now: Instant,
        application: &mut impl Application,
    ) -> bool {
        let Driven { connection, gate, release } = driven;
        let mut taken = 0;
        while taken < MOST_IN_ONE_GO {
            *release = gate.as_mut().and_then(|gate| gate.open(now));
            let mut buffer = self.train.buffer();
            match proto::poll_transmit(connection, now, &mut buffer) {
                Some(transmit) if gate.as_mut().is_none_or(|gate| gate.passes(now)) => {
                    push(&mut self.train, &transmit, buffer);
                    taken += 1;
                    application.on_transmitted(handle, connection);
                }
                Some(_) => self.train.give_back(buffer),
                None => {
                    self.train.give_back(buffer);
                    break;
                }
            }
        }
        if let Some(gate) = gate {
            gate.close();
        }
        taken == MOST_IN_ONE_GO
    }

    /// Tell every peer that this is the end.
    fn close(&mut self, now: Instant, application: &mut impl Application) {
        for index in 0..self.connections.len() {
            if let Some(mut driven) = self.connections[index].take() {
                driven.connection.close(now, VarInt::from_u32(0), Bytes::new());
                self.transmit(ConnectionHandle(index), &mut driven, now, application);
                self.connections[index] = Some(driven);
            }
        }
    }
}

/// Add a datagram to a train.
fn push(train: &mut Train, transmit: &Transmit, mut payload: Vec<u8>) {
    payload.truncate(transmit.size);
    train.push(transmit.destination, Ecn::from_bits(transmit.ecn.map_or(0, |ecn| ecn as u8)), payload);
}

fn insert(
    connections: &mut Vec<Option<Driven>>,
    gates: &mut Option<GateSource>,
    handle: ConnectionHandle,
    connection: Connection,
) {
    if connections.len() <= handle.0 {
        connections.resize_with(handle.0 + 1, || None);
    }
    let gate = gates.as_mut().and_then(|next| next());
    connections[handle.0] = Some(Driven { connection, gate, release: None });
}
