//! Pairs of recordings whose difference is known.

use queryscope_insights::{Cause, Comparison, Fate, compare};
use queryscope_protocol::{Counters, Metrics, Node, Object, Profile};
use serde_json::Value;

use crate::captures::Captures;

/// The account in milliseconds, and what changed, a line each.
fn told(comparison: &Comparison) -> String {
    let account = &comparison.account;
    let ms = |ns: i64| format!("{:+.1}", ns as f64 / 1e6);
    let mut lines = vec![format!("difference {}", ms(account.difference_ns))];
    for part in account.parts.iter().filter(|part| part.ns.abs() >= 50_000) {
        lines.push(format!("  {:?} {}", part.cause, ms(part.ns)));
    }
    for pair in &comparison.nodes {
        let kind = pair.run.as_ref().or(pair.base.as_ref()).map_or("", |figures| &figures.kind);
        if pair.fate != Fate::Same {
            lines.push(format!("{:?} {kind}", pair.fate));
        }
        lines.extend(pair.changes.iter().map(|change| format!("  {kind}: {}", change.text)));
    }
    lines.join("\n")
}

fn largest(comparison: &Comparison) -> Cause {
    let parts = comparison.account.parts.iter();
    parts.max_by_key(|part| part.ns.abs()).expect("parts").cause
}

fn assert_sums(comparison: &Comparison) {
    let sum: i64 = comparison.account.parts.iter().map(|part| part.ns).sum();
    assert_eq!(sum, comparison.account.difference_ns);
}

/// A profile with the counters of some nodes multiplied, and its wall time with them.
fn scaled<'a>(
    profile: &Profile<'a>,
    wall_ms: f64,
    of_node: impl Fn(&Node<'_>, &str, u64) -> u64,
) -> Profile<'a> {
    let mut scaled = profile.clone();
    scaled.wall_ms = wall_ms;
    for node in &mut scaled.plan.physical {
        let Some(counters) = &node.metrics else { continue };
        let metrics: Metrics<'a> = counters
            .metrics
            .iter()
            .map(|(name, value)| (name.to_owned(), of_node(node, name, value)))
            .collect();
        node.metrics = Some(Counters { metrics, ..counters.clone() });
    }
    scaled
}

fn is_work(name: &str) -> bool {
    name.starts_with("rows_") || name == "total_time_ns"
}

fn with_property(node: &mut Node<'_>, name: &str, value: Value) {
    let text = node.properties.as_ref().expect("properties").as_json();
    let mut properties: Value = serde_json::from_str(text).expect("JSON");
    properties[name] = value;
    node.properties = Some(Object::of(&properties).expect("an object"));
}

#[test]
fn pairs_of_captures_add_up() {
    let captures = Captures::read();
    let finished = captures.finished();
    // Every 3rd with every 7th: all pairs take minutes, and the larger plans are among these.
    for (_, base) in finished.iter().step_by(3) {
        for (_, run) in finished.iter().step_by(7) {
            let comparison = compare(base, run);
            assert_sums(&comparison);
            let run_nodes = comparison.nodes.iter().filter(|pair| pair.run.is_some()).count();
            let base_nodes = comparison.nodes.iter().filter(|pair| pair.base.is_some()).count();
            assert_eq!((base_nodes, run_nodes), (base.plan.physical.len(), run.plan.physical.len()));
        }
    }
}

#[test]
fn a_run_is_itself() {
    let captures = Captures::read();
    for (capture, profile) in captures.finished() {
        let comparison = compare(&profile, &profile);
        assert!(comparison.same_plan, "{capture}");
        assert!(comparison.account.parts.iter().all(|part| part.ns == 0), "{capture}");
        assert!(
            comparison
                .nodes
                .iter()
                .all(|pair| { pair.base == pair.run && pair.changes.is_empty() && pair.fate == Fate::Same })
        );
    }
}

/// The same sort in four threads at once: each gets less of the two cores, and for most of the time none. No counter
/// says for what it waits.
#[test]
fn the_same_plan_beside_others() {
    let captures = Captures::read();
    let base = captures.labelled("worker-1/threads/sort", 0);
    let run = captures.labelled("worker-0/threads/sort", 0);
    let comparison = compare(&base, &run);
    assert_sums(&comparison);
    assert_eq!(largest(&comparison), Cause::Unexplained);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +776.9
          SlowerPerRow +3.8
          Waiting -21.8
          Planning +0.3
          Unexplained +794.6
        "#);
}

/// Real: a function that sleeps for 13 s in one run and for 1.3 s in the other, over as many rows.
#[test]
fn a_slower_function() {
    let captures = Captures::read();
    let base = captures.labelled("traced/long", 0);
    let run = captures.labelled("idle/udf-sleeps-13s", 0);
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::SlowerPerRow);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +11412.6
          SlowerPerRow +11407.1
          Planning -2.4
          Unexplained +7.8
        "#);
}

/// Real: the function runs once more while the query is planned.
#[test]
fn longer_planning() {
    let captures = Captures::read();
    let base = captures.labelled("traced/long", 0);
    let run = captures.labelled("odd/udf-runs-while-planning", 0);
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::Planning);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +999.0
          SlowerPerRow -300.9
          Planning +1297.5
          Unexplained +2.4
        "#);
}

