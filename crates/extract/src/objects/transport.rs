//! HTTP/1.1 for `object_store`, over the encryption that databases are reached with.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, HOST, LOCATION};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use http_body_util::BodyExt as _;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long it may take until a server is reached.
const CONNECTING: Duration = Duration::from_secs(5);

/// How long a server may think about its answer.
const ANSWERING: Duration = Duration::from_secs(30);

/// How often a web server may point elsewhere.
const REDIRECTIONS: usize = 5;

/// Makes clients of one store.
#[derive(Debug, Default)]
pub(super) struct Transport {
    authorization: Option<HeaderValue>,
    /// Whether it goes where a server points to; what is signed for a store leads nowhere else.
    is_web: bool,
}

impl Transport {
    /// For files of any web server, which is told who reads.
    pub(super) fn for_web(authorization: Option<HeaderValue>) -> Self {
        Self { authorization, is_web: true }
    }
}

impl HttpConnector for Transport {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let (authorization, is_web) = (self.authorization.clone(), self.is_web);
        Ok(HttpClient::new(Client { authorization, is_web, tls: OnceLock::new(), idle: Mutex::default() }))
    }
}

type Sender = SendRequest<HttpRequestBody>;

/// Whether it is encrypted, and who is reached.
type Origin = (bool, Authority);

/// What is sent and received through, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

#[derive(Debug)]
struct Client {
    authorization: Option<HeaderValue>,
    is_web: bool,
    tls: OnceLock<Arc<ClientConfig>>,
    /// Connections whose last answer may have been read to its end.
    idle: Mutex<Vec<(Origin, Sender)>>,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        for _ in 0..REDIRECTIONS {
            let answer = self.send(request.clone()).await?;
            let Some(next) = pointed_to(&request, &answer).filter(|_| self.is_web) else {
                return Ok(answer);
            };
            if next.authority() != request.uri().authority() {
                request.headers_mut().remove(AUTHORIZATION);
            }
            *request.uri_mut() = next;
        }
        Err(unknown("the server points from one address to the next without end"))
    }
}

impl Client {
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let uri = request.uri().clone();
        let authority = uri.authority().ok_or_else(|| unknown("there is no host in the address"))?;
        let origin = (uri.scheme() == Some(&Scheme::HTTPS), authority.clone());
        let mut sender = match self.idle(&origin) {
            Some(sender) => sender,
            None => match timeout(CONNECTING, self.connect(&origin)).await {
                Ok(connected) => connected.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?,
                Err(late) => return Err(HttpError::new(HttpErrorKind::Connect, late)),
            },
        };
        let host = HeaderValue::try_from(authority.as_str());
        request
            .headers_mut()
            .insert(HOST, host.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?);
        let path = uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = path.into();
        let answer = match timeout(ANSWERING, sender.send_request(request)).await {
            Ok(answer) => answer.map_err(lost)?,
            Err(late) => return Err(HttpError::new(HttpErrorKind::Timeout, late)),
        };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((origin, sender));
        Ok(answer.map(|body| HttpResponseBody::new(body.map_err(lost))))
    }

    /// A connection that nobody reads an answer from any more.
    fn idle(&self, origin: &Origin) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, sender)| !sender.is_closed());
        let at = idle.iter().position(|(known, sender)| known == origin && sender.is_ready())?;
        Some(idle.swap_remove(at).1)
    }

    async fn connect(&self, (is_encrypted, authority): &Origin) -> io::Result<Sender> {
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let port = authority.port_u16().unwrap_or(if *is_encrypted { 443 } else { 80 });
        let socket = TcpStream::connect((host, port)).await?;
        socket.set_nodelay(true)?;
        let stream: Box<dyn Stream> = if *is_encrypted {
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            Box::new(TlsConnector::from(self.tls()?).connect(name, socket).await?)
        } else {
            Box::new(socket)
        };
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // It ends with its sender, and whoever waits for an answer hears how.
        tokio::spawn(connection);
        Ok(sender)
    }

    /// Trusts whom this machine trusts; the certificates are looked for once they are needed.
    fn tls(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(tls) = self.tls.get() {
            return Ok(Arc::clone(tls));
        }
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (trusted, _) = roots.add_parsable_certificates(found.certs);
        if trusted == 0 {
            return Err(io::Error::other(
                "this machine trusts no certificates; install them, or set SSL_CERT_FILE",
            ));
        }
        let versions = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = Arc::new(versions.with_root_certificates(roots).with_no_client_auth());
        Ok(Arc::clone(self.tls.get_or_init(|| config)))
    }
}

/// Where a server says that the file is; never from an encrypted address to one that is not.
fn pointed_to(request: &HttpRequest, answer: &HttpResponse) -> Option<Uri> {
    let from = request.uri();
    let place = answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection())?;
    let mut parts = place.to_str().ok()?.parse::<Uri>().ok()?.into_parts();
    if parts.authority.is_none() {
        parts.authority = from.authority().cloned();
        parts.scheme = from.scheme().cloned();
    }
    let to = Uri::from_parts(parts).ok()?;
    (to.scheme() == Some(&Scheme::HTTPS) || from.scheme() == Some(&Scheme::HTTP)).then_some(to)
}

fn lost(error: hyper::Error) -> HttpError {
    let kind = if error.is_timeout() { HttpErrorKind::Timeout } else { HttpErrorKind::Interrupted };
    HttpError::new(kind, error)
}

fn unknown(problem: &'static str) -> HttpError {
    HttpError::new_boxed(HttpErrorKind::Unknown, <Box<dyn Error + Send + Sync>>::from(problem))
}
