//! What the histories are, and that the detector does on a few of them what it does on many.

use std::collections::HashSet;

use queryscope_diagnosis::{Detector, RunFeatures, Status, Workspace};

use crate::evaluate::{Outcome, evaluate_some};
use crate::{Change, Kind, Noise, Options, Spec, generate, report};

fn spec(kind: Kind, factor: f64, seed: u64) -> Spec {
    Spec { seed, noise: Noise::Plain, change: Some(Change { kind, factor, decoy: true }), young: false }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn the_same_seed_makes_the_same_runs() {
    let (one, two) = (generate(spec(Kind::Spill, 2.0, 5)), generate(spec(Kind::Spill, 2.0, 5)));
    assert_eq!(one.runs, two.runs);
    assert_ne!(one.runs, generate(spec(Kind::Spill, 2.0, 6)).runs);
}

#[test]
fn changes_have_their_size_and_moment() {
    for kind in Kind::ALL {
        for seed in 0..3 {
            let history = generate(spec(kind, 2.0, seed));
            let of = |slow: bool| {
                let runs = history.runs.iter().zip(&history.slow);
                let finished =
                    runs.filter(|(run, is_slow)| **is_slow == slow && run.status == Status::Finished);
                finished.map(|(run, _)| run.wall_ns as f64).collect::<Vec<_>>()
            };
            let ratio = median(of(true)) / median(of(false));
            let wanted = match kind {
                Kind::Faster => 0.5,
                Kind::Failures => 1.0,
                _ => 2.0,
            };
            // Medians of few runs, with noise of up to 30 %.
            assert!((ratio / wanted).ln().abs() < 0.4, "{kind:?} {seed}: {ratio}");
            assert!(history.runs.is_sorted_by_key(|run| run.started_unix_ns));
            let ids: HashSet<_> = history.runs.iter().map(|run| run.query_id).collect();
            assert_eq!(ids.len(), history.runs.len());
        }
    }
}

fn evaluated(wants: impl Fn(&Spec) -> bool) -> Vec<Outcome> {
    evaluate_some(Options { seed: 77, labels: 1 }, wants)
}

#[test]
fn threefold_changes_are_called_and_explained() {
    let outcomes = evaluated(|spec| {
        !spec.young && spec.noise == Noise::Plain && spec.change.is_some_and(|change| change.factor >= 3.0)
    });
    assert_eq!(outcomes.len(), 14);
    let called =
        outcomes.iter().filter(|outcome| outcome.called_after.is_some_and(|after| after <= 10)).count();
    assert!(called >= 12, "{called} of 14");
    let right = |outcome: &&Outcome| {
        let wanted = outcome.spec.change.and_then(|change| change.kind.cause());
        wanted.is_none() || outcome.first_cause.map(|(cause, _)| cause) == wanted
    };
    assert!(outcomes.iter().filter(right).count() >= 13);
    assert!(outcomes.iter().all(|outcome| outcome.sums && !outcome.forgotten));
}

#[test]
fn noise_is_called_nothing() {
    let outcomes = evaluated(|spec| spec.change.is_none() && spec.noise == Noise::Decoy);
    let days: u64 = outcomes.iter().map(|outcome| outcome.days).sum();
    let wrong: u64 = outcomes.iter().map(|outcome| outcome.false_days).sum();
    assert!(days > 250 && wrong <= 3, "{wrong} of {days} label-days");
    let table = report(&outcomes);
    assert!(table.contains("| Decoy |") && table.contains("CPU time a run"), "{table}");
}

#[test]
fn a_detector_that_let_go_of_features_says_the_same() {
    let mut workspace = Workspace::default();
    let growing = Spec { seed: 3, noise: Noise::Growing, change: None, young: false };
    let changed = Kind::ALL.into_iter().map(|kind| spec(kind, 2.0, 7));
    for spec in changed.chain([growing]) {
        let (mut whole, mut light) = (Detector::default(), Detector::default());
        for run in generate(spec).runs {
            let before: Vec<RunFeatures> = whole.runs().cloned().collect();
            assert!(light.takes(run.started_unix_ns, run.query_id));
            let told = light.observe_with(run.clone(), &mut workspace, &mut || before.clone());
            assert!(!light.takes(run.started_unix_ns, run.query_id));
            assert!(whole.observe(run, &mut workspace) == told, "{spec:?}");
            light.let_go();
        }
    }
}

#[test]
fn a_bare_history_has_the_times_of_a_plain_one_and_few_counters() {
    let of = |noise| generate(Spec { noise, ..spec(Kind::Spill, 2.0, 5) });
    let (plain, bare) = (of(Noise::Plain), of(Noise::Bare));
    assert!(plain.runs.iter().all(|run| !run.nodes.is_empty() && run.rows_read.is_some()));
    assert!(bare.runs.iter().all(|run| run.nodes.is_empty() && run.rows_read.is_none()));
    let times = |history: &crate::History| history.runs.iter().map(|run| run.wall_ns).collect::<Vec<_>>();
    assert_eq!(times(&plain), times(&bare));
}

#[test]
fn slow_hours_hold_many_runs_of_a_frequent_query() {
    // 3 to 200 runs a day; the frequent ones have more than ten slow runs in a row.
    let longest = (0..12).map(|seed| {
        let runs = generate(Spec { seed, noise: Noise::Spells, change: None, young: false }).runs;
        let usual = median(runs.iter().map(|run| run.wall_ns as f64).collect());
        let mut stretch = 0;
        let stretches = runs.iter().map(|run| {
            stretch = if run.wall_ns as f64 > 1.2 * usual { stretch + 1 } else { 0 };
            stretch
        });
        stretches.max().unwrap_or(0)
    });
    assert!(longest.max() > Some(10));
}
