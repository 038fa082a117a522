//! How the server is reached: the address as PostgreSQL's own clients read it, and TLS with the
//! meaning that they give to `sslmode`.
//!
//! There `prefer` and `require` encrypt without asking who the server is. Whoever wants that asked
//! says `verify-full`, or names a certificate with `sslrootcert`.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::error::{SampleError, in_one_line};

/// Parameters of the address that are ours to understand: the driver knows no verification.
const SSL_MODE: &str = "sslmode";
const SSL_ROOT: &str = "sslrootcert";

/// A server, and how to talk to it.
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) connector: MakeRustlsConnect,
}

/// Reads the address.
pub(super) fn target(address: &Address) -> Result<Target, SampleError> {
    let bad = |reason: String| SampleError::BadAddress { address: address.to_string(), reason };
    let (text, parameters) = address.text().split_once('?').unwrap_or((address.text(), ""));
    let kept: Vec<&str> = parameters
        .split('&')
        .filter(|pair| !pair.is_empty())
        .filter(|pair| ![SSL_MODE, SSL_ROOT].contains(&pair.split('=').next().unwrap_or(pair)))
        .collect();
    let root = address.parameter(SSL_ROOT);
    let (driver_mode, is_verified) = match address.parameter(SSL_MODE).unwrap_or("prefer") {
        "disable" => ("disable", false),
        "allow" | "prefer" => ("prefer", false),
        "require" => ("require", root.is_some()),
        "verify-ca" | "verify-full" => ("require", true),
        other => return Err(bad(format!("sslmode={other} is unknown; try sslmode=require"))),
    };
    let mut text = format!("{text}?{SSL_MODE}={driver_mode}");
    for pair in kept {
        text.push('&');
        text.push_str(pair);
    }
    let config: Config = text.parse().map_err(|error| bad(in_one_line(&error)))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(error.to_string()))?;
    let tls = if is_verified {
        let roots = roots(root).map_err(bad)?;
        builder.with_root_certificates(roots).with_no_client_auth()
    } else {
        let verifier = Arc::new(AnyServer(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    Ok(Target { config, connector: MakeRustlsConnect::new(tls) })
}

/// The certificates of a file, or those that this machine trusts.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match file {
        Some("system") | None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(file) => {
            let certificates = CertificateDer::pem_file_iter(Path::new(file))
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| format!("sslrootcert={file}: {error}"))?;
            roots.add_parsable_certificates(certificates);
        }
    }
    if roots.is_empty() {
        let from = file.unwrap_or("this machine");
        return Err(format!("there are no certificates in {from}; name a file with sslrootcert="));
    }
    Ok(roots)
}

/// Takes every certificate, and still checks that the server has the key to it.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
