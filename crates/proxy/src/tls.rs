//! TLS on both sides: certificates are read at the start, so that a file that is missing is told
//! then, and not found by the first client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::address::Address;
use crate::settings::{ClientTls, ServerTls};

/// Why certificates can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: pem::Error,
    },
    /// A file has no certificate in it.
    #[error("{0} holds no certificate")]
    Empty(String),
    /// A certificate and its key don't go together, or are of a kind that is not known.
    #[error("the certificate and its key can't be used: {0}")]
    Tls(#[from] rustls::Error),
    /// The authority of clients can't be used.
    #[error("client_ca can't be used: {0}")]
    Verifier(#[from] VerifierBuilderError),
    /// No authority is known.
    #[error("this system has no authorities; [proxy.redis.upstream_tls] ca names one")]
    NoAuthority,
    /// There is no name to check the certificate against.
    #[error("{0:?} is no name that a certificate could have; set server_name")]
    Name(String),
    /// One of two that belong together.
    #[error("a certificate and its key belong together: one of them is missing")]
    Half,
}

/// TLS towards clients.
pub(crate) fn acceptor(tls: &ServerTls) -> Result<TlsAcceptor, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let roots = Arc::new(authorities(path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
            builder.with_client_cert_verifier(verifier.build()?)
        }
    };
    let config = builder.with_single_cert(certificates(&tls.certificate)?, key(&tls.key)?)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// TLS towards the server, and the name that its certificate must have.
pub(crate) fn connector(
    tls: &ClientTls,
    upstream: &Address,
) -> Result<(TlsConnector, ServerName<'static>), TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = match &tls.ca {
        Some(path) => authorities(path)?,
        None => {
            let mut roots = RootCertStore::empty();
            // Certificates of the system that are of no use are the system's matter.
            let (added, _) =
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if added == 0 {
                return Err(TlsError::NoAuthority);
            }
            roots
        }
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let config = match (&tls.certificate, &tls.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), Some(path)) => {
            builder.with_client_auth_cert(certificates(certificate)?, key(path)?)?
        }
        _ => return Err(TlsError::Half),
    };
    let name = match (&tls.server_name, upstream) {
        (Some(name), _) => name.clone(),
        (None, Address::Tcp(address)) => {
            let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
            host.trim_start_matches('[').trim_end_matches(']').to_owned()
        }
        (None, Address::Unix(path)) => return Err(TlsError::Name(path.display().to_string())),
    };
    let server_name = ServerName::try_from(name.clone()).map_err(|_| TlsError::Name(name))?;
    Ok((TlsConnector::from(Arc::new(config)), server_name))
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate)?;
    }
    Ok(roots)
}

fn key(path: &PathBuf) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|error| TlsError::File { path: path.display().to_string(), error })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let name = path.display().to_string();
    let failed = |error| TlsError::File { path: name.clone(), error };
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(failed)?.collect();
    let found = found.map_err(failed)?;
    if found.is_empty() { Err(TlsError::Empty(name)) } else { Ok(found) }
}
