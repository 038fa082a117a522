//! Certificates for tests of TLS, made anew for each, so that none expires in the tree: an
//! authority, and what it has signed.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// An authority that servers and clients can trust.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one.
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("no name is a fine name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key can be made");
        Authority(CertifiedIssuer::self_signed(params, key).expect("a certificate can be made"))
    }

    /// Its own certificate.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this name, and its key.
    pub fn issue(&self, name: &str) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a sound name");
        // With the same subject as its issuer, OpenSSL takes it for one that signed itself.
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.signed_by(&key, &self.0).expect("it can be signed");
        (certificate.pem(), key.serialize_pem())
    }

    /// A client that trusts this authority, and shows a certificate of that one.
    pub fn client(&self, shows: Option<&Authority>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.pem().as_bytes()).expect("a certificate");
        roots.add(own).expect("it can be trusted");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("there are versions")
            .with_root_certificates(roots);
        Arc::new(match shows {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let (certificate, key) = authority.issue("client");
                let chain = CertificateDer::from_pem_slice(certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
                builder
                    .with_client_auth_cert(vec![chain.expect("a certificate")], key)
                    .expect("both belong together")
            }
        })
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}
