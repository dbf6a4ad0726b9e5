//! s2n-quic's input and output on the runtime's socket, and the limits of a connection.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use cambrian_endpoint::{Ecn, Error};
use s2n_quic::provider::io;
use s2n_quic::provider::limits::Limits;
use s2n_quic_core::endpoint::Endpoint;
use s2n_quic_core::event::EndpointPublisher;
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress};
use s2n_quic_core::io::event_loop::{EventLoop, Stats};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::{mtu, Handle, RemoteAddress};
use s2n_quic_core::task::cooldown::Cooldown;
use s2n_quic_core::time::{self, Timestamp};

use crate::runtime::{failed, Arrival, Runtime, Timer, Traffic};
use crate::settings::Settings;

/// Datagrams that wait to be sent, at most; s2n-quic's own provider has room for so many.
const MOST_DATAGRAMS: usize = 128;

/// Flow-control credit of a connection and of each of its streams.
const RECEIVE_WINDOW_BYTES: u64 = 256 << 20;

/// Unacknowledged body bytes that a stream may hold. They are all views of one static block.
const SEND_BUFFER_BYTES: u32 = 256 << 20;

const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const MAX_STREAMS: u64 = 1000;

/// An IPv4 packet is this much larger than its UDP payload.
const IP_UDP_HEADER_BYTES: u16 = 28;

/// Windows that are never the limit, and patience.
pub fn limits() -> cambrian_endpoint::Result<Limits> {
    Limits::new()
        .with_data_window(RECEIVE_WINDOW_BYTES)
        .and_then(|limits| limits.with_bidirectional_local_data_window(RECEIVE_WINDOW_BYTES))
        .and_then(|limits| limits.with_bidirectional_remote_data_window(RECEIVE_WINDOW_BYTES))
        .and_then(|limits| limits.with_max_send_buffer_size(SEND_BUFFER_BYTES))
        .and_then(|limits| limits.with_max_idle_timeout(IDLE_TIMEOUT))
        .and_then(|limits| limits.with_max_handshake_duration(IDLE_TIMEOUT))
        .and_then(|limits| limits.with_max_open_local_bidirectional_streams(MAX_STREAMS))
        .and_then(|limits| limits.with_max_open_remote_bidirectional_streams(MAX_STREAMS))
        .map_err(|error| Error::failed("limits", error))
}

/// Has s2n-quic use the runtime's socket, without segmentation or receive offload.
pub struct Provider {
    runtime: Runtime,
    mtu: mtu::Config,
}

impl Provider {
    pub fn new(runtime: Runtime, settings: &Settings) -> cambrian_endpoint::Result<Self> {
        let mut mtu = mtu::Config::builder();
        if let Some(bytes) = settings.initial_udp_payload_bytes {
            mtu = mtu.with_initial_mtu(bytes + IP_UDP_HEADER_BYTES).map_err(failed)?;
        }
        let mut mtu = mtu.build().map_err(failed)?;
        if runtime.traffic.borrow().may_fragment() {
            mtu = mtu::Config::MIN;
        }
        Ok(Self { runtime, mtu })
    }
}

impl io::Provider for Provider {
    // Of a path only the other side's address matters: the socket has one address from the start.
    type PathHandle = RemoteAddress;
    type Error = Error;

    fn start<E: Endpoint<PathHandle = RemoteAddress>>(self, mut endpoint: E) -> Result<SocketAddress, Error> {
        endpoint.set_mtu_config(self.mtu);
        let traffic = &self.runtime.traffic;
        let address = SocketAddress::from(traffic.borrow().local_address()?);
        let event_loop = EventLoop {
            endpoint,
            clock: Clock { epoch: Instant::now(), runtime: self.runtime.clone() },
            rx: Rx(traffic.clone()),
            tx: Tx { traffic: traffic.clone(), full: false, largest: u16::from(self.mtu.max_mtu()).into() },
            cooldown: Cooldown::default(),
            stats: NoStats,
        };
        self.runtime.spawn(event_loop.start(address));
        Ok(address)
    }
}

/// Hands s2n-quic what has arrived.
struct Rx(Rc<RefCell<Traffic>>);

impl rx::Rx for Rx {
    type PathHandle = RemoteAddress;
    type Queue = Traffic;
    type Error = Infallible;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let mut traffic = self.0.borrow_mut();
        if !traffic.arrivals.is_empty() {
            return Poll::Ready(Ok(()));
        }
        traffic.reader = Some(context.waker().clone());
        Poll::Pending
    }

    fn queue<F: FnOnce(&mut Traffic)>(&mut self, take: F) {
        take(&mut self.0.borrow_mut());
    }

    fn handle_error<E: EndpointPublisher>(self, error: Infallible, _event: &mut E) {
        match error {}
    }
}

