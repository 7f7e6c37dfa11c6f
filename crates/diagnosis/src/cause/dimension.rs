//! Hosts and versions: where runs since the change have another one than those before, and the parts of the
//! difference are such as it makes, it is the first cause, and what it did stands behind it.

use std::sync::Arc;

use super::{OtherHosts, Sides};
use crate::change::{Cause, CauseKind, Dimension, Figure, Kind};
use crate::features::RunFeatures;
use crate::stats::median;
use crate::two_levels::TwoLevels;

use super::words::{BUSY_PER_ROW, ROWS_PASSED, ms_words};

/// A dimension that makes up less than this share carries nothing.
const CARRIES_MIN: f64 = 0.15;
/// Of so many runs before the change, hardly any have the version that came; the one before is that of the last ones.
const NEAR_RUNS: usize = 30;
const LAST_RUNS: usize = 10;

/// `alike`: which way all nodes moved, where they did.
pub(super) fn carry(causes: &mut Vec<Cause>, sides: &Sides<'_>, alike: Option<Kind>) {
    let engine = turned(sides, |run| run.engine_version.as_ref());
    let program = turned(sides, |run| run.program_version.as_ref());
    let host = if sides.one_host.is_some() { None } else { turned(sides, |run| run.host.as_ref()) };
    let dimensions = [
        (engine, CauseKind::EngineVersion, "engine_version"),
        (program, CauseKind::ProgramVersion, "program_version"),
        (host, CauseKind::Host, "host"),
    ];
    let turned: Vec<Turned> = dimensions
        .into_iter()
        .filter_map(|(turned, kind, name)| {
            turned.map(|Values { before, after, at_once }| Turned { kind, name, before, after, at_once })
        })
        .collect();
    if let Some(other_hosts) = sides.one_host {
        carry_host(causes, sides, other_hosts, &turned);
        return;
    }
    carry_turned(causes, &turned, alike);
}

/// A version, or the host of all runs, that changed where the times did.
struct Turned {
    kind: CauseKind,
    name: &'static str,
    before: String,
    after: String,
    /// Whether the first run since the change is the first that has it.
    at_once: bool,
}

/// Where two changed at once, nothing says which of them it is: each has its part of the share.
fn carry_turned(causes: &mut Vec<Cause>, all: &[Turned], alike: Option<Kind>) {
    let makes = |cause: &Cause| all.iter().any(|turned| carries(turned.kind, cause.cause, &cause.evidence));
    let share: f64 = causes.iter().filter(|cause| makes(cause)).map(|cause| cause.share).sum();
    if share < CARRIES_MIN {
        // More rows or a taken processor may come from a new version as well: no counter says whether they do.
        let largest = causes.iter_mut().filter(|cause| !cause.sentence.is_empty());
        if let Some(first) = largest.max_by(|a, b| a.share.total_cmp(&b.share)) {
            for version in all.iter().filter(|turned| turned.kind != CauseKind::Host) {
                first.sentence += &version.beside("");
                first.sentence += ": whether that is why, is not known";
            }
        }
        return;
    }
    let first = causes.iter().filter(|cause| makes(cause)).max_by(|a, b| a.share.total_cmp(&b.share));
    let (what, node) =
        first.map_or((String::new(), None), |first| (first.sentence.clone(), first.node.clone()));
    let evidence = first.map(|first| first.evidence.clone()).unwrap_or_default();
    // A version that makes all nodes slower is no other processor.
    let what = match what.split_once(": ").or_else(|| what.split_once(", as on ")) {
        Some((what, _)) if first.is_some_and(|first| first.cause == CauseKind::StarvedCpu) => what.to_owned(),
        _ => what,
    };
    let mut what = if what.is_empty() { what } else { format!(": {what}") };
    let is_per_row = |cause: &Cause| cause.cause == CauseKind::SlowerPerRow;
    if let Some(kind) = alike.filter(|_| first.is_some_and(is_per_row)) {
        let how = if kind == Kind::Faster { "faster" } else { "slower" };
        what += ". All larger nodes are ";
        what += how;
        what += ": whether the processor is why, is not known";
    }
    let carried = all.iter().enumerate().map(|(at, turned)| {
        let Turned { kind, before, after, .. } = turned;
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<&str> = others.map(|(_, other)| other.words()).collect();
        let beside = if others.is_empty() {
            String::new()
        } else {
            let (others, place) = (others.join(" and "), place(all.iter().all(|turned| turned.at_once)));
            format!(". {others} changed {place}: which of them it is, is not known")
        };
        let since = if *kind == CauseKind::Host { "Since it runs on" } else { "Since" };
        Cause {
            cause: *kind,
            share: share / all.len() as f64,
            wall_ms: 0.0,
            node: node.clone(),
            dimension: Some(turned.dimension()),
            evidence: evidence.clone(),
            sentence: format!("{since} {after} (was {before}){what}{beside}"),
        }
    });
    let carried: Vec<Cause> = carried.collect();
    hand_over(causes, makes, carried);
}

