//! quinn's transport parameters: its defaults, but for what the endpoint contract asks.

use std::sync::Arc;

use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{AckFrequencyConfig, TransportConfig, VarInt};

use crate::settings::Settings;

/// Flow-control credit on each stream, so that the receiver is never the limit; the connection's credit is
/// unlimited, which is quinn's default.
const STREAM_RECEIVE_WINDOW_BYTES: u32 = 256 << 20;

/// Unacknowledged body bytes that a connection may hold. They are all views of one static block.
pub const SEND_WINDOW_BYTES: u64 = 256 << 20;

const IDLE_TIMEOUT_MS: u32 = 30 * 60 * 1000;
const MAX_STREAMS: u32 = 1000;

/// The transport configuration for `settings` and a controller factory (`None`: quinn's default, cubic).
pub fn config(
    settings: &Settings,
    factory: Option<Arc<dyn ControllerFactory + Send + Sync>>,
) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .enable_segmentation_offload(false)
        .stream_receive_window(VarInt::from_u32(STREAM_RECEIVE_WINDOW_BYTES))
        .send_window(SEND_WINDOW_BYTES)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .max_concurrent_bidi_streams(VarInt::from_u32(MAX_STREAMS));
    if let Some(factory) = factory {
        config.congestion_controller_factory(factory);
    }
    if let Some(packets) = settings.packet_threshold {
        config.packet_threshold(packets);
    }
    if let Some(rtts) = settings.time_threshold {
        config.time_threshold(rtts);
    }
    if let Some(bytes) = settings.initial_mtu_bytes {
        config.initial_mtu(bytes);
    }
    if let Some(packets) = settings.ack_eliciting_threshold {
        let mut frequency = AckFrequencyConfig::default();
        frequency.ack_eliciting_threshold(VarInt::from_u32(packets));
        config.ack_frequency_config(Some(frequency));
    }
    Arc::new(config)
}
