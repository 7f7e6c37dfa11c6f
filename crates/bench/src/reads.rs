//! How fast a filled service answers its readers.

use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rand::RngExt;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::RwLock;

use crate::client::Connection;
use crate::http::Target;
use crate::ids::{self, Random};
use crate::ingest;
use crate::latency::{Latencies, Percentiles};
use crate::load::{Pace, single_threaded};
use crate::requests::{self, Request};
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};

/// Requests of each kind before those that count.
const WARM_UP: usize = 3;
/// How long one kind of request is measured at most.
const EACH_AT_MOST: Duration = Duration::from_secs(10);
/// How long W3 runs beside the reads before its next requests are made ready.
const LOAD_ROUND: Duration = Duration::from_secs(15);
/// Pages the samples come from, spread over the time.
const SAMPLE_PAGES: usize = 20;
/// Queries of each of those pages.
const SAMPLE_PAGE: usize = 50;
/// Member of a sample that is no field of it: the id of some change.
const CHANGE: &str = "change";
const HALF_HOUR_NS: i64 = 1_800 * 1_000_000_000;
const WEEK_NS: i64 = 7 * 86_400 * 1_000_000_000;

/// What one kind of request showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// What was asked for.
    pub(crate) name: String,
    /// Path and query, with placeholders.
    pub(crate) path: String,
    /// Requests that count.
    pub(crate) requests: usize,
    /// Bytes of an answer's body on average.
    pub(crate) body_bytes: usize,
    /// Answers other than 200.
    pub(crate) refused: usize,
    /// The first answer other than 200.
    pub(crate) problem: Option<String>,
    /// Time to the whole answer.
    pub(crate) latency: Percentiles,
    /// 95 of 100 are to be answered within this many milliseconds.
    pub(crate) goal_p95_ms: Option<f64>,
}

impl Measured {
    /// What makes the figures of this kind worthless; empty when nothing does.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.problem.iter().map(|problem| format!("{} refused, first {problem}", self.refused)).collect()
    }
}

/// Sends each kind of request so many times, one after the other on one connection.
///
/// # Errors
/// When the service holds no ended queries, or does not answer.
pub(crate) fn run(target: &Target, count: usize, seed: u64) -> Result<Vec<Measured>> {
    run_in_turn(target, count, seed, &RwLock::new(()))
}

/// The same, where none of them is on its way while somebody holds `turn` to write.
fn run_in_turn(target: &Target, count: usize, seed: u64, turn: &RwLock<()>) -> Result<Vec<Measured>> {
    run_some(target, &requests::all(), count, seed, turn)
}

/// The same of these kinds of request.
pub(crate) fn run_some(
    target: &Target,
    requests: &[Request],
    count: usize,
    seed: u64,
    turn: &RwLock<()>,
) -> Result<Vec<Measured>> {
    single_threaded()?.block_on(async {
        let mut reader = Reader { target, connection: Connection::to(target.address), turn };
        let mut random = ids::random(seed, 2);
        let samples = reader.samples(&mut random).await?;
        let has_changes = samples.iter().any(|query| query.get(CHANGE).is_some());
        let mut all = Vec::new();
        // Where nothing changed there is no change to ask for.
        for read in requests.iter().filter(|read| has_changes || !read.path.contains("{change}")) {
            all.push(reader.measure(read, &samples, count, &mut random).await?);
        }
        Ok(all)
    })
}

/// The same while W3 runs at so many requests a second; and what the rounds of W3 showed.
///
/// # Errors
/// Those of [`run`], and when the service takes no events.
pub(crate) fn run_beside(
    shapes: &Shapes,
    target: &Target,
    count: usize,
    seed: u64,
    rate: f64,
) -> Result<(Vec<Measured>, Vec<ingest::Measured>)> {
    let (turn, ended) = (RwLock::new(()), AtomicBool::new(false));
    let (turn, ended) = (&turn, &ended);
    thread::scope(|scope| {
        let mut preparing = turn.blocking_write();
        let load = scope.spawn(move || -> Result<Vec<ingest::Measured>> {
            let mut rounds = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let options = ingest::Options {
                    workload: Workload::W3,
                    duration: LOAD_ROUND,
                    connections: Workload::W3.connections(),
                    pace: Pace::Open(rate),
                    pool_rate: 0.0,
                    seed: seed.wrapping_add(1 + rounds.len() as u64),
                    watched: Watched::default(),
                };
                let ready = ingest::prepare(shapes, from_ref(target), &options)?;
                drop(preparing);
                rounds.push(ready.send()?);
                preparing = turn.blocking_write();
            }
            Ok(rounds)
        });
        let reads = run_in_turn(target, count, seed, turn);
        ended.store(true, Ordering::Relaxed);
        Ok((reads?, load.join().expect("the load does not panic")?))
    })
}

