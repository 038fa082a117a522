//! The certificates of a listener, read when the configuration is, so that a file that is missing
//! or holds something else is told with its line and not found by the first client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use serde::Deserialize;

use super::Protocol;

/// `tls` of a listener.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsSection {
    certificate: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
}

/// Why certificates can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("{path}: {error}")]
    File { path: String, error: pem::Error },
    #[error("{0} holds no certificate")]
    Empty(String),
    #[error("the certificate and its key can't be used: {0}")]
    Tls(#[from] rustls::Error),
    #[error("client_ca can't be used: {0}")]
    Verifier(#[from] VerifierBuilderError),
}

impl TlsSection {
    /// Reads the files. Where `client_ca` is given, clients need a certificate that it has signed.
    pub(super) fn load(self, protocol: Protocol) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate)?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build()?)
            }
        };
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| TlsError::File { path: self.key.display().to_string(), error })?;
        let mut config = builder.with_single_cert(certificates(&self.certificate)?, key)?;
        // A client that only sends never reads a ticket, and a close with bytes that were not read
        // takes away what it has sent last.
        config.send_tls13_tickets = 0;
        config.alpn_protocols = match protocol {
            Protocol::OtlpGrpc => vec![b"h2".to_vec()],
            Protocol::Http => vec![b"http/1.1".to_vec()],
            _ => Vec::new(),
        };
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let name = path.display().to_string();
    let failed = |error| TlsError::File { path: name.clone(), error };
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(failed)?.collect();
    let found = found.map_err(failed)?;
    if found.is_empty() { Err(TlsError::Empty(name)) } else { Ok(found) }
}
