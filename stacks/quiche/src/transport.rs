//! quiche's configuration: its defaults, but for what the endpoint contract asks.

use std::path::Path;

use cambrian_endpoint::cli::{ClientArguments, ServerArguments};
use cambrian_endpoint::{Error, Result};
use quiche::Config;

use crate::settings::Settings;

/// Flow-control credit for the connection and for each stream: more than any trial can carry. quiche opens a window
/// that has run out once by small steps, so it must never run out.
const RECEIVE_CREDIT_BYTES: u64 = 1 << 42;

const IDLE_TIMEOUT_MS: u64 = 30 * 60 * 1000;
const MAX_BIDIRECTIONAL_STREAMS: u64 = 1024;
const MAX_UNIDIRECTIONAL_STREAMS: u64 = 16;

/// A server's configuration.
pub fn server(arguments: &ServerArguments, settings: &Settings) -> Result<Config> {
    let mut config = common(&arguments.alpn, settings)?;
    load(&arguments.certificate, "--cert", |file| config.load_cert_chain_from_pem_file(file))?;
    load(&arguments.key, "--key", |file| config.load_priv_key_from_pem_file(file))?;
    config
        .set_cc_algorithm_name(&arguments.cca)
        .map_err(|error| Error::failed(&format!("CCA {}", arguments.cca), error))?;
    config.enable_pacing(settings.pacing.unwrap_or(true));
    Ok(config)
}

/// A client's configuration. It trusts any certificate, and its acknowledgements are not paced.
pub fn client(arguments: &ClientArguments, settings: &Settings) -> Result<Config> {
    let mut config = common(&arguments.alpn, settings)?;
    config.verify_peer(false);
    config.enable_pacing(settings.pacing.unwrap_or(false));
    Ok(config)
}

fn common(alpn: &str, settings: &Settings) -> Result<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION).map_err(|error| Error::failed("quiche", error))?;
    config.set_application_protos(&[alpn.as_bytes()]).map_err(|error| Error::failed("ALPN", error))?;
    config.set_max_idle_timeout(IDLE_TIMEOUT_MS);
    config.set_initial_max_data(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_stream_data_bidi_local(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_stream_data_bidi_remote(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_stream_data_uni(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_streams_bidi(MAX_BIDIRECTIONAL_STREAMS);
    config.set_initial_max_streams_uni(MAX_UNIDIRECTIONAL_STREAMS);
    if let Some(packets) = settings.initial_window_packets {
        config.set_initial_congestion_window_packets(packets);
    }
    if let Some(bytes) = settings.max_udp_payload_bytes {
        config.set_max_send_udp_payload_size(bytes);
    }
    if let Some(on) = settings.path_mtu_discovery {
        config.discover_pmtu(on);
    }
    if let Some(on) = settings.hystart {
        config.enable_hystart(on);
    }
    Ok(config)
}

fn load(path: &Path, option: &str, load: impl FnOnce(&str) -> quiche::Result<()>) -> Result<()> {
    let what = format!("{option} {}", path.display());
    let file = path.to_str().ok_or_else(|| Error::failed(&what, "not UTF-8"))?;
    load(file).map_err(|error| Error::failed(&what, error))
}
