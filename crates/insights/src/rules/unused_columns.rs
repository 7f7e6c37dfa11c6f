//! Columns that a scan reads and nothing uses.

use std::collections::BTreeSet;

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::graph::{Graph, Step};
use crate::query::Query;
use crate::say::percent;
use crate::vocabulary::properties::{
    COLUMNS, EXPRESSIONS, KEYS, ORDER, PREDICATE, PROJECTION, SUFFIX, TABLE_COLUMNS,
};
use crate::wildcard::has_wildcard;
use crate::words::Words;

/// At least this share of the columns read is unused.
const UNUSED: f64 = 0.2;
/// So many names are listed.
const LISTED: usize = 10;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    let needs = needs(&query.plan);
    for (place, step) in query.plan.steps.iter().enumerate().filter(|(_, step)| step.role() == Role::Scan) {
        let read = step.properties.names(&PROJECTION);
        let Some(read) = read.or_else(|| step.properties.names(&TABLE_COLUMNS)) else { continue };
        let Need::Columns(used) = &needs[place] else { continue };
        let predicate = step.properties.texts(&PREDICATE);
        if predicate.iter().copied().any(has_wildcard) {
            continue;
        }
        let own = Words::of(predicate).columns;
        let unused: Vec<&str> =
            read.iter().copied().filter(|&name| !used.contains(name) && !own.contains(name)).collect();
        let share = unused.len() as f64 / read.len() as f64;
        // One column is read even where only rows are counted.
        if read.len() < 2 || unused.is_empty() || share < UNUSED {
            continue;
        }
        let title = format!("{} of {} columns are read and never used", unused.len(), read.len());
        let mut names = unused[..unused.len().min(LISTED)].join(", ");
        if unused.len() > LISTED {
            names += ", …";
        }
        let finding = about(query, step, "unused_columns", title)
            .fix("select the columns that are needed right after the scan")
            .text("columns", names)
            .text("share", percent(share))
            .number("unused", unused.len() as u64, "columns")
            .number("read", read.len() as u64, "columns")
            .saves_cpu_ns(step.busy_ns() as f64 * share);
        found.push(finding.done());
    }
}

/// What is used of a node's output.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// All of it, or it cannot be told.
    All,
    Columns(BTreeSet<String>),
}

impl Need {
    fn nothing() -> Self {
        Self::Columns(BTreeSet::new())
    }

    fn and(&mut self, other: Self) {
        match (self, other) {
            (Self::All, _) => {}
            (this, Self::All) => *this = Self::All,
            (Self::Columns(these), Self::Columns(those)) => these.extend(those),
        }
    }
}

/// From the results down: what each node's readers need of it.
fn needs(plan: &Graph<'_>) -> Vec<Need> {
    let mut needs: Vec<Need> = plan
        .steps
        .iter()
        .map(|step| if step.readers.is_empty() { Need::All } else { Need::nothing() })
        .collect();
    for place in (0..plan.steps.len()).rev() {
        let step = &plan.steps[place];
        let of_inputs = of_inputs(step, &needs[place]);
        for &input in &step.inputs {
            needs[input].and(of_inputs.clone());
        }
    }
    needs
}

/// What a node needs of its inputs to give what is needed of it.
fn of_inputs(step: &Step<'_>, need: &Need) -> Need {
    if expressions(step).into_iter().any(has_wildcard) {
        return Need::All;
    }
    let mentioned = || mentioned(step);
    match step.role() {
        // These say all they take.
        Role::Projection => match step.properties.names(&COLUMNS) {
            Some(columns) if columns.contains(&"*") => Need::All,
            Some(columns) => Need::Columns(columns.into_iter().map(ToOwned::to_owned).collect()),
            None if step.properties.get(&EXPRESSIONS).is_some() => Need::Columns(mentioned()),
            None => Need::All,
        },
        Role::Aggregation if step.properties.get(&EXPRESSIONS).is_some() => Need::Columns(mentioned()),
        // These pass columns through.
        Role::Distinct if step.properties.get(&KEYS).is_none() => Need::All,
        Role::Map
        | Role::Selection
        | Role::Join
        | Role::ThetaJoin
        | Role::CrossJoin
        | Role::SemiAntiJoin
        | Role::Sort
        | Role::TopK
        | Role::Distinct
        | Role::Union
        | Role::Sink
        | Role::Engine => match need {
            Need::All => Need::All,
            Need::Columns(columns) => {
                let mut columns = columns.clone();
                columns.extend(mentioned());
                let suffix = step.properties.text(&SUFFIX).filter(|suffix| !suffix.is_empty());
                let bare: Vec<String> = suffix.map_or_else(Vec::new, |suffix| {
                    columns.iter().filter_map(|name| name.strip_suffix(suffix)).map(Into::into).collect()
                });
                columns.extend(bare);
                Need::Columns(columns)
            }
        },
        _ => Need::All,
    }
}

