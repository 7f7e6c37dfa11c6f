//! A bad way between a sender and the service.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use queryscope_store::unpack;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use queryscope_torture::Client;

/// Batches of more lines are too large, while the way is bad.
const LINES_MAX: usize = 12;

/// Passes requests on to the service, and at times does not, or loses the answer.
pub(super) struct Proxy {
    pub(super) url: String,
    way: Arc<Way>,
}

struct Way {
    service: Mutex<Option<Client>>,
    random: Mutex<StdRng>,
    /// What was answered with 202, as an events file.
    acknowledged: Mutex<File>,
    good: AtomicBool,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    RequestLost,
    ResetBeforeReading,
    AnswerLost,
    Unavailable,
}

impl Proxy {
    pub(super) fn start(seed: u64, acknowledged: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let way = Arc::new(Way {
            service: Mutex::default(),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            acknowledged: Mutex::new(File::create(acknowledged).expect("a file")),
            good: AtomicBool::new(false),
        });
        let served = Arc::clone(&way);
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let served = Arc::clone(&served);
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Ok(true) = served.serve_one(&mut reader) {}
                });
            }
        });
        Self { url: format!("http://{address}"), way }
    }

    /// Leads to the service at another address.
    pub(super) fn lead_to(&self, url: &str) {
        *self.way.service.lock().expect("no panic") = Some(Client::new(url));
    }

    /// From now on everything is passed on.
    pub(super) fn be_good(&self) {
        self.way.good.store(true, Ordering::Relaxed);
    }
}

impl Way {
    /// Serves a request; whether another may come over this connection.
    fn serve_one(&self, reader: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
        let mut length = None;
        let mut token = None;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(false);
            }
            let line = line.trim();
            match line.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().ok()
                }
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                    token = value.strip_prefix("Bearer ").map(str::to_owned);
                }
                _ if line.is_empty() => break,
                _ => {}
            }
        }
        let fault = self.fault();
        if matches!(fault, Fault::ResetBeforeReading) {
            return Ok(false);
        }
        let mut body = vec![0; length.expect("a length")];
        reader.read_exact(&mut body)?;
        match fault {
            Fault::RequestLost => Ok(false),
            Fault::Unavailable => {
                reader
                    .get_mut()
                    .write_all(b"HTTP/1.1 503 X\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n")?;
                Ok(true)
            }
            Fault::None | Fault::ResetBeforeReading | Fault::AnswerLost => {
                let text = unpack(&body).expect("gzip");
                let passed_on = self.pass_on(&token.expect("a token"), &body, &text);
                if matches!(fault, Fault::AnswerLost) {
                    return Ok(false);
                }
                // As a proxy says it of a service that is away.
                let status = passed_on.unwrap_or(503);
                let answer = format!("HTTP/1.1 {status} X\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n");
                reader.get_mut().write_all(answer.as_bytes())?;
                Ok(true)
            }
        }
    }

    /// The answer of the service; `None` when it does not answer.
    fn pass_on(&self, token: &str, body: &[u8], text: &[u8]) -> Option<u16> {
        let lines = text.split_inclusive(|byte| *byte == b'\n').count();
        if lines > LINES_MAX && !self.good.load(Ordering::Relaxed) {
            return Some(413);
        }
        let client = self.service.lock().expect("no panic").clone()?;
        let status = client.post(token, body).ok()?.status;
        if status == 202 {
            self.acknowledged.lock().expect("no panic").write_all(text).expect("written");
        }
        Some(status)
    }

    fn fault(&self) -> Fault {
        if self.good.load(Ordering::Relaxed) {
            return Fault::None;
        }
        match self.random.lock().expect("no panic").random_range(0..12) {
            0 => Fault::RequestLost,
            1 => Fault::ResetBeforeReading,
            2 | 3 => Fault::AnswerLost,
            4 => Fault::Unavailable,
            _ => Fault::None,
        }
    }
}
