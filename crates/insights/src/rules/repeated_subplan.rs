//! The same sub-plan more than once.

use std::collections::HashMap;

use queryscope_protocol::{Finding, Role};
use sha2::{Digest, Sha256};

use super::user_code;
use crate::finding::{WARN_SHARE, about};
use crate::fingerprint::Hash;
use crate::graph::{Graph, Step};
use crate::query::Query;
use crate::vocabulary::counters::ROWS_OUT;
use crate::words::stable_name;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    // Masked literals may hide that sub-plans differ.
    if query.profile.redacted.as_ref().is_some_and(|masked| !masked.is_empty()) {
        return;
    }
    let plan = &query.plan;
    let mut twins: HashMap<Hash, Vec<usize>> = HashMap::new();
    for (place, hash) in exact(plan).into_iter().enumerate() {
        if let Some(hash) = hash {
            twins.entry(hash).or_default().push(place);
        }
    }
    let mut groups: Vec<Vec<usize>> = twins.into_values().filter(|places| places.len() > 1).collect();
    // From the results down: what is below a repeated sub-plan is repeated with it.
    groups.sort_unstable_by_key(|places| std::cmp::Reverse(places[0]));
    let mut told = vec![false; plan.steps.len()];
    for places in groups {
        let rows = |&place: &usize| plan.steps[place].counter(&ROWS_OUT);
        let differ = places.windows(2).any(|pair| rows(&pair[0]) != rows(&pair[1]));
        if places.iter().all(|&place| told[place]) || differ {
            continue;
        }
        let below: Vec<Vec<usize>> = places.iter().map(|&place| plan.below(place)).collect();
        below.iter().flatten().for_each(|&place| told[place] = true);
        if below[0].iter().any(|&place| plan.steps[place].runs()) {
            continue;
        }
        let below = without_shared(below, plan.steps.len());
        let busy = |places: &Vec<usize>| places.iter().map(|&place| plan.steps[place].busy_ns()).sum::<u64>();
        let mut times: Vec<u64> = below.iter().map(busy).collect();
        times.sort_unstable();
        // One of them is needed: the most expensive, for a figure that holds.
        let saved: u64 = times[..times.len() - 1].iter().sum();
        let reads = below[0].iter().any(|&place| plan.steps[place].role() == Role::Scan);
        if !reads && query.cpu_share(saved).is_none_or(|share| share < WARN_SHARE) {
            continue;
        }
        let nodes = below[0].len();
        let step = &plan.steps[places[0]];
        let what = if nodes == 1 { step.node.kind.to_string() } else { format!("sub-plan of {nodes} nodes") };
        let title = format!("The same {what} runs {} times", places.len());
        let ids: Vec<String> = places.iter().map(|&place| plan.steps[place].node.id.to_string()).collect();
        let finding = about(query, step, "repeated_subplan", title)
            .cpu_share(query.cpu_share(saved))
            .fix("compute it once and share it: cache it, or collect it before it is used twice")
            .number("times", places.len() as u64, "runs")
            .text("nodes", ids.join(", "))
            .saves_cpu_ns(saved as f64);
        found.push(finding.done());
    }
}

/// Sub-plans of a plan of so many nodes without the nodes that all of them have, which run once.
fn without_shared(mut below: Vec<Vec<usize>>, nodes: usize) -> Vec<Vec<usize>> {
    let mut times = vec![0; nodes];
    below.iter().flatten().for_each(|&place| times[place] += 1);
    let all = below.len();
    for places in &mut below {
        places.retain(|&place| times[place] < all);
    }
    below
}

/// What each node and all below it does, literals and all; `None` where that is not known for certain, or where
/// nothing is read.
fn exact(plan: &Graph<'_>) -> Vec<Option<Hash>> {
    let mut hashes: Vec<Option<Hash>> = Vec::with_capacity(plan.steps.len());
    let mut reads = Vec::with_capacity(plan.steps.len());
    let mut known: Vec<Option<Hash>> = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let inputs: Option<Vec<Hash>> = step.inputs.iter().map(|&input| known[input]).collect();
        let reads_any = step.role() == Role::Scan || step.inputs.iter().any(|&input| reads[input]);
        let own = own(step);
        let hash = own.zip(inputs).map(|(own, inputs)| {
            let mut hash = Sha256::new_with_prefix(own);
            for input in inputs {
                hash.update(input);
            }
            hash.finalize().into()
        });
        known.push(hash);
        reads.push(reads_any);
        hashes.push(hash.filter(|_| reads_any));
    }
    hashes
}