impl Turned {
    fn dimension(&self) -> Dimension {
        let (before, after) = (Some(self.before.clone()), Some(self.after.clone()));
        Dimension { name: self.name.to_owned(), before, after }
    }

    /// Whether hardly any of these runs have the version that came.
    fn is_rare_in(&self, runs: &[&RunFeatures]) -> bool {
        let of = |run: &RunFeatures| match self.kind {
            CauseKind::EngineVersion => run.engine_version.clone(),
            _ => run.program_version.clone(),
        };
        runs.iter().filter(|run| of(run).as_deref() == Some(&self.after)).count() * 10 <= runs.len()
    }

    /// That it came with the change as well, as a further sentence without its full stop.
    fn beside(&self, there: &str) -> String {
        let Self { before, after, .. } = self;
        format!(". {} changed{there} {}, from {before} to {after}", self.words(), place(self.at_once))
    }

    fn words(&self) -> &'static str {
        match self.kind {
            CauseKind::EngineVersion => "The engine's version",
            CauseKind::Host => "The host",
            _ => "The program's version",
        }
    }
}

fn place(at_once: bool) -> &'static str {
    if at_once { "at the same run" } else { "near that run" }
}

/// Whether a dimension can have done to a run what a cause with this evidence says.
pub(super) fn carries(dimension: CauseKind, cause: CauseKind, evidence: &[Figure]) -> bool {
    match dimension {
        // Rows and plans are the query's own, wherever it runs.
        CauseKind::Host => cause != CauseKind::MoreRows,
        _ => makes(dimension, cause) && !goes_with_rows(cause, evidence),
    }
}

