//! Does observing change anything? A connection over a simulated bottleneck drives a bare and a logged controller
//! side by side, with every call that a real transfer makes.

use std::any::Any;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;

use bytes::{Bytes, BytesMut};
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::transport_log::TransportLog;

use super::*;
use crate::proto::congestion::{ControllerMetrics, CubicConfig, NewRenoConfig};
use crate::proto::{
    self, ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ServerConfig,
    StreamEvent, StreamId,
};
use crate::{tls, transport};

const MTU: u16 = 1200;

fn silent_log() -> SharedLog {
    TransportLog::to_writer(Box::new(std::io::sink()), Anchor::now())
}

#[test]
fn a_field_is_found_in_debug_output() {
    #[derive(Debug)]
    #[allow(dead_code)]
    struct Machine {
        before: u8,
        mode: Mode,
    }
    #[derive(Debug)]
    #[allow(dead_code)]
    enum Mode {
        Idle,
        Busy(u8),
        Unknown,
    }
    let words = [("Idle", "idle"), ("Busy", "busy")];
    let found = |mode| debug_field(&Machine { before: 1, mode }, "mode", &words);
    assert_eq!(
        (found(Mode::Idle), found(Mode::Busy(3)), found(Mode::Unknown)),
        (Some("idle"), Some("busy"), None)
    );
}

#[test]
fn recovery_begins_with_a_congestion_event_and_ends_with_a_later_packet() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let reno = NewReno::new(Arc::new(NewRenoConfig::default()), start, MTU);
    let mut controller = Logged::start(reno, start, silent_log());
    let state = |controller: &Logged<NewReno>, threshold| controller.state(Some(threshold));
    assert_eq!(state(&controller, u64::MAX), Some("slow_start"));
    controller.congested(at(60), at(10), false);
    assert_eq!(state(&controller, 6_000), Some("recovery"));
    controller.end_recovery(at(20));
    assert_eq!(state(&controller, 6_000), Some("recovery"));
    controller.end_recovery(at(61));
    assert_eq!(state(&controller, 6_000), Some("congestion_avoidance"));
    controller.congested(at(200), at(100), true);
    assert_eq!(state(&controller, u64::MAX), Some("slow_start"));
}

/// The same controller twice, bare and logged; it fails as soon as they differ.
#[derive(Clone, Debug)]
struct Tandem<C> {
    bare: C,
    logged: Logged<C>,
}

impl<C: Observed> Tandem<C> {
    fn check(&self) {
        let of =
            |metrics: ControllerMetrics| (metrics.congestion_window, metrics.ssthresh, metrics.pacing_rate);
        assert_eq!(self.bare.window(), self.logged.window());
        assert_eq!(of(self.bare.metrics()), of(self.logged.metrics()));
    }
}

/// Implements the transport's controller interface: each event listed goes to both.
macro_rules! tandem {
    ($(fn $event:ident($($argument:ident: $kind:ty),*);)*) => {
        impl<C: Observed > Controller for Tandem<C> {
            $(fn $event(&mut self, $($argument: $kind),*) {
                self.bare.$event($($argument),*);
                self.logged.$event($($argument),*);
                self.check();
            })*

            fn window(&self) -> u64 {
                self.bare.window()
            }

            fn metrics(&self) -> ControllerMetrics {
                self.bare.metrics()
            }

            fn clone_box(&self) -> Box<dyn Controller> {
                Box::new(self.clone())
            }

            fn initial_window(&self) -> u64 {
                assert_eq!(self.bare.initial_window(), self.logged.initial_window());
                self.bare.initial_window()
            }

            fn into_any(self: Box<Self>) -> Box<dyn Any> {
                self
            }
        }
    };
}

#[cfg(feature = "quinn")]
tandem! {
    fn on_sent(now: Instant, bytes: u64, last: u64);
    fn on_ack(now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator);
    fn on_end_acks(now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>);
    fn on_congestion_event(now: Instant, sent: Instant, persistent: bool, lost_bytes: u64);
    fn on_mtu_update(new_mtu: u16);
}

#[cfg(not(feature = "quinn"))]
tandem! {
    fn on_sent(now: Instant, bytes: u64, largest: u64);
    fn on_packet_sent(now: Instant, bytes: u16, number: u64);
    fn on_cwnd_limited();
    fn on_ack(now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator);
    fn on_end_acks(now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>);
    fn on_congestion_event(now: Instant, sent: Instant, persistent: bool, ecn: bool, lost_bytes: u64, largest: u64);
    fn on_packet_lost(lost_bytes: u16, number: u64, now: Instant);
    fn on_spurious_congestion_event();
    fn on_mtu_update(new_mtu: u16);
    fn on_ack_frequency_update(ack_eliciting_threshold: u64, requested_max_ack_delay: Duration);
}

struct TandemFactory<C> {
    controller: C,
    log: SharedLog,
}

impl<C: Observed> ControllerFactory for TandemFactory<C> {
    fn build(self: Arc<Self>, now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        let bare = self.controller.clone();
        Box::new(Tandem { logged: Logged::start(bare.clone(), now, self.log.clone()), bare })
    }
}

/// One end of a connection in memory.
struct End {
    endpoint: Endpoint,
    peer: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The stream that the other end sends.
    stream: Option<StreamId>,
}

impl End {
    fn new(peer: SocketAddr, server_config: Option<ServerConfig>) -> Self {
        Self { endpoint: proto::endpoint(server_config, true), peer, connection: None, stream: None }
    }

