//! How the web speaks TLS: three configurations, and what comes instead of a handshake.
//!
//! Touches nothing. Deliberately absent: which certificate is shown (`authority`).

use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::rehearsal::authority::Authority;
use crate::rehearsal::behaviour::{Play, Then, Tls};

/// One configuration for each way to speak.
#[derive(Debug)]
pub(super) struct Handshakes {
    usual: Arc<ServerConfig>,
    old: Arc<ServerConfig>,
    asking: Arc<ServerConfig>,
}

impl Handshakes {
    /// Makes them all, with the certificates of this authority.
    pub(super) fn new(authority: &Arc<Authority>) -> anyhow::Result<Self> {
        Ok(Self {
            usual: config(authority, rustls::ALL_VERSIONS, false)?,
            old: config(authority, &[&rustls::version::TLS12], false)?,
            asking: config(authority, rustls::ALL_VERSIONS, true)?,
        })
    }

    /// How a host that does speak TLS does so.
    pub(super) fn config(&self, tls: Tls) -> Arc<ServerConfig> {
        Arc::clone(match tls {
            Tls::Old => &self.old,
            Tls::AsksForCertificate => &self.asking,
            _ => &self.usual,
        })
    }
}

impl Tls {
    /// The word in the log's column `note`, for what comes instead of a handshake.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Alert(_) => "alert",
            Self::Plain => "plain",
            Self::Noise => "noise",
            Self::Half => "half a handshake",
            Self::Close => "closed",
            Self::Reset => "reset",
            Self::Silence => "silence",
            _ => "",
        }
    }

    /// What comes instead of a handshake, where there is none.
    pub(super) fn instead(self) -> Option<Play> {
        let play = |bytes: &'static [u8], then| Some(Play { bytes: Bytes::from_static(bytes), then });
        match self {
            // A fatal alert as a TLS record (RFC 8446, sections 5.1 and 6).
            Self::Alert(number) => Some(Play { bytes: vec![21, 3, 3, 0, 2, 2, number].into(), then: Then::Close }),
            Self::Plain => play(
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nSpeak HTTP here.\n",
                Then::Close,
            ),
            // A record of type handshake that holds no handshake message (RFC 8446, section 4).
            Self::Noise => play(b"\x16\x03\x03\x00\x08\xff\x00\x00\x04\xde\xad\xbe\xef", Then::Close),
            Self::Half => play(b"\x16\x03\x03\x00\x5a\x02\x00\x00\x56\x03\x03", Then::Close),
            Self::Close => play(b"", Then::Close),
            Self::Reset => play(b"", Then::Reset),
            Self::Silence => play(b"", Then::Hold),
            _ => None,
        }
    }
}

fn config(
    authority: &Arc<Authority>,
    versions: &[&'static SupportedProtocolVersion],
    asks: bool,
) -> anyhow::Result<Arc<ServerConfig>> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .context("choosing versions of TLS")?;
    let builder = if asks {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(authority.pem().as_bytes()).context("reading back the authority")?;
        roots.add(root).context("trusting the authority")?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
        builder.with_client_cert_verifier(verifier.context("asking for certificates")?)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_cert_resolver(Arc::<Authority>::clone(authority));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