/// What a node does; `None` where its properties are cut short, or it calls code that may be any.
fn own(step: &Step<'_>) -> Option<Hash> {
    if user_code::called(step).is_some() {
        return None;
    }
    let mut hash = Sha256::new();
    hash.update(step.role().as_str());
    hash.update([0]);
    hash.update(&*step.node.kind);
    for (name, value) in step.properties.iter() {
        let text = value.to_string();
        if text.contains('…') || text.contains("...") {
            return None;
        }
        hash.update([0]);
        hash.update(name);
        hash.update([0]);
        hash.update(without_ids(&text));
    }
    Some(hash.finalize().into())
}

/// A text without the ids that the engine makes up anew: its own names' numbers, and UUIDs.
fn without_ids(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if is_uuid(run) { kept.push('#') } else { kept.push_str(&stable_name(run)) }
    }
    kept
}

fn is_uuid(word: &str) -> bool {
    let groups: Vec<usize> = word.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, check_with, node, only};

    /// Two branches that group a filtered scan.
    fn query(predicates: [&str; 2]) -> Vec<Value> {
        let branch = |first: u64, predicate: &str| {
            let key = format!("_TMP_{first}");
            let group = json!({"rows_in": 50, "rows_out": 5, "busy_ns": 100_000});
            [
                node(
                    first,
                    "Scan",
                    "scan",
                    &[],
                    json!({"table": "t", "predicate": predicate}),
                    json!({"rows_out": 50, "busy_ns": 300_000}),
                ),
                node(
                    first + 1,
                    "Group",
                    "aggregation",
                    &[first],
                    json!({"keys": [key], "aggs": ["len()"]}),
                    group,
                ),
            ]
        };
        let [one, other] = [branch(1, predicates[0]), branch(3, predicates[1])];
        let union = node(5, "Union", "union", &[2, 4], json!({}), json!({"busy_ns": 200_000}));
        [&one[..], &other[..], &[union]].concat()
    }

    #[test]
    fn two_branches_do_the_same() {
        insta::assert_json_snapshot!(only(50.0, &query(["a > 1", "a > 1"]), json!({})), @r#"
            {
              "cpu_share": 0.4,
              "evidence": [
                {
                  "name": "times",
                  "unit": "runs",
                  "value": 2
                },
                {
                  "name": "nodes",
                  "unit": null,
                  "value": "2, 4"
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.4
                }
              ],
              "fix": "compute it once and share it: cache it, or collect it before it is used twice",
              "kind": "problem",
              "level": "warn",
              "node_id": 2,
              "node_kind": "Group",
              "rule": "repeated_subplan",
              "title": "The same sub-plan of 2 nodes runs 2 times"
            }
            "#);
    }

    #[test]
    fn another_literal_is_another_sub_plan() {
        assert!(check(&query(["a > 1", "a > 2"])).is_empty());
    }

    #[test]
    fn what_cannot_be_seen_may_differ() {
        assert!(check(&query(["a in [1, … 9]", "a in [1, … 9]"])).is_empty());
        let plan = query(["a > <num>", "a > <num>"]);
        assert!(check_with(50.0, &plan, json!({"redacted": ["literals"]})).is_empty());
        let mut plan = query(["a > 1", "a > 1"]);
        plan[2]["metrics"]["rows_out"] = json!(51);
        plan[3]["metrics"]["rows_out"] = json!(6);
        assert!(check(&plan).is_empty(), "their rows say that they differ");
    }

    #[test]
    fn a_shared_one_runs_once() {
        let plan = [
            node(1, "Scan", "scan", &[], json!({"table": "t"}), json!({})),
            node(2, "Group", "aggregation", &[1], json!({"keys": ["a"]}), json!({})),
            node(3, "Group", "aggregation", &[1], json!({"keys": ["b"]}), json!({})),
        ];
        assert!(check(&plan).is_empty());
    }

    /// As Polars has it: two nodes with one input do the same with its rows, and the scan below runs once.
    #[test]
    fn what_a_shared_node_takes_is_repeated_by_none() {
        let group_ns = |busy_ns: u64| {
            let keys = json!({"keys": ["a"]});
            let counted = |busy_ns: u64| json!({"rows_in": 50, "rows_out": 5, "busy_ns": busy_ns});
            let plan = [
                node(
                    1,
                    "Scan",
                    "scan",
                    &[],
                    json!({"table": "t"}),
                    json!({"rows_out": 50, "busy_ns": 900_000}),
                ),
                node(
                    2,
                    "Multiplexer",
                    "engine",
                    &[1],
                    json!({}),
                    json!({"rows_out": 50, "busy_ns": 100_000}),
                ),
                node(3, "Group", "aggregation", &[2], keys.clone(), counted(busy_ns)),
                node(4, "Group", "aggregation", &[2], keys, counted(busy_ns)),
                node(5, "Union", "union", &[3, 4], json!({}), json!({"busy_ns": 100})),
            ];
            check(&plan)
        };
        assert_eq!(group_ns(1_000), [""; 0]);
        assert_eq!(group_ns(500_000), ["warn repeated_subplan #3: The same Group runs 2 times"]);
    }
}
