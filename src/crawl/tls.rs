//! TLS as an instrument speaks it: the certificate's verdict is recorded, not enforced, and the phase is known.
//!
//! Both hang on the same fact: with the client's pool off, a connection is opened inside the task of its own request,
//! so a task-local [`Record`] reaches the callbacks that rustls makes during the handshake.

use std::cell::RefCell;
use std::sync::Arc;

use anyhow::Context;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue, WebPkiServerVerifier,
};
use rustls::crypto::hash::HashAlgorithm;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, NamedGroup, RootCertStore, SignatureScheme,
    SupportedCipherSuite,
};

use crate::observation::TlsVerdict;

/// What the handshake of one request showed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// The TCP connection is open and a client hello was made.
    pub(crate) has_started: bool,
    /// What the certificate was worth, once it was seen.
    pub(crate) verdict: Option<TlsVerdict>,
}

tokio::task_local! {
    /// The record of the request that the current task is making.
    pub(crate) static RECORD: RefCell<Record>;
}

/// The one TLS configuration of a run.
///
/// The key exchanges leave post-quantum groups out: they cost 14 % more CPU and a larger first flight for one file.
/// Sessions are never resumed, since no server is asked twice for the same connection. Suites with SHA-256 go first, as in
/// browsers: processors have instructions for it, and none for the SHA-384 that rustls prefers.
pub(crate) fn client_config(roots: RootCertStore) -> anyhow::Result<ClientConfig> {
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups =
        vec![aws_lc_rs::kx_group::X25519, aws_lc_rs::kx_group::SECP256R1, aws_lc_rs::kx_group::SECP384R1];
    provider.cipher_suites.sort_by_key(|suite| match suite {
        SupportedCipherSuite::Tls13(suite) => (false, suite.common.hash_provider.algorithm() != HashAlgorithm::SHA256),
        SupportedCipherSuite::Tls12(suite) => (true, suite.common.hash_provider.algorithm() != HashAlgorithm::SHA256),
    });
    let provider = Arc::new(provider);
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .build()
        .context("setting up certificate verification")?;
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .context("setting up TLS")?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Recording { inner, provider }))
        .with_no_client_auth();
    config.resumption = Resumption::store(Arc::new(Watch));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The roots that browsers trust.
pub fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// Verifies as a careful client would and records the verdict; the file is read whatever it is.
///
/// Signatures of the handshake itself stay checked: a server that cannot prove its own key does not speak TLS.
#[derive(Debug)]
struct Recording {
    inner: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Recording {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let verdict = match verified {
            Ok(_) => TlsVerdict::Verified,
            Err(rustls::Error::InvalidCertificate(error)) => judge(&error),
            Err(_) => TlsVerdict::Invalid,
        };
        record(|record| record.verdict = Some(verdict));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn judge(error: &CertificateError) -> TlsVerdict {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsVerdict::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsVerdict::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsVerdict::NameMismatch,
        CertificateError::UnknownIssuer => TlsVerdict::UnknownIssuer,
        CertificateError::Revoked => TlsVerdict::Revoked,
        _ => TlsVerdict::Invalid,
    }
}

/// A session store that remembers no session, and notes that a handshake has begun.
///
/// rustls asks it while it makes the client hello, which is just after the TCP connection opened. This is what tells a
/// connection that never opened from a handshake that never ended; the client's own time limit spans both.
#[derive(Debug)]
struct Watch;

impl ClientSessionStore for Watch {
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        record(|record| record.has_started = true);
        None
    }

    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _: ServerName<'static>, _: Tls13ClientSessionValue) {}

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        None
    }
}

/// Notes something in the current request's record; outside a request there is nothing to note.
fn record(note: impl FnOnce(&mut Record)) {
    // `Err` means that no request is being made by this task, which only a test of rustls itself could bring about.
    let _ = RECORD.try_with(|record| note(&mut record.borrow_mut()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_host_names_tls_can_be_spoken_to() {
        let can = |name: &str| ServerName::try_from(name.to_owned()).is_ok();
        assert!(can("my_shop.example") && can("xn--bcher-kva.example") && can("a--b.example"));
        assert!(!can("-a.example") && !can("a-.example"), "a TLS name has no hyphen at an end of a label");
    }
}
