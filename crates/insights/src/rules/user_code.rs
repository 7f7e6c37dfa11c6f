//! Code of the program that the plan calls, row by row or for all rows at once.

use std::fmt::Write as _;

use queryscope_protocol::{Finding, Node, Role};

use crate::finding::{about, rounded};
use crate::graph::Step;
use crate::properties::Properties;
use crate::query::{LONG_MS, MOST, Query};
use crate::say::{count, millis};
use crate::vocabulary::counters::{LONGEST_STEP, ROWS_IN, ROWS_OUT};
use crate::vocabulary::properties::{EXPRESSIONS, PREDICATE};
use crate::words::Words;

/// The evidence of how much of the wall time is in no counter.
const IN_NO_COUNTER: &str = "in_no_counter";
/// The evidence of how much of it calls took.
const MEASURED: &str = "user_code";

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    let calling: Vec<&Step<'_>> = query.plan.steps.iter().filter(|step| called(step).is_some()).collect();
    // The node whose user code likely took the time that the query has: that with the most rows.
    let likely = calling.iter().max_by_key(|step| rows(step)).map(|step| step.node.id);
    for step in &calling {
        let Some(name) = called(step) else { continue };
        let Some(rows) = rows(step).filter(|&rows| rows > 0) else { continue };
        let is_source = is_source(step);
        let verb = if is_source { "gives" } else { "is called for" };
        let mut title = format!("User code ({name}) {verb} {} rows", count(rows));
        let is_likely = likely == Some(step.node.id);
        let time = Time::of(query).filter(|_| is_likely);
        let runs = step.runs() && query.profile.failed.is_none();
        if let Some(time) = &time {
            let so_far = if runs { " so far" } else { "" };
            let (part, whole) = (millis(time.ms()), millis(query.profile.wall_ms));
            match time {
                Time::Measured(_) if calling.len() > 1 => {
                    write!(title, "; calls of all {} nodes take {part} of {whole}{so_far}", calling.len())
                }
                Time::Measured(_) => write!(title, "; its calls take {part} of {whole}{so_far}"),
                Time::Uncounted(_) => write!(title, "; {part} of {whole}{so_far} are in no counter"),
            }
            .expect("a text takes all");
        }
        // The node of an engine that times its nodes by the clock on the wall counts calls, and waits in them.
        let counted_ms = step.busy_ns() as f64 / 1e6;
        let taken_ms = time.as_ref().map_or(counted_ms, Time::ms);
        let off_cpu_ms = off_cpu_ms(query, taken_ms).filter(|_| is_likely && !runs);
        if let Some(off_cpu_ms) = off_cpu_ms {
            if time.is_none() {
                write!(title, "; its node counts {}", millis(taken_ms)).expect("a text takes all");
            }
            write!(title, ", at least {} of it off the CPU", millis(off_cpu_ms)).expect("a text takes all");
        }
        let fix = if off_cpu_ms.is_some() {
            "look what it waits for where the host had cores free: ask for many rows at a time, or for several at once"
        } else if is_source {
            "read it by a scan of the engine where there is one, or give fewer and larger batches"
        } else {
            "say it in expressions of the engine, or as a compiled plugin that takes whole columns"
        };
        let mut finding = about(query, step, "user_code", title).fix(fix).number(
            if is_source { "rows_out" } else { "rows_in" },
            rows,
            "rows",
        );
        if let Some(longest) = step.counter(&LONGEST_STEP) {
            finding = finding.number("longest_step", longest as f64 / 1e6, "ms");
        }
        if let Some(time) = &time {
            finding = finding.uncounted_share(time.ms() / query.profile.wall_ms);
            finding = match time {
                Time::Measured(ms) => finding.number(MEASURED, rounded(*ms), "ms").saves_wall_ms(*ms),
                Time::Uncounted(ms) => finding.number(IN_NO_COUNTER, rounded(*ms), "ms"),
            };
        }
        if let Some(cpu_ms) = query.process_cpu_ms().filter(|_| time.is_some() || off_cpu_ms.is_some()) {
            finding = finding.number("process_cpu", rounded(cpu_ms), "ms");
        }
        if let Some(ms) = off_cpu_ms {
            finding = finding.number("off_cpu", rounded(ms), "ms");
        }
        // What the advice saves is not known where it is not measured: engines count little of what user code takes.
        found.push(finding.done());
    }
}

/// How much of a time was off the CPU at least: what the process did not work. `None` where that is not most of it, or
/// the sender does not say what the process used.
fn off_cpu_ms(query: &Query<'_>, taken_ms: f64) -> Option<f64> {
    let off_cpu_ms = taken_ms - query.process_cpu_ms()?;
    let wall_ms = query.profile.wall_ms;
    let is_long = wall_ms >= LONG_MS && taken_ms >= MOST * wall_ms;
    (is_long && off_cpu_ms >= MOST * taken_ms).then_some(off_cpu_ms)
}

/// The rows that a step hands to code of the program, or gets from it.
fn rows(step: &Step<'_>) -> Option<u64> {
    step.counter(if is_source(step) { &ROWS_OUT } else { &ROWS_IN })
}

