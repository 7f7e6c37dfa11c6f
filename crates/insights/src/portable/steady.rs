//! Which counters and findings do not depend on the machine.
//!
//! An engine may stop reading before the end, and when it notices depends on its threads:
//!
//! - below a limit, up to the next node that takes all its rows before it gives any (a sort, an aggregation);
//! - below a top-k, and on the side of a join that looks partners up: engines pass filters down that they find while
//!   they run, however deep;
//! - below a join of which one input is empty, or that merges sorted inputs.
//!
//! Counters of such nodes are not compared, whether the engine did so this time or not.

use std::collections::{BTreeMap, HashSet};

use queryscope_protocol::{Profile, Role};

use crate::graph::{Graph, Step};
use crate::properties::Properties;
use crate::vocabulary::counters::ROWS_OUT;
use crate::vocabulary::properties::{KEYS, PREDICATE, USER_CODE};

/// Rules whose verdict follows from the plan, rows and files. Others judge time or the number of partitions; spilling
/// is compared on its own.
const STEADY_RULES: &[&str] = &[
    "cross_join",
    "exploding_join",
    "late_filter",
    "redundant_aggregation",
    "repeated_subplan",
    "small_files",
    "sort_under_limit",
    "unpruned_row_groups",
    "unused_columns",
    "user_code",
];
/// Those that follow from the plan alone.
const PLAN_RULES: &[&str] = &["unused_columns", "user_code"];

/// Ids of the nodes whose counters depend on the machine.
pub(super) fn unsteady(graph: &Graph<'_>, engine: Option<&str>) -> HashSet<u64> {
    let count = graph.steps.len();
    let (mut cut, mut filtered) = (vec![false; count], vec![false; count]);
    let finds_filters = graph.steps.iter().any(|step| &*step.node.kind == "DynamicFilter");
    // Readers come after what they read.
    for (place, step) in graph.steps.iter().enumerate().rev() {
        filtered[place] |= has_dynamic_filter(&step.properties);
        cut[place] |= is_scan(step) && step.properties.limit().is_some();
        let takes_all = takes_all(step);
        let cuts = !takes_all && (cut[place] || is_limit(step));
        let passes: Vec<bool> = (0..step.inputs.len())
            .map(|at| filtered[place] || passes_filters(graph, step, at, engine, finds_filters))
            .collect();
        for (&input, passes) in step.inputs.iter().zip(passes) {
            cut[input] |= cuts;
            filtered[input] |= passes;
        }
    }
    let is_unsteady = |&place: &usize| cut[place] || filtered[place];
    (0..count).filter(is_unsteady).map(|place| graph.steps[place].node.id).collect()
}

/// Texts of the findings of each rule whose verdict does not depend on the machine.
pub(super) fn findings(
    profile: &Profile<'_>,
    graph: &Graph<'_>,
    unsteady: &HashSet<u64>,
) -> BTreeMap<String, Vec<String>> {
    let by_id = |id: i64| graph.steps.iter().find(|step| u64::try_from(id) == Ok(step.node.id));
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in crate::findings(profile).findings {
        let rule = &*finding.rule;
        let step = finding.node_id.and_then(by_id);
        let inputs_are_steady = || {
            let ids = step.into_iter().flat_map(|step| &step.inputs).map(|&at| graph.steps[at].node.id);
            ids.into_iter().all(|id| !unsteady.contains(&id))
        };
        let is_steady = || match rule {
            // What the limit above cuts is what the sort gives on, not what it takes.
            "sort_under_limit" => inputs_are_steady(),
            _ => step.is_none_or(|step| !unsteady.contains(&step.node.id)) && inputs_are_steady(),
        };
        if !STEADY_RULES.contains(&rule) || !(PLAN_RULES.contains(&rule) || is_steady()) {
            continue;
        }
        let text = match (rule, step) {
            // Its title tells times.
            ("user_code", Some(step)) => {
                let name =
                    step.properties.text(&USER_CODE).map(|name| format!(" ({name})")).unwrap_or_default();
                format!("{} calls user code{name}", step.node.kind)
            }
            _ => finding.title.to_string(),
        };
        found.entry(rule.to_owned()).or_default().push(text);
    }
    for texts in found.values_mut() {
        texts.sort();
    }
    found
}

fn is_scan(step: &Step<'_>) -> bool {
    matches!(step.role(), Role::Scan | Role::Dataframe)
}

/// Whether it takes all rows of its input before it gives any on.
fn takes_all(step: &Step<'_>) -> bool {
    match step.role() {
        Role::Sort | Role::TopK => true,
        Role::Aggregation => step.properties.limit().is_none(),
        _ => false,
    }
}

fn is_limit(step: &Step<'_>) -> bool {
    let kind = step.node.kind.to_ascii_lowercase();
    step.properties.limit().is_some() || kind.contains("limit") || kind.contains("slice")
}

fn has_dynamic_filter(properties: &Properties) -> bool {
    // Polars has it among the predicates of a scan.
    if properties.texts(&PREDICATE).iter().any(|text| text.contains("dynamic_pred")) {
        return true;
    }
    properties.iter().any(|(name, value)| {
        let is_empty = value.is_null() || value.as_u64() == Some(0) || value.as_str() == Some("");
        name.starts_with("dynamic_filter") && !is_empty
    })
}

/// Whether what is below this input may be filtered by what the node finds while it runs, or stopped early.
fn passes_filters(
    graph: &Graph<'_>,
    step: &Step<'_>,
    at: usize,
    engine: Option<&str>,
    finds_filters: bool,
) -> bool {
    match step.role() {
        Role::TopK => true,
        Role::Sort => step.properties.limit().is_some(),
        // The least and greatest value so far rule out row groups.
        Role::Aggregation => {
            engine == Some("datafusion")
                && step.properties.get(&KEYS).is_none_or(|keys| keys == &serde_json::json!([]))
        }
        Role::Join | Role::SemiAntiJoin => {
            let kind = step.node.kind.to_ascii_lowercase();
            let merges = ["merge", "asof", "range", "delim", "sorted"].iter().any(|name| kind.contains(name));
            merges
                || has_empty_input(graph, step)
                || match engine {
                    Some("datafusion") => at > 0,
                    Some("duckdb") => at == 0,
                    Some("polars") => finds_filters,
                    _ => true,
                }
        }
        Role::ThetaJoin | Role::CrossJoin => {
            has_empty_input(graph, step)
                || engine.is_none_or(|name| !matches!(name, "datafusion" | "duckdb" | "polars"))
        }
        _ => false,
    }
}

fn has_empty_input(graph: &Graph<'_>, step: &Step<'_>) -> bool {
    step.inputs.iter().any(|&input| graph.steps[input].counter(&ROWS_OUT) == Some(0))
}
