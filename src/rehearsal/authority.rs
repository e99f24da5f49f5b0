//! The web's own certificate authority: made at start, signs a leaf for each name when it is first asked for.
//!
//! One key serves all leaves, so a new name costs one P-256 signature and no key. Touches nothing. Deliberately absent:
//! session tickets and resumption (each connection of a survey is a new one, and so it is measured), client
//! certificates, HTTP/2.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};

use crate::rehearsal::behaviour::Tls;
use crate::rehearsal::web::Web;

/// Leaves kept for names that are asked again; a certificate takes about a kilobyte.
const KEPT: usize = 4096;

/// Signs certificates on demand.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pem: String,
    leaf_key: KeyPair,
    signing_key: Arc<dyn SigningKey>,
    serial: AtomicU64,
    kept: Mutex<HashMap<Box<str>, Arc<CertifiedKey>>>,
    web: Arc<Web>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// Makes the authority's key and certificate, and the key of all leaves.
    pub(super) fn new(web: Arc<Web>) -> anyhow::Result<Arc<Self>> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("survey rehearsal authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().context("making the authority's key")?)
            .context("making the authority's certificate")?;
        let leaf_key = KeyPair::generate().context("making the key of the leaves")?;
        let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let signing_key = aws_lc_rs::sign::any_ecdsa_type(&der).context("reading back the key of the leaves")?;
        Ok(Arc::new(Self {
            pem: issuer.pem(),
            issuer,
            leaf_key,
            signing_key,
            serial: AtomicU64::new(1),
            kept: Mutex::default(),
            web,
        }))
    }

    /// The authority's certificate.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// How the web speaks TLS.
    pub(super) fn server_config(self: &Arc<Self>) -> anyhow::Result<Arc<ServerConfig>> {
        let mut config = ServerConfig::builder_with_provider(aws_lc_rs::default_provider().into())
            .with_safe_default_protocol_versions()
            .context("choosing versions of TLS")?
            .with_no_client_auth()
            .with_cert_resolver(Arc::<Self>::clone(self));
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn certificate(&self, name: &str) -> anyhow::Result<Arc<CertifiedKey>> {
        if let Some(kept) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Arc::clone(kept));
        }
        let certificate = self.sign(name, self.web.tls(name))?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(name.into(), Arc::clone(&certificate));
        Ok(certificate)
    }

    fn sign(&self, name: &str, tls: Tls) -> anyhow::Result<Arc<CertifiedKey>> {
        let mut params = CertificateParams::new([name.to_owned()])?;
        // The name stands in the alternative names only: a common name ends at 64 bytes, and nobody reads it.
        params.distinguished_name = named("survey rehearsal");
        params.serial_number = Some(self.serial.fetch_add(1, Ordering::Relaxed).into());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        if tls == Tls::Expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let certificate = match tls {
            Tls::SelfSigned => params.self_signed(&self.leaf_key)?,
            Tls::Good | Tls::Expired | Tls::Alert => params.signed_by(&self.leaf_key, &self.issuer)?,
        };
        Ok(Arc::new(CertifiedKey::new(vec![certificate.into()], Arc::clone(&self.signing_key))))
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // Without a name, or with one that no certificate can hold, the handshake ends in an alert.
        self.certificate(&hello.server_name()?.to_ascii_lowercase()).ok()
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}
