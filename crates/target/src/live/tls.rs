//! TLS as the `mysql` client has it: the mode decides whether to encrypt and what to verify.
//!
//! Only the authorities of `--ssl-ca` are trusted, as with `mysql`: a public authority would
//! vouch for any name on the internet, which is no protection for a database.

use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, IpAddr, Ipv4Addr, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    Error, RootCertStore, SignatureScheme,
};

use crate::live::error::{ConnectError, quoted};
use crate::login::{Login, TlsMode, TlsOptions};

/// Prepares a session as the login's options say.
///
/// # Errors
/// Files that cannot be used, and options that do not go together.
pub(crate) fn session(login: &Login) -> Result<ClientConnection, ConnectError> {
    let options = &login.tls;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| options_error(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier(options, provider)?);
    let config = match identity(options)? {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| file(options.cert.as_deref(), "--ssl-cert", &error.to_string()))?,
        None => builder.with_no_client_auth(),
    };
    ClientConnection::new(Arc::new(config), server_name(login)?)
        .map_err(|error| options_error(&error))
}

fn options_error(error: &Error) -> ConnectError {
    ConnectError::Options(format!("cannot prepare TLS: {error}"))
}

fn server_name(login: &Login) -> Result<ServerName<'static>, ConnectError> {
    match ServerName::try_from(login.host.clone()) {
        Ok(name) => Ok(name),
        Err(_) if login.tls.mode == TlsMode::VerifyIdentity => Err(ConnectError::Options(format!(
            "{} is not a name that a certificate can carry: use --ssl-mode=VERIFY_CA",
            login.host
        ))),
        // The name only matters where it is verified; an address is not sent.
        Err(_) => Ok(ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0; 4])))),
    }
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(options: &TlsOptions) -> Result<Option<Identity>, ConnectError> {
    let (cert, key) = match (&options.cert, &options.key) {
        (None, None) => return Ok(None),
        (Some(cert), Some(key)) => (cert, key),
        _ => {
            return Err(ConnectError::Options(
                "a client certificate needs both --ssl-cert and --ssl-key".to_owned(),
            ));
        }
    };
    let chain = certificates(cert, "--ssl-cert")?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| file(Some(key), "--ssl-key", &error.to_string()))?;
    Ok(Some((chain, key)))
}

fn certificates(
    path: &str,
    option: &'static str,
) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let failed =
        |error: rustls::pki_types::pem::Error| file(Some(path), option, &error.to_string());
    let list: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(failed)?
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    if list.is_empty() {
        return Err(file(Some(path), option, "no certificate in it"));
    }
    Ok(list)
}

fn file(path: Option<&str>, option: &'static str, reason: &str) -> ConnectError {
    ConnectError::File { path: path.unwrap_or_default().to_owned(), option, reason: quoted(reason) }
}

fn verifier(
    options: &TlsOptions,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, ConnectError> {
    if options.mode < TlsMode::VerifyCa {
        return Ok(Arc::new(NoVerifier { provider }));
    }
    let Some(path) = &options.ca else {
        return Err(ConnectError::Options(format!(
            "--ssl-mode={} needs --ssl-ca: the file with the authority that issued the server's \
             certificate",
            options.mode
        )));
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, "--ssl-ca")? {
        roots.add(certificate).map_err(|error| file(Some(path), "--ssl-ca", &error.to_string()))?;
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| file(Some(path), "--ssl-ca", &error.to_string()))?;
    if options.mode == TlsMode::VerifyIdentity {
        return Ok(chain);
    }
    Ok(Arc::new(ChainVerifier { chain }))
}

/// Verifies nothing: the connection is safe from listeners, not from impostors.
#[derive(Debug)]
struct NoVerifier {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Verifies who issued the certificate, and not for which host.
#[derive(Debug)]
struct ChainVerifier {
    chain: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // The name is checked last: a certificate that fails by its name alone is well issued.
        match self.chain.verify_server_cert(certificate, others, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// What failed in a TLS session, and what to do; `None` when the error is not one of TLS.
pub(crate) fn explain(error: &io::Error, login: &Login) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    let ca = login.tls.ca.as_deref().unwrap_or("--ssl-ca");
    Some(match error {
        Error::InvalidCertificate(invalid) => match invalid {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "its certificate was not issued by an authority in {ca}: name the right file with \
                 --ssl-ca"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!(
                    "its certificate is not for {}: connect by a name that it carries, or check \
                     only who issued it with --ssl-mode=VERIFY_CA (the certificate that MySQL \
                     makes for itself carries no name)",
                    login.host
                )
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired: give the server a new one".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet: check the clocks of both machines".to_owned()
            }
            other => format!(
                "its certificate cannot be verified ({}): --ssl-mode=REQUIRED encrypts without \
                 verifying",
                quoted(&format!("{other:?}"))
            ),
        },
        Error::PeerIncompatible(_)
        | Error::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        ) => "it speaks only a TLS older than 1.2 or none of our ciphers: on a network you trust, \
              use --ssl-mode=DISABLED"
            .to_owned(),
        Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::CertificateUnknown
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked,
        ) => "it does not accept our certificate: check --ssl-cert and --ssl-key".to_owned(),
        other => quoted(&other.to_string()),
    })
}
