//! `queryscope diff`: two runs side by side, and what the difference in time is made of.

use anyhow::Result;
use serde_json::Value;

use super::Found;
use super::answers::{Account, Comparison, NodeFigures, NodePair, Part, Run};
use super::args::{DiffArgs, SourceArgs};
use super::run_name::id_or_plan;
use super::screen::{Reader, Screen, print, print_json};
use super::service::Service;
use super::style::{FAST, PLAIN, SLOW, SOFT, STRONG, joined, painted};
use super::text::{line, name, pad, pad_start, shorten, width};
use super::units::{UNKNOWN, duration, plural, ratio, runs as runs_text, signed_duration, whole};
use super::words::{cause_name, is_cancelled, node_name};

/// A difference of less is about the same, as a share of the base.
const SAME: f64 = 0.05;
/// So many parts of a difference have a line of their own.
const PARTS_TOLD: usize = 8;
/// Columns of the bars from one wall time to the other.
const BARS_COLUMNS: usize = 30;
/// Columns of a node's name, at least and at most.
const NODE_COLUMNS: (usize, usize) = (16, 48);

pub(crate) async fn run(args: &DiffArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let answer = ask(&service, &args.base, args.run.as_deref(), &args.source).await?;
    if args.format.json {
        print_json(&answer)?;
    } else {
        let comparison: Comparison = serde_json::from_value(answer)?;
        print(&text(&comparison, args.limit as usize, screen))?;
    }
    Ok(Found::Something)
}

/// Asks how two runs differ; without `run`, how `base` differs from the usual.
///
/// # Errors
/// `NotFound` where there is no such run or plan.
pub(crate) async fn ask(
    service: &Service,
    base: &str,
    run: Option<&str>,
    source: &SourceArgs,
) -> Result<Value> {
    let first = id_or_plan(service, base, source).await?;
    let params = match run {
        Some(run) => vec![("run", id_or_plan(service, run, source).await?), ("base", first)],
        None => vec![("run", first)],
    };
    service.get("/api/compare", &params).await
}

/// What is printed, with so many nodes at most.
pub(crate) fn text(comparison: &Comparison, limit: usize, screen: Screen) -> String {
    let Comparison { base, run, .. } = comparison;
    let label =
        |run: &Run| run.label.as_deref().map_or("no label".to_owned(), |label| name(label).into_owned());
    let title =
        if base.label == run.label { label(run) } else { format!("{} against {}", label(run), label(base)) };
    let mut text = format!("{}\n", painted(&title, STRONG));
    let plans = if comparison.same_plan {
        "Both ran the same plan, as far as the engine describes it."
    } else {
        "The plan is another one."
    };
    let has_finished = [base, run].iter().all(|run| run.status == "finished");
    let first = if has_finished {
        comparison_line(&comparison.account)
    } else {
        unfinished_line(base, run, &comparison.account)
    };
    text += &screen.paragraph(&format!("{first} {plans}"), "");
    text += "\n";
    let side = |title: &str, run: &Run, basis: &str| {
        let status =
            if run.status == "finished" { String::new() } else { format!(", {}", line(&run.status)) };
        let started = screen.times.at_second(run.started_unix_ns);
        screen.hanging(&format!("{title}  "), &format!("{} of {started}{status}{basis}", line(&run.query_id)))
    };
    let basis = basis(comparison);
    text += &side("before  ", base, &format!(", {basis}"));
    text += &side("this run", run, "");
    if has_finished {
        text.push('\n');
        text += &waterfall(&comparison.account);
    }
    text += &nodes(&comparison.nodes, limit, screen);
    text
}

fn basis(comparison: &Comparison) -> String {
    let runs = comparison.runs.unwrap_or(0);
    let earlier = plural(runs, "earlier run", "earlier runs");
    match comparison.basis.as_str() {
        "named" => "the run that was chosen".into(),
        "before_change" => format!("a typical one of {} before the change of its query", runs_text(runs)),
        "plan" => format!("the usual one of {earlier} of this plan"),
        _ => format!("the usual one of {earlier} of the label: this plan had none"),
    }
}

fn part_name(part: &Part) -> String {
    let cause = cause_name(&part.cause, &part.evidence, part.ns < 0);
    match &part.node {
        Some(node) => format!("{cause}: {}", name(&node.kind)),
        None => cause,
    }
}

