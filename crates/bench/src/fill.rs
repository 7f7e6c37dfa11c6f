//! Fills a running service with the population for reads.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::body::{Packer, Request};
use crate::client::Connection;
use crate::http::Target;
use crate::load::single_threaded;
use crate::past::Past;
use crate::population::Population;

/// Connections to fill over.
const CONNECTIONS: usize = 8;
/// Requests ready for each connection.
const READY: usize = 4;
/// How often one request is sent before the fill gives up.
const TRIES: u32 = 20;
/// Pause before a request is sent again, when the answer names none.
const PAUSE: Duration = Duration::from_secs(1);

/// How to fill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Queries in all.
    pub(crate) count: u64,
    /// Source of the population; the same seed and end again adds nothing.
    pub(crate) seed: u64,
    /// When the 90 days end, in Unix nanoseconds.
    pub(crate) end_unix_ns: i64,
}

/// What a fill did.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Filled {
    /// Queries sent.
    pub(crate) queries: u64,
    /// Requests sent and taken.
    pub(crate) requests: u64,
    /// Queries the service took for new.
    pub(crate) accepted: u64,
    /// Queries it had.
    pub(crate) duplicates: u64,
    /// Answers other than 202, each followed by another try; by status code.
    pub(crate) refusals: BTreeMap<u16, u64>,
    /// Seconds from the first request to the last answer.
    pub(crate) seconds: f64,
    /// CPU seconds of the thread that made the requests.
    pub(crate) making_cpu_s: f64,
}

impl Filled {
    /// What makes the fill incomplete; empty when nothing does.
    pub(crate) fn faults(&self) -> Vec<String> {
        let taken = self.accepted + self.duplicates;
        let fault = || format!("{} queries sent, {taken} acknowledged", self.queries);
        (taken != self.queries).then(fault).into_iter().collect()
    }
}

#[derive(Deserialize)]
struct Counts {
    accepted: u64,
    duplicates: u64,
}

/// Sends the whole population; ends when all of it is stored.
///
/// # Errors
/// When a request is refused for good, or 20 times in a row.
pub(crate) fn run(target: &Target, options: Options) -> Result<Filled> {
    let begin = Instant::now();
    let population = Population::new(options.seed);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..CONNECTIONS).map(|_| mpsc::channel(READY)).unzip();
    let (filled, making_cpu_s) = thread::scope(|scope| {
        let maker = scope.spawn(move || {
            let mut packer = Packer::default();
            for (home, body) in
                Past::new(&population, options.seed, options.count, options.end_unix_ns).flatten()
            {
                // A connection that gave up ends the whole: its error is reported below.
                if senders[home % CONNECTIONS].blocking_send(packer.request(target, &body)).is_err() {
                    break;
                }
            }
            crate::process::thread_cpu_seconds()
        });
        let filled = single_threaded().and_then(|runtime| runtime.block_on(send_all(target, receivers)));
        (filled, maker.join().expect("the maker does not panic"))
    });
    Ok(Filled { seconds: begin.elapsed().as_secs_f64(), making_cpu_s, ..filled? })
}

async fn send_all(target: &Target, receivers: Vec<Receiver<Request>>) -> Result<Filled> {
    let mut sending = JoinSet::new();
    for receiver in receivers {
        sending.spawn(send_each(Connection::to(target.address), receiver));
    }
    let mut all = Filled::default();
    while let Some(filled) = sending.join_next().await {
        let filled = filled.context("a connection's task ended")??;
        all.queries += filled.queries;
        all.requests += filled.requests;
        all.accepted += filled.accepted;
        all.duplicates += filled.duplicates;
        for (status, count) in filled.refusals {
            *all.refusals.entry(status).or_default() += count;
        }
    }
    Ok(all)
}

async fn send_each(mut connection: Connection, mut requests: Receiver<Request>) -> Result<Filled> {
    let mut filled = Filled::default();
    while let Some(request) = requests.recv().await {
        let counts = deliver(&mut connection, &request, &mut filled.refusals).await?;
        filled.requests += 1;
        filled.queries += request.queries;
        filled.accepted += counts.accepted;
        filled.duplicates += counts.duplicates;
    }
    Ok(filled)
}

/// Sends a request until it is taken, as a sender of the protocol does.
async fn deliver(
    connection: &mut Connection,
    request: &Request,
    refusals: &mut BTreeMap<u16, u64>,
) -> Result<Counts> {
    let mut last = String::new();
    for _ in 0..TRIES {
        let pause = match connection.send(&request.bytes).await {
            Ok(answer) if answer.status == 202 => {
                return serde_json::from_slice(&answer.body).context("a 202 without its counts");
            }
            Ok(answer) => {
                last = format!("status {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
                if answer.status != 429 && answer.status < 500 {
                    bail!("the service refuses the population: {last}");
                }
                *refusals.entry(answer.status).or_default() += 1;
                answer.retry_after_s.map_or(PAUSE, |seconds| Duration::from_secs(seconds.clamp(1, 10)))
            }
            Err(error) => {
                last = format!("{error:#}");
                PAUSE
            }
        };
        sleep(pause).await;
    }
    bail!("{TRIES} tries failed, the last one with {last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub::{Stub, accepted, answer};

    const OPTIONS: Options = Options { count: 2_000, seed: 1, end_unix_ns: 1_795_206_683_560_726_422 };

    #[test]
    fn everything_is_sent_and_a_busy_service_waited_for() {
        let stub =
            Stub::start(|number| Some(if number == 3 { answer("503 Busy", "{}") } else { accepted(1, 2) }));
        let filled = run(&stub.target, OPTIONS).expect("a fill");
        assert_eq!(filled.queries, 2_000);
        assert_eq!(filled.requests as usize + 1, stub.requests());
        assert_eq!((filled.accepted, filled.duplicates), (filled.requests, filled.requests * 2));
        assert_eq!(filled.refusals, BTreeMap::from([(503, 1)]));
    }

    #[test]
    fn a_refusal_for_good_ends_the_fill() {
        let stub = Stub::start(|_| Some(answer("400 Bad Request", r#"{"error":"no"}"#)));
        let error = run(&stub.target, OPTIONS).expect_err("refused");
        assert!(error.to_string().contains("status 400"), "{error}");
    }
}
