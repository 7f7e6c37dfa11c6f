//! One keep-alive connection to the service.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http::{Response, take_response};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may take, from the first byte of its request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes to have room for before each read.
const READ_BYTES: usize = 16 << 10;

/// A connection that is opened when it is first needed, and again after the service closed it.
#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    received: Vec<u8>,
}

impl Connection {
    /// A connection not opened yet.
    pub(crate) fn to(address: SocketAddr) -> Self {
        Self { address, stream: None, received: Vec::with_capacity(READ_BYTES) }
    }

    /// Writes a whole request and reads its answer, within 35 s at most.
    ///
    /// # Errors
    /// When no answer came: the next request then opens a new connection. Nothing is sent twice.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Response> {
        let mut stream = match self.stream.take() {
            Some(stream) if is_open(&stream) => stream,
            _ => self.open().await?,
        };
        let answer = timeout(ANSWER_TIMEOUT, exchange(&mut stream, request, &mut self.received))
            .await
            .with_context(|| format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()))??;
        if !answer.close {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    async fn open(&mut self) -> Result<TcpStream> {
        self.received.clear();
        let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect(self.address))
            .await
            .with_context(|| format!("no connection within {} s", CONNECT_TIMEOUT.as_secs()))?
            .with_context(|| format!("cannot connect to {}", self.address))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Whether the service has left a connection open that it owes nothing: it may close one that was idle.
fn is_open(stream: &TcpStream) -> bool {
    matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

async fn exchange(stream: &mut TcpStream, request: &[u8], received: &mut Vec<u8>) -> Result<Response> {
    // A service may refuse a body it has not read: what it answered counts, not that writing failed.
    let written = stream.write_all(request).await;
    loop {
        received.reserve(READ_BYTES);
        let ended = match stream.read_buf(received).await {
            Ok(bytes) => bytes == 0,
            Err(error) => return Err(written.err().unwrap_or(error)).context("the connection broke"),
        };
        if let Some(mut answer) = take_response(received, ended)? {
            answer.close |= written.is_err();
            return Ok(answer);
        }
        if ended {
            bail!("the connection ended before the answer was whole");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::single_threaded;
    use crate::stub::{HANGS_UP, Stub, accepted, answer};

    #[test]
    fn a_connection_the_service_closed_while_idle_is_opened_again() {
        let stub = Stub::start(|number| {
            Some(accepted(1, 0).replacen("\r\n", if number == 0 { HANGS_UP } else { "\r\n" }, 1))
        });
        single_threaded().expect("a runtime").block_on(async {
            let mut connection = Connection::to(stub.target.address);
            for _ in 0..3 {
                let sent = connection.send(&stub.target.post_events(b"x")).await;
                assert_eq!(sent.expect("an answer").status, 202);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        assert_eq!(stub.requests(), 3);
    }

    #[test]
    fn a_connection_that_breaks_is_an_error_once() {
        let stub = Stub::start(|number| (number != 0).then(|| answer("200 OK", "[]")));
        single_threaded().expect("a runtime").block_on(async {
            let mut connection = Connection::to(stub.target.address);
            let broken = connection.send(&stub.target.get("/")).await.expect_err("no answer");
            assert!(broken.to_string().contains("ended before the answer"), "{broken:#}");
            assert_eq!(connection.send(&stub.target.get("/")).await.expect("an answer").body, b"[]");
        });
    }
}
