//! The server role: the sender, whose congestion controller is under test.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use cambrian_endpoint::cli::ServerArguments;
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::stop::Stop;
use cambrian_endpoint::transport_log::{lock, SharedLog, TransportLog};
use cambrian_endpoint::{contract, hq, Error, Result};
use msquic::ffi::{HQUIC, QUIC_CONNECTION_EVENT, QUIC_STATUS};
use msquic::{
    Addr, Api, BufferRef, Configuration, ConnectionEvent, ConnectionRef, Listener, ListenerEvent,
    ReceiveFlags, Status, Stream, StreamEvent, StreamRef, StreamShutdownFlags,
};

use crate::body::Body;
use crate::calls;
use crate::library::Library;
use crate::settings::Settings;
use crate::statistics::Observer;
use crate::{cca, configuration, statistics, STACK};

/// Application error code for a request that is not `GET /N`.
const BAD_REQUEST: u64 = 1;

/// Turns of the library that let the last packets out and the handles be closed.
const CLOSING_TURNS: usize = 20;

/// Serve until SIGTERM.
pub fn run(arguments: &ServerArguments) -> Result<()> {
    let settings = Settings::parse(&arguments.settings)?;
    // The clock is read whether or not there is a log: a read takes virtual time, and a log may not shift a trial.
    let anchor = Anchor::now();
    let log =
        arguments.transport_log.as_deref().map(|path| TransportLog::create(path, anchor)).transpose()?;
    let stop = Stop::on_signals()?;
    let library = Library::open()?;
    let configuration = configuration::server(
        library.registration(),
        &arguments.alpn,
        &arguments.cca,
        &settings,
        &arguments.certificate,
        &arguments.key,
    )?;
    let server = Rc::new(Server::new(arguments.cca.clone(), log, configuration));
    let listener = listen(&library, &server, arguments)?;

    let outcome = library.run(&stop, || {
        server.close_ended();
        false
    });
    drop(listener);
    let outcome = outcome.and_then(|()| server.close(&library));
    if let Some(log) = &server.log {
        lock(log).flush();
    }
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(server.sent_bytes.get(), server.complete(), error.as_deref());
    drop(server);
    outcome
}

fn listen(library: &Library, server: &Rc<Server>, arguments: &ServerArguments) -> Result<Listener> {
    let failed = |status| Error::failed(&format!("UDP {}", arguments.listen), status);
    calls::listen(arguments.listen.ip());
    let accepting = server.clone();
    let listener = Listener::open(library.registration(), move |_, event| match event {
        ListenerEvent::NewConnection { connection, .. } => accepting.accept(&connection),
        ListenerEvent::StopComplete { .. } => Ok(()),
    })
    .map_err(failed)?;
    let alpn = [BufferRef::from(arguments.alpn.as_str())];
    listener.start(&alpn, Some(&Addr::from(arguments.listen))).map_err(failed)?;
    contract::ready(listener.get_local_addr().map_err(failed)?.port());
    Ok(listener)
}

struct Server {
    cca: String,
    log: Option<SharedLog>,
    configuration: Configuration,
    connections: RefCell<Vec<Rc<Connection>>>,
    /// Streams that have ended. A handle is closed outside of its own callback.
    ended_streams: RefCell<Vec<Stream>>,
    requests: Cell<usize>,
    /// Responses that a client has acknowledged to the last byte.
    finished: Cell<usize>,
    /// UDP payload of the connections that have ended, retransmissions and all.
    sent_bytes: Cell<u64>,
}

impl Server {
    fn new(cca: String, log: Option<SharedLog>, configuration: Configuration) -> Self {
        Self {
            cca,
            log,
            configuration,
            connections: RefCell::default(),
            ended_streams: RefCell::default(),
            requests: Cell::new(0),
            finished: Cell::new(0),
            sent_bytes: Cell::new(0),
        }
    }

    fn complete(&self) -> bool {
        self.requests.get() > 0 && self.requests == self.finished
    }

    fn accept(self: &Rc<Self>, connection: &ConnectionRef) -> std::result::Result<(), Status> {
        // SAFETY: the handle is closed by `close_ended` and nowhere else, once msquic has told the last event.
        let handle = unsafe { connection.as_raw() };
        let accepted = Rc::new(Connection {
            server: self.clone(),
            handle,
            observer: Observer::new(self.log.clone()),
            ended: Cell::new(false),
        });
        let context = Rc::as_ptr(&accepted).cast::<c_void>();
        // SAFETY: `connections` keeps the context alive until its handle has been closed.
        unsafe { Api::set_callback_handler(handle, connection_callback as *const c_void, context) };
        self.connections.borrow_mut().push(accepted);
        connection.set_configuration(&self.configuration)
    }

    /// Close the handles of what has ended.
    fn close_ended(&self) {
        drop(self.ended_streams.take());
        let (ended, live) =
            self.connections.take().into_iter().partition(|connection| connection.ended.get());
        self.connections.replace(live);
        let ended: Vec<Rc<Connection>> = ended;
        for connection in ended {
            // SAFETY: the last event of the connection has been told, so nobody uses the handle any more.
            unsafe { Api::get_ffi().ConnectionClose.unwrap()(connection.handle) };
        }
    }

