//! Changes of queries in words: the sentences of the dashboard (`ui/src/model/change.ts`). The service judges; here it
//! is only said.

use anstyle::Style;

use super::answers::{Cause, CauseEvidence, Change, Progress, Query, Side};
use super::style::{FAIL, FAST, PLAIN, SLOW};
use super::text::{line, name};
use super::units::{Times, UNKNOWN, bytes, count, duration, plural, ratio, runs as runs_text, share, whole};

/// What a cause is called by its kind and its first figure, where it made runs faster (`is_less`) or slower; its
/// sentence says more.
pub(crate) fn cause_name(cause: &str, evidence: &[CauseEvidence], is_less: bool) -> String {
    // As many threads as before may be busy for less of the time.
    let of_busy = evidence.first().is_some_and(|figure| figure.name == "threads_used");
    let known = match cause {
        "more_rows" if is_less => "Fewer rows",
        "more_rows" => "More rows",
        "plan_change" => "Plan change",
        "slower_per_row" if is_less => "Faster per row",
        "slower_per_row" => "Slower per row",
        "fewer_threads" if is_less && of_busy => "More threads busy",
        "fewer_threads" if is_less => "More threads",
        "fewer_threads" if of_busy => "Fewer threads busy",
        "fewer_threads" => "Fewer threads",
        "starved_cpu" if is_less => "All nodes faster",
        "starved_cpu" => "All nodes slower",
        "waiting" if is_less => "Less waiting",
        "waiting" => "Waiting",
        "spilling" if is_less => "Less spilling",
        "spilling" => "Spilling",
        "skew" => "Skew",
        "user_code" => "User code",
        "planning" => "Planning",
        "host" => "One host",
        "engine_version" => "Engine version",
        "program_version" => "Program version",
        "contention" if is_less => "Host less busy",
        "contention" => "Busy host",
        "failures" => "Failures",
        "unexplained" => "Not explained",
        other => return line(&other.replace('_', " ")).into_owned(),
    };
    known.into()
}

/// Whether the query does worse, and its data does not explain it.
pub(crate) fn is_worse(change: &Change) -> bool {
    matches!(change.kind.as_str(), "slower" | "failing")
}

/// The colour of a change: red is for failures alone.
pub(crate) fn style_of(change: &Change) -> Style {
    match change.kind.as_str() {
        "slower" => SLOW,
        "failing" => FAIL,
        "faster" => FAST,
        _ => PLAIN,
    }
}

/// Runs of a side that its times come from.
fn finished(side: &Side) -> u64 {
    side.runs.saturating_sub(side.failed)
}

/// So many runs tell what is usual since a query got faster.
const FASTER_MIN: u64 = 5;

/// What a run is held against.
#[derive(Debug, PartialEq)]
pub(crate) struct Usual {
    pub(crate) wall_ms: f64,
    /// Runs it comes from.
    pub(crate) runs: u64,
    /// Whether these are the runs since its query got faster.
    pub(crate) is_since_faster: bool,
}

/// What a run since an open change is held against: the runs before it, and where it made the query faster, those
/// since. `None` where the change does not say it.
pub(crate) fn usual_by(change: &Change) -> Option<Usual> {
    let is_since_faster = change.kind == "faster";
    let side = if is_since_faster { &change.after } else { &change.before };
    let runs = finished(side);
    if change.kind == "failing" || is_since_faster && runs < FASTER_MIN {
        return None;
    }
    Some(Usual { wall_ms: side.median_wall_ms?, runs, is_since_faster })
}

/// "2.4x slower", "1.8x faster", "fails", "1.5x slower as its data grew".
pub(crate) fn how_much(change: &Change) -> String {
    match (change.kind.as_str(), change.factor) {
        ("slower", None) => "slower".into(),
        ("slower", Some(factor)) => format!("{} slower", ratio(factor)),
        ("faster", Some(factor)) if factor > 0.0 => format!("{} faster", ratio(1.0 / factor)),
        ("faster", _) => "faster".into(),
        ("failing", _) => "fails".into(),
        ("data_grew", None) => "slower as its data grew".into(),
        ("data_grew", Some(factor)) => format!("{} slower as its data grew", ratio(factor)),
        (other, _) => line(other).into_owned(),
    }
}

