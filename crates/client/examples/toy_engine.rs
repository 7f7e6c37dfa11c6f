//! A toy engine that sums numbers, and the adapter that follows its queries.
//!
//! With a collector: `TELEMETRY_TOKEN=… cargo run --example toy_engine -- http://127.0.0.1:7766`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use queryscope_client::protocol::{Node, Plan, Role};
use queryscope_client::{HttpExporter, Query, QuerySource, Readings, Telemetry, Totals};

/// What the engine counts while a query runs.
#[derive(Debug, Default)]
struct Counters {
    rows: AtomicU64,
    sum: AtomicU64,
    done: AtomicBool,
}

/// The adapter: how the library reads a query of this engine.
struct ToyQuery(Arc<Counters>);

impl QuerySource for ToyQuery {
    fn plan(&self) -> Plan<'static> {
        let node = |id, kind: &'static str, role, inputs| Node {
            id,
            kind: kind.into(),
            role,
            inputs,
            properties: None,
            metrics: None,
        };
        let nodes = vec![node(1, "Sum", Role::Aggregation, vec![2]), node(2, "Range", Role::Scan, vec![])];
        Plan { physical: nodes.clone(), logical: nodes }
    }

    fn sample(&self, readings: &mut Readings) {
        let Counters { rows, sum: _, done } = &*self.0;
        let (rows, done) = (rows.load(Ordering::Relaxed), done.load(Ordering::Relaxed));
        readings.node(1).add("rows_received", rows).add("rows_sent", done.into()).done(done);
        readings.node(2).add("rows_sent", rows).done(done);
    }

    fn totals(&self) -> Totals {
        Totals { result_rows: Some(1), ..Totals::default() }
    }
}

/// The engine. It knows nothing of telemetry but its counters.
fn sum(numbers: u64, pause: Duration, counters: &Counters) -> u64 {
    for number in 0..numbers {
        counters.sum.fetch_add(number, Ordering::Relaxed);
        counters.rows.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(pause);
    }
    counters.done.store(true, Ordering::Relaxed);
    counters.sum.load(Ordering::Relaxed)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7766".into());
    let telemetry = Telemetry::builder()
        .engine("toy", "1.0")
        .service("toy-engine")
        .exporter(HttpExporter::new(url))
        .start()?;

    for (label, numbers) in [("short", 100), ("long", 3_000)] {
        let counters = Arc::new(Counters::default());
        let query = telemetry.begin(Query::new().label(label), Arc::new(ToyQuery(Arc::clone(&counters))));
        let sum = sum(numbers, Duration::from_millis(1), &counters);
        println!("{label}: the sum is {sum}, query {}", query.id());
        query.finish();
    }

    telemetry.shutdown();
    println!("{:?}", telemetry.stats());
    Ok(())
}