    /// Tell every peer that this is the end.
    fn close(&self, library: &Library) -> Result<()> {
        for connection in &*self.connections.borrow() {
            // SAFETY: the handle is open.
            unsafe { Api::get_ffi().ConnectionShutdown.unwrap()(connection.handle, 0, 0) };
        }
        for _ in 0..CLOSING_TURNS {
            if self.connections.borrow().is_empty() {
                break;
            }
            library.turn(1)?;
            self.close_ended();
        }
        // msquic waits for a peer's answer for two round trips, which may be longer than this program has.
        for connection in &*self.connections.borrow() {
            connection.report();
        }
        Ok(())
    }
}

struct Connection {
    server: Rc<Server>,
    handle: HQUIC,
    observer: Observer,
    /// msquic has told the last event of it.
    ended: Cell<bool>,
}

/// msquic's callback. The crate's own knows no preview events, and ends the process when it meets one.
extern "C" fn connection_callback(
    _handle: HQUIC,
    context: *mut c_void,
    event: *mut QUIC_CONNECTION_EVENT,
) -> QUIC_STATUS {
    use msquic::ffi::QUIC_CONNECTION_EVENT_TYPE_QUIC_CONNECTION_EVENT_NETWORK_STATISTICS as NETWORK_STATISTICS;
    // SAFETY: the context is what `accept` gave, and the event is msquic's for the time of the call.
    let (connection, event) = unsafe { (&*context.cast::<Connection>(), &*event) };
    if event.Type == NETWORK_STATISTICS {
        // SAFETY: the type says which member it is, and the handle is open.
        let (controller, statistics) =
            unsafe { (event.__bindgen_anon_1.NETWORK_STATISTICS, statistics::of(connection.handle)) };
        let congestion_events = statistics.map_or(0, |statistics| statistics.SendCongestionCount);
        connection.observer.on_acknowledgement(&controller, congestion_events);
    } else {
        connection.on_event(ConnectionEvent::from(event));
    }
    0
}

impl Connection {
    fn on_event(&self, event: ConnectionEvent) {
        match event {
            ConnectionEvent::Connected { .. } => {
                // SAFETY: the handle is open.
                let confirmed = unsafe { cca::read_back(self.handle) };
                contract::cca(&self.server.cca, confirmed, "GetParam(CONN_SETTINGS) of the connection");
                contract::connected();
            }
            ConnectionEvent::PeerStreamStarted { stream, .. } => {
                self.server.requests.set(self.server.requests.get() + 1);
                let mut response = Response::new(self.server.clone());
                stream.set_callback_handler(move |stream, event| {
                    response.on_event(&stream, event);
                    Ok(())
                });
            }
            ConnectionEvent::ShutdownInitiatedByTransport { status, .. } => {
                eprintln!("{}: connection ended: {status}", STACK.program);
            }
            ConnectionEvent::ShutdownComplete { .. } => {
                self.report();
                self.ended.set(true);
            }
            _ => {}
        }
    }

    /// Write the `stats` line of a connection at its end.
    fn report(&self) {
        // SAFETY: the handle is open until `close_ended`.
        if let Some(statistics) = unsafe { statistics::of(self.handle) } {
            let sent_bytes = &self.server.sent_bytes;
            sent_bytes.set(sent_bytes.get() + statistics.SendTotalBytes);
            contract::stats(statistics::fields(&statistics));
        }
    }
}

/// One stream: a request, and the body that answers it.
struct Response {
    server: Rc<Server>,
    request: hq::RequestLine,
    body: Option<Body>,
}

impl Response {
    fn new(server: Rc<Server>) -> Self {
        Self { server, request: hq::RequestLine::default(), body: None }
    }

    fn on_event(&mut self, stream: &StreamRef, event: StreamEvent) {
        match event {
            StreamEvent::Receive { buffers, flags, .. } => {
                for buffer in buffers {
                    self.request.push(buffer.as_bytes());
                }
                self.answer(stream, flags.contains(ReceiveFlags::FIN));
            }
            StreamEvent::PeerSendShutdown => self.answer(stream, true),
            StreamEvent::SendComplete { cancelled, .. } => {
                if let Some(body) = &mut self.body {
                    body.completed();
                }
                if !cancelled {
                    self.post(stream);
                }
            }
            StreamEvent::SendShutdownComplete { graceful: true } => {
                self.server.finished.set(self.server.finished.get() + 1);
            }
            StreamEvent::ShutdownComplete { .. } => {
                // SAFETY: this is the last event of the stream, and nobody else closes its handle.
                let ended = unsafe { Stream::from_raw(stream.as_raw()) };
                self.server.ended_streams.borrow_mut().push(ended);
            }
            _ => {}
        }
    }

    fn answer(&mut self, stream: &StreamRef, stream_ended: bool) {
        match self.request.answer(stream_ended) {
            None => {}
            Some(Some(bytes)) => {
                self.body = Some(Body::new(bytes));
                self.post(stream);
            }
            Some(None) => {
                eprintln!("{}: a stream's request is not of the form GET /N", STACK.program);
                // A stream that has ended already needs no reset.
                let _ = stream.shutdown(StreamShutdownFlags::ABORT_SEND, BAD_REQUEST);
            }
        }
    }

    fn post(&mut self, stream: &StreamRef) {
        if let Some(body) = &mut self.body {
            if let Err(status) = body.post(stream) {
                eprintln!("{}: send: {status}", STACK.program);
            }
        }
    }
}