struct Reader<'a> {
    target: &'a Target,
    connection: Connection,
    turn: &'a RwLock<()>,
}

impl Reader<'_> {
    async fn list(&mut self, parameters: &str) -> Result<Vec<Value>> {
        let path = format!("/api/queries?{parameters}");
        let answer = self.connection.send(&self.target.get(&path)).await?;
        ensure!(answer.status == 200, "{path} was answered {}", answer.status);
        serde_json::from_slice(&answer.body).with_context(|| format!("{path} gave no list"))
    }

    /// Ended queries from all over the stored time.
    async fn samples(&mut self, random: &mut Random) -> Result<Vec<Value>> {
        let mut bounds = Vec::new();
        for newest_then_oldest in ["limit=1", "limit=1&order=oldest"] {
            let page = self.list(newest_then_oldest).await?;
            bounds.extend(page.first().and_then(started_unix_ns));
        }
        let [newest, oldest] = bounds[..] else { anyhow::bail!("the service holds no queries") };
        let mut samples = Vec::new();
        for _ in 0..SAMPLE_PAGES {
            let until = random.random_range(oldest..=newest);
            samples.extend(self.list(&format!("limit={SAMPLE_PAGE}&until={until}")).await?);
        }
        samples.retain(|query| query["status"] == "finished" || query["status"] == "failed");
        ensure!(!samples.is_empty(), "the service holds no ended queries");
        let changes = self.changes().await?;
        for (query, change) in samples.iter_mut().zip(changes.iter().cycle()) {
            query[CHANGE] = change.clone();
        }
        Ok(samples)
    }

    /// Ids of changes, those that cost most.
    async fn changes(&mut self) -> Result<Vec<Value>> {
        let answer = self.connection.send(&self.target.get("/api/changes?limit=1000")).await?;
        ensure!(answer.status == 200, "/api/changes was answered {}", answer.status);
        let page: Value = serde_json::from_slice(&answer.body).context("/api/changes gave no page")?;
        let changes = page["changes"].as_array().into_iter().flatten();
        Ok(changes.map(|change| change["id"].clone()).collect())
    }

    async fn measure(
        &mut self,
        read: &Request,
        samples: &[Value],
        count: usize,
        random: &mut Random,
    ) -> Result<Measured> {
        let mut measured = Measured {
            name: read.name.clone(),
            path: read.path.clone(),
            requests: 0,
            body_bytes: 0,
            refused: 0,
            problem: None,
            latency: Percentiles::default(),
            goal_p95_ms: read.goal_p95_ms,
        };
        let fitting: Vec<_> =
            samples.iter().filter(|query| fill_in(&read.path, query, query).is_some()).collect();
        ensure!(!fitting.is_empty(), "no stored query fits {}", read.path);
        let mut latencies = Latencies::default();
        let mut spent = Duration::ZERO;
        for number in 0..WARM_UP + count {
            if spent > EACH_AT_MOST {
                break;
            }
            let [query, other] = [(); 2].map(|()| fitting[random.random_range(0..fitting.len())]);
            let path = fill_in(&read.path, query, other).context("a query that fits no longer does")?;
            let request = self.target.get(&path);
            let turn = self.turn.read().await;
            let sent = Instant::now();
            let answer = self.connection.send(&request).await.with_context(|| format!("GET {path}"))?;
            let latency = sent.elapsed();
            drop(turn);
            spent += latency;
            if answer.status != 200 {
                measured.refused += 1;
                let body = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]);
                measured.problem.get_or_insert_with(|| format!("GET {path}: {} {body}", answer.status));
            }
            if number >= WARM_UP {
                measured.requests += 1;
                measured.body_bytes += answer.body.len();
                latencies.push(latency);
            }
        }
        measured.body_bytes /= measured.requests.max(1);
        measured.latency = latencies.percentiles();
        Ok(measured)
    }
}

