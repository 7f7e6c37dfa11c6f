use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use queryscope_protocol::{Batch, EventKind, Profile};
use rand::SeedableRng;

use super::labels::{FAILING, FASTER, SLOWER, Story};
use super::*;

const NOW_UNIX_NS: i64 = 1_800_000_000_123_456_789;
const DAY_NS: i64 = 24 * 3600 * 1_000_000_000;

/// The history of one seed, made once for all tests that only read it.
static BATCHES: LazyLock<Vec<HistoryBatch>> = LazyLock::new(|| bodies(1));

fn bodies(seed: u64) -> Vec<HistoryBatch> {
    let history =
        History::new(&mut StdRng::seed_from_u64(seed), &mut StdRng::seed_from_u64(seed), NOW_UNIX_NS);
    let batches: Vec<_> = history.batches().collect::<Result<_, _>>().expect("batches");
    assert_eq!(batches.iter().map(|batch| batch.queries).sum::<usize>(), history.queries());
    batches
}

/// What the history tells of its runs, as a reader of the batches sees it.
struct Told {
    label: String,
    fingerprint: String,
    ago_days: f64,
    wall_ms: f64,
    failed: bool,
    warned: bool,
}

fn told(batches: &[HistoryBatch]) -> Vec<Told> {
    let mut runs = Vec::new();
    for batch in batches {
        for event in Batch::open(&batch.body).expect("a batch").events {
            let EventKind::Finished(_, profile) = event.expect("an event").kind else { continue };
            runs.push(Told {
                label: profile.label.as_deref().expect("a label").to_owned(),
                fingerprint: profile.fingerprint.as_deref().expect("a fingerprint").to_owned(),
                ago_days: (NOW_UNIX_NS - profile.started_unix_ns.expect("a start")) as f64 / DAY_NS as f64,
                wall_ms: profile.wall_ms,
                failed: profile.failed.is_some(),
                warned: profile.warnings().next().is_some(),
            });
        }
    }
    runs
}

fn median<'a>(runs: impl Iterator<Item = &'a Told>) -> f64 {
    let mut walls: Vec<f64> = runs.map(|run| run.wall_ms).collect();
    walls.sort_by(f64::total_cmp);
    walls[walls.len() / 2]
}

fn fingerprints<'a>(runs: impl Iterator<Item = &'a Told>) -> BTreeSet<&'a str> {
    runs.map(|run| run.fingerprint.as_str()).collect()
}

#[test]
fn it_is_a_few_thousand_queries_and_a_few_megabytes() {
    let queries: usize = BATCHES.iter().map(|batch| batch.queries).sum();
    let bytes: usize = BATCHES.iter().map(|batch| batch.body.len()).sum();
    assert!((3_000..6_000).contains(&queries), "{queries} queries");
    assert!(bytes < 16_000_000, "{bytes} bytes");
    for batch in &*BATCHES {
        assert!(
            (1..=BATCH_QUERIES).contains(&batch.queries) && batch.body.len() < 1_000_000,
            "{}",
            batch.queries
        );
    }
}

#[test]
fn it_is_the_same_for_a_seed() {
    assert!(*BATCHES == bodies(1));
    assert!(*BATCHES != bodies(2));
}

#[test]
fn every_profile_is_whole() {
    for batch in &*BATCHES {
        let batch = Batch::open(&batch.body).expect("a batch");
        for event in batch.events {
            let event = event.expect("an event");
            let EventKind::Finished(..) = event.kind else { continue };
            let profile: Profile<'_> = event.profile().expect("a whole profile").expect("a profile");
            assert_eq!(event.kind.query_id(), profile.query_id.parse().ok());
            assert!((5..=9).contains(&profile.plan.physical.len()), "{:?}", profile.label);
            let ids: BTreeSet<u64> = profile.plan.physical.iter().map(|node| node.id).collect();
            for node in &profile.plan.physical {
                assert!(node.inputs.iter().all(|input| ids.contains(input) && *input < node.id), "{node:?}");
            }
            for finding in profile.findings() {
                let node = profile.plan.physical.iter().find(|node| Some(node.id as i64) == finding.node_id);
                assert_eq!(node.map(|node| &node.kind), finding.node_kind.as_ref());
            }
            let ended = profile.started_unix_ns.expect("a start") + (profile.wall_ms * 1e6) as i64;
            assert!(ended <= NOW_UNIX_NS, "{} ends after now", profile.query_id);
        }
    }
}

