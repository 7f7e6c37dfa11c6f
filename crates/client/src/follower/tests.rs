use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use queryscope_protocol::{BatchWriter, Event, Node, Process, QueryId, Role, StreamId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::active::{ActiveQuery, Outcome};
use crate::host::fake::{BEGIN_UNIX_NS, Fake};
use crate::outbox::{Fate, Outbox};
use crate::query::Query;
use crate::redaction::Redaction;
use crate::source::{QuerySource, Totals};

/// A query of two nodes whose counters a test sets.
struct Source {
    host: Arc<Fake>,
    rows: AtomicU64,
    cost_ms: AtomicU64,
    waits_ms: AtomicU64,
    panics: AtomicBool,
    plans: AtomicU64,
    /// Whether the end tells more of the plan.
    knows_more: AtomicBool,
}

impl QuerySource for Source {
    fn plan(&self) -> Plan<'static> {
        self.plans.fetch_add(1, Ordering::Relaxed);
        let node = |id, kind: &'static str, inputs| Node {
            id,
            kind: kind.into(),
            role: Role::Unknown,
            inputs,
            properties: None,
            metrics: None,
        };
        Plan { physical: vec![node(1, "Sink", vec![2]), node(2, "Scan", vec![])], logical: vec![] }
    }

    fn sample(&self, readings: &mut Readings) {
        assert!(
            !self.panics.load(Ordering::Relaxed),
            "an adapter's bug: expected in the output of the tests"
        );
        self.host.work(Duration::from_millis(self.cost_ms.load(Ordering::Relaxed)));
        self.host.advance(Duration::from_millis(self.waits_ms.load(Ordering::Relaxed)));
        let rows = self.rows.load(Ordering::Relaxed);
        readings.node(2).add("rows_sent", rows).add("spills", 0).done(rows >= 100);
        readings.node(1).done(false);
    }

    fn final_plan(&self) -> Option<Plan<'static>> {
        let mut plan = self.knows_more.load(Ordering::Relaxed).then(|| self.plan())?;
        plan.physical[1].kind = "Scan of files".into();
        Some(plan)
    }

    fn totals(&self) -> Totals {
        Totals { result_rows: Some(3), cpu_ms: Some(f64::NAN), ..Totals::default() }
    }
}

/// A follower, its query, and everything around.
struct Bench {
    host: Arc<Fake>,
    source: Arc<Source>,
    query: Arc<Shared>,
    active: Option<ActiveQuery>,
    follower: Follower,
    describer: Describer,
    publisher: Publisher,
    problems: Arc<Problems>,
    outbox: Arc<Outbox>,
    process_cpu: CpuClock,
    machine: Machine,
    running: u64,
    events: Mutex<Vec<Value>>,
}

impl Bench {
    fn new() -> Self {
        let host = Arc::new(Fake::new());
        let source = Arc::new(Source {
            host: Arc::clone(&host),
            rows: AtomicU64::new(0),
            cost_ms: AtomicU64::new(0),
            waits_ms: AtomicU64::new(0),
            panics: AtomicBool::new(false),
            plans: AtomicU64::new(0),
            knows_more: AtomicBool::new(false),
        });
        let query = Arc::new(Shared {
            id: QueryId::new(Uuid::nil()),
            query: Query::new().label("q"),
            started: host.now(),
            started_unix_ns: BEGIN_UNIX_NS,
            source: Arc::clone(&source) as Arc<dyn QuerySource>,
            ended: OnceLock::new(),
        });
        let process = Process {
            id: StreamId::new(Uuid::nil()),
            service: None,
            environment: None,
            program_version: None,
            host: "h".into(),
            pid: None,
            started_unix_ns: None,
        };
        let outbox = Arc::new(Outbox::new(1 << 20));
        let mut process_cpu = CpuClock::default();
        process_cpu.look(host.now(), host.process_cpu());
        let mut machine = Machine::default();
        machine.look(&*host);
        let problems = Arc::new(Problems::default());
        let opened = BatchWriter::new(None, &process).expect("the neutral engine");
        let publisher =
            Publisher::new(opened, [(Redaction::none(), Arc::clone(&outbox))], Arc::clone(&problems));
        Self {
            describer: Describer { engine: None, engine_version: None, cpu_count: 2 },
            active: Some(ActiveQuery::new(Arc::clone(&query))),
            follower: Follower::new(Arc::clone(&query), &process_cpu, &machine),
            process_cpu,
            machine,
            running: 1,
            host,
            source,
            query,
            publisher,
            problems,
            outbox,
            events: Mutex::default(),
        }
    }

