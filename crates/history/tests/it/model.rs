//! The definitions once more, slowly: everything is sorted, and looked for from the start each time.

use std::collections::BTreeSet;

use queryscope_history::{
    Alternative, Comparison, Day, Earlier, Group, LabelOverview, RankTest, Run, RunStatus, Verdict, Version,
    Window,
};

use crate::any_runs::{DAY_NS, HOUR_NS};

pub(crate) fn sorted<'a>(runs: &[Run<'a>]) -> Vec<Run<'a>> {
    let mut sorted = runs.to_vec();
    sorted.sort_by_key(|run| (run.started_unix_ns, run.query_id));
    sorted
}

fn between<'a>(runs: &[Run<'a>], from: i64, to: i64) -> Vec<Run<'a>> {
    sorted(runs).into_iter().filter(|run| (from..=to).contains(&run.started_unix_ns)).collect()
}

fn failed(runs: &[Run<'_>]) -> u64 {
    runs.iter().filter(|run| matches!(run.status, RunStatus::Failed | RunStatus::Cancelled)).count() as u64
}

fn cancelled(runs: &[Run<'_>]) -> u64 {
    runs.iter().filter(|run| run.status == RunStatus::Cancelled).count() as u64
}

fn unfinished(runs: &[Run<'_>]) -> u64 {
    runs.iter().filter(|run| run.status == RunStatus::Unfinished).count() as u64
}

fn times(runs: &[Run<'_>]) -> Vec<f64> {
    let finished = runs.iter().filter(|run| run.status == RunStatus::Finished);
    finished.map(|run| run.wall_ms.expect("finished runs have one")).collect()
}

fn total(runs: &[Run<'_>]) -> f64 {
    times(runs).iter().map(|ms| (ms * 1e6).round() as i64).sum::<i64>() as f64 / 1e6
}

/// The quantile at a place counted in quarters, by the textbook.
pub(crate) fn quantile(values: &[f64], quarters: usize) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let place = (values.len().checked_sub(1)? * quarters) as f64 / 4.0;
    let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
    Some(if place.fract() == 0.5 { f64::midpoint(low, high) } else { low + (high - low) * place.fract() })
}

fn rules<'a>(runs: &[Run<'a>]) -> BTreeSet<&'a str> {
    runs.iter().flat_map(|run| run.rules.iter().copied()).collect()
}

pub(crate) fn overview<'a>(
    window: &Window,
    days: u32,
    utc_offset: i64,
    runs: &[Run<'a>],
    earlier: &Earlier<'a>,
) -> Option<LabelOverview<'a>> {
    let now = window.now_unix_ns();
    // A sender's clock may be a day ahead.
    let until = now.saturating_add(DAY_NS);
    let since = now - i64::from(days) * DAY_NS;
    let begun = between(runs, i64::MIN, until);
    let range = between(runs, since, until);
    if range.is_empty() {
        return None;
    }
    let mut lately = between(runs, now - DAY_NS, until);
    if lately.len() < 3 {
        lately = begun[begun.len().saturating_sub(3)..].to_vec();
    }
    let mut before = between(&begun, lately[0].started_unix_ns - 14 * DAY_NS, lately[0].started_unix_ns);
    before.retain(|run| !lately.contains(run) && run.started_unix_ns <= lately[0].started_unix_ns);

    let week = now - 7 * DAY_NS;
    let (old, new) = (between(runs, i64::MIN, week - 1), between(runs, week, until));
    let first_seen = |rule: &&str| !rules(&old).contains(rule) && !earlier.rules.contains(rule);
    let enough = old.len() as u64 + earlier.runs >= 5;

    let local_midnight = |ns: i64| ns - (ns + utc_offset * 60_000_000_000).rem_euclid(DAY_NS);
    let mut day_starts = vec![local_midnight(since)];
    while day_starts[day_starts.len() - 1] + DAY_NS <= now {
        day_starts.push(day_starts[day_starts.len() - 1] + DAY_NS);
    }
    assert_eq!(window.days(), day_starts);
    let day = |start: &i64| {
        let last = if start == day_starts.last().expect("a day") { until } else { start + DAY_NS - 1 };
        let runs = between(&range, *start, last);
        Day {
            runs: runs.len() as u32,
            failed: failed(&runs) as u32,
            cancelled: cancelled(&runs) as u32,
            unfinished: unfinished(&runs) as u32,
            median_wall_ms: quantile(&times(&runs), 2).into(),
        }
    };
    let bin = |slice: u32| {
        let start = since + i64::from(slice) * 6 * HOUR_NS;
        let last = if slice == days * 4 - 1 { until } else { start + 6 * HOUR_NS - 1 };
        quantile(&times(&between(runs, start, last)), 2).into()
    };
    let Comparison { usual_wall_ms, usual_band_ms, recent_wall_ms, recent_spread_ms, ratio, judged, verdict } =
        comparison(&times(&lately), &times(&before));
    let new_rules = rules(&new).into_iter().filter(first_seen).filter(|_| enough);
    Some(LabelOverview {
        label: "".into(),
        service: range.iter().filter_map(|run| run.service).next_back().map(Into::into),
        services: range.iter().map(|run| run.service).collect::<BTreeSet<_>>().len() as u64,
        runs: range.len() as u64,
        failed: failed(&range),
        cancelled: cancelled(&range),
        unfinished: unfinished(&range),
        total_wall_ms: total(&range),
        usual_wall_ms,
        usual_band_ms,
        recent_wall_ms,
        recent_spread_ms,
        ratio,
        judged,
        verdict,
        recent_runs: lately.len() as u64,
        recent_failed: failed(&lately),
        failed_before: failed(&before),
        rules: rules(&range).into_iter().map(Into::into).collect(),
        new_rules: new_rules.map(Into::into).collect(),
        plan_changed_unix_ns: plan_changed(&before, &lately),
        bins: (0..days * 4).map(bin).collect(),
        days: day_starts.iter().map(day).collect(),
        change: None,
    })
}

