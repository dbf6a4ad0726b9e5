//! msquic's settings and credentials: its defaults, but for what the endpoint contract asks.

use std::path::Path;

use cambrian_endpoint::{Error, Result};
use msquic::ffi::{HQUIC, QUIC_BUFFER, QUIC_SETTINGS};
use msquic::{
    Api, BufferRef, CertificateFile, Configuration, Credential, CredentialConfig, CredentialFlags,
    Registration, Status,
};

use crate::cca;
use crate::settings::{set_field, set_late_switch, set_switch, Settings};

/// Flow-control credit of a connection and of each of its streams; msquic wants a power of two for streams.
const RECEIVE_WINDOW_BYTES: u32 = 256 << 20;

const IDLE_TIMEOUT_MS: u64 = 30 * 60 * 1000;

/// Without any acknowledgement for so long, msquic gives a connection up; this is the longest that it takes.
const DISCONNECT_TIMEOUT_MS: u32 = 600_000;

const MAX_STREAMS: u16 = 1000;

/// A server's configuration, for connections that `cca` controls.
pub fn server(
    registration: &Registration,
    alpn: &str,
    cca: &str,
    settings: &Settings,
    certificate: &Path,
    key: &Path,
) -> Result<Configuration> {
    let mut form = common(settings);
    set_field!(form, CongestionControlAlgorithm, set_CongestionControlAlgorithm, cca::number(cca));
    // An event at each acknowledgement, for the transport log.
    set_late_switch!(form, set_NetStatsEventEnabled, true);
    let configuration = open(registration, alpn, &form)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let files = CertificateFile::new(text(key), text(certificate));
    let credential = CredentialConfig::new()
        .set_credential_flags(CredentialFlags::NONE)
        .set_credential(Credential::CertificateFile(files));
    configuration.load_credential(&credential).map_err(|status| {
        let files = format!("--cert {} --key {}", certificate.display(), key.display());
        Error::failed(&files, status)
    })?;
    Ok(configuration)
}

/// A client's configuration; it trusts any certificate.
pub fn client(registration: &Registration, alpn: &str, settings: &Settings) -> Result<Configuration> {
    let configuration = open(registration, alpn, &common(settings))?;
    let trust_anything = CredentialFlags::CLIENT | CredentialFlags::NO_CERTIFICATE_VALIDATION;
    let credential = CredentialConfig::new_client().set_credential_flags(trust_anything);
    configuration.load_credential(&credential).map_err(|status| Error::failed("TLS", status))?;
    Ok(configuration)
}

fn common(settings: &Settings) -> QUIC_SETTINGS {
    // SAFETY: a plain C structure, for which zero means that nothing is set.
    let mut form: QUIC_SETTINGS = unsafe { std::mem::zeroed() };
    set_field!(form, HandshakeIdleTimeoutMs, set_HandshakeIdleTimeoutMs, IDLE_TIMEOUT_MS);
    set_field!(form, IdleTimeoutMs, set_IdleTimeoutMs, IDLE_TIMEOUT_MS);
    set_field!(form, DisconnectTimeoutMs, set_DisconnectTimeoutMs, DISCONNECT_TIMEOUT_MS);
    set_field!(form, StreamRecvWindowDefault, set_StreamRecvWindowDefault, RECEIVE_WINDOW_BYTES);
    set_field!(form, ConnFlowControlWindow, set_ConnFlowControlWindow, RECEIVE_WINDOW_BYTES);
    set_field!(form, PeerBidiStreamCount, set_PeerBidiStreamCount, MAX_STREAMS);
    // Otherwise msquic copies what it sends.
    set_switch!(form, set_SendBufferingEnabled, false);
    settings.apply(&mut form);
    form
}

/// `Configuration::open`, with switches that the crate's own `Settings` can only turn on.
fn open(registration: &Registration, alpn: &str, settings: &QUIC_SETTINGS) -> Result<Configuration> {
    let alpn = BufferRef::from(alpn);
    let mut handle: HQUIC = std::ptr::null_mut();
    // SAFETY: every pointer is to something that lives through the call, and the lengths are theirs.
    unsafe {
        let status = Api::get_ffi().ConfigurationOpen.unwrap()(
            registration.as_raw(),
            std::ptr::from_ref(&alpn).cast::<QUIC_BUFFER>(),
            1,
            settings,
            size_of::<QUIC_SETTINGS>() as u32,
            std::ptr::null_mut(),
            &raw mut handle,
        );
        Status::ok_from_raw(status).map_err(|status| Error::failed("msquic's settings", status))?;
        Ok(Configuration::from_raw(handle))
    }
}
