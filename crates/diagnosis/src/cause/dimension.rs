//! Hosts and versions: where runs since the change have another one than those before, and the parts of the
//! difference are such as it makes, it is the first cause, and what it did stands behind it.

use std::sync::Arc;

use super::Sides;
use crate::change::{Cause, CauseKind, Dimension};
use crate::features::RunFeatures;
use crate::stats::median;

use super::words::ms_words;

/// A dimension that makes up less than this share carries nothing.
const CARRIES_MIN: f64 = 0.15;

pub(super) fn carry(causes: &mut Vec<Cause>, sides: &Sides<'_>, harmless: &mut Vec<String>) {
    if sides.host {
        carry_host(causes, sides);
        return;
    }
    let engine = turned(sides, |run| run.engine_version.as_ref());
    let program = turned(sides, |run| run.program_version.as_ref());
    let versions = [
        (engine, CauseKind::EngineVersion, "engine_version"),
        (program, CauseKind::ProgramVersion, "program_version"),
    ];
    for (turned, kind, name) in versions {
        let Some((before, after)) = turned else { continue };
        let makes = |cause: &Cause| makes(kind, cause.cause);
        let share: f64 = causes.iter().filter(|cause| makes(cause)).map(|cause| cause.share).sum();
        if share < CARRIES_MIN {
            harmless.push(format!("{name} changed from {before} to {after} and carries nothing of it"));
            continue;
        }
        let first = causes.iter().filter(|cause| makes(cause)).max_by(|a, b| a.share.total_cmp(&b.share));
        let (what, node) =
            first.map_or((String::new(), None), |first| (first.sentence.clone(), first.node.clone()));
        let evidence = first.map(|first| first.evidence.clone()).unwrap_or_default();
        let runs = sides.after.len();
        let sentence = if what.is_empty() {
            format!("Since {after} (was {before}), in all {runs} runs")
        } else {
            format!("Since {after} (was {before}), in all {runs} runs: {what}")
        };
        let dimension = Dimension { name: name.to_owned(), before: Some(before), after: Some(after) };
        hand_over(
            causes,
            makes,
            Cause { cause: kind, share, wall_ms: 0.0, node, dimension: Some(dimension), evidence, sentence },
        );
    }
}

/// What a version can do to a run.
fn makes(version: CauseKind, cause: CauseKind) -> bool {
    match cause {
        CauseKind::SlowerPerRow | CauseKind::Unexplained | CauseKind::PlanChange | CauseKind::UserCode => {
            true
        }
        CauseKind::Planning | CauseKind::StarvedCpu => version == CauseKind::EngineVersion,
        _ => false,
    }
}

fn carry_host(causes: &mut Vec<Cause>, sides: &Sides<'_>) {
    let Some(host) = sides.after.first().and_then(|run| run.host.clone()) else { return };
    let walls = |runs: &[&RunFeatures]| {
        median(&mut runs.iter().map(|run| run.wall_ns as f64 / 1e6).collect::<Vec<_>>())
    };
    let others = if sides.others.is_empty() {
        String::new()
    } else {
        format!("; {} runs on other hosts take {}", sides.others.len(), ms_words(walls(sides.others)))
    };
    let sentence = format!(
        "Only runs on {host} changed: {} instead of {} in {} runs{others}",
        ms_words(walls(sides.after)),
        ms_words(walls(sides.before)),
        sides.after.len()
    );
    // Rows and plans are the query's own, wherever it runs.
    let makes = |cause: &Cause| !matches!(cause.cause, CauseKind::MoreRows);
    let share: f64 = causes.iter().filter(|cause| makes(cause)).map(|cause| cause.share).sum();
    if share < CARRIES_MIN {
        return;
    }
    let first = causes.iter().filter(|cause| makes(cause)).max_by(|a, b| a.share.total_cmp(&b.share));
    let node = first.and_then(|first| first.node.clone());
    let evidence = first.map(|first| first.evidence.clone()).unwrap_or_default();
    let dimension = Dimension { name: "host".to_owned(), before: None, after: Some(host.to_string()) };
    hand_over(
        causes,
        makes,
        Cause {
            cause: CauseKind::Host,
            share,
            wall_ms: 0.0,
            node,
            dimension: Some(dimension),
            evidence,
            sentence,
        },
    );
}

/// Gives the shares of what a dimension did to the dimension, and puts them behind it.
fn hand_over(causes: &mut Vec<Cause>, makes: impl Fn(&Cause) -> bool, dimension: Cause) {
    causes.retain(|cause| !(makes(cause) && cause.cause == CauseKind::Unexplained));
    causes.iter_mut().filter(|cause| makes(cause)).for_each(|cause| cause.share = 0.0);
    causes.push(dimension);
}

/// The version that all runs since the change have and none before had, and the one that most of those had.
fn turned(sides: &Sides<'_>, of: impl Fn(&RunFeatures) -> Option<&Arc<str>>) -> Option<(String, String)> {
    let near = &sides.before[sides.before.len().saturating_sub(30)..];
    let after = of(sides.after.last()?)?;
    let before = of(near.last()?)?;
    let have = |runs: &[&RunFeatures]| runs.iter().filter(|run| of(run) == Some(after)).count();
    let all = have(sides.after) * 10 >= sides.after.len() * 9;
    let none = have(near) * 10 <= near.len();
    (all && none && before != after).then(|| (before.to_string(), after.to_string()))
}
