use super::*;
use crate::batch::Batch;
use crate::error::BatchError;
use crate::event::{Event, EventKind};
use crate::profile::{Counters, Metrics, Plan};

const STREAM: &str = "210de94c-dce3-44f0-9cd3-2604c74dbeea";
const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

fn process() -> Process<'static> {
    Process {
        id: STREAM.parse().expect("a UUID"),
        service: Some("orders".into()),
        environment: None,
        program_version: None,
        host: "h".into(),
        pid: Some(9),
        started_unix_ns: Some(1_795_206_683_560_726_422),
    }
}

fn query() -> QueryId {
    QUERY.parse().expect("a UUID")
}

fn seq(number: u64) -> Seq {
    Seq::new(number).expect("a seq")
}

fn events(batch: &[u8]) -> Result<Vec<Event<'_>>, BatchError> {
    Batch::open(batch)?.events.collect()
}

#[test]
fn a_batch_line_by_line() {
    let mut writer = BatchWriter::new(None, &process()).expect("the neutral brand");
    let profile = Profile::new(QUERY, 1.5, Plan::default());
    let counters =
        Counters { done: Some(true), metrics: Metrics::from_iter([("rows_sent", 7)]), ..Counters::default() };
    let sample = Sample {
        elapsed_ms: 1003.25,
        nodes: vec![(4_294_967_299, counters)],
        host_cpu_ns: Some(9),
        ..Sample::default()
    };
    writer.started(seq(2), query(), &profile).expect("written");
    writer.progress(seq(3), query(), &sample).expect("written");
    writer.finished(seq(4), query(), &profile).expect("written");
    let version = TELEMETRY_VERSION;
    let profile = r#"{"schema":"engine-telemetry/profile@1","query_id":"01a1faa8-1bd9-77b2-97ab-860dd7026506","label":null,"fingerprint":null,"wall_ms":1.5,"planning_ms":null,"telemetry_ms":null,"result_rows":null,"call_site":null,"failed":null,"redacted":null,"plan":{"physical":[],"logical":[]}}"#;
    let expected = [
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":1,"type":"process","id":"{STREAM}","service":"orders","environment":null,"host":"h","pid":9,"engine_telemetry_version":"{version}","started_unix_ns":1795206683560726422}}"#
        ),
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":2,"type":"query.started","query_id":"{QUERY}","profile":{profile}}}"#
        ),
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":3,"type":"query.progress","query_id":"{QUERY}","elapsed_ms":1003.25,"nodes":{{"4294967299":{{"rows_sent":7,"done":true}}}},"host_cpu_ns":9}}"#
        ),
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":4,"type":"query.finished","query_id":"{QUERY}","profile":{profile}}}"#
        ),
    ];
    assert_eq!(writer.batch_bytes(), expected.iter().map(|line| line.len() + 1).sum::<usize>());
    let batch = writer.into_bytes();
    assert_eq!(str::from_utf8(&batch).expect("UTF-8").lines().collect::<Vec<_>>(), expected);

    assert_eq!(Batch::open(&batch).expect("a batch").process, process());
    let events = events(&batch).expect("events");
    assert!(matches!(events[0].kind, EventKind::Started(id, _) if id == query()));
    assert_eq!(events[1].sample().expect("whole"), Some(sample));
    assert!(matches!(events[2].kind, EventKind::Finished(id, _) if id == query()));
}

#[test]
fn a_brand_names_formats_and_versions() {
    let profile = Profile {
        engine: Some("polars".into()),
        engine_version: Some("2.1.0".into()),
        engine_telemetry_version: Some("0.10.2".into()),
        ..Profile::new(QUERY, 0.0, Plan::default())
    };
    let mut writer = BatchWriter::new(Some("polars"), &process()).expect("a brand");
    writer.finished(seq(2), query(), &profile).expect("written");
    let batch = writer.into_bytes();
    let text = str::from_utf8(&batch).expect("UTF-8");
    assert_eq!(text.matches(r#""polars-telemetry/events@1""#).count(), 2, "{text}");
    assert!(text.contains(r#""polars_version":"2.1.0","polars_telemetry_version":"0.10.2""#), "{text}");
    assert!(!text.contains("engine"), "{text}");
    let events = events(&batch).expect("events");
    assert_eq!(events[0].profile().expect("whole"), Some(profile));
    assert_eq!(events[0].engine.as_deref(), Some("polars"));
}

#[test]
fn what_the_format_cannot_hold_leaves_no_trace() {
    let mut writer = BatchWriter::new(None, &process()).expect("the neutral brand");
    let before = writer.batch_bytes();
    for wall_ms in [f64::NAN, f64::INFINITY, -1.0] {
        let profile = Profile::new("q", wall_ms, Plan::default());
        let error = writer.finished(seq(2), query(), &profile).expect_err("no number of the format");
        assert!(error.source.to_string().contains("wall_ms"), "{}", error.source);
    }
    let sample = Sample { elapsed_ms: f64::NAN, nodes: Vec::new(), ..Sample::default() };
    assert!(writer.progress(seq(2), query(), &sample).is_err());
    let profile = Profile { engine: Some("Two Words".into()), ..Profile::new("q", 1.0, Plan::default()) };
    assert!(writer.started(seq(2), query(), &profile).is_err());
    assert_eq!(writer.batch_bytes(), before);
    assert!(BatchWriter::new(Some("Two Words"), &process()).is_err());
}
