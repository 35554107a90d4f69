//! Encrypts connections, and says whom they may lead to.

use std::error::Error;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_rustls::{TlsConnector, client};

/// Whom a server may turn out to be.
#[derive(Debug, Clone)]
pub(crate) enum Trust {
    /// Whoever answers: nobody can listen in, but somebody could stand between.
    Anyone,
    /// Whoever one of these vouches for.
    Vouched(Roots),
    /// The one of them that has the name of the host.
    Named(Roots),
}

/// Certificates that a person trusts.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    certificates: Vec<CertificateDer<'static>>,
    store: Arc<RootCertStore>,
}

impl Trust {
    /// Trusts the certificates of a file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| error.to_string())?;
        let mut store = RootCertStore::empty();
        for certificate in &certificates {
            store.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        if certificates.is_empty() {
            return Err("there is no certificate in it".to_owned());
        }
        Ok(Self::Vouched(Roots { certificates, store: Arc::new(store) }))
    }

    /// Asks for the host's name as well.
    pub(crate) fn and_named(self) -> Self {
        match self {
            Self::Vouched(roots) => Self::Named(roots),
            other => other,
        }
    }
}

impl Roots {
    fn vouch(
        &self,
        provider: &CryptoProvider,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let algorithms = provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(end)?;
        match verify_server_cert_signed_by_trust_anchor(&parsed, &self.store, between, now, algorithms) {
            // A server's own certificate may be the one that is trusted, though it was made as one that signs others.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if self.certificates.contains(end) =>
            {
                Ok(())
            }
            judged => judged,
        }
    }
}

/// Judges certificates by trust.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    /// Checks a signature, which says nothing where anyone may have made it; old certificates could not even be checked for one.
    fn unless_anyone(
        &self,
        check: impl FnOnce(&WebPkiSupportedAlgorithms) -> Result<HandshakeSignatureValid, rustls::Error>,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match self.trust {
            Trust::Anyone => Ok(HandshakeSignatureValid::assertion()),
            _ => check(&self.provider.signature_verification_algorithms),
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.trust {
            Trust::Anyone => {}
            Trust::Vouched(roots) => roots.vouch(&self.provider, end, between, now)?,
            Trust::Named(roots) => {
                roots.vouch(&self.provider, end, between, now)?;
                verify_server_name(&ParsedCertificate::try_from(end)?, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.unless_anyone(|algorithms| verify_tls12_signature(message, certificate, signature, algorithms))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.unless_anyone(|algorithms| verify_tls13_signature(message, certificate, signature, algorithms))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts connections, and judges whom they lead to.
#[derive(Debug, Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts so, and says what is spoken, if the server has to be told.
    pub(crate) fn new(trust: Trust, protocol: Option<&[u8]>) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(Verifier { trust, provider: Arc::clone(&provider) });
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.map_err(|error| error.to_string())?;
        let verified = builder.dangerous().with_custom_certificate_verifier(verifier);
        let mut config = verified.with_no_client_auth();
        config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        Ok(Self(Arc::new(config)))
    }

    /// Encrypts a connection to a host.
    pub(crate) async fn encrypt<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: String,
        stream: S,
    ) -> Result<client::TlsStream<S>, Box<dyn Error + Send + Sync>> {
        let name = ServerName::try_from(host)?;
        let encrypted = TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await;
        // A server that is not trusted is there, and will not do better when asked again.
        encrypted.map_err(|error| match error.downcast::<rustls::Error>() {
            Ok(refusal) => refusal.into(),
            Err(lost) => lost.into(),
        })
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = Box<dyn Error + Send + Sync>;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Self::Error> {
        Ok(Handshake { tls: self.clone(), host: host.to_owned() })
    }
}

/// What one connection is encrypted with.
pub(crate) struct Handshake {
    tls: Tls,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted, Self::Error>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.tls.encrypt(self.host, socket).await.map(Encrypted) })
    }
}

/// An encrypted connection.
pub struct Encrypted(client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
