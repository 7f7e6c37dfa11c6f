//! Queries that run while a test goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use queryscope_client::protocol::{Node, Plan, Role};
use queryscope_client::{Query, QuerySource, Readings, Telemetry};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const THREADS: u64 = 4;
/// Most queries are over at once; the others run for up to this long.
const LONG: Duration = Duration::from_millis(1_500);
const SHORT: Duration = Duration::from_millis(20);
/// Long ones began this long ago, so that they are reported while they run.
const AGO: Duration = Duration::from_secs(2);
const COUNTS_EVERY: Duration = Duration::from_millis(50);

/// Threads that run queries until they are stopped.
pub(super) struct Queries {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl Queries {
    pub(super) fn start(telemetry: &Telemetry, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let run = |thread: u64| {
            let (telemetry, stop) = (telemetry.clone(), Arc::clone(&stop));
            let mut random = StdRng::seed_from_u64(seed ^ (thread + 1) << 40);
            std::thread::spawn(move || {
                let mut count = 0;
                while !stop.load(Ordering::Relaxed) {
                    run_query(&telemetry, &mut random);
                    count += 1;
                }
                count
            })
        };
        Self { threads: (0..THREADS).map(run).collect(), stop }
    }

    /// Ends them; how many queries ran.
    pub(super) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    }
}

fn run_query(telemetry: &Telemetry, random: &mut StdRng) {
    let rows = Arc::new(AtomicU64::new(0));
    let long = random.random_bool(0.2);
    let begun = if long { Instant::now().checked_sub(AGO) } else { None };
    let query = Query::new().label(if long { "long" } else { "short" });
    let query = begun.into_iter().fold(query, Query::started);
    let active = telemetry.begin(query, Arc::new(Scan(Arc::clone(&rows))));
    let runs = random.random_range(Duration::ZERO..if long { LONG } else { SHORT });
    let (since, mut left) = (Instant::now(), runs);
    while !left.is_zero() {
        std::thread::sleep(left.min(COUNTS_EVERY));
        rows.fetch_add(100, Ordering::Relaxed);
        left = runs.saturating_sub(since.elapsed());
    }
    match random.random_range(0..10) {
        0 => active.fail("as told"),
        1 => drop(active),
        _ => active.finish(),
    }
}

struct Scan(Arc<AtomicU64>);

impl QuerySource for Scan {
    fn plan(&self) -> Plan<'static> {
        let node =
            |id, role, inputs| Node { id, kind: "Toy".into(), role, inputs, properties: None, metrics: None };
        Plan { physical: vec![node(1, Role::Sink, vec![2]), node(2, Role::Scan, vec![])], logical: vec![] }
    }

    fn sample(&self, readings: &mut Readings) {
        let rows = self.0.load(Ordering::Relaxed);
        readings.node(1).add("rows_received", rows);
        readings.node(2).add("rows_sent", rows);
    }
}
