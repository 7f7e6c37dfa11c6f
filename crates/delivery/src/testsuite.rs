//! A receiver of messages that fails on demand, for tests.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What it does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It answers with this status.
    Status(u16),
    /// It answers with this status, and `Retry-After` in seconds.
    RetryAfter(u16, u64),
    /// It takes the request, and answers 200 after so long.
    Late(Duration),
    /// It takes the request, and closes the connection without an answer.
    Silent,
}

/// A request it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: String,
    /// What was done with it.
    pub answer: Answer,
}

impl Received {
    /// Whether a receiver that behaved so has taken it.
    pub fn is_taken(&self) -> bool {
        match self.answer {
            Answer::Status(status) => (200..300).contains(&status),
            Answer::RetryAfter(..) => false,
            Answer::Late(_) | Answer::Silent => true,
        }
    }

    /// Its idempotency key.
    pub fn key(&self) -> &str {
        self.headers.get("idempotency-key").map_or("", String::as_str)
    }
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Answer>,
    received: Vec<Received>,
    answered: usize,
}

/// A receiver on a port of this machine. It answers 200 where nothing else was asked for.
#[derive(Debug)]
pub struct TestReceiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestReceiver {
    /// Starts on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub fn start() -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// Starts on an address, as after a restart.
    ///
    /// # Panics
    /// When it is taken.
    pub fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).expect("an address to listen on");
        let address = listener.local_addr().expect("an address");
        let (state, stopped) = (Arc::<Mutex<State>>::default(), Arc::<AtomicBool>::default());
        let (of_thread, stop) = (Arc::clone(&state), Arc::clone(&stopped));
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&of_thread);
                std::thread::spawn(move || {
                    // A sender that goes away is no failure of this.
                    let _ = serve(connection, &state);
                });
            }
        });
        Self { address, state, stopped, thread: Some(thread) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Says what it does with the next requests.
    pub fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        lock(&self.state).script.extend(answers);
    }

    /// All it got.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.state).received.clone()
    }

    /// How many requests it has answered.
    pub fn answered(&self) -> usize {
        lock(&self.state).answered
    }

    /// What a receiver that honours keys has of this: the body of each key it took, once.
    ///
    /// # Panics
    /// When a key came with two bodies.
    pub fn taken(&self) -> BTreeMap<String, String> {
        let mut taken: BTreeMap<String, String> = BTreeMap::new();
        for request in self.received().into_iter().filter(Received::is_taken) {
            let body = taken.entry(request.key().to_owned()).or_insert_with(|| request.body.clone());
            assert_eq!(*body, request.body, "the content of {} changed", request.key());
        }
        taken
    }
}

impl Drop for TestReceiver {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(connection: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut writer = connection.try_clone()?;
    let mut reader = BufReader::new(connection);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        let answer = {
            let mut state = lock(state);
            let answer = state.script.pop_front().unwrap_or(Answer::Status(200));
            state.received.push(Received { path, headers, body, answer: answer.clone() });
            answer
        };
        let (status, further) = match answer {
            Answer::Status(status) => (status, String::new()),
            Answer::RetryAfter(status, seconds) => (status, format!("retry-after: {seconds}\r\n")),
            Answer::Late(wait) => {
                std::thread::sleep(wait);
                (200, String::new())
            }
            Answer::Silent => return Ok(()),
        };
        writer
            .write_all(format!("HTTP/1.1 {status} X\r\n{further}content-length: 2\r\n\r\nok").as_bytes())?;
        lock(state).answered += 1;
    }
}
