//! Does observing change anything? A connection over a simulated bottleneck drives a bare and a logged controller
//! side by side, with every call that a real transfer makes.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, ServerConfig,
};

use super::*;
use crate::clock::Anchor;
use crate::settings::Settings;
use crate::transport_log::TransportLog;
use crate::{tls, transport};

const MTU: u16 = 1200;

fn silent_log() -> SharedLog {
    TransportLog::to_writer(Box::new(std::io::sink()), Anchor::now())
}

#[test]
fn bbr_shows_its_mode() {
    let bbr = Bbr::new(Arc::new(BbrConfig::default()), MTU);
    assert_eq!(bbr.mode(), Some("startup"));
}

#[test]
fn a_loss_in_slow_start_is_recovery_until_a_later_packet_is_acknowledged() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let cubic = Cubic::new(Arc::new(CubicConfig::default()), start, MTU);
    let mut controller = Logged::start(cubic, start, silent_log());
    let state = |controller: &Logged<Cubic>| controller.state(controller.metrics().ssthresh);
    assert_eq!(state(&controller), Some("slow_start"));
    controller.on_congestion_event(at(60), at(10), false, 1200);
    assert_eq!(state(&controller), Some("recovery"));
    controller.note_ack(at(20));
    assert_eq!(state(&controller), Some("recovery"));
    controller.note_ack(at(61));
    assert_eq!(state(&controller), Some("congestion_avoidance"));
    controller.on_congestion_event(at(200), at(100), true, 1200);
    assert_eq!(state(&controller), Some("slow_start"));
}

/// The same controller twice, bare and logged; it fails as soon as they differ.
#[derive(Clone)]
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

impl<C: Observed> Controller for Tandem<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.bare.on_sent(now, bytes, last_packet_number);
        self.logged.on_sent(now, bytes, last_packet_number);
        self.check();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.bare.on_ack(now, sent, bytes, app_limited, rtt);
        self.logged.on_ack(now, sent, bytes, app_limited, rtt);
        self.check();
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.bare.on_end_acks(now, in_flight, app_limited, largest);
        self.logged.on_end_acks(now, in_flight, app_limited, largest);
        self.check();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.bare.on_congestion_event(now, sent, persistent, lost_bytes);
        self.logged.on_congestion_event(now, sent, persistent, lost_bytes);
        self.check();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.bare.on_mtu_update(new_mtu);
        self.logged.on_mtu_update(new_mtu);
        self.check();
    }

    fn window(&self) -> u64 {
        self.bare.window()
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
}

impl End {
    fn new(peer: SocketAddr, server_config: Option<ServerConfig>) -> Self {
        let config = Arc::new(EndpointConfig::default());
        let endpoint = Endpoint::new(config, server_config.map(Arc::new), true, None);
        Self { endpoint, peer, connection: None }
    }

    fn deliver(&mut self, now: Instant, datagram: &[u8]) {
        let mut reply = Vec::new();
        match self.endpoint.handle(now, self.peer, None, None, BytesMut::from(datagram), &mut reply) {
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
        while connection.poll().is_some() {}
        loop {
            let mut buffer = Vec::new();
            if connection.poll_transmit(now, 1, &mut buffer).is_none() {
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
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/cambrian/testbed/certs");
    let crypto = tls::server(&certificates.join("cert.pem"), &certificates.join("key.pem")).unwrap();
    let (blocks, written) = mpsc::channel();
    let log = TransportLog::to_writer(Box::new(Blocks(blocks)), Anchor::now());
    let factory = Arc::new(TandemFactory { controller, log: log.clone() });
    let mut client_config = ClientConfig::new(tls::client().unwrap());
    client_config.transport_config(transport::config(&Settings::default(), Some(factory)));
    let mut server_config = ServerConfig::with_crypto(crypto);
    server_config.transport_config(transport::config(&Settings::default(), None));

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
            while connection.send_stream(id).write_chunks(&mut [Bytes::from_static(&BODY)]).is_ok() {}
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

#[test]
fn bbr_is_the_same_with_and_without_a_log() {
    let bbr = Bbr::new(Arc::new(BbrConfig::default()), MTU);
    check_transfer(bbr, &["startup", "probe_bw"]);
}
