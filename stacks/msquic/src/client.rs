//! The client role: asks for bytes and counts them.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::time::Instant;

use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::Fetch;
use cambrian_endpoint::stop::Stop;
use cambrian_endpoint::{contract, Error, Result};
use msquic::ffi::QUIC_PARAM_CONN_REMOTE_ADDRESS;
use msquic::{
    Addr, Api, BufferRef, Connection, ConnectionEvent, ConnectionRef, ConnectionShutdownFlags, SendFlags,
    Status, Stream, StreamEvent, StreamOpenFlags, StreamStartFlags,
};

use crate::configuration;
use crate::library::Library;
use crate::settings::Settings;

/// Turns of the library that let the CONNECTION_CLOSE out and the handles be closed.
const CLOSING_TURNS: usize = 20;

/// Fetch until everything has come or a signal asks to stop.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let settings = Settings::parse(&arguments.settings)?;
    let stop = Stop::on_signals()?;
    let client = Rc::new(Client::new(arguments));
    let outcome = fetch(arguments, &settings, &stop, &client);
    let fetch = client.fetch.replace(Fetch::new(arguments));
    fetch.done(outcome)
}

fn fetch(arguments: &ClientArguments, settings: &Settings, stop: &Stop, client: &Rc<Client>) -> Result<()> {
    let library = Library::open()?;
    let configuration = configuration::client(library.registration(), &arguments.alpn, settings)?;
    let failed = |status| Error::failed(&format!("connect to {}", arguments.connect), status);
    let watched = client.clone();
    let connection = Connection::open(library.registration(), move |connection, event| {
        watched.on_connection_event(&connection, event);
        Ok(())
    })
    .map_err(failed)?;
    let address = Addr::from(arguments.connect);
    // SAFETY: the parameter is an address, and the connection is open. Without it msquic would look the name up.
    unsafe {
        let raw_address = (&raw const address).cast::<c_void>();
        let length = size_of::<Addr>() as u32;
        Api::set_param(connection.as_raw(), QUIC_PARAM_CONN_REMOTE_ADDRESS, length, raw_address)
    }
    .map_err(failed)?;
    connection.start(&configuration, &arguments.server_name, arguments.connect.port()).map_err(failed)?;

    let outcome = library.run(stop, || client.fetch.borrow().finished());
    client.closing.set(true);
    connection.shutdown(ConnectionShutdownFlags::NONE, 0);
    for _ in 0..CLOSING_TURNS {
        if client.closed.get() {
            break;
        }
        library.turn(1)?;
    }
    client.streams.take();
    drop(connection);
    drop(configuration);
    outcome
}

struct Client {
    fetch: RefCell<Fetch>,
    /// Open until the end, with the requests that msquic sends from where they lie.
    streams: RefCell<Vec<(Stream, Box<Line>)>>,
    /// What happens now is of our own closing.
    closing: Cell<bool>,
    /// msquic has told the last event of the connection.
    closed: Cell<bool>,
}

/// A request line and msquic's view of it.
struct Line {
    view: [BufferRef; 1],
    _text: Vec<u8>,
}

impl Line {
    fn new(text: Vec<u8>) -> Box<Self> {
        Box::new(Self { view: [BufferRef::from(text.as_slice())], _text: text })
    }
}

impl Client {
    fn new(arguments: &ClientArguments) -> Self {
        Self {
            fetch: RefCell::new(Fetch::new(arguments)),
            streams: RefCell::default(),
            closing: Cell::new(false),
            closed: Cell::new(false),
        }
    }

    fn update(&self, change: impl FnOnce(&mut Fetch)) {
        if !self.closing.get() {
            change(&mut self.fetch.borrow_mut());
        }
    }

    fn fail(&self, reason: &dyn std::fmt::Display) {
        self.update(|fetch| fetch.fail(reason.to_string()));
    }

    fn on_connection_event(self: &Rc<Self>, connection: &ConnectionRef, event: ConnectionEvent) {
        match event {
            ConnectionEvent::Connected { .. } => {
                contract::connected();
                if let Err(status) = self.open_streams(connection) {
                    self.fail(&format!("stream: {status}"));
                }
            }
            ConnectionEvent::ShutdownInitiatedByTransport { status, .. } => {
                self.fail(&format!("connection ended: {status}"));
            }
            ConnectionEvent::ShutdownInitiatedByPeer { error_code } => {
                self.fail(&format!("the server closed the connection with error {error_code}"));
            }
            ConnectionEvent::ShutdownComplete { .. } => self.closed.set(true),
            _ => {}
        }
    }

    /// Open a stream for each request; msquic holds back what the server's limit on streams does not let.
    fn open_streams(self: &Rc<Self>, connection: &ConnectionRef) -> std::result::Result<(), Status> {
        loop {
            let request = self.fetch.borrow_mut().next_request();
            let Some(request) = request else { return Ok(()) };
            let client = self.clone();
            let stream = Stream::open(connection, StreamOpenFlags::NONE, move |_, event| {
                client.on_stream_event(event);
                Ok(())
            })?;
            let line = Line::new(request.line());
            stream.start(StreamStartFlags::NONE)?;
            // SAFETY: `streams` keeps the line and its view for longer than the stream is open.
            unsafe { stream.send(&line.view, SendFlags::FIN, std::ptr::null())? };
            self.streams.borrow_mut().push((stream, line));
        }
    }

    fn on_stream_event(&self, event: StreamEvent) {
        match event {
            StreamEvent::Receive { total_buffer_length, .. } => {
                let now = Instant::now();
                self.update(|fetch| {
                    fetch.received(*total_buffer_length);
                    fetch.tell_progress(now);
                });
            }
            StreamEvent::PeerSendShutdown => self.update(Fetch::stream_ended),
            StreamEvent::PeerSendAborted { error_code } => {
                self.fail(&format!("the server ended a stream with error {error_code}"));
            }
            _ => {}
        }
    }
}