/// Whether rows come from code of the program; a scan may also call it in a predicate.
fn is_source(step: &Step<'_>) -> bool {
    step.role() == Role::Scan && step.properties.user_code().is_some()
}

/// The time of user code in a query, in milliseconds.
enum Time {
    /// The sender measured it.
    Measured(f64),
    /// No counter holds it, and it is at least half of the wall time.
    Uncounted(f64),
}

impl Time {
    fn of(query: &Query<'_>) -> Option<Self> {
        let uncounted = || query.uncounted_share().map(|_| Self::Uncounted(query.uncounted_ms()));
        query.user_code_ms().map(Self::Measured).or_else(uncounted)
    }

    const fn ms(&self) -> f64 {
        match self {
            Self::Measured(ms) | Self::Uncounted(ms) => *ms,
        }
    }
}

/// The share of the wall time that calls likely took; `None` where nothing says so.
pub(super) fn share(query: &Query<'_>) -> Option<f64> {
    Time::of(query).map(|time| time.ms() / query.profile.wall_ms)
}

/// Whether a finding is about this time.
pub(super) fn holds_time(finding: &Finding<'_>) -> bool {
    finding.evidence.iter().any(|evidence| [IN_NO_COUNTER, MEASURED].contains(&&*evidence.name))
}

/// The function of the program that a node calls; `None` where it calls none.
///
/// Engines count little of what such a function does: a node that calls one may work while its counters stand still.
pub fn user_code(node: &Node<'_>) -> Option<String> {
    called_by(&Properties::of(node))
}

/// The function of the program that a step calls.
pub(crate) fn called(step: &Step<'_>) -> Option<String> {
    called_by(&step.properties)
}