    /// Moves on and looks; true when the query is told of completely.
    fn after_ms(&mut self, ms: u64) -> bool {
        self.host.advance(Duration::from_millis(ms));
        self.process_cpu.look(self.host.now(), self.host.process_cpu());
        let mut around = Surroundings {
            host: &*self.host,
            describer: &self.describer,
            publisher: &mut self.publisher,
            problems: &self.problems,
            process_cpu: &self.process_cpu,
            machine: &mut self.machine,
            running: self.running,
        };
        let ended = self.follower.step(&mut around);
        let taken = self.outbox.take(usize::MAX, None);
        for entry in &taken {
            let text = std::str::from_utf8(&entry.line).expect("UTF-8");
            Event::read(text).expect("an event");
            self.events.lock().expect("no panic").push(serde_json::from_str(text).expect("JSON"));
        }
        self.outbox.settle(taken, Fate::Sent);
        ended
    }

    fn set_rows(&self, rows: u64) {
        self.source.rows.store(rows, Ordering::Relaxed);
    }

    /// What was sent since: the types, and of samples when and what.
    fn sent(&self) -> Vec<Value> {
        let events = std::mem::take(&mut *self.events.lock().expect("no panic"));
        events
            .into_iter()
            .map(|event| match event["type"].as_str() {
                Some("query.progress") => json!([event["elapsed_ms"], event["nodes"]]),
                _ => event["type"].clone(),
            })
            .collect()
    }

    /// Ends the query as told, and gives the profile.
    fn end(&mut self, end: impl FnOnce(ActiveQuery)) -> Value {
        end(self.active.take().expect("not ended"));
        assert!(self.after_ms(0), "nothing is left to tell");
        let events = std::mem::take(&mut *self.events.lock().expect("no panic"));
        let last = events.last().expect("an event");
        assert_eq!(last["type"], "query.finished");
        last["profile"].clone()
    }
}

#[test]
fn a_query_that_ends_within_a_second_sends_its_end_alone() {
    let mut bench = Bench::new();
    assert!(!bench.after_ms(999));
    bench.set_rows(7);
    bench.active.take().expect("active").finish();
    assert!(bench.after_ms(500), "seen late");
    assert_eq!(bench.sent(), [json!("query.finished")]);
}

#[test]
fn a_query_ends_at_the_moment_its_adapter_names_but_not_before_it_began() {
    for (ended_ms, wall_ms) in [(250, 250.0), (-250, 0.0)] {
        let mut bench = Bench::new();
        let (started, by) = (bench.query.started, Duration::from_millis(250));
        let ended = if ended_ms > 0 { started + by } else { started.checked_sub(by).expect("a moment") };
        let profile = bench.end(|active| active.finish_at(ended));
        assert_eq!(profile["wall_ms"], wall_ms);
    }
}

#[test]
fn the_plan_and_a_sample_at_one_second_then_what_changed() {
    let mut bench = Bench::new();
    bench.set_rows(10);
    bench.after_ms(1_000);
    assert_eq!(
        bench.sent(),
        [
            json!("query.started"),
            json!([1000.0, {"1": {"done": false}, "2": {"rows_sent": 10, "done": false}}])
        ]
    );
    bench.set_rows(20);
    bench.after_ms(499);
    assert_eq!(bench.sent(), [] as [Value; 0]);
    bench.after_ms(1);
    assert_eq!(bench.sent(), [json!([1500.0, {"2": {"rows_sent": 20, "done": false}}])]);
    bench.set_rows(100);
    bench.after_ms(500);
    assert_eq!(bench.sent(), [json!([2000.0, {"2": {"rows_sent": 100, "done": true}}])]);
}

#[test]
fn silence_is_told_every_five_seconds() {
    let mut bench = Bench::new();
    bench.after_ms(1_000);
    bench.sent();
    let mut heard = Vec::new();
    for _ in 0..24 {
        bench.after_ms(500);
        heard.extend(bench.sent());
    }
    assert_eq!(heard, [json!([6000.0, {}]), json!([11000.0, {}])]);
}

#[test]
fn what_is_dear_to_read_is_read_seldom_and_still_heard_of() {
    let mut bench = Bench::new();
    bench.source.cost_ms.store(70, Ordering::Relaxed);
    bench.after_ms(1_000);
    bench.sent();
    bench.set_rows(50);
    let mut heard = Vec::new();
    for _ in 0..75 {
        bench.after_ms(100);
        heard.extend(bench.sent());
    }
    assert_eq!(
        heard,
        [json!([6070.0, {}]), json!([8070.0, {"2": {"rows_sent": 50, "done": false}}])],
        "70 ms of reading are 1 % of 7 s"
    );
}

