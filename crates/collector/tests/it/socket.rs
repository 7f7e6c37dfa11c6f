//! The collector behind a real socket, and a client that writes bytes of its own.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use queryscope_collector::{ServeError, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::{TOKEN, TestApp};

/// How long anything may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The address for senders alone, where there is one.
    ingest: Option<SocketAddr>,
    pub(crate) stop: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

impl Server {
    pub(crate) async fn start(app: &TestApp) -> Self {
        Self::serve(app, None).await
    }

    /// Starts with an address for senders alone.
    pub(crate) async fn start_split(app: &TestApp) -> Self {
        Self::serve(app, Some(listen().await)).await
    }

    async fn serve(app: &TestApp, senders: Option<TcpListener>) -> Self {
        let listener = listen().await;
        let address = listener.local_addr().expect("bound");
        let ingest = senders.as_ref().map(|listener| listener.local_addr().expect("bound"));
        let stop = CancellationToken::new();
        let (collector, stopped) = (app.collector.clone(), stop.clone());
        let task = tokio::spawn(async move { serve(&collector, listener, senders, stopped).await });
        Self { address, ingest, stop, task }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::of(self.address).await
    }

    pub(crate) async fn connect_to_ingest(&self) -> Client {
        Client::of(self.ingest.expect("an address for senders")).await
    }

    /// A reader that has asked for `path` and whose socket takes few bytes until it reads.
    pub(crate) async fn deaf(&self, path: &str) -> Client {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let stream = socket.connect(self.address).await.expect("accepted");
        let mut client = Client { stream, read: Vec::new() };
        client.get(path).await;
        client
    }

    /// Waits until `serve` returns.
    pub(crate) async fn ended(self) -> Result<(), ServeError> {
        patiently("the service to end", self.task).await.expect("no panic")
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer as it came over the wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The head in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Client {
    async fn of(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).await.expect("accepted"), read: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        assert!(self.try_write(bytes).await, "closed while it was written to");
    }

    /// Asks for `path`.
    pub(crate) async fn get(&mut self, path: &str) {
        self.write(get(path)).await;
    }

    /// Whether the server has not closed the connection, which nothing has been written to.
    pub(crate) fn is_open(&self) -> bool {
        let mut piece = [0; 1];
        matches!(self.stream.try_read(&mut piece), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Reads until so many bytes have come.
    pub(crate) async fn read(&mut self, bytes: usize) {
        while self.read.len() < bytes {
            assert!(self.read_more().await, "closed after {} bytes", self.read.len());
        }
    }

    /// Reads until a text has come.
    pub(crate) async fn read_until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.read).contains(text) {
            assert!(self.read_more().await, "closed after {}", self.read.escape_ascii());
        }
    }

    /// `false` when the server has closed the connection.
    pub(crate) async fn try_write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        patiently("a write", self.stream.write_all(bytes.as_ref())).await.is_ok()
    }

    /// Says that nothing more will be written.
    pub(crate) async fn half_close(&mut self) {
        self.stream.shutdown().await.expect("still open");
    }

    /// Reads one answer, whose body has a known length.
    pub(crate) async fn reply(&mut self) -> Reply {
        loop {
            if let Some((reply, bytes)) = parse(&self.read) {
                self.read.drain(..bytes);
                return reply;
            }
            assert!(self.read_more().await, "closed before an answer: {}", self.read.escape_ascii());
        }
    }

    /// Waits until the server closes the connection; what it still sent is given back.
    pub(crate) async fn closed(&mut self) -> String {
        while self.read_more().await {}
        String::from_utf8_lossy(&self.read).into_owned()
    }

    /// `false` at the end of what the server sends, in order or by a reset.
    async fn read_more(&mut self) -> bool {
        let mut piece = [0; 4096];
        let read = patiently("an answer or a close", self.stream.read(&mut piece)).await.unwrap_or(0);
        self.read.extend_from_slice(&piece[..read]);
        read > 0
    }
}

/// The first answer in what was read, and its length in bytes.
pub(crate) fn parse(read: &[u8]) -> Option<(Reply, usize)> {
    let text = str::from_utf8(read).expect("answers are text");
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let head = head.to_lowercase();
    let status = head.split(' ').nth(1)?.parse().expect("a status");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let reply = Reply { status, body: rest.get(..length)?.to_owned(), head };
    let bytes = reply.head.len() + 4 + length;
    Some((reply, bytes))
}

/// A request without a body.
pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// The head of a post, with further header lines.
pub(crate) fn post_head(lines: &[&str]) -> String {
    let token = format!("Authorization: Bearer {TOKEN}");
    let first = ["POST /v1/events HTTP/1.1", "Host: queryscope", &token];
    [&first, lines, &["", ""]].concat().join("\r\n")
}

/// A whole post of a plain batch.
pub(crate) fn post(batch: &str) -> String {
    post_head(&[&format!("Content-Length: {}", batch.len())]) + batch
}

pub(crate) async fn patiently<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}
