//! TLS 1.3 by rustls on AWS-LC. The client trusts any certificate: the laboratory's is self-signed and public.

use std::path::Path;
use std::sync::Arc;

use cambrian_endpoint::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{aws_lc_rs, CryptoProvider};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use s2n_quic::provider::tls::rustls::{Client, Server};

/// A server's crypto from PEM files.
pub fn server(certificate: &Path, key: &Path, alpn: &str) -> Result<Server> {
    Server::builder()
        .with_certificate(certificate, key)
        .and_then(|builder| builder.with_application_protocols([alpn].iter()))
        .and_then(|builder| builder.build())
        .map_err(|error| {
            let files = format!("--cert {} --key {}", certificate.display(), key.display());
            Error::failed(&files, error)
        })
}

/// A client's crypto, with what s2n-quic's own builder sets but for the verifier.
pub fn client(alpn: &str) -> Result<Client> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| Error::failed("TLS", error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustAnything(provider)))
        .with_no_client_auth();
    config.max_fragment_size = None;
    config.alpn_protocols = vec![alpn.into()];
    Ok(Client::from(config))
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
