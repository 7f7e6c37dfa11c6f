//! TLS to the database, as `sslmode` and `sslrootcert` of its address ask for it.
//!
//! The modes mean what they mean to libpq (PostgreSQL documentation, 34.19): `prefer` and `require` hide what is sent
//! from who listens, `verify-ca` and `verify-full` also prove who answers. `require` with `sslrootcert` is `verify-ca`.

use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;

use crate::error::OpenError;

/// How an address begins. The other form that libpq knows (`host=… sslmode=…`) is refused: its options would not
/// be seen here.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// What is asked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Any,
    /// From an authority that is trusted.
    Issuer,
    /// The same, and for the server's name.
    IssuerAndName,
}

/// How to talk to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsOptions {
    pub(crate) mode: SslMode,
    trust: Trust,
    roots: Option<PathBuf>,
}

impl TlsOptions {
    /// Takes its options out of an address; gives back the rest of it.
    pub(crate) fn take(address: &str) -> Result<(String, Self), OpenError> {
        if !SCHEMES.iter().any(|scheme| address.starts_with(scheme)) {
            return Err(OpenError::Address(format!("it begins with neither {}", SCHEMES.join(" nor "))));
        }
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut mode, mut roots, mut rest) = ("prefer", None, Vec::new());
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", "system")) => {}
                Some(("sslrootcert", path)) => {
                    let path = percent_decode_str(path).decode_utf8_lossy();
                    roots = Some(PathBuf::from(&*path));
                }
                _ => rest.push(option),
            }
        }
        let (mode, trust) = match mode {
            "disable" => (SslMode::Disable, Trust::Any),
            "prefer" => (SslMode::Prefer, Trust::Any),
            "require" if roots.is_none() => (SslMode::Require, Trust::Any),
            "require" | "verify-ca" => (SslMode::Require, Trust::Issuer),
            "verify-full" => (SslMode::Require, Trust::IssuerAndName),
            other => {
                let modes = "disable, prefer, require, verify-ca or verify-full";
                return Err(OpenError::Address(format!("sslmode is {other:?}, not {modes}")));
            }
        };
        let rest = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        Ok((rest, Self { mode, trust, roots }))
    }

    /// What a TLS handshake needs.
    pub(crate) fn client(&self) -> Result<ClientConfig, OpenError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let failed = |error: &dyn std::fmt::Display| OpenError::Certificates(error.to_string());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?;
        let issuer = match self.trust {
            Trust::IssuerAndName => {
                return Ok(builder.with_root_certificates(self.roots()?).with_no_client_auth());
            }
            Trust::Any => None,
            Trust::Issuer => {
                let roots = Arc::new(self.roots()?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
                Some(verifier.build().map_err(|error| failed(&error))?)
            }
        };
        let verifier = Arc::new(Verifier { issuer, provider });
        Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
    }

    fn roots(&self) -> Result<RootCertStore, OpenError> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Some(path) => {
                let failed = |error: &dyn std::fmt::Display| {
                    OpenError::Certificates(format!("{}: {error}", path.display()))
                };
                for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))? {
                    roots
                        .add(certificate.map_err(|error| failed(&error))?)
                        .map_err(|error| failed(&error))?;
                }
            }
        }
        Ok(roots)
    }
}

/// Asks less of a certificate than is usual.
#[derive(Debug)]
struct Verifier {
    issuer: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(issuer) = &self.issuer else { return Ok(ServerCertVerified::assertion()) };
        match issuer.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Judged last: all else is as it should be.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_out_of_an_address() {
        let of = |query: &str| {
            let (rest, options) = TlsOptions::take(&format!("postgres://h/d{query}")).expect("an address");
            (rest, options.mode, options.trust)
        };
        let bare = || "postgres://h/d".to_owned();
        assert_eq!(of(""), (bare(), SslMode::Prefer, Trust::Any));
        assert_eq!(of("?sslmode=disable"), (bare(), SslMode::Disable, Trust::Any));
        assert_eq!(of("?sslmode=require"), (bare(), SslMode::Require, Trust::Any));
        assert_eq!(of("?sslmode=require&sslrootcert=/ca.pem"), (bare(), SslMode::Require, Trust::Issuer));
        assert_eq!(of("?sslmode=verify-ca"), (bare(), SslMode::Require, Trust::Issuer));
        assert_eq!(
            of("?connect_timeout=3&sslmode=verify-full"),
            ("postgres://h/d?connect_timeout=3".to_owned(), SslMode::Require, Trust::IssuerAndName)
        );
        let (_, options) = TlsOptions::take("postgres://h/d?sslrootcert=%2Fmy%20ca.pem").expect("an address");
        assert_eq!(options.roots.as_deref(), Some("/my ca.pem".as_ref()));
        for (address, why) in
            [("postgres://h/d?sslmode=maybe", "verify-full"), ("host=h sslmode=require", "postgres://")]
        {
            let error = TlsOptions::take(address).expect_err("no address");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