    fn deliver(&mut self, now: Instant, datagram: &[u8]) {
        let mut reply = Vec::new();
        match proto::handle(&mut self.endpoint, now, self.peer, None, BytesMut::from(datagram), &mut reply) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut reply, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().unwrap().1.handle_event(event);
            }
            _ => {}
        }
    }

    /// Expire timers, pass events on, and take what is to be sent.
    fn drive(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let Some((handle, connection)) = &mut self.connection else { return sent };
        if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::ConnectionLost { reason } => panic!("{reason}"),
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                _ => {}
            }
        }
        if let Some(id) = self.stream {
            // Unread, the body would reach noq's limit of 2048 chunks a stream.
            let mut stream = connection.recv_stream(id);
            if let Ok(mut chunks) = stream.read(false) {
                while let Ok(Some(_)) = chunks.next(usize::MAX) {}
                let _ = chunks.finalize();
            };
        }
        loop {
            let mut buffer = Vec::new();
            if proto::poll_transmit(connection, now, &mut buffer).is_none() {
                return sent;
            }
            sent.push(buffer);
        }
    }

    fn deadline(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }
}

/// Upload for four seconds over 10 Mbit/s and 20 ms with a queue of 20 packets, which overflows. Returns the log.
fn transfer<C: Observed>(controller: C) -> String {
    const DELAY: Duration = Duration::from_millis(10);
    const PER_PACKET: Duration = Duration::from_micros(1200);
    const QUEUE_PACKETS: u32 = 20;
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../src/cambrian/testbed/certs");
    let (certificate, key) = (certificates.join("cert.pem"), certificates.join("key.pem"));
    let crypto = tls::server(&certificate, &key, "hq-interop").unwrap();
    let (blocks, written) = mpsc::channel();
    let log = TransportLog::to_writer(Box::new(Blocks(blocks)), Anchor::now());
    let factory = Arc::new(TandemFactory { controller, log: log.clone() });
    let mut client_config = ClientConfig::new(tls::client("hq-interop").unwrap());
    let mut transport_config = transport::config();
    transport_config.congestion_controller_factory(factory);
    client_config.transport_config(Arc::new(transport_config));
    let mut server_config = ServerConfig::with_crypto(crypto);
    server_config.transport_config(Arc::new(transport::config()));

    let start = Instant::now();
    let mut now = start;
    let (client, server) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
    let (mut sender, mut receiver) = (End::new(server, None), End::new(client, Some(server_config)));
    sender.connection = Some(sender.endpoint.connect(now, client_config, server, "cambrian.test").unwrap());
    let (mut to_receiver, mut to_sender) = (VecDeque::new(), VecDeque::new());
    let mut link_free = now;
    let mut stream = None;
    while now < start + Duration::from_secs(4) {
        let connection = &mut sender.connection.as_mut().unwrap().1;
        stream = stream.or_else(|| connection.streams().open(Dir::Uni));
        if let Some(id) = stream {
            static BODY: [u8; 65_536] = [0; 65_536];
            while proto::write_chunk(&mut connection.send_stream(id), Bytes::from_static(&BODY)).is_ok() {}
        }
        for datagram in sender.drive(now) {
            link_free = link_free.max(now);
            if link_free - now < PER_PACKET * QUEUE_PACKETS {
                link_free += PER_PACKET;
                to_receiver.push_back((link_free + DELAY, datagram));
            }
        }
        to_sender.extend(receiver.drive(now).into_iter().map(|datagram| (now + DELAY, datagram)));
        let arrivals = [&to_receiver, &to_sender].map(|queue| queue.front().map(|(at, _)| *at));
        let next =
            arrivals.into_iter().chain([sender.deadline(), receiver.deadline()]).flatten().min().unwrap();
        now = now.max(next);
        for (end, queue) in [(&mut receiver, &mut to_receiver), (&mut sender, &mut to_sender)] {
            while queue.front().is_some_and(|(at, _)| *at <= now) {
                end.deliver(now, &queue.pop_front().unwrap().1);
            }
        }
    }
    lock(&log).flush();
    String::from_utf8(written.try_iter().flatten().collect()).unwrap()
}

struct Blocks(mpsc::Sender<Vec<u8>>);

impl std::io::Write for Blocks {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.send(data.to_vec()).unwrap();
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn check_transfer<C: Observed>(controller: C, states: &[&str]) {
    let log = transfer(controller);
    assert!(log.lines().count() > 200, "too few rows:\n{log}");
    assert_eq!(log.matches(",start,").count(), 1);
    assert!(log.contains(",loss,"), "the queue never overflowed");
    for state in states {
        assert!(log.contains(&format!(",{state}\n")), "no {state} in the log");
    }
}

#[test]
fn cubic_is_the_same_with_and_without_a_log() {
    let cubic = Cubic::new(Arc::new(CubicConfig::default()), Instant::now(), MTU);
    check_transfer(cubic, &["slow_start", "recovery", "congestion_avoidance"]);
}

#[test]
fn reno_is_the_same_with_and_without_a_log() {
    let reno = NewReno::new(Arc::new(NewRenoConfig::default()), Instant::now(), MTU);
    check_transfer(reno, &["slow_start", "recovery", "congestion_avoidance"]);
}

#[cfg(feature = "quinn")]
#[test]
fn bbr_is_the_same_with_and_without_a_log() {
    use crate::proto::congestion::{Bbr, BbrConfig};
    let bbr = Bbr::new(Arc::new(BbrConfig::default()), MTU);
    check_transfer(bbr, &["startup", "probe_bw"]);
}

#[cfg(not(feature = "quinn"))]
#[test]
fn bbr3_is_the_same_with_and_without_a_log() {
    use crate::proto::congestion::{Bbr3, Bbr3Config};
    let bbr3 = Arc::new(Bbr3Config::default()).build(Instant::now(), MTU);
    let bbr3 = bbr3.into_any().downcast::<Bbr3>().expect("a Bbr3Config builds a Bbr3");
    check_transfer(*bbr3, &["startup", "drain", "probe_bw"]);
}
