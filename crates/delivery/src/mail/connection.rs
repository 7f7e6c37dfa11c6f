//! The connection to a server of mail.
//!
//! The problem: the mail client reads an answer until its line ends, so a server that sends a line without an end fills
//! the memory. The mechanism: the stream below the client ends with an error after [`READ_BYTES_MAX`] bytes.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{ANSWER_WITHIN, Failure, Mail, Step, Tls};

/// Bytes that are read from a server, those of the encryption included.
const READ_BYTES_MAX: usize = 1 << 20;

/// Connects to an address, encrypts, and logs in. The server must show a certificate of the host.
pub(super) async fn connect(mail: &Mail, address: SocketAddr) -> Result<AsyncSmtpConnection, Failure> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |error| Failure::new(Step::Connect, &error);
    let unreached = |error: io::Error| Failure::unreached(error.to_string());
    let stream = tokio::time::timeout(ANSWER_WITHIN, TcpStream::connect(address)).await;
    let stream = stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(unreached)?;
    let stream = Bounded { stream, left: READ_BYTES_MAX };
    let stream: Box<dyn AsyncTokioStream> = match mail.tls {
        Tls::Whole => Box::new(Encrypted(encrypt(&mail.host, stream).await.map_err(unreached)?)),
        Tls::Upgraded | Tls::None => Box::new(stream),
    };
    let client = ClientId::default();
    let mut connection =
        AsyncSmtpConnection::connect_with_transport(stream, &client).await.map_err(failed)?;
    if mail.tls == Tls::Upgraded {
        let parameters = TlsParameters::new(mail.host.clone()).map_err(failed)?;
        connection.starttls(parameters, &client).await.map_err(failed)?;
    }
    if let Some((user, password)) = &mail.login {
        let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
        connection.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(failed)?;
    }
    Ok(connection)
}

async fn encrypt(host: &str, stream: Bounded) -> io::Result<TlsStream<Bounded>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// A stream of which a bounded part is read.
#[derive(Debug)]
struct Bounded {
    stream: TcpStream,
    left: usize,
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            let error = format!("the server sent more than {READ_BYTES_MAX} bytes");
            return Poll::Ready(Err(io::Error::other(error)));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.left = self.left.saturating_sub(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncTokioStream for Bounded {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

/// A stream that is encrypted from the first byte.
#[derive(Debug)]
struct Encrypted(TlsStream<Bounded>);

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

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().0.peer_addr()
    }
}