fn mentioned(step: &Step<'_>) -> BTreeSet<String> {
    Words::of(expressions(step)).columns
}

/// All expressions of a node.
fn expressions<'s>(step: &'s Step<'_>) -> Vec<&'s str> {
    let terms = [&PREDICATE, &KEYS, &ORDER, &EXPRESSIONS];
    terms.into_iter().flat_map(|term| step.properties.texts(term)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn query(projection: &[&str], then: Value) -> Vec<Value> {
        let properties = json!({"projection": projection, "predicate": "col(\"b\") > 5"});
        vec![node(1, "Scan", "scan", &[], properties, json!({"busy_ns": 1_000_000})), then]
    }

    fn group() -> Value {
        node(2, "Group", "aggregation", &[1], json!({"keys": ["col(\"a\")"], "aggs": ["len()"]}), json!({}))
    }

    #[test]
    fn what_no_node_names() {
        let plan = query(&["a", "b", "c", "d"], group());
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "columns",
                  "unit": null,
                  "value": "c, d"
                },
                {
                  "name": "share",
                  "unit": null,
                  "value": "50 %"
                },
                {
                  "name": "unused",
                  "unit": "columns",
                  "value": 2
                },
                {
                  "name": "read",
                  "unit": "columns",
                  "value": 4
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.5
                }
              ],
              "fix": "select the columns that are needed right after the scan",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Scan",
              "rule": "unused_columns",
              "title": "2 of 4 columns are read and never used"
            }
            "#);
    }

    #[test]
    fn a_wildcard_or_a_pattern_needs_all() {
        let with = |expression: &str| {
            let properties = json!({"keys": ["col(\"a\")"], "aggs": [expression]});
            check(&query(&["a", "b", "c", "d"], node(2, "Group", "aggregation", &[1], properties, json!({}))))
        };
        for all in ["all().sum()", "count(DISTINCT *)", "col(\"^(c|d)$\").sum()", "sum(#2)"] {
            assert!(with(all).is_empty(), "{all}");
        }
        assert_eq!(with("count(*)").len(), 1);
        assert_eq!(with("(col(\"a\") * col(\"b\")).sum()").len(), 1);
    }

    #[test]
    fn a_fifth_is_the_limit() {
        let filler = ["b"; 4];
        let with = |unused: &[&str]| check(&query(&[&filler[..], unused].concat(), group()));
        assert_eq!(with(&["x"]).len(), 1);
        let filler = ["b"; 5];
        assert!(check(&query(&[&filler[..], &["x"]].concat(), group())).is_empty());
        assert!(check(&query(&["x"], group())).is_empty(), "one is needed to count");
    }

    #[test]
    fn what_reaches_the_result_is_used() {
        let sink = node(2, "Sink", "sink", &[1], json!({}), json!({}));
        assert!(check(&query(&["a", "b", "c", "d"], sink)).is_empty());
        let unknown = node(2, "Call", "function", &[1], json!({}), json!({}));
        let mut plan = query(&["a", "b", "c", "d"], unknown);
        plan.push(node(
            3,
            "Group",
            "aggregation",
            &[2],
            json!({"keys": ["a"], "aggs": ["len()"]}),
            json!({}),
        ));
        assert!(check(&plan).is_empty());
    }

    #[test]
    fn the_right_side_of_a_join_loses_its_suffix() {
        let scan =
            |id| node(id, "Scan", "scan", &[], json!({"projection": ["k", "v"]}), json!({"rows_out": id}));
        let plan = [
            scan(1),
            scan(2),
            node(
                3,
                "Join",
                "join",
                &[1, 2],
                json!({"left_on": ["k"], "right_on": ["k"], "suffix": "_right"}),
                json!({}),
            ),
            node(4, "Select", "projection", &[3], json!({"columns": ["v_right"]}), json!({})),
        ];
        assert!(check(&plan).is_empty());
    }
}
