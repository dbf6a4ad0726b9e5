//! The server role: the sender, whose congestion controller is under test.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes;
use cambrian_endpoint::cli::ServerArguments;
use cambrian_endpoint::clock::Anchor;
use cambrian_endpoint::transport_log::{lock, SharedLog, TransportLog};
use cambrian_endpoint::{contract, hq, Result};
use futures::future::{select, Either};
use s2n_quic::connection::Connection;
use s2n_quic::provider::congestion_controller::Endpoint;
use s2n_quic::stream::{self, BidirectionalStream};
use s2n_quic::Server;

use crate::cca::{self, MadeController, ReadBack};
use crate::io::{limits, Provider};
use crate::observer::{AllCounters, Observer};
use crate::runtime::{self, failed, Runtime};
use crate::settings::Settings;
use crate::tls;

/// Application error code for a request that is not `GET /N`.
const BAD_REQUEST: u32 = 1;

/// Serve until SIGTERM.
pub fn run(arguments: &ServerArguments) -> Result<()> {
    let settings = Settings::parse(&arguments.settings, Some(&arguments.cca))?;
    // The clock is read whether or not there is a log: a read takes virtual time, and a log may not shift a trial.
    let anchor = Anchor::now();
    let log =
        arguments.transport_log.as_deref().map(|path| TransportLog::create(path, anchor)).transpose()?;
    let counters = AllCounters::default();
    let tally = Rc::new(Tally::default());
    let observer = Observer::new(&arguments.cca, log.clone(), counters.clone());
    let (served, counted) = (arguments.clone(), tally.clone());
    let outcome = runtime::block_on(arguments.listen, |runtime| async move {
        if served.cca == cca::BBR {
            serve(&runtime, &served, &settings, cca::bbr(&settings), observer, &counted).await
        } else {
            serve(&runtime, &served, &settings, cca::cubic(&settings), observer, &counted).await
        }
    });
    finish(log, &counters, &tally, outcome)
}

/// The last lines, once the endpoint is gone. It counts a connection when its client has closed it.
fn finish(log: Option<SharedLog>, counters: &AllCounters, tally: &Tally, outcome: Result<()>) -> Result<()> {
    if let Some(log) = log {
        lock(&log).flush();
    }
    let counters = counters.get();
    for connection in counters.iter() {
        contract::stats(connection.stats());
    }
    let sent_bytes = counters.iter().map(|connection| connection.sent_bytes()).sum();
    let error = outcome.as_ref().err().map(ToString::to_string);
    contract::done(sent_bytes, tally.complete(), error.as_deref());
    outcome
}

/// Requests and the responses that a client has acknowledged to the last byte.
#[derive(Debug, Default)]
struct Tally {
    requests: Cell<usize>,
    finished: Cell<usize>,
}

impl Tally {
    fn complete(&self) -> bool {
        self.requests.get() > 0 && self.requests == self.finished
    }
}

async fn serve(
    runtime: &Runtime,
    arguments: &ServerArguments,
    settings: &Settings,
    controllers: impl Endpoint,
    observer: Observer,
    tally: &Rc<Tally>,
) -> Result<()> {
    let made = MadeController::default();
    let tls = tls::server(&arguments.certificate, &arguments.key, &arguments.alpn)?;
    let (io, limits) = (Provider::new(runtime.clone(), settings)?, limits()?);
    let mut server = Server::builder()
        .with_tls(tls)
        .and_then(|builder| builder.with_io(io))
        .and_then(|builder| builder.with_limits(limits))
        .and_then(|builder| builder.with_congestion_controller(ReadBack::new(controllers, made.clone())))
        .and_then(|builder| builder.with_event(observer))
        .map_err(failed)?
        .start()
        .map_err(failed)?;
    contract::ready(server.local_addr().map_err(failed)?.port());

    let mut handles = Vec::new();
    while let Either::Left((Some(connection), _)) =
        select(pin!(server.accept()), pin!(runtime.stopped())).await
    {
        let how = "type of the controller that the stack made for the connection";
        contract::cca(&arguments.cca, made.get().copied().and_then(cca::of_type), how);
        contract::connected();
        handles.push(connection.handle());
        runtime.spawn(answer_streams(runtime.clone(), connection, tally.clone()));
    }
    for handle in handles {
        handle.close(0_u32.into());
    }
    Ok(())
}

async fn answer_streams(runtime: Runtime, mut connection: Connection, tally: Rc<Tally>) {
    while let Ok(Some(stream)) = connection.accept_bidirectional_stream().await {
        tally.requests.update(|requests| requests + 1);
        let tally = tally.clone();
        runtime.spawn(async move {
            match answer(stream).await {
                Ok(true) => tally.finished.update(|finished| finished + 1),
                Ok(false) => {}
                Err(error) => eprintln!("{}: stream: {error}", crate::STACK.program),
            }
        });
    }
}

/// Read a request and send its body. Returns whether all of it has been acknowledged.
async fn answer(mut stream: BidirectionalStream) -> stream::Result<bool> {
    let mut request = hq::RequestLine::default();
    let bytes = loop {
        let chunk = stream.receive().await?;
        request.push(chunk.as_deref().unwrap_or_default());
        if let Some(bytes) = request.answer(chunk.is_none()) {
            break bytes;
        }
    };
    let Some(mut left) = bytes else {
        eprintln!("{}: stream {}: not a request of the form GET /N", crate::STACK.program, stream.id());
        stream.reset(BAD_REQUEST.into())?;
        return Ok(false);
    };
    while left > 0 {
        let length = usize::try_from(left).map_or(hq::BLOCK.len(), |left| left.min(hq::BLOCK.len()));
        stream.send(Bytes::from_static(&hq::BLOCK[..length])).await?;
        left -= length as u64;
    }
    stream.close().await?;
    Ok(true)
}
