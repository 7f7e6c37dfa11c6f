use std::sync::{Arc, OnceLock};

use queryscope_protocol::{QueryId, SpanId, TraceId};
use uuid::Uuid;

use super::*;
use crate::query::Query;
use crate::source::QuerySource;

struct Nothing;

impl QuerySource for Nothing {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}
}

fn shared(query: Query) -> Shared {
    Shared {
        id: QueryId::new(Uuid::nil()),
        query,
        started: crate::now(),
        started_unix_ns: 5,
        source: Arc::new(Nothing),
        ended: OnceLock::new(),
    }
}

fn finished(describer: &Describer, outcome: &Outcome, totals: Totals) -> Profile<'static> {
    finished_in(describer, outcome, totals, None)
}

fn finished_in(
    describer: &Describer,
    outcome: &Outcome,
    totals: Totals,
    process: Option<ProcessWork>,
) -> Profile<'static> {
    let query = shared(Query::new());
    let at = query.started + Duration::from_secs(2);
    let ended = Ended { at, outcome, totals, work: Work { samples: 1, ..Work::default() }, process };
    let readings = Readings::default();
    let profile = describer.finished(&query, Plan::default(), &readings, ended);
    let text = serde_json::to_string(&profile).expect("the format holds it");
    serde_json::from_str::<Profile<'_>>(Box::leak(text.into_boxed_str())).expect("a profile")
}

fn engine() -> Describer {
    Describer { engine: Some("toy".into()), engine_version: Some("1.2".into()), cpu_count: 4 }
}

#[test]
fn what_is_known_at_the_start_is_told() {
    let query = Query::new()
        .label("nightly")
        .call_site("etl.rs", 7, "main")
        .trace_id(TraceId::new(1))
        .span_id(SpanId::new(2));
    let query = shared(query);
    let now = query.started + Duration::from_millis(1_250);
    let profile = engine().started(&query, Plan::default(), now);
    assert_eq!((profile.engine.as_deref(), profile.engine_version.as_deref()), (Some("toy"), Some("1.2")));
    assert_eq!((profile.label.as_deref(), profile.started_unix_ns), (Some("nightly"), Some(5)));
    assert_eq!(profile.call_site.as_ref().map(|site| (site.lineno, &*site.filepath)), Some((7, "etl.rs")));
    assert_eq!((profile.trace_id, profile.span_id), (Some(TraceId::new(1)), Some(SpanId::new(2))));
    assert!((profile.wall_ms - 1_250.0).abs() < 1e-6);
}

#[test]
fn nobody_knows_how_long_a_query_was_planned_of_which_no_plan_is_told() {
    let failed = Outcome::Failed("no such table".into());
    let profile = finished(&engine(), &failed, Totals::default());
    assert_eq!((profile.planning_ms, profile.fingerprint), (None, None));
}

#[test]
fn an_adapters_diagnostics_stand_and_the_library_adds_its_own() {
    let diagnostics = serde_json::json!({"samples": "many", "own": true});
    let totals = Totals {
        cpu_ms: Some(6_000.0),
        diagnostics: diagnostics.as_object().expect("an object").clone(),
        ..Totals::default()
    };
    let profile = finished(&engine(), &Outcome::Finished, totals);
    let diagnostics = profile.diagnostics.expect("some").as_json().to_owned();
    assert_eq!(
        diagnostics,
        r#"{"cpu_count":4,"own":true,"parallel_efficiency":0.75,"rendering_ms":0.0,"samples":"many","sampling_ms":0.0}"#
    );
}

#[test]
fn times_that_are_none_are_left_out() {
    let totals = Totals { cpu_ms: Some(-1.0), planning_ms: Some(f64::INFINITY), ..Totals::default() };
    let profile = finished(&engine(), &Outcome::Finished, totals);
    assert_eq!((profile.cpu_ms, profile.planning_ms), (None, None));
}

#[test]
fn a_query_that_sleeps_uses_no_more_of_the_processor_than_its_process() {
    let told = |cpu_ms, process_ms| {
        let totals = Totals { cpu_ms: Some(cpu_ms), ..Totals::default() };
        let process = ProcessWork { cpu: Duration::from_millis(process_ms), queries: 1 };
        finished_in(&engine(), &Outcome::Finished, totals, Some(process)).cpu_ms
    };
    assert_eq!(told(50_000.0, 116), Some(116.0));
    assert_eq!(told(1_900.0, 1_000), Some(1_900.0), "as much as the process's clock may be wrong by");
    assert_eq!(told(900.0, 1_000), Some(900.0));
}