/// "This run still runs, 13 s so far; the one before took 28.1 s."
fn unfinished_line(base: &Run, run: &Run, account: &Account) -> String {
    let took = |run: &Run, ns: i64| {
        let time = duration(ns as f64 / 1e6);
        match run.status.as_str() {
            "running" => format!("still runs, {time} so far"),
            "failed" if is_cancelled(run.failed.as_deref()) => format!("was cancelled after {time}"),
            "failed" => format!("failed after {time}"),
            "unfinished" => format!("was heard of for {time}, and not of its end"),
            _ => format!("took {time}"),
        }
    };
    format!(
        "This run {}; the one before {}. What the difference is made of is told of runs that finished.",
        took(run, account.run_wall_ns),
        took(base, account.base_wall_ns)
    )
}

/// "1.23 s instead of 610 ms (2.0x). Largest part: more rows (+400 ms)."
fn comparison_line(account: &Account) -> String {
    let (before, now) = (account.base_wall_ns as f64 / 1e6, account.run_wall_ns as f64 / 1e6);
    let times = if before > 0.0 { format!(" ({})", ratio(now / before)) } else { String::new() };
    let line = format!("{} instead of {}{times}.", duration(now), duration(before));
    let difference = account.difference_ns;
    let most = account
        .parts
        .iter()
        .filter(|part| part.ns != 0 && (part.ns > 0) == (difference > 0))
        .max_by_key(|part| part.ns.abs());
    let is_same = (difference as f64).abs() < account.base_wall_ns as f64 * SAME;
    match most.filter(|_| difference != 0 && !is_same) {
        None => format!("{line} That is about the same."),
        Some(most) => {
            let name = cause_name(&most.cause, &most.evidence, most.ns < 0).to_lowercase();
            let said = match &*most.sentence {
                "" => String::new(),
                sentence => format!(" {}.", super::text::line(sentence)),
            };
            format!("{line} Largest part: {name} ({}).{said}", signed_duration(most.ns as f64 / 1e6))
        }
    }
}

/// From one wall time, cause by cause, to the other: each bar begins where the one before ended, and the figures sum.
fn waterfall(account: &Account) -> String {
    let mut rows = vec![("Before".to_owned(), 0, account.base_wall_ns, None)];
    let mut at = account.base_wall_ns;
    let mut parts: Vec<&Part> = account.parts.iter().filter(|part| part.ns != 0).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns.unsigned_abs()));
    let (told, smaller) = parts.split_at(parts.len().min(PARTS_TOLD));
    let mut push = |name: String, ns: i64| {
        let next = at.saturating_add(ns);
        rows.push((name, at, next, Some(ns)));
        at = next;
    };
    for part in told {
        push(part_name(part), part.ns);
    }
    if !smaller.is_empty() {
        let name = plural(smaller.len() as u64, "smaller part", "smaller parts");
        push(name, smaller.iter().map(|part| part.ns).sum());
    }
    rows.push(("This run".into(), 0, account.run_wall_ns, None));
    let ends = rows.iter().flat_map(|row| [row.1, row.2]);
    let (least, most) = ends.fold((0, 1), |(least, most), end| (end.min(least), end.max(most)));
    let column = |ns: i64| {
        let share = (ns - least) as f64 / (most - least) as f64;
        (share * BARS_COLUMNS as f64).round() as usize
    };
    let names = rows.iter().map(|row| width(&row.0)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (title, from, until, part) in rows {
        let (first, last) = (column(from.min(until)), column(from.max(until)));
        // What is there at all is seen.
        let first = first.min(BARS_COLUMNS - 1);
        let filled = (last - first.min(last)).max(1);
        let bar = format!("{}{}", " ".repeat(first), "█".repeat(filled));
        let (style, figure) = match part {
            None => (PLAIN, duration(until as f64 / 1e6)),
            Some(ns) => (if ns > 0 { SLOW } else { FAST }, signed_duration(ns as f64 / 1e6)),
        };
        let bar = painted(&pad(&bar, BARS_COLUMNS), style);
        lines.push(format!("{}  {bar}  {}", pad(&title, names), pad_start(&figure, 12)));
    }
    joined(lines)
}

/// How much more a node worked, in milliseconds of CPU; `None` where a plan that has the node does not tell.
fn added_busy_ms(pair: &NodePair) -> Option<f64> {
    let of = |figures: &NodeFigures| Some(i64::try_from(figures.busy_ns?).unwrap_or(i64::MAX));
    let ns = match (&pair.base, &pair.run) {
        (Some(_), Some(_)) => pair.delta.as_ref()?.busy_ns?,
        (None, Some(run)) => of(run)?,
        (Some(base), None) => -of(base)?,
        (None, None) => return None,
    };
    Some(ns as f64 / 1e6)
}