fn comparison(recent: &[f64], usual: &[f64]) -> Comparison {
    let known = usual.len() >= 5;
    let recent_wall_ms = quantile(recent, 2);
    let usual_wall_ms = quantile(usual, 2).filter(|_| known);
    let ratio = recent_wall_ms.zip(usual_wall_ms).map(|(recent, usual)| recent / usual);
    let by_luck = |alternative| {
        let test = RankTest::of_times(&mut recent.to_vec(), &mut usual.to_vec()).expect("two samples");
        test.probability(alternative)
    };
    let judged = known && recent.len() >= 3;
    let verdict = match ratio.filter(|_| judged) {
        Some(ratio) if ratio >= 1.5 && by_luck(Alternative::Greater) < 0.01 => Some(Verdict::Slower),
        Some(ratio) if 1.0 / ratio >= 1.5 && by_luck(Alternative::Less) < 0.01 => Some(Verdict::Faster),
        _ => None,
    };
    let band = known.then(|| [1, 3].map(|quarters| quantile(usual, quarters).expect("known")));
    let quartiles =
        (recent.len() >= 5).then(|| [1, 3].map(|quarters| quantile(recent, quarters).expect("known")));
    let recent_spread_ms = quartiles.filter(|[lower, upper]| *upper > 0.0 && *upper >= 4.0 * lower);
    let usual_band_ms = band;
    Comparison { usual_wall_ms, usual_band_ms, recent_wall_ms, recent_spread_ms, ratio, judged, verdict }
}

fn plan_changed(before: &[Run<'_>], lately: &[Run<'_>]) -> Option<i64> {
    let all = [before, lately].concat();
    let now = all.iter().filter_map(|run| run.fingerprint).next_back()?;
    let usual: Vec<&str> = before
        .iter()
        .filter(|run| run.status == RunStatus::Finished)
        .filter_map(|run| run.fingerprint)
        .collect();
    let how_often = |plan: &str| usual.iter().filter(|other| **other == plan).count();
    let changed = usual.len() >= 5 && usual.iter().any(|plan| how_often(plan) > how_often(now));
    let first = all.iter().find(|run| run.fingerprint == Some(now))?;
    changed.then_some(first.started_unix_ns)
}

pub(crate) fn group<'a>(runs: &[Run<'a>]) -> Option<Group<'a>> {
    let runs = sorted(runs);
    let finished = times(&runs);
    Some(Group {
        key: "".into(),
        runs: runs.len() as u64,
        failed: failed(&runs),
        cancelled: cancelled(&runs),
        unfinished: unfinished(&runs),
        last_started_unix_ns: runs.last()?.started_unix_ns,
        total_wall_ms: total(&runs),
        rules: rules(&runs).into_iter().map(Into::into).collect(),
        recent_wall_ms: finished[finished.len().saturating_sub(30)..].to_vec(),
        usual_wall_ms: quantile(&finished, 2),
    })
}

pub(crate) fn versions(runs: &[Run<'_>]) -> Vec<Version> {
    let runs = sorted(runs);
    let mut versions: Vec<Version> = Vec::new();
    for last in runs.iter().rev() {
        let Some(plan) =
            last.fingerprint.filter(|plan| versions.iter().all(|known| known.fingerprint != *plan))
        else {
            continue;
        };
        let of_plan: Vec<Run<'_>> =
            runs.iter().filter(|run| run.fingerprint == Some(plan)).copied().collect();
        let Some(usual_wall_ms) = quantile(&times(&of_plan), 2) else { continue };
        versions.push(Version {
            fingerprint: plan.to_owned(),
            runs: of_plan.len() as u64,
            failed: failed(&of_plan),
            cancelled: cancelled(&of_plan),
            unfinished: unfinished(&of_plan),
            first_started_unix_ns: of_plan[0].started_unix_ns,
            last_started_unix_ns: last.started_unix_ns,
            usual_wall_ms,
            rules: rules(&of_plan).into_iter().map(Into::into).collect(),
            latest_query_id: last.query_id,
        });
    }
    versions
}
