//! The server role: the sender, whose congestion controller is under test.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use cambrian_endpoint::cli::ServerArguments;
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::transport_log::{lock, SharedLog, TransportLog};
use cambrian_endpoint::{contract, Result};
use quiche::{Config, Connection, ConnectionId, Header, RecvInfo};

use crate::driver::{connection_id, Driver, Host, CONNECTION_ID_BYTES};
use crate::link::{Link, Session};
use crate::pages::Pages;
use crate::report::{self, Observer};
use crate::settings::Settings;
use crate::transfers::{Tally, Transfers};
use crate::{controller, transport};

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
    let mut server = Server {
        config,
        cca: arguments.cca.clone(),
        alpn: arguments.alpn.clone(),
        www: arguments.www.clone(),
        ahead: settings.ahead.unwrap_or(true),
        log,
        links: Vec::new(),
        routes: HashMap::new(),
        bytes: 0,
        complete: true,
    };
    let outcome = driver.run(&mut server);

    if let Some(log) = &server.log {
        lock(log).flush();
    }
    let drops = driver.receive_buffer_drops();
    for link in std::mem::take(&mut server.links).into_iter().flatten() {
        server.account(link, drops);
    }
    let complete = server.complete && server.bytes > 0;
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(server.bytes, complete, error.as_deref());
    outcome
}

/// What answers on a connection, by its application protocol.
enum Answers {
    Hq(Transfers),
    H3(Box<Pages>),
}

impl Answers {
    fn tally(&self) -> &Tally {
        match self {
            Self::Hq(transfers) => &transfers.tally,
            Self::H3(pages) => &pages.tally,
        }
    }
}

impl Session for Answers {
    fn read(&mut self, connection: &mut Connection) {
        match self {
            Self::Hq(transfers) => transfers.read(connection),
            Self::H3(pages) => pages.read(connection),
        }
    }

    fn write(&mut self, connection: &mut Connection) -> bool {
        match self {
            Self::Hq(transfers) => transfers.write(connection),
            Self::H3(pages) => pages.write(connection),
        }
    }
}

struct Server {
    config: Config,
    cca: String,
    alpn: String,
    www: Option<PathBuf>,
    ahead: bool,
    log: Option<SharedLog>,
    links: Vec<Option<Link<Answers>>>,
    /// Which of `links` a connection ID leads to.
    routes: HashMap<ConnectionId<'static>, usize>,
    /// Body bytes of the connections that have ended.
    bytes: u64,
    /// Whether they got all that they asked for.
    complete: bool,
}

impl Server {
    /// Take a new connection; returns its place in `links`.
    fn accept(&mut self, header: &Header<'_>, info: RecvInfo) -> Option<usize> {
        if header.ty != quiche::Type::Initial || !quiche::version_is_supported(header.version) {
            return None;
        }
        let accepted = connection_id().and_then(|id| {
            let id = ConnectionId::from_vec(id.to_vec());
            let connection = quiche::accept(&id, None, info.to, info.from, &mut self.config)
                .map_err(|error| cambrian_endpoint::Error::failed("accept", error))?;
            Ok((id, connection))
        });
        let (id, connection) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                eprintln!("connection not accepted: {error}");
                return None;
            }
        };
        let answers = match self.alpn.as_str() {
            "h3" => Answers::H3(Box::new(Pages::new(self.www.clone()))),
            _ => Answers::Hq(Transfers::default()),
        };
        let observer = Observer::new(&self.cca, self.log.clone());
        let place = self.links.len();
        self.links.push(Some(Link::new(connection, answers, Some(observer), self.ahead)));
        // The client uses the ID that it made up itself until it knows the server's.
        self.routes.insert(id, place);
        self.routes.insert(header.dcid.clone().into_owned(), place);
        Some(place)
    }

    /// Take down what a connection has done that is over.
    fn account(&mut self, mut link: Link<Answers>, receive_buffer_drops: Option<u32>) {
        self.bytes += link.session.tally().bytes;
        self.complete &= link.session.tally().complete(&mut link.connection);
        report::stats(&link.connection, receive_buffer_drops);
    }
}

impl Host for Server {
    type Session = Answers;

    fn route(&mut self, payload: &mut [u8], info: RecvInfo) -> Option<&mut Link<Answers>> {
        let header = Header::from_slice(payload, CONNECTION_ID_BYTES).ok()?;
        let place = match self.routes.get(&header.dcid) {
            Some(&place) => place,
            None => self.accept(&header, info)?,
        };
        self.links.get_mut(place)?.as_mut()
    }

    fn links(&mut self) -> impl Iterator<Item = &mut Link<Answers>> {
        self.links.iter_mut().flatten()
    }

    fn on_wake(&mut self, _now: Instant) -> bool {
        for place in 0..self.links.len() {
            if self.links[place].as_ref().is_some_and(|link| link.connection.is_closed()) {
                if let Some(link) = self.links[place].take() {
                    self.account(link, None);
                }
                self.routes.retain(|_, &mut of| of != place);
            }
        }
        false
    }
}
