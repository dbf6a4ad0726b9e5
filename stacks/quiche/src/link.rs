//! One connection: what runs on it, and when its packets are made and sent.

use std::time::Instant;

use cambrian_endpoint::train::Train;
use quiche::Connection;

use crate::outbox::Outbox;
use crate::report::Observer;

/// No datagram is longer: the laboratory's links carry IP packets of at most 1500 bytes.
const MAX_DATAGRAM_BYTES: usize = 1500;

/// The application on a connection.
pub trait Session {
    /// Take what has arrived.
    fn read(&mut self, connection: &mut Connection);

    /// Write what there is room for. Returns whether anything was written.
    fn write(&mut self, connection: &mut Connection) -> bool;
}

pub struct Link<S> {
    pub connection: Connection,
    pub session: S,
    /// Tells of the controller; a sender's only.
    observer: Option<Observer>,
    /// Packets are made ahead of the time at which they are to be sent.
    ahead: bool,
    outbox: Outbox,
    /// Something has arrived that has not been looked at.
    arrived: bool,
    /// Until when the controller makes no packet.
    held_until: Option<Instant>,
}

impl<S: Session> Link<S> {
    pub fn new(connection: Connection, session: S, observer: Option<Observer>, ahead: bool) -> Self {
        // A new connection acts at once: a client's has its first packet to send.
        let (outbox, arrived) = (Outbox::default(), true);
        Self { connection, session, observer, ahead, outbox, arrived, held_until: None }
    }

    /// A datagram for this connection.
    pub fn receive(&mut self, payload: &mut [u8], info: quiche::RecvInfo) {
        // quiche closes the connection by itself where an error is one of the protocol.
        if let Err(error) = self.connection.recv(payload, info) {
            eprintln!("{}: a datagram was refused: {error}", self.connection.trace_id());
        }
        self.arrived = true;
    }

    /// When `drive` wants to be called again, unless something arrives before.
    pub fn next_wake(&self) -> Option<Instant> {
        let times = [self.connection.timeout_instant(), self.outbox.next_due(), self.held_until];
        times.into_iter().flatten().min()
    }

    /// Do what is due at `now`.
    pub fn drive(&mut self, now: Instant, train: &mut Train) {
        let is_due = |time: Option<Instant>| time.is_some_and(|time| time <= now);
        let mut transmit = std::mem::take(&mut self.arrived) || is_due(self.held_until);
        if is_due(self.connection.timeout_instant()) {
            self.connection.on_timeout();
            transmit = true;
        }
        if is_due(self.outbox.next_due()) {
            self.outbox.release(now, train);
            transmit |= !self.ahead;
        }
        if transmit {
            self.session.read(&mut self.connection);
            self.make_packets(now, train);
            // Packets that may go at once are stamped with the time at which they were made, which is after `now`.
            self.outbox.release(Instant::now(), train);
        }
    }

    /// Say goodbye and send everything at once.
    pub fn close(&mut self, train: &mut Train) {
        // Closing twice is no matter.
        let _ = self.connection.close(true, 0, b"");
        self.held_until = None;
        self.make_packets(Instant::now(), train);
        if let Some(last) = self.outbox.last_due() {
            self.outbox.release(last, train);
        }
    }

    /// Make packets until quiche has no more, as its documentation asks: `cubic` and `reno` take a sender that has
    /// not filled the window for one that is limited by its application, and do not grow. If not `ahead`, stop at the
    /// first that must wait.
    fn make_packets(&mut self, now: Instant, train: &mut Train) {
        if let Some(observer) = &mut self.observer {
            observer.before_packets(&self.connection);
        }
        self.session.write(&mut self.connection);
        loop {
            self.held_until = self.hold();
            let waits = !self.ahead && self.outbox.last_due().is_some_and(|at| at > Instant::now());
            if waits || self.held_until.is_some() {
                break;
            }
            let mut payload = train.buffer();
            payload.resize(MAX_DATAGRAM_BYTES, 0);
            match self.connection.send(&mut payload) {
                Ok((length, info)) => {
                    payload.truncate(length);
                    // What `hold` has let through goes now: its stamp is the time of the packet after it.
                    let at = if self.asks_first() { Instant::now() } else { info.at };
                    self.outbox.push(at, info.to, payload);
                }
                Err(error) => {
                    train.give_back(payload);
                    if error != quiche::Error::Done {
                        eprintln!("{}: cannot send: {error}", self.connection.trace_id());
                        let _ = self.connection.close(false, 1, b"");
                    } else if !self.session.write(&mut self.connection) {
                        break;
                    }
                }
            }
        }
        if let Some(observer) = &mut self.observer {
            observer.after_packets(&self.connection, now);
        }
    }

    fn asks_first(&self) -> bool {
        self.connection.gcongestion_enabled() == Some(true)
    }

    /// Until when the next packet must not be made. `bbr2_gcongestion` is asked before each packet and takes it for
    /// sent at the time that it names; the other controllers stamp what they have made.
    fn hold(&self) -> Option<Instant> {
        if !self.asks_first() {
            return None;
        }
        let release = self.connection.get_next_release_time()?;
        if release.can_burst() {
            None
        } else {
            release.time(Instant::now())
        }
    }
}