/// "4.14 M → 38.9 M", or one number where it is the same in both.
fn rows_out(pair: &NodePair) -> String {
    let rows = |side: &Option<NodeFigures>| side.as_ref().and_then(|figures| figures.rows_out);
    match (rows(&pair.base), rows(&pair.run)) {
        (None, None) => UNKNOWN.into(),
        (Some(rows), None) | (None, Some(rows)) => whole(rows),
        (Some(before), Some(now)) if before == now => whole(now),
        (Some(before), Some(now)) => format!("{} → {}", whole(before), whole(now)),
    }
}

/// Nodes that came, went or do something else first: they are causes; within each by how much their time moved.
fn nodes(pairs: &[NodePair], limit: usize, screen: Screen) -> String {
    let mut sorted: Vec<&NodePair> = pairs.iter().collect();
    let moved = |pair: &NodePair| added_busy_ms(pair).unwrap_or(0.0).abs();
    sorted.sort_by(|a, b| (a.fate == "same").cmp(&(b.fate == "same")).then(moved(b).total_cmp(&moved(a))));
    if sorted.is_empty() {
        return String::new();
    }
    let shown: Vec<(String, &NodePair)> =
        sorted.iter().take(limit).map(|pair| (pair_name(pair), *pair)).collect();
    let figures: Vec<(String, String)> =
        shown.iter().map(|(_, pair)| (signed_duration(added_busy_ms(pair)), rows_out(pair))).collect();
    let of = |at: fn(&(String, String)) -> &String, title: &str| {
        figures.iter().map(|row| width(at(row))).max().unwrap_or(0).max(width(title))
    };
    let (cpu, rows) = (of(|row| &row.0, "busy"), of(|row| &row.1, "rows out"));
    let natural = shown.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let left = screen.columns.map_or(usize::MAX, |columns| columns.saturating_sub(cpu + rows + 4));
    let room = natural.clamp(NODE_COLUMNS.0, NODE_COLUMNS.1).min(left.max(1));
    let row = |name: &str, figures: [&str; 2]| {
        format!("{name}  {}  {}", pad_start(figures[0], cpu), pad_start(figures[1], rows))
    };
    let heading = row(&pad("node", room), ["busy", "rows out"]);
    let mut text = format!("\n{}\n", painted(&heading, SOFT));
    for ((name, pair), (busy, rows_text)) in shown.iter().zip(&figures) {
        text += &row(&pad(&shorten(name, room), room), [busy, rows_text]);
        text += "\n";
        for change in &pair.changes {
            text += &screen.soft(&line(&change.text), "  ");
        }
    }
    if sorted.len() > limit {
        let more = sorted.len() - limit;
        let line = match screen.reader {
            Reader::Person => format!("{more} more nodes: --limit shows them"),
            Reader::Agent => format!("{more} more nodes are left out: limit is {limit}."),
        };
        text += &screen.soft(&line, "");
    }
    text
}