/// "93.5 s in 37 runs, before 39.7 s in 120", or of failures "9 of 10 runs, before 0 of 120".
pub(crate) fn before_and_after(change: &Change) -> String {
    let Change { before, after, .. } = change;
    if change.kind == "failing" {
        return format!(
            "{} of {}, before {} of {}",
            after.failed,
            runs_text(after.runs),
            before.failed,
            whole(before.runs)
        );
    }
    format!(
        "{} in {}, before {} in {}",
        duration(after.median_wall_ms),
        runs_text(finished(after)),
        duration(before.median_wall_ms),
        whole(finished(before))
    )
}

/// "2.4x slower since 18 Nov 02:05 (93.5 s in 37 runs, before 39.7 s in 120)"
pub(crate) fn change_line(change: &Change, times: Times) -> String {
    let since = times.at(change.since_unix_ns);
    capital(&format!("{} since {since} ({})", how_much(change), before_and_after(change)))
}

/// Whose runs changed, where it is not all of them: "on host etl-3". Others may have changed by much less.
pub(crate) fn place(change: &Change) -> String {
    let host = change.host.as_deref().map(|host| format!("on host {}", name(host)));
    let environment = change.environment.as_deref().map(|environment| format!("in {}", name(environment)));
    host.into_iter().chain(environment).collect::<Vec<_>>().join(", ")
}

/// The first cause in the service's words.
pub(crate) fn first_cause(change: &Change) -> String {
    match change.causes.first() {
        Some(cause) => cause_words(cause),
        None if change.kind == "failing" => String::new(),
        None => "The cause is not known.".into(),
    }
}

/// A cause in the service's words.
pub(crate) fn cause_words(cause: &Cause) -> String {
    let sentence = line(&cause.sentence);
    match (sentence.as_ref(), cause.kind.as_str()) {
        ("", "unexplained") => "No counter explains it.".into(),
        ("", other) => format!("{}.", cause_name(other, &cause.evidence, cause.wall_ms < 0.0)),
        (said, _) if said.ends_with(['.', '!', '?']) => said.to_owned(),
        (said, _) => format!("{said}."),
    }
}

