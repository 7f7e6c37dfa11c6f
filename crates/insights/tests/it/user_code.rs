//! Queries that call Python: their time is in no counter, and nothing says that they waited.
//!
//! `tests/data/udf.jsonl.gz` holds four queries of Polars 2.1.0 as its sender 0.10.2 reports them. A loop in Python
//! works on each of 4 million rows: by `map_elements` to the end, until it raises an error, and until an interrupt; and
//! by `map_batches`, whose time Polars does count. The first used 1.7 s of CPU in 1.7 s (`getrusage`) and reports
//! 1.8 ms.

use queryscope_insights::findings;

use crate::events::{finished, inflate};

const EVENTS: &[u8] = include_bytes!("../data/udf.jsonl.gz");

#[test]
fn time_in_no_counter_is_said_and_saves_nothing() {
    let text = inflate(EVENTS);
    let lines = finished(&text).into_iter().flat_map(|profile| {
        let label = profile.label.as_deref().unwrap_or_default().to_owned();
        let line = move |finding: &queryscope_protocol::Finding<'_>| {
            let saves = finding.evidence.iter().any(|one| one.name.starts_with("saves"));
            let node = finding.node_kind.as_deref().unwrap_or_default();
            format!(
                "{label}: {} {} of {node}, saves {saves}:\n  {}",
                finding.level, finding.rule, finding.title
            )
        };
        findings(&profile).findings.iter().map(line).collect::<Vec<_>>()
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
        ux/slow-udf: warn user_code of Select, saves false:
          User code (python_udf) is called for 4.0 M rows; 1.68 s of 1.69 s are in no counter
        ux/failing-udf: warn user_code of Select, saves false:
          User code (python_udf) is called for 3.9 M rows; 1.97 s of 1.99 s are in no counter
        ux/interrupted-udf: warn user_code of Select, saves false:
          User code (python_udf) is called for 3.9 M rows; 2.20 s of 2.22 s are in no counter
        ux/batches-udf: warn user_code of ColumnarFunction, saves false:
          User code (python_udf) is called for 4.0 M rows
        "#);
}
