//! Sends prepared requests over many connections and keeps account of the answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;
use tokio::runtime::{self, Runtime};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use crate::body::{Ready, Request};
use crate::client::Connection;
use crate::http::Response;
use crate::latency::{Latencies, Percentiles};

/// Requests a connection sends before the clock runs.
const WARM_UP: usize = 2;
/// Requests in a row without an answer after which a connection gives up.
const BROKEN_MAX: u32 = 5;
/// Shortest sleep of an open-loop run between two handfuls of requests: a wake-up costs more than a request.
const TICK: Duration = Duration::from_micros(500);
/// How long an open-loop run may go on after its last scheduled request.
const OVERTIME: Duration = Duration::from_secs(5);

/// When to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// Each connection sends as soon as it has been answered.
    Closed,
    /// So many requests a second, whatever the answers do; latency counts from the scheduled time.
    Open(f64),
}

/// What the answers of a run were.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub(crate) struct Account {
    /// From the first request to the last answer.
    pub(crate) seconds: f64,
    /// Requests answered.
    pub(crate) requests: u64,
    /// Bytes of the batches before compression.
    pub(crate) decoded_bytes: u64,
    /// Bytes sent.
    pub(crate) sent_bytes: u64,
    /// Events sent, process events left out.
    pub(crate) events: u64,
    /// Queries begun.
    pub(crate) queries: u64,
    /// Events the service took, by its own count.
    pub(crate) accepted: u64,
    /// Events the service knew already, by its own count.
    pub(crate) duplicates: u64,
    /// Answers by status code.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Requests without an answer.
    pub(crate) broken: u64,
    /// Requests of an open-loop run that were due and never sent.
    pub(crate) unsent: u64,
    /// Whether the run ended early because the prepared requests were used up.
    pub(crate) used_up: bool,
    /// The first thing that went wrong.
    pub(crate) problem: Option<String>,
    /// Latency of the answers.
    pub(crate) latency: Percentiles,
    /// How late an open-loop run sent its requests.
    pub(crate) lateness: Percentiles,
}

impl Account {
    /// What makes the figures of this run worthless; empty when nothing does.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (status, count) in self.statuses.iter().filter(|(status, _)| **status != 202) {
            faults.push(format!("{count} answers of status {status}"));
        }
        for (count, what) in [
            (self.broken, "requests without an answer"),
            (self.unsent, "requests due and not sent"),
            (self.duplicates, "events the service took for duplicates"),
        ] {
            if count > 0 {
                faults.push(format!("{count} {what}"));
            }
        }
        if faults.is_empty() && self.accepted != self.events {
            faults.push(format!("{} events sent, {} accepted", self.events, self.accepted));
        }
        if self.requests == 0 {
            faults.push("nothing was answered".into());
        }
        faults.extend(self.problem.iter().map(|problem| format!("first problem: {problem}")));
        faults
    }

    fn add(&mut self, request: &Request, answer: Result<Response>) {
        match answer {
            Ok(answer) => {
                self.requests += 1;
                self.decoded_bytes += request.decoded_bytes;
                self.sent_bytes += request.bytes.len() as u64;
                self.events += request.events;
                self.queries += request.queries;
                *self.statuses.entry(answer.status).or_default() += 1;
                match serde_json::from_slice::<Counts>(&answer.body) {
                    Ok(counts) if answer.status == 202 => {
                        self.accepted += counts.accepted;
                        self.duplicates += counts.duplicates;
                    }
                    _ => self.note(|| {
                        let body = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]);
                        format!("status {}: {body}", answer.status)
                    }),
                }
            }
            Err(error) => {
                self.broken += 1;
                self.note(|| format!("{error:#}"));
            }
        }
    }

    fn note(&mut self, problem: impl FnOnce() -> String) {
        self.problem.get_or_insert_with(problem);
    }

    fn join(&mut self, other: Self) {
        self.requests += other.requests;
        self.decoded_bytes += other.decoded_bytes;
        self.sent_bytes += other.sent_bytes;
        self.events += other.events;
        self.queries += other.queries;
        self.accepted += other.accepted;
        self.duplicates += other.duplicates;
        self.broken += other.broken;
        self.unsent += other.unsent;
        self.used_up |= other.used_up;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        if let Some(problem) = other.problem {
            self.note(|| problem);
        }
    }
}

/// The body of a 202.
#[derive(Deserialize)]
struct Counts {
    accepted: u64,
    duplicates: u64,
}

/// The runtime of the generator: one thread, so that the service keeps the other cores.
///
/// # Errors
/// When the operating system refuses it.
pub(crate) fn single_threaded() -> Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")
}

/// Connections that are open and warm, with what is left for them to send.
#[derive(Debug)]
pub(crate) struct Fleet {
    lanes: Vec<Lane>,
    warm_up_queries: u64,
}

