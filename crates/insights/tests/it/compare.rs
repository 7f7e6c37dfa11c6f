//! Pairs of recordings whose difference is known.

use queryscope_insights::{Comparison, Fate, compare};

use crate::captures::Captures;
use crate::made::{filtered, joins_swapped, unfiltered};

/// What changed, a line each.
fn told(comparison: &Comparison) -> String {
    let mut lines = Vec::new();
    for pair in &comparison.nodes {
        let kind = pair.run.as_ref().or(pair.base.as_ref()).map_or("", |figures| &figures.kind);
        if pair.fate != Fate::Same {
            lines.push(format!("{:?} {kind}", pair.fate));
        }
        lines.extend(pair.changes.iter().map(|change| format!("  {kind}: {}", change.text)));
    }
    lines.join("\n")
}

#[test]
fn each_node_of_two_captures_is_told() {
    let captures = Captures::read();
    let finished = captures.finished();
    // Every 3rd with every 7th: all pairs take minutes, and the larger plans are among these.
    for (_, base) in finished.iter().step_by(3) {
        for (_, run) in finished.iter().step_by(7) {
            let comparison = compare(base, run);
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
        assert!(
            comparison
                .nodes
                .iter()
                .all(|pair| { pair.base == pair.run && pair.changes.is_empty() && pair.fate == Fate::Same })
        );
    }
}

/// Real: one row set sorted by two columns, and only the largest of another.
#[test]
fn another_query() {
    let captures = Captures::read();
    let (base, run) = (captures.labelled("top_k", 0), captures.labelled("sort/two-columns", 0));
    insta::assert_snapshot!(told(&compare(&base, &run)), @r#"
        Added SimpleProjection
        Changed Sort
          Sort: order: _POLARS_TMP_PHYS_# instead of amount
          Sort: limit 5 instead of 25
        Added Select
        Changed TopK
          TopK: order: also customer_id
        Changed MultiScan
          MultiScan: projection of 2 columns instead of 8
          MultiScan: predicate on customer_id instead of amount
        "#);
}

/// Made: the scan's predicate is gone, and it reads more columns.
#[test]
fn a_lost_predicate() {
    let captures = Captures::read();
    let base = captures.labelled("join/inner", 0);
    let (base, run) = (filtered(&base), unfiltered(&base));
    let comparison = compare(&base, &run);
    insta::assert_snapshot!(told(&comparison), @r#"
        Changed MultiScan
          MultiScan: projection of 8 columns instead of 2
          MultiScan: predicate no longer reaches the scan
        "#);
}

/// Made: the two joins change places, and with them their inputs.
#[test]
fn another_join_order() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let run = joins_swapped(&base);
    let comparison = compare(&base, &run);
    assert!(!comparison.same_plan);
    insta::assert_snapshot!(told(&comparison), @r#"
        Changed EquiJoin
          EquiJoin: reads from EquiJoin instead of MultiScan of orders.parquet
        Changed EquiJoin
          EquiJoin: reads from MultiScan of orders.parquet instead of EquiJoin
        "#);
}
