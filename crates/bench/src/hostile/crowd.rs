//! Many connections that do as they are told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::attack::Answers;
use crate::client::Connection;

/// Between two bytes of a connection that is held.
const DRIP_EVERY: Duration = Duration::from_secs(1);
/// Connections opened between two pauses, so that the backlog of the socket holds them.
pub(super) const OPENED_AT_ONCE: usize = 100;
pub(super) const OPEN_PAUSE: Duration = Duration::from_millis(20);

/// What a connection that is held writes.
pub(super) struct Idler {
    pub(super) begin: Vec<u8>,
    pub(super) drip: Option<u8>,
    pub(super) half_close: bool,
}

/// Holds so many connections, opened again whenever the service closes them.
pub(super) async fn hold(
    address: SocketAddr,
    idler: &Idler,
    connections: usize,
    stop: &AtomicBool,
) -> Result<Answers> {
    let mut held = Vec::new();
    let mut opened = 0;
    while !stop.load(Ordering::Relaxed) {
        while held.len() < connections {
            held.push(idler.open(address).await?);
            opened += 1;
            if held.len() % OPENED_AT_ONCE == 0 {
                tokio::time::sleep(OPEN_PAUSE).await;
            }
        }
        tokio::time::sleep(DRIP_EVERY).await;
        held.retain_mut(|stream| idler.go_on(stream));
    }
    Ok([(0, opened)].into())
}

impl Idler {
    async fn open(&self, address: SocketAddr) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(address).await?;
        // A service that has refused it already is as good.
        let _ = stream.write_all(&self.begin).await;
        if self.half_close {
            let _ = stream.shutdown().await;
        }
        Ok(stream)
    }

    /// `false` when the connection is over.
    fn go_on(&self, stream: &mut TcpStream) -> bool {
        let written = self.drip.is_none_or(|byte| stream.try_write(&[byte]).is_ok());
        let mut piece = [0; 1024];
        loop {
            match stream.try_read(&mut piece) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return written && error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }
}

/// Sends one request again and again over so many connections.
pub(super) async fn send(
    address: SocketAddr,
    request: Arc<[u8]>,
    connections: usize,
    stop: &AtomicBool,
) -> Answers {
    let mut answers = Answers::new();
    let mut sending = JoinSet::new();
    let one = |mut connection: Connection| {
        let request = Arc::clone(&request);
        async move {
            let answer = connection.send(&request).await;
            (connection, answer.map_or(0, |answer| answer.status))
        }
    };
    for _ in 0..connections {
        sending.spawn(one(Connection::to(address)));
    }
    while let Some(Ok((connection, status))) = sending.join_next().await {
        *answers.entry(status).or_default() += 1;
        if !stop.load(Ordering::Relaxed) {
            sending.spawn(one(connection));
        }
    }
    answers
}