#[test]
fn waiting_for_a_processor_is_no_cost() {
    let mut bench = Bench::new();
    bench.source.waits_ms.store(70, Ordering::Relaxed);
    bench.after_ms(1_000);
    let mut heard = Vec::new();
    for rows in 1..=20 {
        bench.set_rows(rows);
        bench.after_ms(100);
        heard.extend(bench.sent());
    }
    assert!(heard.len() >= 3, "a query that takes all processors is sampled as often: {heard:?}");
}

#[test]
fn the_end_has_everything() {
    let mut bench = Bench::new();
    bench.set_rows(40);
    bench.after_ms(1_000);
    bench.set_rows(100);
    let profile = bench.end(ActiveQuery::finish);
    assert_eq!(profile["query_id"], Uuid::nil().to_string());
    assert_eq!(profile["label"], "q");
    assert_eq!(profile["failed"], Value::Null);
    assert_eq!(profile["result_rows"], 3);
    assert_eq!(profile["started_unix_ns"], BEGIN_UNIX_NS);
    assert_eq!(profile.get("cpu_ms"), None, "NaN is no time");
    assert_eq!(
        profile["plan"]["physical"][1]["metrics"],
        json!({"rows_sent": 100, "spills": 0, "done": true})
    );
    assert_eq!(profile["plan"]["physical"][0]["metrics"], json!({"done": false}));
    assert_eq!(profile["diagnostics"]["cpu_count"], 2);
    assert_eq!(profile["diagnostics"]["incomplete_nodes"], 1);
    assert_eq!(profile["diagnostics"]["samples"], 2);
    assert_eq!(profile["fingerprint"].as_str().map(str::len), Some(12));
    assert_eq!(profile["insights"], json!({"schema": "insights@1", "findings": []}));
    assert_eq!(bench.source.plans.load(Ordering::Relaxed), 1, "the plan is rendered once");
}

#[test]
fn the_end_may_know_more_of_the_plan() {
    let mut bench = Bench::new();
    bench.source.knows_more.store(true, Ordering::Relaxed);
    bench.after_ms(1_000);
    bench.set_rows(100);
    let profile = bench.end(ActiveQuery::finish);
    let scan = &profile["plan"]["physical"][1];
    assert_eq!((&scan["kind"], &scan["metrics"]["rows_sent"]), (&json!("Scan of files"), &json!(100)));
}

#[test]
fn a_failure_has_its_text_and_a_dropped_query_was_cancelled() {
    let mut bench = Bench::new();
    assert_eq!(bench.end(|query| query.fail("out of memory"))["failed"], "out of memory");
    let mut bench = Bench::new();
    assert_eq!(bench.end(drop)["failed"], "cancelled");
    assert_eq!(bench.query.ended.get().map(|(_, outcome)| outcome.clone()), Some(Outcome::Cancelled));
}

#[test]
fn a_source_that_panics_costs_its_counters_alone() {
    let mut bench = Bench::new();
    bench.source.panics.store(true, Ordering::Relaxed);
    bench.after_ms(1_000);
    assert_eq!(bench.sent(), [json!("query.started")]);
    let profile = bench.end(ActiveQuery::finish);
    assert_eq!(profile["plan"]["physical"][1]["kind"], "Scan");
    assert!(!bench.problems.warn(Problem::Source, ""), "it was logged");
}

#[test]
fn nothing_keeps_a_source_once_its_query_is_told_of() {
    let Bench { source, query, follower, .. } = {
        let mut bench = Bench::new();
        bench.end(ActiveQuery::finish);
        bench
    };
    drop((query, follower));
    assert_eq!(Arc::strong_count(&source), 1);
}

#[test]
fn what_the_process_works_is_told_of_a_query_that_is_sampled() {
    let mut bench = Bench::new();
    bench.host.compute(Duration::from_millis(500), 3);
    bench.running = 2;
    bench.after_ms(600);
    let events = bench.events.lock().expect("no panic").clone();
    let sample = events.last().expect("a sample");
    assert_eq!(sample["process_cpu_ns"], 1_500_000_000_u64);
    assert_eq!(sample["host_cpu_ns"], 1_500_000_000_u64);
    let memory = ["process_memory_bytes", "host_memory_bytes", "host_memory_total_bytes"];
    assert_eq!(memory.map(|name| sample[name].as_u64()), [Some(700), Some(3_000), Some(8_000)]);
    bench.running = 1;
    let profile = bench.end(ActiveQuery::finish);
    assert_eq!(profile["query_metrics"]["process_queries"], 2);
    assert!(profile["query_metrics"]["process_cpu_ns"].is_u64());
}

#[test]
fn of_a_short_query_the_process_says_nothing() {
    let mut bench = Bench::new();
    assert_eq!(bench.end(ActiveQuery::finish).get("query_metrics"), None);
}