/// The path for a query and another one; `None` when they lack a field the path asks for.
fn fill_in(path: &str, query: &Value, other: &Value) -> Option<String> {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, (field, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        filled.push_str(before);
        match field {
            "since" => filled.push_str(&(started_unix_ns(query)? - HALF_HOUR_NS).to_string()),
            "until" => filled.push_str(&(started_unix_ns(query)? + HALF_HOUR_NS).to_string()),
            "week" => filled.push_str(&(started_unix_ns(query)? - WEEK_NS).to_string()),
            _ => {
                let value = match field.strip_prefix("other.") {
                    Some(field) => other.get(field),
                    None => query.get(field),
                };
                filled.extend(utf8_percent_encode(value?.as_str()?, NON_ALPHANUMERIC));
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn started_unix_ns(query: &Value) -> Option<i64> {
    query.get("started_unix_ns")?.as_i64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stub::{Stub, answer};

    #[test]
    fn a_path_is_filled_in_or_does_not_fit() {
        let query = json!({"label": "a/b c", "host": null, "started_unix_ns": 1_800_000_000_005_i64});
        let other = json!({"host": "h"});
        let check =
            |path, expected: Option<&str>| assert_eq!(fill_in(path, &query, &other).as_deref(), expected);
        check("/api/queries", Some("/api/queries"));
        check("/x?label={label}&status=y", Some("/x?label=a%2Fb%20c&status=y"));
        check("/x?since={since}&until={until}", Some("/x?since=5&until=3600000000005"));
        check("/x?host={host}", None);
        check("/x?host={other.host}&label={label}", Some("/x?host=h&label=a%2Fb%20c"));
        check("/x?label={other.label}", None);
        check("/x?service={service}", None);
    }

    const QUERY: &str = r#"[{"query_id":"q","label":"l","fingerprint":"f","service":"s","environment":"e",
        "host":"h","status":"finished","started_unix_ns":1795206683560726422}]"#;

    #[test]
    fn every_kind_is_measured_and_refusals_are_told() {
        let stub = Stub::start(|number| {
            Some(if number == 30 { answer("500 Oh", "{}") } else { answer("200 OK", QUERY) })
        });
        let measured = run(&stub.target, 5, 1).expect("answers");
        assert_eq!(measured.len(), requests::all().len() - 1, "all but the change, of which there is none");
        assert!(measured.iter().all(|read| read.requests == 5 && read.latency.p50_ms > 0.0));
        assert_eq!(measured.iter().map(|read| read.refused).sum::<usize>(), 1);
        let problems: Vec<_> = measured.iter().filter_map(|read| read.problem.as_deref()).collect();
        assert!(problems.len() == 1 && problems[0].contains("500"), "{problems:?}");
    }

    #[test]
    fn nothing_is_read_while_requests_of_the_load_are_made_ready() {
        const SAMPLING: usize = 2 + SAMPLE_PAGES + 1;
        let stub = Stub::start(|_| Some(answer("200 OK", QUERY)));
        let turn = RwLock::new(());
        thread::scope(|scope| {
            let preparing = turn.blocking_write();
            let reads = scope.spawn(|| run_in_turn(&stub.target, 5, 1, &turn));
            while stub.requests() < SAMPLING {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(50));
            assert_eq!(stub.requests(), SAMPLING);
            drop(preparing);
            let measured = reads.join().expect("no panic").expect("answers");
            assert_eq!(stub.requests(), SAMPLING + measured.len() * (WARM_UP + 5));
        });
    }

    #[test]
    fn an_empty_service_is_an_error() {
        let stub = Stub::start(|_| Some(answer("200 OK", "[]")));
        assert!(run(&stub.target, 5, 1).expect_err("no queries").to_string().contains("no queries"));
    }
}
