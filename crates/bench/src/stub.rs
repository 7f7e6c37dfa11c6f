//! A service of the tests' own: answers every request after a script, on a free port of this machine.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::http::Target;

/// Answers of the stub: the number of the request, from 0, to what is written back; `None` hangs up.
pub(crate) type Script = fn(usize) -> Option<String>;

/// In place of an answer's first line end: the stub closes the connection after the answer, as an idle one.
pub(crate) const HANGS_UP: &str = "\r\nX-Then: hang up\r\n";

/// The stub; its threads end with the test's process.
#[derive(Debug)]
pub(crate) struct Stub {
    /// Where it listens.
    pub(crate) target: Target,
    requests: Arc<AtomicUsize>,
}

impl Stub {
    /// Starts a stub.
    pub(crate) fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counter = Arc::clone(&counter);
                thread::spawn(move || serve(stream, script, &counter));
            }
        });
        Self { target: Target::parse(&url, "secret").expect("a loopback address"), requests }
    }

    /// Requests received whole so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// A 202 with these counts.
pub(crate) fn accepted(accepted: u64, duplicates: u64) -> String {
    answer("202 Accepted", &format!(r#"{{"accepted":{accepted},"duplicates":{duplicates}}}"#))
}

/// An answer with a JSON body.
pub(crate) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn serve(mut stream: TcpStream, script: Script, counter: &AtomicUsize) {
    let mut received = Vec::new();
    loop {
        let Some(request_bytes) = whole(&received) else {
            let mut more = [0; 4096];
            match stream.read(&mut more) {
                Ok(bytes) if bytes > 0 => received.extend_from_slice(&more[..bytes]),
                _ => return,
            }
            continue;
        };
        received.drain(..request_bytes);
        thread::sleep(Duration::from_micros(200));
        let Some(answer) = script(counter.fetch_add(1, Ordering::SeqCst)) else { return };
        if stream.write_all(answer.as_bytes()).is_err() || answer.contains(HANGS_UP) {
            return;
        }
    }
}

/// Length of the first request, once it is whole.
fn whole(received: &[u8]) -> Option<usize> {
    let head_bytes = received.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&received[..head_bytes]).expect("a head is text");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let body_bytes = length.map_or(0, |length| length.parse::<usize>().expect("a length"));
    (received.len() >= head_bytes + body_bytes).then_some(head_bytes + body_bytes)
}