impl Fleet {
    /// Opens a connection for each list of requests and sends the first two of each, uncounted.
    ///
    /// # Errors
    /// When one of them is not answered with 202.
    pub(crate) async fn open(pool: Vec<Ready>) -> Result<Self> {
        let mut opening = JoinSet::new();
        for Ready { address, requests } in pool {
            let connection = Connection::to(address);
            let mut lane = Lane {
                connection,
                requests,
                next: 0,
                account: Account::default(),
                samples: Samples::default(),
            };
            opening.spawn(async move {
                for _ in 0..WARM_UP.min(lane.requests.len()) {
                    lane.send(None).await;
                }
                lane
            });
        }
        let mut fleet = Self { lanes: opening.join_all().await, warm_up_queries: 0 };
        for lane in &mut fleet.lanes {
            let warm_up = std::mem::take(&mut lane.account);
            let faults = warm_up.faults();
            anyhow::ensure!(faults.is_empty(), "the service does not take events: {}", faults.join("; "));
            lane.samples = Samples::default();
            fleet.warm_up_queries += warm_up.queries;
        }
        Ok(fleet)
    }

    /// Queries the service holds of the warm-up.
    pub(crate) fn warm_up_queries(&self) -> u64 {
        self.warm_up_queries
    }

    /// Runs for so long at most, less when the requests are used up.
    pub(crate) async fn run(self, duration: Duration, pace: Pace) -> Account {
        let begin = Instant::now();
        let mut running = JoinSet::new();
        let mut schedule = Vec::new();
        for lane in self.lanes {
            if pace == Pace::Closed {
                running.spawn(lane.run_closed(begin + duration));
            } else {
                let (due, receiver) = mpsc::unbounded_channel();
                schedule.push(due);
                running.spawn(lane.run_open(receiver, begin + duration + OVERTIME));
            }
        }
        let pacer = match pace {
            Pace::Closed => None,
            Pace::Open(rate) => Some(std::thread::spawn(move || keep_pace(&schedule, begin, duration, rate))),
        };
        let mut account = Account::default();
        let mut samples = Samples::default();
        for lane in running.join_all().await {
            account.join(lane.account);
            samples.latency.extend(lane.samples.latency);
            samples.lateness.extend(lane.samples.lateness);
        }
        account.seconds = begin.elapsed().as_secs_f64();
        if let Some(pacer) = pacer {
            pacer.join().expect("the pacer does not panic");
        }
        account.latency = samples.latency.percentiles();
        account.lateness = samples.lateness.percentiles();
        account
    }
}

/// Hands out scheduled times round the connections, those of a tick at once. A sleeping thread is exact to some
/// 0.1 ms, while the runtime's timer is to 1 ms.
fn keep_pace(lanes: &[mpsc::UnboundedSender<Instant>], begin: Instant, duration: Duration, rate: f64) {
    let count = (duration.as_secs_f64() * rate) as u64;
    for number in 0..count {
        let due = begin + Duration::from_secs_f64(number as f64 / rate);
        let early = due.saturating_duration_since(Instant::now());
        if early > Duration::ZERO {
            std::thread::sleep(early.max(TICK));
        }
        // A connection that gave up takes no more; what it leaves is counted as broken.
        let _ = lanes[number as usize % lanes.len()].send(due);
    }
}

#[derive(Debug, Default)]
struct Samples {
    latency: Latencies,
    lateness: Latencies,
}

#[derive(Debug)]
struct Lane {
    connection: Connection,
    requests: Vec<Request>,
    next: usize,
    account: Account,
    samples: Samples,
}

impl Lane {
    async fn run_closed(mut self, deadline: Instant) -> Self {
        let mut broken = 0;
        while Instant::now() < deadline && broken < BROKEN_MAX {
            if self.next == self.requests.len() {
                self.account.used_up = true;
                break;
            }
            broken = if self.send(None).await { 0 } else { broken + 1 };
        }
        self
    }

    async fn run_open(mut self, mut schedule: UnboundedReceiver<Instant>, deadline: Instant) -> Self {
        let mut broken = 0;
        while broken < BROKEN_MAX
            && let Ok(Some(due)) = timeout_at(deadline.into(), schedule.recv()).await
        {
            if self.next == self.requests.len() {
                self.account.used_up = true;
                self.account.unsent += 1;
                break;
            }
            broken = if self.send(Some(due)).await { 0 } else { broken + 1 };
        }
        schedule.close();
        while schedule.try_recv().is_ok() {
            self.account.unsent += 1;
        }
        self
    }

    /// Sends the next request; says whether it was answered.
    async fn send(&mut self, due: Option<Instant>) -> bool {
        let request = &self.requests[self.next];
        self.next += 1;
        let sent = Instant::now();
        let answer = self.connection.send(&request.bytes).await;
        let answered = answer.is_ok();
        if answered {
            self.samples.latency.push(due.unwrap_or(sent).elapsed());
            self.samples.lateness.push(due.map_or(Duration::ZERO, |due| sent.saturating_duration_since(due)));
        }
        self.account.add(request, answer);
        answered
    }
}

#[cfg(test)]
mod tests;