#[test]
fn seqs_and_identities_are_unique() {
    let (mut seqs, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for batch in &*BATCHES {
        let batch = Batch::open(&batch.body).expect("a batch");
        for event in batch.events {
            let event = event.expect("an event");
            assert!(seqs.insert((batch.process.id, event.seq)));
            let ends = matches!(event.kind, EventKind::Finished(..));
            assert!(!ends || ids.insert(event.kind.query_id()));
        }
    }
    assert_eq!(ids.len(), BATCHES.iter().map(|batch| batch.queries).sum::<usize>());
}

#[test]
fn of_the_last_day_it_is_told_how_runs_went() {
    let mut samples: BTreeMap<QueryId, usize> = BTreeMap::new();
    let mut sampled = 0;
    for batch in &*BATCHES {
        for event in Batch::open(&batch.body).expect("a batch").events {
            match event.expect("an event").kind {
                EventKind::Progress(id, _) => *samples.entry(id).or_default() += 1,
                EventKind::Finished(id, profile) => {
                    let ago_ns = NOW_UNIX_NS - profile.started_unix_ns.expect("a start");
                    let counted = samples.remove(&id).unwrap_or_default();
                    assert_eq!(counted > 0, ago_ns <= DAY_NS && profile.wall_ms > 1_000.0, "{id}");
                    sampled += usize::from(counted > 0);
                }
                _ => {}
            }
        }
    }
    assert!(sampled > 200, "{sampled}");
}

#[test]
fn there_is_something_to_filter_by() {
    let mut facets: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for batch in &*BATCHES {
        let process = Batch::open(&batch.body).expect("a batch").process;
        facets.entry("service").or_default().extend(process.service.map(|text| text.to_string()));
        facets.entry("environment").or_default().extend(process.environment.map(|text| text.to_string()));
        facets.entry("host").or_default().insert(process.host.to_string());
    }
    let labels = told(&BATCHES).into_iter().map(|run| run.label).collect();
    facets.insert("label", labels);
    let counts: Vec<_> = facets.iter().map(|(name, values)| (*name, values.len())).collect();
    assert_eq!(counts, [("environment", 3), ("host", 10), ("label", 12), ("service", 4)]);
}

#[test]
fn one_label_got_slower_when_its_plan_changed() {
    for runs in [told(&BATCHES), told(&bodies(2))] {
        let of = |after: bool| {
            runs.iter().filter(move |run| run.label == SLOWER && (run.ago_days <= 5.0) == after)
        };
        let ratio = median(of(true)) / median(of(false));
        assert!((2.1..2.5).contains(&ratio), "{ratio}");
        assert_eq!((fingerprints(of(true)).len(), fingerprints(of(false)).len()), (1, 1));
        assert!(fingerprints(of(true)).is_disjoint(&fingerprints(of(false))));
        assert!(of(true).all(|run| run.warned) && of(false).all(|run| !run.warned));
        assert!(of(false).any(|run| run.ago_days > 13.5));
    }
}

#[test]
fn one_label_fails_since_yesterday_and_one_got_faster() {
    let runs = told(&BATCHES);
    let failing = |run: &&Told| run.label == FAILING;
    assert!(runs.iter().filter(failing).filter(|run| run.ago_days < 1.0).all(|run| run.failed));
    assert!(runs.iter().filter(failing).filter(|run| run.ago_days > 1.1).all(|run| !run.failed));
    let of =
        |after: bool| runs.iter().filter(move |run| run.label == FASTER && (run.ago_days <= 3.0) == after);
    let ratio = median(of(true)) / median(of(false));
    assert!((0.38..0.52).contains(&ratio), "{ratio}");
    assert!(fingerprints(of(true)).is_disjoint(&fingerprints(of(false))));
}

#[test]
fn the_others_keep_their_pace_and_fail_now_and_then() {
    let runs = told(&BATCHES);
    for label in LABELS.iter().filter(|label| matches!(label.story, Story::Steady)) {
        let of = |week: i32| {
            let in_week = move |run: &&Told| (run.ago_days / 7.0) as i32 == week && !run.failed;
            runs.iter().filter(|run| run.label == label.name).filter(in_week)
        };
        assert_eq!(fingerprints(of(0)), fingerprints(of(1)));
        // The median of the few runs of a daily label says little.
        if of(0).count() >= 20 {
            let ratio = median(of(0)) / median(of(1));
            assert!((0.75..1.33).contains(&ratio), "{}: {ratio}", label.name);
        }
    }
    let failed = runs.iter().filter(|run| run.failed && run.label != FAILING).count();
    assert!((5..60).contains(&failed), "{failed} failed");
}

#[test]
fn the_shares_of_a_plan_are_the_whole() {
    let changed = LABELS.iter().filter_map(|label| match label.story {
        Story::PlanChanged { plan, .. } => Some(plan),
        _ => None,
    });
    for plan in LABELS.iter().map(|label| label.plan).chain(changed) {
        let whole: f64 = plan.nodes.iter().map(|node| node.share).sum();
        assert!((whole - 1.0).abs() < 1e-9, "{}: {whole}", plan.fingerprint);
    }
}
