//! Offers requests at a rate, whatever is answered: one thread, connections that are open before, and in the measured
//! time no more than a write and a read for each request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;

use super::crowd::{OPEN_PAUSE, OPENED_AT_ONCE};
use crate::body::Ready;
use crate::http::{Response, take_response};
use crate::latency::Latencies;
use crate::process::thread_cpu_seconds;

/// Requests written between two looks at what was answered.
const WRITTEN_AT_ONCE: usize = 32;
/// Answers read between two looks at what is due.
const READ_AT_ONCE: usize = 64;
/// Longest wait for an answer while nothing is due.
const LOOK: Duration = Duration::from_millis(1);
/// How long answers may take after the last request.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);
/// Bytes of an answer, about twice what it takes.
const ANSWER_BYTES: usize = 1024;

/// What senders do after a 503.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Senders {
    /// They go on with the next batch, when it is due.
    Impatient,
    /// They send the same batch again, after as long as they were asked to wait, as the specification has it.
    Patient,
}

/// What was answered.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// From the first request to the last answer.
    pub(super) seconds: f64,
    /// CPU seconds it took to offer them.
    pub(super) cpu_s: f64,
    pub(super) good: u64,
    pub(super) busy: u64,
    pub(super) no_retry_after: u64,
    /// Requests with another answer, or with none.
    pub(super) others: u64,
    pub(super) good_after: Latencies,
    pub(super) busy_after: Latencies,
}

/// Connections that are open.
pub(super) struct Lanes {
    address: SocketAddr,
    epoll: OwnedFd,
    open: Vec<Lane>,
}

impl Lanes {
    /// Opens so many.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub(super) fn open(address: SocketAddr, count: usize) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut open = Vec::with_capacity(count);
        for number in 0..count {
            open.push(Lane::open(address, &epoll, number)?);
            if open.len() % OPENED_AT_ONCE == 0 {
                thread::sleep(OPEN_PAUSE);
            }
        }
        Ok(Self { address, epoll, open })
    }

    /// Sends the requests of each connection, one each `every`, later ones as soon as those before are answered, until
    /// `duration` is over or there are no more.
    ///
    /// # Errors
    /// When a connection that was closed cannot be opened again.
    pub(super) fn offer(
        self,
        pool: &[Ready],
        every: Duration,
        duration: Duration,
        senders: Senders,
    ) -> Result<Offered> {
        let Self { address, epoll, open: mut lanes } = self;
        let (begin, used) = (Instant::now(), thread_cpu_seconds());
        let end = begin + duration;
        let first =
            |number: usize| Reverse((begin + every.mul_f64(number as f64 / pool.len() as f64), number));
        let mut due: BinaryHeap<_> = (0..pool.len()).map(first).collect();
        let mut answered = Vec::with_capacity(READ_AT_ONCE);
        let (mut waiting, mut offered) = (0_u64, Offered::default());
        loop {
            let now = Instant::now();
            for _ in 0..WRITTEN_AT_ONCE {
                let Some(Reverse((at, number))) = due.peek().copied() else { break };
                if at > now || now >= end {
                    break;
                }
                due.pop();
                if let Some(request) = pool[number].requests.get(lanes[number].next) {
                    lanes[number].write(&request.bytes, at)?;
                    waiting += 1;
                }
            }
            let is_over = now >= end || due.is_empty();
            if is_over && (waiting == 0 || now >= end + ANSWERS_WITHIN) {
                break;
            }
            let is_due = now < end && due.peek().is_some_and(|Reverse((at, _))| *at <= now);
            let look = Timespec::try_from(if is_due { Duration::ZERO } else { LOOK })?;
            epoll::wait(&epoll, spare_capacity(&mut answered), Some(&look))?;
            for event in answered.drain(..) {
                let number = event.data.u64() as usize;
                let lane = &mut lanes[number];
                let Some(answer) = lane.read().transpose() else { continue };
                if std::mem::take(&mut lane.waits) {
                    waiting -= 1;
                    offered.count(answer.as_ref().ok(), lane.sent.elapsed());
                    let next = match answer.as_ref().ok().and_then(pause_asked_for) {
                        Some(pause) if senders == Senders::Patient => {
                            lane.next -= 1;
                            Instant::now() + pause
                        }
                        _ => (lane.due + every).max(lane.sent),
                    };
                    due.push(Reverse((next, number)));
                }
                if answer.map_or(true, |answer| answer.close) {
                    let next = lane.next;
                    *lane = Lane { next, ..Lane::open(address, &epoll, number)? };
                }
            }
        }
        offered.others += waiting;
        offered.seconds = begin.elapsed().as_secs_f64();
        offered.cpu_s = thread_cpu_seconds() - used;
        Ok(offered)
    }
}