/// Whether a node takes longer for a row by no more than its rows grew: what is grouped, joined or sorted may no longer
/// fit a cache.
fn goes_with_rows(cause: CauseKind, evidence: &[Figure]) -> bool {
    let grown = |name: &str| {
        let figure = evidence.iter().find(|figure| figure.name == name)?;
        figure.before.zip(figure.after).map(|(then, now)| now / then)
    };
    cause == CauseKind::SlowerPerRow
        && grown(ROWS_PASSED)
            .zip(grown(BUSY_PER_ROW))
            .is_some_and(|(rows, per_row)| per_row > 1.0 && per_row <= rows)
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

/// Where a version came to that host alone, nothing says which of them it is: each has its part of the share.
fn carry_host(causes: &mut Vec<Cause>, sides: &Sides<'_>, other_hosts: OtherHosts, versions: &[Turned]) {
    let Some(host) = sides.after.first().and_then(|run| run.host.clone()) else { return };
    let walls = |runs: &[&RunFeatures]| {
        median(&mut runs.iter().map(|run| run.wall_ns as f64 / 1e6).collect::<Vec<_>>())
    };
    let (then, now, elsewhere_ms) = (walls(sides.before), walls(sides.after), walls(sides.others));
    let others = if sides.others.is_empty() {
        "; no run since was on another host".to_owned()
    } else {
        format!("; {} runs on other hosts take {}", sides.others.len(), ms_words(elsewhere_ms))
    };
    let versions: Vec<&Turned> = versions.iter().filter(|version| version.is_rare_in(sides.others)).collect();
    let beside: String = versions.iter().map(|version| version.beside(" there")).collect();
    let unsure = if versions.is_empty() { "" } else { ": which of them it is, is not known" };
    let changed = match other_hosts {
        OtherHosts::AsBefore if sides.others.is_empty() => format!("Runs on {host} changed"),
        OtherHosts::AsBefore => format!("Only runs on {host} changed"),
        OtherHosts::Moved if (elsewhere_ms - then) * (now - then) > 0.0 => {
            format!("Runs on {host} changed most")
        }
        OtherHosts::Moved => format!("Runs on {host} changed, and those on other hosts the other way"),
    };
    let (now, then) = (ms_words(now), ms_words(then));
    let sentence = format!("{changed}: {now} instead of {then}{others}{beside}{unsure}");
    let makes = |cause: &Cause| carries(CauseKind::Host, cause.cause, &cause.evidence);
    let share: f64 = causes.iter().filter(|cause| makes(cause)).map(|cause| cause.share).sum();
    if share < CARRIES_MIN {
        return;
    }
    let first = causes.iter().filter(|cause| makes(cause)).max_by(|a, b| a.share.total_cmp(&b.share));
    let node = first.and_then(|first| first.node.clone());
    let evidence = first.map(|first| first.evidence.clone()).unwrap_or_default();
    let host_only = Dimension { name: "host".to_owned(), before: None, after: Some(host.to_string()) };
    let elsewhere = if sides.others.is_empty() { "" } else { " and in hardly any on other hosts" };
    let of_versions = versions.iter().map(|version| {
        let Turned { kind, before, after, .. } = version;
        let sentence = format!(
            "Since {after} (was {before}), in runs on {host}{elsewhere}: whether it is the version or the host, is \
             not known"
        );
        (*kind, version.dimension(), sentence)
    });
    let of_host = std::iter::once((CauseKind::Host, host_only, sentence));
    let parts = 1 + versions.len();
    let carried = of_versions.chain(of_host).map(|(cause, dimension, sentence)| Cause {
        cause,
        share: share / parts as f64,
        wall_ms: 0.0,
        node: node.clone(),
        dimension: Some(dimension),
        evidence: evidence.clone(),
        sentence,
    });
    hand_over(causes, makes, carried.collect());
}

/// Gives the shares of what dimensions did to the dimensions, and puts it behind them.
fn hand_over(causes: &mut Vec<Cause>, makes: impl Fn(&Cause) -> bool, dimensions: Vec<Cause>) {
    causes.retain(|cause| !(makes(cause) && cause.cause == CauseKind::Unexplained));
    causes.iter_mut().filter(|cause| makes(cause)).for_each(|cause| cause.share = 0.0);
    causes.extend(dimensions);
}

/// What a dimension was and is.
struct Values {
    before: String,
    after: String,
    at_once: bool,
}

/// The version that nearly all runs since the change have and hardly any before had, and the one that most of those
/// had, unless the runs show that the time does not go with it.
fn turned(sides: &Sides<'_>, of: impl Fn(&RunFeatures) -> Option<&Arc<str>>) -> Option<Values> {
    let near = &sides.before[sides.before.len().saturating_sub(NEAR_RUNS)..];
    let after = of(sides.after.last()?)?;
    let has = |run: &RunFeatures| of(run) == Some(after);
    let have = |runs: &[&RunFeatures]| runs.iter().filter(|run| has(run)).count();
    let all = have(sides.after) * 10 >= sides.after.len() * 9;
    let none = have(near) * 10 <= near.len();
    if !all || !none || is_disproved(sides, has) {
        return None;
    }
    let before = most_frequent(near.iter().rev().take(LAST_RUNS).map(|run| of(run)))?;
    let at_once = sides.after.first().is_some_and(|run| has(run)) && !near.last().is_some_and(|run| has(run));
    (before != after).then(|| Values { before: before.to_string(), after: after.to_string(), at_once })
}

/// Whether runs without a version took as long as those since the change, or runs with it as long as those before.
fn is_disproved(sides: &Sides<'_>, has: impl Fn(&RunFeatures) -> bool) -> bool {
    let wall = |run: &&RunFeatures| (run.wall_ns.max(1) as f64).ln();
    let walls = |runs: &[&RunFeatures]| runs.iter().map(wall).collect::<Vec<f64>>();
    let levels = TwoLevels::new(&walls(sides.before), &walls(sides.after), &mut Vec::new());
    levels.are_after(sides.after.iter().filter(|run| !has(run)).map(wall))
        || levels.are_before(sides.before.iter().filter(|run| has(run)).map(wall))
}

/// The value that most runs have, the newest first; the newest of those that as many have. `None` where that is none.
fn most_frequent<'r>(newest_first: impl Iterator<Item = Option<&'r Arc<str>>>) -> Option<&'r Arc<str>> {
    let values: Vec<_> = newest_first.collect();
    let count = |value: Option<&Arc<str>>| values.iter().filter(|other| **other == value).count();
    values.iter().rev().max_by_key(|value| count(**value)).copied().flatten()
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::QueryId;
    use uuid::Uuid;

    use super::*;

    fn run(engine: &str, program: &str) -> RunFeatures {
        RunFeatures {
            engine_version: Some(engine.into()),
            program_version: Some(program.into()),
            ..RunFeatures::new(QueryId::new(Uuid::from_u128(1)), 0, 1_000_000)
        }
    }

    fn cause(cause: CauseKind, share: f64, sentence: &str) -> Cause {
        Cause {
            cause,
            share,
            wall_ms: 0.0,
            node: None,
            dimension: None,
            evidence: Vec::new(),
            sentence: sentence.into(),
        }
    }

    /// Causes and shares, after the versions of these sides have taken over what they carry.
    fn carried(before: (&str, &str), after: (&str, &str)) -> (Vec<(CauseKind, f64)>, Vec<String>) {
        let (before, after) =
            ([(); 8].map(|()| run(before.0, before.1)), [(); 5].map(|()| run(after.0, after.1)));
        let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        explained(&Sides { before: &before, after: &after, others: &[], one_host: None })
    }

    /// The same of any sides.
    fn explained(sides: &Sides<'_>) -> (Vec<(CauseKind, f64)>, Vec<String>) {
        let mut causes = vec![
            cause(CauseKind::SlowerPerRow, 0.8, "a join is slower"),
            cause(CauseKind::MoreRows, 0.2, "rows"),
        ];
        carry(&mut causes, sides, None);
        let sentences =
            causes.iter().filter(|cause| cause.dimension.is_some()).map(|cause| cause.sentence.clone());
        (causes.iter().map(|cause| (cause.cause, cause.share)).collect(), sentences.collect())
    }

    #[test]
    fn a_version_that_changed_carries_what_it_can_do() {
        let (causes, sentences) = carried(("e 1", "p 1"), ("e 1", "p 2"));
        assert_eq!(
            causes,
            [(CauseKind::SlowerPerRow, 0.0), (CauseKind::MoreRows, 0.2), (CauseKind::ProgramVersion, 0.8)]
        );
        assert_eq!(sentences, ["Since p 2 (was p 1): a join is slower"]);
    }

    #[test]
    fn of_a_version_that_came_to_the_slow_host_alone_neither_is_sure() {
        let on = |host: &str, engine: &str, wall_ms: u64| RunFeatures {
            host: Some(host.into()),
            wall_ns: wall_ms * 1_000_000,
            ..run(engine, "p 1")
        };
        let [before, after] = [("e 1", 10), ("e 2", 20)].map(|(engine, ms)| vec![on("etl-3", engine, ms); 8]);
        let causes = |elsewhere: &str| {
            let others = vec![on("etl-1", elsewhere, 10); 8];
            let sides = [&before, &after, &others].map(|runs| runs.iter().collect::<Vec<_>>());
            explained(&Sides {
                before: &sides[0],
                after: &sides[1],
                others: &sides[2],
                one_host: Some(OtherHosts::AsBefore),
            })
        };
        let (found, sentences) = causes("e 1");
        assert_eq!(found[2..], [(CauseKind::EngineVersion, 0.4), (CauseKind::Host, 0.4)]);
        assert_eq!(
            sentences,
            [
                "Since e 2 (was e 1), in runs on etl-3 and in hardly any on other hosts: whether it is the version or \
                 the host, is not known",
                "Only runs on etl-3 changed: 20.0 ms instead of 10.0 ms; 8 runs on other hosts take 10.0 ms. \
                 The engine's version changed there at the same run, from e 1 to e 2: which of them it is, is not \
                 known",
            ]
        );
        // Where others have the version and are no slower, it is the host.
        let (found, sentences) = causes("e 2");
        assert_eq!(found[2..], [(CauseKind::Host, 0.8)]);
        assert!(sentences[0].ends_with("8 runs on other hosts take 10.0 ms"), "{sentences:?}");
    }

    #[test]
    fn a_version_that_explains_nothing_may_still_be_why() {
        let sides = [run("e 1", "p 1"), run("e 1", "p 2")].map(|run| vec![run; 8]);
        let sides = sides.each_ref().map(|runs| runs.iter().collect::<Vec<_>>());
        let sides = Sides { before: &sides[0], after: &sides[1], others: &[], one_host: None };
        let mut causes = vec![
            cause(CauseKind::Planning, 0.1, "Planning"),
            cause(CauseKind::MoreRows, 0.9, "A reads 6.0x the rows"),
        ];
        carry(&mut causes, &sides, None);
        let sentences: Vec<&str> = causes.iter().map(|cause| cause.sentence.as_str()).collect();
        let told = "A reads 6.0x the rows. The program's version changed at the same run, from p 1 to p 2: whether \
                    that is why, is not known";
        assert_eq!(sentences, ["Planning", told]);
    }

    #[test]
    fn of_a_host_and_a_version_that_all_runs_moved_to_neither_is_sure() {
        let on = |host: &str, program: &str| RunFeatures { host: Some(host.into()), ..run("e 1", program) };
        let told = |programs: [&str; 2]| {
            let [before, after] = [vec![on("etl-1", programs[0]); 8], vec![on("etl-9", programs[1]); 8]];
            let sides = [&before, &after].map(|runs| runs.iter().collect::<Vec<_>>());
            explained(&Sides { before: &sides[0], after: &sides[1], others: &[], one_host: None })
        };
        let (causes, sentences) = told(["p 1", "p 2"]);
        assert_eq!(causes[2..], [(CauseKind::ProgramVersion, 0.4), (CauseKind::Host, 0.4)]);
        assert_eq!(
            sentences,
            [
                "Since p 2 (was p 1): a join is slower. The host changed at the same run: which of them it is, is not \
                 known",
                "Since it runs on etl-9 (was etl-1): a join is slower. The program's version changed at the same run: \
                 which of them it is, is not known",
            ]
        );
        let (causes, sentences) = told(["p 1", "p 1"]);
        assert_eq!(causes[2..], [(CauseKind::Host, 0.8)]);
        assert_eq!(sentences, ["Since it runs on etl-9 (was etl-1): a join is slower"]);
    }

    #[test]
    fn of_two_versions_that_changed_at_once_neither_is_sure() {
        let (causes, sentences) = carried(("e 1", "p 1"), ("e 2", "p 2"));
        let versions = [(CauseKind::EngineVersion, 0.4), (CauseKind::ProgramVersion, 0.4)];
        assert_eq!(causes[2..], versions);
        assert_eq!(
            sentences[0],
            "Since e 2 (was e 1): a join is slower. The program's version changed at the same run: \
             which of them it is, is not known"
        );
        let sum: f64 = causes.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}
