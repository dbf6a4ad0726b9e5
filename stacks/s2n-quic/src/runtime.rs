//! What both roles set: a runtime of one thread, plain datagrams, and limits that are never the bottleneck.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use cambrian_endpoint::{Error, Result};
use s2n_quic::provider::io::tokio::Provider as Io;
use s2n_quic::provider::limits::Limits;
use tokio::signal::unix::{signal, Signal, SignalKind};

use crate::settings::Settings;

/// The kernel's buffers of the socket, so that a burst is never lost at the endpoint.
const KERNEL_BUFFER_BYTES: usize = 32 << 20;

/// s2n-quic's own queue between socket and endpoint. Its default of 8 MiB is gone through entry by entry, which
/// touches every page of it; what does not fit waits in the kernel's buffer.
const RECEIVE_QUEUE_BYTES: usize = 1 << 20;

/// Flow-control credit of a connection and of each of its streams.
const RECEIVE_WINDOW_BYTES: u64 = 256 << 20;

/// Unacknowledged body bytes that a stream may hold. They are all views of one static block.
const SEND_BUFFER_BYTES: u32 = 256 << 20;

const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const MAX_STREAMS: u64 = 1000;

/// An IPv4 packet is this much larger than its UDP payload.
const IP_UDP_HEADER_BYTES: u16 = 28;

/// Run `future` to its end on this thread.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::failed("tokio", error))?
        .block_on(future)
}

/// SIGTERM and SIGINT, to wait for.
pub struct StopSignal {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignal {
    /// Catch both from now on.
    pub fn new() -> Result<Self> {
        let catch = |kind| signal(kind).map_err(|error| Error::failed("signal handler", error));
        Ok(Self { terminate: catch(SignalKind::terminate())?, interrupt: catch(SignalKind::interrupt())? })
    }

    /// Until one of them comes.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// A socket at `address` without segmentation or receive offload.
pub fn io(address: SocketAddr, settings: &Settings) -> Result<Io> {
    let build = || {
        let mut builder = Io::builder()
            .with_receive_address(address)?
            .with_gso_disabled()?
            .with_gro_disabled()?
            .with_recv_buffer_size(KERNEL_BUFFER_BYTES)?
            .with_send_buffer_size(KERNEL_BUFFER_BYTES)?
            .with_internal_recv_buffer_size(RECEIVE_QUEUE_BYTES)?;
        if let Some(bytes) = settings.initial_udp_payload_bytes {
            builder = builder.with_initial_mtu(bytes + IP_UDP_HEADER_BYTES)?;
        }
        builder.build()
    };
    build().map_err(|error: std::io::Error| Error::failed(&format!("UDP {address}"), error))
}

/// Windows that are never the limit, and patience.
pub fn limits() -> Result<Limits> {
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
