//! TLS 1.3 by rustls on ring. The client trusts any certificate: the laboratory's is self-signed and public.

use std::path::Path;
use std::sync::Arc;

use cambrian_endpoint::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{ring, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, KeyLogFile, SignatureScheme};

use crate::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};

/// A server's crypto from PEM files, with quinn's default of accepting early data.
pub fn server(certificate: &Path, key: &Path, alpn: &str) -> Result<Arc<QuicServerConfig>> {
    let at = |option: &str, path: &Path| format!("{option} {}", path.display());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| Error::failed(&at("--cert", certificate), error))?;
    let key_der =
        PrivateKeyDer::from_pem_file(key).map_err(|error| Error::failed(&at("--key", key), error))?;
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key_der))
        .map_err(|error| Error::failed("TLS", error))?;
    tls.alpn_protocols = vec![alpn.into()];
    tls.max_early_data_size = u32::MAX;
    let quic = QuicServerConfig::try_from(tls).map_err(|error| Error::failed("TLS", error))?;
    Ok(Arc::new(quic))
}

/// A client's crypto; its secrets go to the file that `SSLKEYLOGFILE` names, if there is one.
pub fn client(alpn: &str) -> Result<Arc<QuicClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| Error::failed("TLS", error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustAnything(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![alpn.into()];
    tls.key_log = Arc::new(KeyLogFile::new());
    let quic = QuicClientConfig::try_from(tls).map_err(|error| Error::failed("TLS", error))?;
    Ok(Arc::new(quic))
}

#[derive(Debug)]
struct TrustAnything(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnything {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