/// The figures that a cause rests on: "rows 40 k, before 10 k (4.0x); …". Empty where there are none.
pub(crate) fn evidence(cause: &Cause) -> String {
    let each = cause.evidence.iter().map(|evidence| {
        let (before, after) = (evidence.before, evidence.after);
        let figures = format!(
            "{} {}, before {}",
            line(&evidence.name.replace('_', " ")),
            figure(after, &evidence.unit),
            figure(before, &evidence.unit)
        );
        match (before, after) {
            (Some(before), Some(after)) if before != 0.0 && after != 0.0 => {
                format!("{figures} ({})", ratio(after / before))
            }
            _ => figures,
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

/// A figure in the unit that the service names.
pub(crate) fn figure(value: Option<f64>, unit: &str) -> String {
    if value.is_none() {
        return UNKNOWN.into();
    }
    match unit {
        "ms" => duration(value),
        "ns" => duration(value.map(|ns| ns / 1e6)),
        "bytes" => bytes(value),
        "ratio" => ratio(value),
        "share" => share(value),
        "1" | "" => count(value),
        other => format!("{} {}", count(value), line(other)),
    }
}

/// What it costs: "12 min a day more than before, at its rate of runs; 1 h 03 min so far"; of failures
/// "12 min a day at stake". The rate is that until its last run. Empty where it costs no time; what slow growth cost so
/// far is not known.
pub(crate) fn cost_line(change: &Change) -> String {
    let (day, all) = (change.cost.wall_ms_a_day, change.cost.extra_wall_ms);
    if day == 0.0 && all == 0.0 {
        return String::new();
    }
    if change.kind == "failing" {
        return format!("{} a day at stake", duration(day));
    }
    let way = if all < 0.0 { "less" } else { "more" };
    let a_day = format!("{} a day {way} than before, at its rate of runs", duration(day.abs()));
    match change.cost.runs {
        0 => a_day,
        _ => format!("{a_day}; {} so far", duration(all.abs())),
    }
}

/// "open", "recovered 19 Nov 08:00", "superseded".
pub(crate) fn state_words(change: &Change, times: Times) -> String {
    match change.recovered_unix_ns.filter(|_| change.state == "recovered") {
        Some(at) => format!("recovered {}", times.at(at)),
        None => line(&change.state).into_owned(),
    }
}

/// The open change that a query is about: for the worse where there is one, the one that costs most.
pub(crate) fn main_change<'c>(open: &[&'c Change]) -> Option<&'c Change> {
    open.iter().find(|change| is_worse(change)).or(open.first()).copied()
}

/// "2.4x slower since 18 Nov 02:05 (93.5 s in 37 runs, before 39.7 s in 120). Scan #3 reads 4x the rows."
pub(crate) fn query_line(query: Option<&Query>, open: &[&Change], days: u32, times: Times) -> String {
    if let Some(change) = main_change(open) {
        let place = place(change);
        let space = if place.is_empty() { "" } else { " " };
        let others = open.len() as u64 - 1;
        let more = match others {
            0 => String::new(),
            others => format!(" {} open.", plural(others, "other change is", "other changes are")),
        };
        let line = change_line(change, times);
        return format!("{line}{space}{place}. {}{more}", first_cause(change)).trim().to_owned();
    }
    let in_days = plural(u64::from(days), "day", "days");
    let Some(query) = query else { return format!("No run in the last {in_days}") };
    let unfinished =
        if query.unfinished > 0 { format!(", {} unfinished", query.unfinished) } else { String::new() };
    let ran = format!("{} in {in_days}{unfinished}", runs_text(query.runs));
    let state = if query.is_as_usual() { "As usual" } else { "No change is open" };
    let lately = match query.recent_runs {
        1 => "in its last run".to_owned(),
        // Where fewer runs are of the last 24 hours, lately are the last three.
        runs @ 2..=3 => format!("in its last {runs} runs"),
        _ => "lately".to_owned(),
    };
    let lately = query.recent_wall_ms.map(|median_ms| {
        format!("{} {lately}", median_or_quartiles(Some(median_ms), query.recent_spread_ms))
    });
    let usual = query.usual_wall_ms.map(|usual| format!("usually {}", duration(Some(usual))));
    let said: Vec<String> = [lately, usual, Some(ran)].into_iter().flatten().collect();
    format!("{state}: {}", said.join(", "))
}

/// "22 ms", and "2.2 ms to 45 s" of runs so far apart that their median says little.
pub(crate) fn median_or_quartiles(median_ms: Option<f64>, spread_ms: Option<[f64; 2]>) -> String {
    match spread_ms {
        Some([low, high]) => format!("{} to {}", duration(Some(low)), duration(Some(high))),
        None => duration(median_ms),
    }
}

/// How much is left of a running run: "8.3 s to 31 s more (the last 40 runs of its plan)"; `None` without a basis.
pub(crate) fn remaining(progress: &Progress) -> Option<String> {
    if let Some(remaining) = progress.remaining_ms {
        let interval = format!("{} to {} more", duration(remaining.p10), duration(remaining.p90));
        let basis = progress.basis.as_deref().map(|basis| format!(" ({})", line(basis))).unwrap_or_default();
        let late = if progress.is_late { "late: " } else { "" };
        return Some(format!("{late}{interval}{basis}"));
    }
    let longer = progress.longer_than.filter(|&longer| longer > 0)?;
    let rows = progress.rows_read_factor.filter(|&rows| rows > 1.0);
    let rows = rows
        .map(|rows| format!("; so far it has read {} the rows of its last runs", ratio(rows)))
        .unwrap_or_default();
    let all = line(progress.basis.as_deref()?);
    let already = if longer == progress.runs { "already " } else { "" };
    Some(format!("{already}longer than {longer} of {all}{rows}"))
}

/// The same for a column: "8.3 s to 31 s", or "late". `None` without a basis.
pub(crate) fn remaining_short(progress: &Progress) -> Option<String> {
    let interval = |remaining: super::answers::Remaining| {
        format!("{} to {}", duration(remaining.p10), duration(remaining.p90))
    };
    match (progress.is_late, progress.remaining_ms) {
        (false, remaining) => remaining.map(interval),
        (true, None) => Some("late".into()),
        (true, Some(remaining)) => Some(format!("late, {}", interval(remaining))),
    }
}

/// With its first letter in upper case.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The short number of a node that people say: slot maps put a generation into the upper 32 bits of an id.
pub(crate) fn node_number(id: u64) -> u64 {
    if id < 1_000_000_000 { id } else { id & 0xffff_ffff }
}

/// "Join #7".
pub(crate) fn node_name(kind: &str, id: u64) -> String {
    format!("{} #{}", line(kind), node_number(id))
}

/// Whether a run with this error text was cancelled, and did not fail.
pub(crate) fn is_cancelled(error: Option<&str>) -> bool {
    error.is_some_and(queryscope_insights::vocabulary::cancelled::is_cancelled)
}

#[cfg(test)]
mod tests;
