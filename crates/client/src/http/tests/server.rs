//! A server on a real socket that does as it is told.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use flate2::read::MultiGzDecoder;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Answers with a status and headers; a 2xx stores the events.
    Answer(u16, Vec<(&'static str, String)>),
    /// Reads the request and never answers.
    Hang,
    /// Resets the connection before it has read anything of the body.
    ResetBeforeReading,
    /// Reads the request and closes the connection without an answer.
    CloseAfterReading,
    /// Stores the events and closes the connection: the answer is lost.
    StoreAndClose,
    /// Stores the events and answers when the client has given up.
    StoreAndAnswerLate,
    /// Stores the events, and ends in the middle of the body of its 202.
    StoreAndCutAnswer,
}

/// A request that was read.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Method and target.
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    /// The lines of the body, unpacked.
    pub(super) lines: Vec<String>,
    pub(super) stored: bool,
    /// Which connection it came over.
    pub(super) connection: usize,
}

/// The server; it ends when it is dropped.
pub(super) struct Server {
    pub(super) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Act>>,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    ended: AtomicBool,
}

impl Server {
    /// Does these things, a request each, and answers 202 from then on.
    pub(super) fn start(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        lock(&shared.script).extend(script);
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if served.ended.load(Ordering::Relaxed) {
                    return;
                }
                let served = Arc::clone(&served);
                std::thread::spawn(move || served.serve(stream));
            }
        });
        Self { url: format!("http://{address}"), shared }
    }

    /// What was asked, in order.
    pub(super) fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// What is stored: the events' lines, as often as they came.
    pub(super) fn stored(&self) -> Vec<String> {
        let requests = self.requests();
        let stored = requests.into_iter().filter(|request| request.stored);
        stored.flat_map(|request| request.lines.into_iter().skip(1)).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        let address = self.url.trim_start_matches("http://");
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(address);
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let connection = self.connections.fetch_add(1, Ordering::Relaxed);
        let mut reader = BufReader::new(stream);
        // An error is a client that went away.
        while let Ok(true) = self.serve_one(&mut reader, connection) {}
    }

    /// Serves a request; whether another may come over this connection.
    fn serve_one(&self, reader: &mut BufReader<TcpStream>, connection: usize) -> std::io::Result<bool> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        let act = lock(&self.script).pop_front().unwrap_or(Act::Answer(202, Vec::new()));
        let headers = read_headers(reader)?;
        let mut request =
            Request { line: line.trim().to_owned(), headers, lines: Vec::new(), stored: false, connection };
        if matches!(act, Act::ResetBeforeReading) {
            lock(&self.requests).push(request);
            // What is unread when a socket is closed resets the connection.
            return Ok(false);
        }
        let length = request.header("content-length").expect("a length").parse().expect("a number");
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut text = String::new();
        MultiGzDecoder::new(&*body).read_to_string(&mut text).expect("gzip of text");
        request.lines = text.lines().map(Into::into).collect();
        request.stored = match &act {
            Act::Answer(status, _) => (200..300).contains(status),
            Act::StoreAndClose | Act::StoreAndAnswerLate | Act::StoreAndCutAnswer => true,
            Act::Hang | Act::ResetBeforeReading | Act::CloseAfterReading => false,
        };
        lock(&self.requests).push(request);
        let stream = reader.get_mut();
        match act {
            Act::Answer(status, headers) => {
                let body = if status == 204 { "" } else { r#"{"error":"as told"}"# };
                let mut head = format!("HTTP/1.1 {status} As Told\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    let _ = write!(head, "{name}: {value}\r\n");
                }
                stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
                Ok(true)
            }
            Act::Hang => {
                wait_for_close(stream)?;
                Ok(false)
            }
            Act::StoreAndAnswerLate => {
                wait_for_close(stream)?;
                let _ = stream.write_all(b"HTTP/1.1 202 Late\r\ncontent-length: 0\r\n\r\n");
                Ok(false)
            }
            Act::StoreAndCutAnswer => {
                stream.write_all(b"HTTP/1.1 202 Cut\r\ncontent-length: 100\r\n\r\n{\"acc")?;
                Ok(false)
            }
            Act::ResetBeforeReading | Act::CloseAfterReading | Act::StoreAndClose => Ok(false),
        }
    }
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(each, _)| each == name).map(|(_, value)| &**value)
    }
}

fn read_headers(reader: &mut BufReader<TcpStream>) -> std::io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => return Ok(headers),
        }
    }
}

fn wait_for_close(stream: &mut TcpStream) -> std::io::Result<()> {
    while stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread of the server panicked")
}
