//! The web's own certificate authority: made at start, signs a leaf for each name when it is first asked for.
//!
//! One key serves all leaves, so a new name costs one P-256 signature and no key. Touches nothing. Deliberately absent:
//! versions, tickets and what comes instead of a handshake (`handshake`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};

use crate::rehearsal::behaviour::Tls;
use crate::rehearsal::web::Web;

/// Leaves kept for names that are asked again; a certificate takes about a kilobyte.
const KEPT: usize = 4096;

/// Signs certificates on demand.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// Vouched for by the issuer.
    intermediate: CertifiedIssuer<'static, KeyPair>,
    /// Vouched for by nobody.
    stranger: CertifiedIssuer<'static, KeyPair>,
    pem: String,
    leaf_key: KeyPair,
    signing_key: Arc<dyn SigningKey>,
    /// Of no certificate.
    wrong_key: Arc<dyn SigningKey>,
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
        let issuer = CertifiedIssuer::self_signed(authority("survey rehearsal authority", 1), key()?)
            .context("making the authority's certificate")?;
        let intermediate = CertifiedIssuer::signed_by(authority("survey rehearsal intermediate", 0), key()?, &issuer)
            .context("making the intermediate authority's certificate")?;
        let stranger = CertifiedIssuer::self_signed(authority("an authority that nobody knows", 0), key()?)
            .context("making the unknown authority's certificate")?;
        let leaf_key = key()?;
        Ok(Arc::new(Self {
            pem: issuer.pem(),
            issuer,
            intermediate,
            stranger,
            signing_key: signing_key(&leaf_key)?,
            wrong_key: signing_key(&key()?)?,
            leaf_key,
            serial: AtomicU64::new(1),
            kept: Mutex::default(),
            web,
        }))
    }

    /// The authority's certificate.
    pub(super) fn pem(&self) -> &str {
        &self.pem
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
        let subject = if tls == Tls::OtherName { "elsewhere.test" } else { name };
        let mut params = CertificateParams::new([subject.to_owned()])?;
        // The name stands in the alternative names only: a common name ends at 64 bytes, and nobody reads it.
        params.distinguished_name = named("survey rehearsal");
        params.serial_number = Some(self.serial.fetch_add(1, Ordering::Relaxed).into());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let years = match tls {
            Tls::Expired => Some((2019, 2020)),
            Tls::NotYet => Some((2090, 2091)),
            _ => None,
        };
        if let Some((first, last)) = years {
            params.not_before = date_time_ymd(first, 1, 1);
            params.not_after = date_time_ymd(last, 1, 1);
        }
        let certificate = match tls {
            Tls::SelfSigned => params.self_signed(&self.leaf_key)?,
            Tls::UnknownIssuer => params.signed_by(&self.leaf_key, &self.stranger)?,
            Tls::Chained | Tls::LeafOnly => params.signed_by(&self.leaf_key, &self.intermediate)?,
            _ => params.signed_by(&self.leaf_key, &self.issuer)?,
        };
        let mut chain = vec![certificate.into()];
        if tls == Tls::Chained {
            chain.push(self.intermediate.der().clone());
        }
        let key = if tls == Tls::WrongKey { &self.wrong_key } else { &self.signing_key };
        Ok(Arc::new(CertifiedKey::new(chain, Arc::clone(key))))
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // Without a name, or with one that no certificate can hold, the handshake ends in an alert.
        self.certificate(&hello.server_name()?.to_ascii_lowercase()).ok()
    }
}

fn key() -> anyhow::Result<KeyPair> {
    KeyPair::generate().context("making a key")
}

fn signing_key(key: &KeyPair) -> anyhow::Result<Arc<dyn SigningKey>> {
    let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    aws_lc_rs::sign::any_ecdsa_type(&der).context("reading back a key")
}

/// An authority with at most so many authorities below it.
fn authority(name: &str, below: u8) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(below));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}