fn pair_name(pair: &NodePair) -> String {
    let figures = pair.run.as_ref().or(pair.base.as_ref());
    let name = figures.map(|node| node_name(&node.kind, node.id)).unwrap_or_default();
    if pair.fate == "same" { name } else { format!("{name} ({})", line(&pair.fate)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::units::{Times, Zone};

    const NOW_UNIX_NS: i64 = 1_795_206_683_000_000_000;

    fn account(parts: &[(&str, i64)]) -> Account {
        let difference_ns = parts.iter().map(|(_, ns)| ns).sum();
        let parts = parts
            .iter()
            .map(|&(cause, ns)| Part {
                cause: cause.into(),
                ns,
                evidence: Vec::new(),
                node: None,
                sentence: String::new(),
            })
            .collect();
        Account { base_wall_ns: 610_000_000, run_wall_ns: 610_000_000 + difference_ns, difference_ns, parts }
    }

    #[test]
    fn the_line_says_what_the_largest_part_is() {
        let line = |parts: &[(&str, i64)]| comparison_line(&account(parts));
        assert_eq!(
            line(&[("more_rows", 700_000_000), ("waiting", -80_000_000)]),
            "1.23 s instead of 610 ms (2.0x). Largest part: more rows (+700 ms)."
        );
        assert_eq!(
            line(&[("more_rows", -300_000_000)]),
            "310 ms instead of 610 ms (0.5x). Largest part: fewer rows (−300 ms)."
        );
        assert_eq!(
            line(&[("planning", 6_000_000)]),
            "616 ms instead of 610 ms (1.0x). That is about the same."
        );
    }

    #[test]
    fn the_bars_lead_from_one_wall_time_to_the_other() {
        let parts =
            [("plan_change", 0), ("more_rows", 700_000_000), ("waiting", -80_000_000), ("planning", 1)];
        let text = waterfall(&account(&parts));
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }

    /// Two runs of one query, of which the second reads more and joins otherwise.
    fn comparison() -> Comparison {
        let run = |n: u64, wall_ms: f64| {
            json!({
                "query_id": format!("01a1faa8-1bd9-77b2-97ab-{n:012}"), "status": "finished", "label": "orders/daily",
                "service": "etl", "host": "worker-1", "started_unix_ns": NOW_UNIX_NS - 7_000_000_000,
                "wall_ms": wall_ms, "warnings": 0,
            })
        };
        let node = |id: u64, kind: &str, busy_ns: u64, rows_out: u64| {
            json!({
                "id": id, "kind": kind, "busy_ns": busy_ns, "rows_out": rows_out,
            })
        };
        let changes = json!([{
            "text": "the build side is customers instead of orders, and the filter on valid_until now runs after the \
                     join",
        }]);
        serde_json::from_value(json!({
            "base": run(1, 610.0), "run": run(2, 1_230.0), "same_plan": false, "basis": "named", "runs": null,
            "account": {
                "base_wall_ns": 610_000_000, "run_wall_ns": 1_230_000_000, "difference_ns": 620_000_000,
                "parts": [{"cause": "more_rows", "ns": 700_000_000}, {"cause": "waiting", "ns": -80_000_000}],
            },
            "nodes": [
                {"fate": "same", "base": node(1, "Scan", 90_000_000, 4_140_000),
                    "run": node(1, "Scan", 700_000_000, 38_900_000), "delta": {"busy_ns": 610_000_000}, "changes": []},
                {"fate": "changed", "base": node(2, "HashJoin", 80_000_000, 9_000),
                    "run": node(2, "HashJoin", 90_000_000, 9_000), "delta": {"busy_ns": 10_000_000},
                    "changes": changes},
                {"fate": "added", "base": null, "run": node(3, "Sort", 5_000_000, 9_000), "delta": null, "changes": []},
            ],
        }))
        .expect("a comparison")
    }

    #[test]
    fn a_node_of_which_a_run_tells_no_time_did_not_take_none() {
        let pair = |base: Value, run: Value, delta: Value| -> NodePair {
            serde_json::from_value(
                json!({"fate": "same", "base": base, "run": run, "delta": delta, "changes": []}),
            )
            .expect("a pair")
        };
        let node = |busy_ns: Option<u64>| json!({"id": 1, "kind": "Scan", "busy_ns": busy_ns, "rows_out": 5});
        let (told, none) = (node(Some(32_500_000)), node(None));
        let delta = |ns: Option<i64>| json!({"busy_ns": ns});
        assert_eq!(added_busy_ms(&pair(told.clone(), none.clone(), delta(None))), None);
        assert_eq!(added_busy_ms(&pair(none, told.clone(), delta(None))), None);
        assert_eq!(added_busy_ms(&pair(told.clone(), told.clone(), delta(Some(-5_000_000)))), Some(-5.0));
        assert_eq!(added_busy_ms(&pair(told, Value::Null, Value::Null)), Some(-32.5));
    }

    #[test]
    fn of_runs_that_did_not_finish_nothing_is_said_to_be_slower_or_faster() {
        let times = Times { now_unix_ns: NOW_UNIX_NS, zone: Zone::Utc };
        for (status, failed, says) in [
            ("running", None, "This run still runs, 1.23 s so far; the one before took 610 ms."),
            (
                "unfinished",
                None,
                "This run was heard of for 1.23 s, and not of its end; the one before took 610 ms.",
            ),
            ("failed", Some("no memory"), "This run failed after 1.23 s; the one before took 610 ms."),
            ("failed", Some("cancelled"), "This run was cancelled after 1.23 s; the one before took 610 ms."),
        ] {
            let mut comparison = comparison();
            (comparison.run.status, comparison.run.failed) = (status.into(), failed.map(Into::into));
            let text = text(&comparison, 12, Screen { columns: None, times, reader: Reader::Agent });
            assert!(text.contains(says), "{text}");
            assert!(!text.contains("instead of 610 ms") && !text.contains("Waiting"), "{text}");
        }
    }

    #[test]
    fn a_comparison_fits_a_small_terminal_and_fills_a_wide_one() {
        let shown = |columns: usize| {
            let times = Times { now_unix_ns: NOW_UNIX_NS, zone: Zone::Utc };
            let text =
                text(&comparison(), 12, Screen { columns: Some(columns), times, reader: Reader::Person });
            let text = anstream::adapter::strip_str(&text).to_string();
            assert!(text.lines().all(|line| width(line) <= columns), "{text}");
            text
        };
        insta::assert_snapshot!(format!("{}\n{}", shown(80), shown(200)));
    }
}
