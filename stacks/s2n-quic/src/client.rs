//! The client role: asks for bytes and counts them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::Fetch;
use cambrian_endpoint::{contract, Error, Result};
use s2n_quic::client::Connect;
use s2n_quic::connection::Handle;
use s2n_quic::stream::{self, BidirectionalStream};
use s2n_quic::Client;
use tokio::sync::Notify;

use crate::runtime::{self, StopSignal};
use crate::settings::Settings;
use crate::tls;

/// Chunks taken from a stream at a time.
const RECEIVE_CHUNKS: usize = 64;

/// Time for a CONNECTION_CLOSE to leave.
const CLOSING: Duration = Duration::from_millis(2);

/// Fetch until everything has come or a signal asks to stop.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let settings = Settings::parse(&arguments.settings, None)?;
    let shared = Arc::new(Shared::new(Fetch::new(arguments)));
    let outcome = runtime::block_on(fetch(arguments, &settings, &shared));
    let fetch = std::mem::replace(&mut *shared.fetch(), Fetch::new(arguments));
    fetch.done(outcome)
}

/// What the streams' tasks have in common.
struct Shared {
    fetch: Mutex<Fetch>,
    finished: Notify,
    /// What happens now is of our own closing.
    closing: AtomicBool,
}

impl Shared {
    fn new(fetch: Fetch) -> Self {
        Self { fetch: Mutex::new(fetch), finished: Notify::new(), closing: AtomicBool::new(false) }
    }

    fn fetch(&self) -> MutexGuard<'_, Fetch> {
        self.fetch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Note what has come of the transfer, and wake whoever waits if it is over.
    fn update(&self, change: impl FnOnce(&mut Fetch)) {
        if self.closing.load(Ordering::Relaxed) {
            return;
        }
        let mut fetch = self.fetch();
        change(&mut fetch);
        if fetch.finished() {
            self.finished.notify_one();
        }
    }
}

async fn fetch(arguments: &ClientArguments, settings: &Settings, shared: &Arc<Shared>) -> Result<()> {
    let mut stop = StopSignal::new()?;
    let mut client = client(arguments, settings)?;
    let attempt = client.connect(Connect::new(arguments.connect).with_server_name(&*arguments.server_name));
    let connection = tokio::select! {
        connection = attempt => {
            connection.map_err(|error| Error::failed(&format!("connect to {}", arguments.connect), error))?
        }
        () = stop.received() => return Ok(()),
    };
    contract::connected();
    let handle = connection.handle();
    tokio::spawn(open_streams(handle.clone(), shared.clone()));
    tokio::select! {
        () = shared.finished.notified() => {}
        () = stop.received() => {}
    }
    shared.closing.store(true, Ordering::Relaxed);
    handle.close(0_u32.into());
    // The connection lingers for a while in case its CONNECTION_CLOSE is lost, which nobody would notice.
    let _ = tokio::time::timeout(CLOSING, client.wait_idle()).await;
    Ok(())
}

fn client(arguments: &ClientArguments, settings: &Settings) -> Result<Client> {
    let any = match arguments.connect {
        SocketAddr::V4(_) => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0),
        SocketAddr::V6(_) => SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0),
    };
    let (tls, io) = (tls::client(&arguments.alpn)?, runtime::io(any, settings)?);
    let limits = runtime::limits()?;
    let failed = |error: &dyn std::fmt::Display| Error::failed("s2n-quic", error);
    Client::builder()
        .with_tls(tls)
        .and_then(|builder| builder.with_io(io))
        .and_then(|builder| builder.with_limits(limits))
        .map_err(|error| failed(&error))?
        .start()
        .map_err(|error| failed(&error))
}

/// Open a stream for each request, as the server's limit on streams lets.
async fn open_streams(mut handle: Handle, shared: Arc<Shared>) {
    while shared.fetch().wants_stream() {
        let stream = match handle.open_bidirectional_stream().await {
            Ok(stream) => stream,
            Err(error) => return shared.update(|fetch| fetch.fail(error.to_string())),
        };
        let Some(request) = shared.fetch().next_request() else { return };
        tokio::spawn(fetch_one(stream, request.line().into(), shared.clone()));
    }
}

/// Send one request and count what comes back.
async fn fetch_one(mut stream: BidirectionalStream, request: Bytes, shared: Arc<Shared>) {
    if let Err(error) = transfer(&mut stream, request, &shared).await {
        shared.update(|fetch| fetch.fail(error.to_string()));
    }
}

async fn transfer(stream: &mut BidirectionalStream, request: Bytes, shared: &Shared) -> stream::Result<()> {
    stream.send(request).await?;
    stream.finish()?;
    let mut chunks = [const { Bytes::new() }; RECEIVE_CHUNKS];
    loop {
        let (count, more) = stream.receive_vectored(&mut chunks).await?;
        let bytes = chunks[..count].iter_mut().map(|chunk| std::mem::take(chunk).len() as u64).sum();
        let now = Instant::now();
        shared.update(|fetch| {
            fetch.received(bytes);
            fetch.tell_progress(now);
            if !more {
                fetch.stream_ended();
            }
        });
        if !more {
            return Ok(());
        }
    }
}
