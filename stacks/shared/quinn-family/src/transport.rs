//! The transport's parameters: its defaults, but for what the endpoint contract asks.

use crate::proto::{TransportConfig, VarInt};

/// Flow-control credit on each stream, so that the receiver is never the limit; the connection's credit is
/// unlimited, which is the default.
const STREAM_RECEIVE_WINDOW_BYTES: u32 = 256 << 20;

/// Unacknowledged body bytes that a connection may hold. They are all views of one static block.
const SEND_WINDOW_BYTES: u64 = 256 << 20;

const IDLE_TIMEOUT_MS: u32 = 30 * 60 * 1000;
/// Request streams at a time: enough for every object of a page at once.
const MAX_STREAMS: u32 = 1024;

/// The transport's defaults with windows that are never the limit, no segmentation offload and a long idle timeout.
pub fn config() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .enable_segmentation_offload(false)
        .stream_receive_window(VarInt::from_u32(STREAM_RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW_BYTES)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .max_concurrent_bidi_streams(VarInt::from_u32(MAX_STREAMS));
    config
}
