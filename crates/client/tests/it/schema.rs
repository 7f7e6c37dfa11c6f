//! What is sent is what the schemas of the formats allow.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jsonschema::{Registry, Validator};
use queryscope_client::protocol::{Object, Plan, SpanId, TraceId};
use queryscope_client::{Query, QuerySource, Readings, Redacted, Redaction, Telemetry, Totals};
use serde_json::{Value, json};

use crate::memory::{Memory, Scan};

/// A query of which everything is known.
struct Everything;

impl QuerySource for Everything {
    fn plan(&self) -> Plan<'static> {
        let mut plan = Scan(0).plan();
        plan.physical[0].properties = Object::of(&json!({"predicate": "a = 'b'", "files": ["/c/d"]})).ok();
        plan.logical.clone_from(&plan.physical);
        plan
    }

    fn sample(&self, readings: &mut Readings) {
        readings.node(1).add("rows_out", 5).custom("hits", "pages", Some(7.into())).done(false);
    }

    fn totals(&self) -> Totals {
        Totals {
            result_rows: Some(5),
            cpu_ms: Some(12.5),
            planning_ms: Some(0.5),
            query_metrics: [("tasks", 3)].into_iter().collect(),
            diagnostics: json!({"own": "words"}).as_object().cloned().unwrap_or_default(),
        }
    }
}

fn validator() -> Validator {
    let schema = |name: &str| -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
        serde_json::from_reader(File::open(path).expect("a schema")).expect("JSON")
    };
    let registry = Registry::new()
        .add("urn:queryscope:schema:profile-v1", schema("profile-v1.json"))
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("a registry");
    jsonschema::options()
        .with_registry(&registry)
        .offline()
        .build(&schema("events-v1.json"))
        .expect("a schema")
}

#[test]
fn every_event_is_valid() {
    let (plain, masked) = (Memory::default(), Memory::default());
    let telemetry = Telemetry::builder()
        .engine("toy", "1.0")
        .exporter(plain.clone())
        .exporter(Redacted::new(masked.clone(), Redaction::all()))
        .start()
        .expect("threads");
    let begun = Instant::now().checked_sub(Duration::from_secs(2)).expect("the machine has run for longer");
    let query = || {
        Query::new()
            .label("l")
            .call_site("main.rs", 7, "main")
            .trace_id(TraceId::new(1))
            .span_id(SpanId::new(2))
            .started(begun)
    };
    telemetry.begin(query(), Arc::new(Everything)).finish();
    telemetry.begin(query(), Arc::new(Everything)).fail("no 'b' in /c/d");
    drop(telemetry.begin(Query::new(), Arc::new(Scan(1))));
    telemetry.failed(Query::new(), "no such table");
    let running = telemetry.begin(query(), Arc::new(Everything));
    let looking = Instant::now();
    let is_sample =
        |line: &String| line.contains("query.progress") && line.contains(&running.id().to_string());
    while !masked.lines().iter().any(is_sample) {
        assert!(looking.elapsed() < Duration::from_mins(1), "{:?}", telemetry.stats());
        std::thread::yield_now();
    }
    running.finish();
    telemetry.shutdown();

    let validator = validator();
    for memory in [plain, masked] {
        let lines = memory.lines();
        assert!(lines.len() >= 7, "four ended, one was told of in three events");
        for line in lines {
            let event: Value = serde_json::from_str(&line).expect("JSON");
            let errors: Vec<_> = validator.iter_errors(&event).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
    }
}
