//! The client role: asks for bytes and counts them.

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cambrian_endpoint::cli::ClientArguments;
use cambrian_endpoint::fetch::Fetch;
use cambrian_endpoint::{contract, Error, Result};
use futures::future::{select, Either};
use s2n_quic::client::Connect;
use s2n_quic::connection::Handle;
use s2n_quic::stream::{self, BidirectionalStream};
use s2n_quic::Client;

use crate::io::{limits, Provider};
use crate::runtime::{self, failed, Runtime};
use crate::settings::Settings;
use crate::tls;

/// Chunks taken from a stream at a time.
const RECEIVE_CHUNKS: usize = 64;

/// Time for a CONNECTION_CLOSE to leave.
const CLOSING: Duration = Duration::from_millis(2);

/// Fetch until everything has come or a signal asks to stop.
pub fn run(arguments: &ClientArguments) -> Result<()> {
    let settings = Settings::parse(&arguments.settings, None)?;
    let local = first_address(arguments.connect)
        .map_err(|error| Error::failed(&format!("a way to {}", arguments.connect), error))?;
    let shared = Rc::new(Shared::new(Fetch::new(arguments)));
    let outcome = runtime::block_on(local, |runtime| {
        let (arguments, shared) = (arguments.clone(), shared.clone());
        async move { fetch(&runtime, &arguments, &settings, &shared).await }
    });
    let fetch = shared.fetch.replace(Fetch::new(arguments));
    fetch.done(outcome)
}

/// The address from which the first packet to `server` leaves, with any port. s2n-quic's own provider keeps to it for as
/// long as the connection lasts.
fn first_address(server: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect(server)?;
    Ok(SocketAddr::new(probe.local_addr()?.ip(), 0))
}

/// What the streams' tasks have in common.
struct Shared {
    fetch: RefCell<Fetch>,
    /// Waits for the end of the transfer.
    waiting: RefCell<Option<Waker>>,
    /// What happens now is of our own closing.
    closing: Cell<bool>,
}

impl Shared {
    fn new(fetch: Fetch) -> Self {
        Self { fetch: RefCell::new(fetch), waiting: RefCell::default(), closing: Cell::new(false) }
    }

    /// Note what has come of the transfer, and wake whoever waits if it is over.
    fn update(&self, change: impl FnOnce(&mut Fetch)) {
        if self.closing.get() {
            return;
        }
        let mut fetch = self.fetch.borrow_mut();
        change(&mut fetch);
        if fetch.finished() {
            if let Some(waker) = self.waiting.take() {
                waker.wake();
            }
        }
    }

    /// Until the transfer is over.
    async fn finished(&self) {
        poll_fn(|context| {
            if self.fetch.borrow().finished() {
                return Poll::Ready(());
            }
            self.waiting.replace(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

async fn fetch(
    runtime: &Runtime,
    arguments: &ClientArguments,
    settings: &Settings,
    shared: &Rc<Shared>,
) -> Result<()> {
    let mut client = client(runtime, arguments, settings)?;
    let attempt = client.connect(Connect::new(arguments.connect).with_server_name(&*arguments.server_name));
    let Some(connection) = until_stopped(runtime, attempt).await else { return Ok(()) };
    let connection =
        connection.map_err(|error| Error::failed(&format!("connect to {}", arguments.connect), error))?;
    contract::connected();
    let handle = connection.handle();
    runtime.spawn(open_streams(runtime.clone(), handle.clone(), shared.clone()));
    until_stopped(runtime, shared.finished()).await;
    shared.closing.set(true);
    handle.close(0_u32.into());
    // The connection lingers for a while in case its CONNECTION_CLOSE is lost, which nobody would notice.
    let mut timer = runtime.timer();
    let _ = select(pin!(client.wait_idle()), pin!(timer.sleep(CLOSING))).await;
    Ok(())
}

/// What comes of `future`; nothing if a signal asks to stop before.
async fn until_stopped<T>(runtime: &Runtime, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(runtime.stopped())).await {
        Either::Left((outcome, _)) => Some(outcome),
        Either::Right(_) => None,
    }
}

fn client(runtime: &Runtime, arguments: &ClientArguments, settings: &Settings) -> Result<Client> {
    let tls = tls::client(&arguments.alpn)?;
    let (io, limits) = (Provider::new(runtime.clone(), settings)?, limits()?);
    Client::builder()
        .with_tls(tls)
        .and_then(|builder| builder.with_io(io))
        .and_then(|builder| builder.with_limits(limits))
        .map_err(failed)?
        .start()
        .map_err(failed)
}

/// Open a stream for each request, as the server's limit on streams lets.
async fn open_streams(runtime: Runtime, mut handle: Handle, shared: Rc<Shared>) {
    while shared.fetch.borrow().wants_stream() {
        let stream = match handle.open_bidirectional_stream().await {
            Ok(stream) => stream,
            Err(error) => return shared.update(|fetch| fetch.fail(error.to_string())),
        };
        let Some(request) = shared.fetch.borrow_mut().next_request() else { return };
        runtime.spawn(fetch_one(stream, request.line().into(), shared.clone()));
    }
}

/// Send one request and count what comes back.
async fn fetch_one(mut stream: BidirectionalStream, request: Bytes, shared: Rc<Shared>) {
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
