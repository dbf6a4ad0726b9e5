//! tquic's configuration: its defaults, but for what the endpoint contract asks.

use std::path::Path;

use cambrian_endpoint::cli::{ClientArguments, ServerArguments};
use cambrian_endpoint::{Error, Result};
use tquic::{Config, TlsConfig};

use crate::settings::Settings;

/// Flow-control credit for the connection and for each stream: more than any trial can carry.
const RECEIVE_CREDIT_BYTES: u64 = 1 << 42;

const IDLE_TIMEOUT_MS: u64 = 30 * 60 * 1000;
const MAX_STREAMS: u64 = 1024;

/// A server's configuration.
pub fn server(arguments: &ServerArguments, settings: &Settings) -> Result<Config> {
    let mut config = common(settings)?;
    config.set_congestion_control_algorithm(
        arguments.cca.parse().map_err(|error| Error::failed(&format!("CCA {}", arguments.cca), error))?,
    );
    let certificate = text("--cert", &arguments.certificate)?;
    let key = text("--key", &arguments.key)?;
    let tls = TlsConfig::new_server_config(certificate, key, protocols(&arguments.alpn), true)
        .map_err(|error| Error::failed(&format!("--cert {certificate} --key {key}"), error))?;
    config.set_tls_config(tls);
    Ok(config)
}

/// A client's configuration; it trusts any certificate, as tquic does by default.
pub fn client(arguments: &ClientArguments, settings: &Settings) -> Result<Config> {
    let mut config = common(settings)?;
    let mut tls = TlsConfig::new_client_config(protocols(&arguments.alpn), false)
        .map_err(|error| Error::failed("TLS", error))?;
    tls.set_verify(false);
    config.set_tls_config(tls);
    Ok(config)
}

fn common(settings: &Settings) -> Result<Config> {
    let mut config = Config::new().map_err(|error| Error::failed("tquic", error))?;
    config.set_max_idle_timeout(IDLE_TIMEOUT_MS);
    // The windows' largest sizes come first: they cap what follows.
    config.set_max_connection_window(RECEIVE_CREDIT_BYTES);
    config.set_max_stream_window(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_data(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_stream_data_bidi_local(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_stream_data_bidi_remote(RECEIVE_CREDIT_BYTES);
    config.set_initial_max_streams_bidi(MAX_STREAMS);
    if let Some(packets) = settings.initial_window_packets {
        config.set_initial_congestion_window(packets);
    }
    if let Some(bytes) = settings.max_udp_payload_bytes {
        config.set_send_udp_payload_size(bytes);
    }
    if let Some(on) = settings.path_mtu_discovery {
        config.enable_dplpmtud(on);
    }
    if let Some(on) = settings.pacing {
        config.enable_pacing(on);
    }
    Ok(config)
}

fn protocols(alpn: &str) -> Vec<Vec<u8>> {
    vec![alpn.as_bytes().to_vec()]
}

fn text<'a>(option: &str, path: &'a Path) -> Result<&'a str> {
    path.to_str().ok_or_else(|| Error::failed(&format!("{option} {}", path.display()), "not UTF-8"))
}