/// Real: one row set sorted by two columns, and only the largest of another.
#[test]
fn another_query() {
    let captures = Captures::read();
    let (base, run) = (captures.labelled("top_k", 0), captures.labelled("sort/two-columns", 0));
    insta::assert_snapshot!(told(&compare(&base, &run)), @r#"
        difference -602.8
          PlanChange -621.2
          SlowerPerRow -1.4
          Waiting +19.8
        Added SimpleProjection
        Changed Sort
          Sort: order: _POLARS_TMP_PHYS_# instead of amount
          Sort: limit 5 instead of 25
        Added Select
        Changed TopK
          TopK: order: customer_id is new
        Changed MultiScan
          MultiScan: projection of 2 columns instead of 8
          MultiScan: predicate on customer_id instead of amount
        "#);
}

/// Made: three times the rows everywhere, three times the work, three times the time.
#[test]
fn more_rows() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let wall_ms = base.wall_ms * 3.0;
    let run = scaled(&base, wall_ms, |_, name, value| if is_work(name) { value * 3 } else { value });
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::MoreRows);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +2451.0
          MoreRows +2437.2
          LessParallelism +13.8
        "#);
}

/// Made: the scan's predicate is gone, and it reads more columns: four times the rows and the work everywhere. The
/// other scan has its four times from storage.
#[test]
fn a_lost_predicate() {
    let captures = Captures::read();
    let base = captures.labelled("join/inner", 0);
    let wall_ms = base.wall_ms * 4.0;
    let mut run = scaled(&base, wall_ms, |_, name, value| if is_work(name) { value * 4 } else { value });
    let scan = run.plan.physical.iter_mut().find(|node| &*node.kind == "MultiScan").expect("a scan");
    with_property(scan, "predicate", Value::Null);
    with_property(
        scan,
        "projected_file_columns",
        serde_json::json!(["a", "b", "c", "d", "e", "f", "g", "h"]),
    );
    let mut base = base.clone();
    let scan = base.plan.physical.iter_mut().find(|node| &*node.kind == "MultiScan").expect("a scan");
    with_property(scan, "predicate", "col(\"amount\") > 990.0".into());
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::PlanChange);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +2091.1
          PlanChange +1917.5
          MoreRows +146.3
          LessParallelism +27.3
        Changed MultiScan
          MultiScan: projection of 8 columns instead of 2
          MultiScan: predicate no longer reaches the scan
        "#);
}

/// Made: the two joins change places, and with them their inputs; the first now has as many rows as the second.
#[test]
fn another_join_order() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let mut run = base.clone();
    let joins: Vec<usize> =
        (0..run.plan.physical.len()).filter(|&place| &*run.plan.physical[place].kind == "EquiJoin").collect();
    let [upper, lower] = joins[..] else { panic!("{joins:?}") };
    let second = |place: usize| run.plan.physical[place].inputs[1];
    let (one, other) = (second(upper), second(lower));
    run.plan.physical[upper].inputs[1] = other;
    run.plan.physical[lower].inputs[1] = one;
    let (keys, others) =
        (run.plan.physical[upper].properties.clone(), run.plan.physical[lower].properties.clone());
    run.plan.physical[upper].properties = others;
    run.plan.physical[lower].properties = keys;
    let wall_ms = run.wall_ms + 400.0;
    let lower_id = run.plan.physical[lower].id;
    let run =
        scaled(
            &run,
            wall_ms,
            |node, name, value| {
                if node.id == lower_id && name == "total_time_ns" { value * 2 } else { value }
            },
        );
    let comparison = compare(&base, &run);
    assert!(!comparison.same_plan);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +400.0
          PlanChange +476.7
          LessParallelism -67.4
          Waiting -9.3
        Changed SimpleProjection
          SimpleProjection: reads from EquiJoin instead of EquiJoin
        Changed EquiJoin
          EquiJoin: reads from SimpleProjection instead of MultiScan of orders.parquet
        Changed SimpleProjection
          SimpleProjection: reads from EquiJoin instead of EquiJoin
        Changed EquiJoin
          EquiJoin: reads from MultiScan of orders.parquet instead of SimpleProjection
        "#);
}

/// Made: the same work by one thread instead of two.
#[test]
fn fewer_threads() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let mut run = base.clone();
    run.wall_ms = base.wall_ms * 1.8;
    run.query_metrics = Some(threads_and_io(&base, 1, 1.0));
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::LessParallelism);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +980.4
          LessParallelism +989.7
          Waiting -9.3
        "#);
}

/// Made: the files come from a slow disk, so reads are under way for 2 s more, and the query takes 2 s more.
#[test]
fn a_slow_disk() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let mut run = base.clone();
    run.wall_ms = base.wall_ms + 2000.0;
    run.query_metrics = Some(threads_and_io(&base, 2, 220.0));
    let comparison = compare(&base, &run);
    assert_eq!(largest(&comparison), Cause::Waiting);
    insta::assert_snapshot!(told(&comparison), @r#"
        difference +2000.0
          Waiting +2000.0
        "#);
}

/// The query's counters with so many threads, and reads under way so many times as long.
fn threads_and_io(profile: &Profile<'_>, threads: u64, times: f64) -> Metrics<'static> {
    let counters = profile.query_metrics.as_ref().expect("counters").iter();
    let changed = counters.map(|(name, value)| match name {
        "num_threads" => (name.to_owned(), threads),
        _ => (name.to_owned(), (value as f64 * times) as u64),
    });
    changed.collect()
}