/// How long a sender that was refused is to wait.
fn pause_asked_for(answer: &Response) -> Option<Duration> {
    (answer.status == 503).then(|| Duration::from_secs(answer.retry_after_s.unwrap_or_default()))
}

impl Offered {
    fn count(&mut self, answer: Option<&Response>, after: Duration) {
        match answer.map(|answer| answer.status) {
            Some(202) => {
                self.good += 1;
                self.good_after.push(after);
            }
            Some(503) => {
                self.busy += 1;
                self.no_retry_after += u64::from(answer.is_some_and(|answer| answer.retry_after_s.is_none()));
                self.busy_after.push(after);
            }
            _ => self.others += 1,
        }
    }
}

/// A connection with at most one request that is not answered.
struct Lane {
    stream: TcpStream,
    next: usize,
    due: Instant,
    sent: Instant,
    waits: bool,
    received: Vec<u8>,
}

impl Lane {
    fn open(address: SocketAddr, epoll: &OwnedFd, number: usize) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(epoll, &stream, epoll::EventData::new_u64(number as u64), flags)?;
        let now = Instant::now();
        Ok(Self {
            stream,
            next: 0,
            due: now,
            sent: now,
            waits: false,
            received: Vec::with_capacity(ANSWER_BYTES),
        })
    }

    /// Writes the next request, which fits what the system holds for a connection: all before were answered.
    fn write(&mut self, request: &[u8], due: Instant) -> Result<()> {
        (self.next, self.due, self.sent, self.waits) = (self.next + 1, due, Instant::now(), true);
        // Why a connection broke is told when its answer is read.
        let written = self.stream.write(request).unwrap_or(request.len());
        ensure!(written == request.len(), "a request of {} bytes did not fit a socket", request.len());
        Ok(())
    }

    /// The answer, once it is whole.
    fn read(&mut self) -> Result<Option<Response>> {
        let mut piece = [0; ANSWER_BYTES];
        loop {
            let ended = match self.stream.read(&mut piece) {
                Ok(bytes) => {
                    self.received.extend_from_slice(&piece[..bytes]);
                    bytes == 0
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error).context("the connection broke"),
            };
            if let Some(answer) = take_response(&mut self.received, ended)? {
                return Ok(Some(answer));
            }
            ensure!(!ended, "the connection ended before the answer was whole");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::body::Request;

    /// What a service gets to read that refuses the first request of three, a letter each.
    fn sent_by(senders: Senders) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let service = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let (mut read, mut letter) = (String::new(), [0]);
            while stream.read(&mut letter).expect("open") > 0 {
                let status = if read.is_empty() { "503 Busy\r\nRetry-After: 0" } else { "202 Accepted" };
                read.push(char::from(letter[0]));
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).expect("open");
            }
            read
        });
        let request =
            |letter: &u8| Request { bytes: [*letter].into(), decoded_bytes: 1, events: 1, queries: 1 };
        let pool = [Ready { address, requests: b"abc".iter().map(request).collect() }];
        let lanes = Lanes::open(address, 1).expect("a connection");
        let offered = lanes.offer(&pool, Duration::ZERO, Duration::from_mins(1), senders).expect("answers");
        assert_eq!((offered.busy, offered.no_retry_after, offered.others), (1, 0, 0));
        let read = service.join().expect("no panic");
        assert_eq!(offered.good as usize, read.len() - 1);
        read
    }

    #[test]
    fn the_patient_send_again_what_was_refused_and_the_impatient_what_is_next() {
        assert_eq!(sent_by(Senders::Patient), "aabc");
        assert_eq!(sent_by(Senders::Impatient), "abc");
    }
}
