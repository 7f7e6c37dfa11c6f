//! A client of server-sent events, as the standard describes one.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::patiently;

/// A message as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl Message {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("JSON")
    }

    /// The lines of the data, each an event.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.data.split('\n')
    }
}

pub(crate) struct Stream {
    tcp: TcpStream,
    /// The answer's head in lower case.
    pub(crate) head: String,
    pub(crate) status: u16,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// Whether the body came to its end in order.
    pub(crate) whole: bool,
    /// Bytes of the stream so far.
    pub(crate) bytes: usize,
}

impl Stream {
    pub(crate) async fn open(address: SocketAddr, path: &str, last_event_id: Option<&str>) -> Self {
        let mut tcp = TcpStream::connect(address).await.expect("accepted");
        let id = last_event_id.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{id}\r\n");
        tcp.write_all(request.as_bytes()).await.expect("taken");
        let mut stream = Self {
            tcp,
            head: String::new(),
            status: 0,
            raw: Vec::new(),
            text: Vec::new(),
            whole: false,
            bytes: 0,
        };
        loop {
            if let Some(end) = stream.raw.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8(stream.raw.drain(..end + 4).collect()).expect("text");
                stream.head = head.to_lowercase();
                stream.status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
                stream.whole = stream.status == 204;
                return stream;
            }
            assert!(stream.read_more().await, "no answer");
        }
    }

    /// The next message, comments and `retry` left out; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        assert!([200, 204].contains(&self.status), "{} {}", self.head, self.raw.escape_ascii());
        loop {
            self.take_chunks();
            if let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                let block = String::from_utf8(block).expect("text");
                let field = |name: &str| {
                    let values: Vec<&str> = block
                        .lines()
                        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                        .collect();
                    values.join("\n")
                };
                let message = Message { id: field("id"), event: field("event"), data: field("data") };
                if !message.event.is_empty() {
                    assert!(!message.id.is_empty(), "every message has an id: {block}");
                    return Some(message);
                }
                continue;
            }
            if self.whole || !self.read_more().await {
                assert!(!self.whole || self.text.is_empty(), "a stream ends after a message");
                return None;
            }
        }
    }

    /// The next message, which must be of this kind.
    pub(crate) async fn expect(&mut self, event: &str) -> Message {
        let message = self.next().await.unwrap_or_else(|| panic!("the stream ended before {event}"));
        assert_eq!(message.event, event, "{message:?}");
        message
    }

    /// All messages up to the end.
    pub(crate) async fn rest(mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        assert!(self.whole, "the stream was broken off");
        messages
    }

    /// The whole body of an answer that is no stream.
    pub(crate) async fn body(mut self) -> Vec<u8> {
        let length = self.head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if let Some(length) = length {
            let length: usize = length.parse().expect("a number");
            while self.raw.len() < length {
                assert!(self.read_more().await, "cut off");
            }
            return self.raw;
        }
        loop {
            self.take_chunks();
            if self.whole {
                return self.text;
            }
            assert!(self.read_more().await, "cut off");
        }
    }

    /// Moves what chunks hold from what was read to the text.
    fn take_chunks(&mut self) {
        while let Some(end) = self.raw.windows(2).position(|two| two == b"\r\n") {
            let size = str::from_utf8(&self.raw[..end]).expect("a size");
            let size = usize::from_str_radix(size, 16).expect("a size");
            let chunk = end + 2..end + 2 + size;
            if self.raw.len() < chunk.end + 2 {
                return;
            }
            self.whole |= size == 0;
            self.bytes += size;
            self.text.extend_from_slice(&self.raw[chunk.clone()]);
            self.raw.drain(..chunk.end + 2);
        }
    }

    /// `false` at the end of the connection, in order or not.
    async fn read_more(&mut self) -> bool {
        let mut piece = vec![0; 64 << 10];
        let read = patiently("a message", self.tcp.read(&mut piece)).await.unwrap_or(0);
        self.raw.extend_from_slice(&piece[..read]);
        read > 0
    }
}