fn called_by(properties: &Properties) -> Option<String> {
    if let Some(name) = properties.user_code() {
        return Some(name.chars().take(80).collect());
    }
    let words = Words::of([&EXPRESSIONS, &PREDICATE].into_iter().flat_map(|term| properties.texts(term)));
    words.functions.into_iter().find(|name| name.ends_with("_udf"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, check_with, node, only, profile, profile_text};

    fn map(properties: Value) -> Vec<Value> {
        let counters = json!({"rows_in": 1_200_000, "busy_ns": 900_000, "longest_step_ns": 2_281_833});
        vec![node(1, "Select", "map", &[], properties, counters)]
    }

    #[test]
    fn a_function_of_the_program() {
        let plan = map(json!({"selectors": ["col(\"amount\").python_udf().alias(\"m\")"]}));
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 1200000
                },
                {
                  "name": "longest_step",
                  "unit": "ms",
                  "value": 2.281833
                }
              ],
              "fix": "say it in expressions of the engine, or as a compiled plugin that takes whole columns",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Select",
              "rule": "user_code",
              "title": "User code (python_udf) is called for 1.2 M rows"
            }
            "#);
        assert_eq!(check(&map(json!({"name": "python_udf"}))).len(), 1);
        assert_eq!(check(&map(json!({"user_code": "score"}))).len(), 1);
    }

    #[test]
    fn time_in_no_counter_is_likely_its_own() {
        let mut plan = map(json!({"user_code": "score"}));
        plan.push(node(2, "Few", "map", &[1], json!({"user_code": "few"}), json!({"rows_in": 7})));
        let more = json!({"planning_ms": 10.0, "query_metrics": {"process_cpu_ns": 9_300_000_000_u64}});
        let text = profile_text(14_200.0, &plan, more);
        let found = crate::findings(&profile(&text)).findings;
        let titles: Vec<_> = found.iter().map(|finding| (&*finding.level, &*finding.title)).collect();
        let likely = "User code (score) is called for 1.2 M rows; 14.2 s of 14.2 s are in no counter";
        assert_eq!(titles, [("warn", likely), ("note", "User code (few) is called for 7 rows")]);
        assert_eq!(found[0].cpu_share, None, "the counters do not say");
        let evidence = serde_json::to_value(&found[0].evidence).expect("JSON");
        let named = |name: &str| {
            let is = |one: &&Value| one["name"] == name;
            evidence.as_array().expect("a list").iter().find(is).map(|one| one["value"].clone())
        };
        assert_eq!(named("in_no_counter"), Some(json!(14_189.1)));
        assert_eq!(named("process_cpu"), Some(json!(9300.0)));
        assert_eq!(named("saves_cpu_at_most"), None);
    }

    #[test]
    fn what_the_process_did_not_work_is_waiting() {
        let with = |process_cpu_ms: u64, ns: Option<u64>| {
            let mut more = json!({"query_metrics": {"process_cpu_ns": process_cpu_ms * 1_000_000}});
            if let Some(ns) = ns {
                more["query_metrics"]["user_code_ns"] = ns.into();
            }
            more
        };
        let mut plan = map(json!({"user_code": "score"}));
        let title = "User code (score) is called for 1.2 M rows";
        let said = |plan: &[Value], more| only(14_200.0, plan, more)["title"].as_str().map(ToOwned::to_owned);
        assert_eq!(
            said(&plan, with(150, Some(13_200_000_000))),
            Some(format!("{title}; its calls take 13.2 s of 14.2 s, at least 13.1 s of it off the CPU"))
        );
        assert_eq!(
            said(&plan, with(150, None)),
            Some(format!("{title}; 14.2 s of 14.2 s are in no counter, at least 14.0 s of it off the CPU"))
        );
        assert_eq!(
            said(&plan, with(7000, Some(13_200_000_000))),
            Some(format!("{title}; its calls take 13.2 s of 14.2 s")),
            "it may have worked for most of the time"
        );
        // DuckDB times its nodes by the clock on the wall: its counter of the node holds the waiting.
        plan[0]["metrics"]["busy_ns"] = json!(14_000_000_000_u64);
        let found = only(14_200.0, &plan, with(150, None));
        assert_eq!(
            found["title"],
            format!("{title}; its node counts 14.0 s, at least 13.8 s of it off the CPU")
        );
        assert!(
            found["fix"].as_str().is_some_and(|fix| fix.starts_with("look what it waits for")),
            "{found}"
        );
        assert_eq!(found["cpu_share"], json!(1.0));
        assert_eq!(said(&plan, with(7500, None)), Some(title.to_owned()));
        // While it runs, the counters of the node and of the process are of two moments.
        plan[0]["metrics"]["done"] = json!(false);
        assert_eq!(said(&plan, with(150, None)), Some(title.to_owned()));
    }

    #[test]
    fn while_it_runs_that_is_so_far() {
        let mut plan = map(json!({"user_code": "score"}));
        plan[0]["metrics"]["done"] = json!(false);
        let found = check_with(2000.0, &plan, json!({}));
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("; 2.00 s of 2.00 s so far are in no counter"), "{found:?}");
    }

    #[test]
    fn counted_time_is_counted() {
        let mut plan = map(json!({"user_code": "score"}));
        plan[0]["metrics"]["busy_ns"] = json!(1_600_000_000);
        assert_eq!(
            check_with(2000.0, &plan, json!({})),
            ["warn user_code #1: User code (score) is called for 1.2 M rows"]
        );
    }

    #[test]
    fn measured_time_is_its_own() {
        let plan = map(json!({"user_code": "score"}));
        let measured =
            |ns: u64| json!({"query_metrics": {"user_code_ns": ns, "process_cpu_ns": 9_300_000_000_u64}});
        let found = only(14_200.0, &plan, measured(13_200_000_000));
        assert_eq!(
            found["title"],
            "User code (score) is called for 1.2 M rows; its calls take 13.2 s of 14.2 s"
        );
        assert_eq!((found.get("cpu_share"), &found["level"]), (None, &json!("warn")));
        let evidence = found["evidence"].as_array().expect("a list");
        let named: Vec<_> =
            evidence.iter().map(|one| (one["name"].as_str().unwrap_or(""), &one["value"])).collect();
        assert_eq!(
            named[2..],
            [
                ("user_code", &json!(13_200.0)),
                ("saves_wall_at_most", &json!(13_200.0)),
                ("process_cpu", &json!(9300.0))
            ]
        );
        // Less than a hundredth of the time is not worth a warning.
        assert_eq!(only(14_200.0, &plan, measured(100_000_000))["level"], "note");
        // Never more than the wall time, whatever a clock says.
        let beyond = check_with(14_200.0, &plan, measured(15_000_000_000));
        assert!(beyond[0].ends_with("its calls take 14.2 s of 14.2 s"), "{beyond:?}");
    }

    #[test]
    fn measured_time_of_several_nodes_is_that_of_all() {
        let mut plan = map(json!({"user_code": "score"}));
        plan.push(node(2, "Few", "map", &[1], json!({"user_code": "few"}), json!({"rows_in": 7})));
        let more = json!({"query_metrics": {"user_code_ns": 500_000_000}});
        assert_eq!(
            check_with(1000.0, &plan, more),
            [
                "warn user_code #1: User code (score) is called for 1.2 M rows; \
                 calls of all 2 nodes take 500 ms of 1.00 s",
                "note user_code #2: User code (few) is called for 7 rows"
            ]
        );
    }

    #[test]
    fn a_source_written_in_the_program_gives_rows() {
        let plan = [node(
            1,
            "PythonScan",
            "scan",
            &[],
            json!({"user_code": "python_scan"}),
            json!({"rows_out": 50}),
        )];
        let more = json!({"query_metrics": {"user_code_ns": 20_000_000}});
        assert_eq!(
            check_with(1000.0, &plan, more),
            ["warn user_code #1: User code (python_scan) gives 50 rows; its calls take 20.0 ms of 1.00 s"]
        );
    }

    #[test]
    fn a_scan_that_calls_code_in_its_predicate_is_no_source() {
        let predicate = json!({"predicate": "python_udf(a) > 5"});
        assert!(check(&[node(1, "Scan", "scan", &[], predicate, json!({"rows_out": 50}))]).is_empty());
    }

    #[test]
    fn the_engines_own_functions_are_fine() {
        assert!(check(&map(json!({"selectors": ["col(\"udf\").sum()"], "name": "row_index"}))).is_empty());
    }
}
