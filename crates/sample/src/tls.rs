//! TLS for the clients that leave the choice of its cryptography to the application, and the trust
//! in what this machine trusts.

#[cfg(feature = "kafka")]
use std::sync::Arc;

#[cfg(feature = "kafka")]
use crate::{Address, SampleError};

/// Chooses the cryptography for this process, unless somebody has.
pub(crate) fn prepare() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster, with the same choice.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}

/// A client's configuration that trusts the certificates of this machine.
#[cfg(feature = "kafka")]
pub(crate) fn trusting_this_machine(
    address: &Address,
) -> Result<Arc<rustls::ClientConfig>, SampleError> {
    prepare();
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or("there are none".to_owned(), |e| e.to_string());
        return Err(SampleError::Unreachable {
            address: address.to_string(),
            reason: format!("no certificate is trusted: {reason}"),
            hint: "install ca-certificates, or name a file with SSL_CERT_FILE".to_owned(),
        });
    }
    let config = rustls::ClientConfig::builder().with_root_certificates(roots);
    Ok(Arc::new(config.with_no_client_auth()))
}