impl rx::Queue for Traffic {
    type Handle = RemoteAddress;

    fn for_each<F: FnMut(Header<RemoteAddress>, &mut [u8])>(&mut self, mut take: F) {
        for Arrival { source, ecn, mut payload } in self.arrivals.drain(..) {
            let ecn = ExplicitCongestionNotification::new(ecn.bits());
            take(Header { path: SocketAddress::from(source).into(), ecn }, &mut payload);
            self.spare.push(payload);
        }
    }

    fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }
}

/// Takes what s2n-quic sends.
struct Tx {
    traffic: Rc<RefCell<Traffic>>,
    /// There was no room left when s2n-quic sent last.
    full: bool,
    largest: usize,
}

impl tx::Tx for Tx {
    type PathHandle = RemoteAddress;
    type Queue = Departing;
    type Error = Infallible;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let mut traffic = self.traffic.borrow_mut();
        if self.full && traffic.train.datagrams().is_empty() {
            self.full = false;
            return Poll::Ready(Ok(()));
        }
        traffic.writer = self.full.then(|| context.waker().clone());
        Poll::Pending
    }

    fn queue<F: FnOnce(&mut Departing)>(&mut self, send: F) {
        let mut queue = Departing { traffic: self.traffic.clone(), largest: self.largest };
        send(&mut queue);
        self.full = tx::Queue::capacity(&queue) == 0;
    }

    fn handle_error<E: EndpointPublisher>(self, error: Infallible, _event: &mut E) {
        match error {}
    }
}

/// Datagrams on their way into the train.
struct Departing {
    traffic: Rc<RefCell<Traffic>>,
    largest: usize,
}

impl tx::Queue for Departing {
    type Handle = RemoteAddress;

    const SUPPORTS_ECN: bool = true;

    fn push<M: tx::Message<Handle = RemoteAddress>>(
        &mut self,
        mut message: M,
    ) -> Result<tx::Outcome, tx::Error> {
        if self.capacity() == 0 {
            return Err(tx::Error::AtCapacity);
        }
        let train = &mut self.traffic.borrow_mut().train;
        let mut payload = train.buffer();
        payload.resize(self.largest, 0);
        match message.write_payload(tx::PayloadBuffer::new(&mut payload), 0) {
            Ok(len) => {
                payload.truncate(len);
                let ecn = Ecn::from_bits(message.ecn() as u8);
                train.push(message.path_handle().remote_address().into(), ecn, payload);
                Ok(tx::Outcome { len, index: 0 })
            }
            Err(error) => {
                train.give_back(payload);
                Err(error)
            }
        }
    }

    fn capacity(&self) -> usize {
        MOST_DATAGRAMS.saturating_sub(self.traffic.borrow().train.datagrams().len())
    }
}

/// Time since the endpoint's start.
struct Clock {
    epoch: Instant,
    runtime: Runtime,
}

impl time::Clock for Clock {
    fn get_time(&self) -> Timestamp {
        // SAFETY: all timestamps of an endpoint count from the same instant.
        unsafe { Timestamp::from_duration(self.epoch.elapsed()) }
    }
}

impl time::ClockWithTimer for Clock {
    type Timer = EndpointTimer;

    fn timer(&self) -> EndpointTimer {
        // as s2n-quic's own provider sets it
        let mut timer = self.runtime.timer();
        timer.set(self.epoch + Duration::from_secs(1));
        EndpointTimer { epoch: self.epoch, timer }
    }
}

struct EndpointTimer {
    epoch: Instant,
    timer: Timer,
}

impl time::clock::Timer for EndpointTimer {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.timer.poll(context)
    }

    /// s2n-quic's own provider rounds deadlines down to milliseconds.
    fn update(&mut self, deadline: Timestamp) {
        // SAFETY: it counts from the clock's epoch.
        let since_epoch = unsafe { deadline.as_duration() };
        self.timer.set(self.epoch + Duration::from_millis(since_epoch.as_millis() as u64));
    }
}

/// Counts of the socket's calls would say nothing here.
struct NoStats;

impl Stats for NoStats {
    fn publish<P: EndpointPublisher>(&mut self, _publisher: &mut P) {}
}
