use queryscope_recordings::Recordings;
use queryscope_store::Store;
use queryscope_store::testsuite::{MemoryStore, batch, facts, query_id};
use tokio::time::{sleep, timeout};

use super::*;
use crate::clock::SystemClock;
use crate::collector::Collector;
use crate::metrics::CommitMetrics;
use crate::settings::Settings;

const PATIENCE: Duration = Duration::from_mins(1);
/// What has not ended by then waits for something.
const A_MOMENT: Duration = Duration::from_millis(200);

/// A collector none of whose jobs runs.
async fn app() -> Arc<App> {
    let folder = tempfile::tempdir().expect("a folder");
    let recordings = Recordings::local(folder.path()).expect("a folder");
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(SystemClock::new()));
    let collector =
        Collector::start(store, recordings, clock, CommitMetrics::default(), Settings::default()).await;
    collector.expect("a collector").app
}

fn unavailable(query: u64) -> (QueryId, RecordingError) {
    (query_id(query), RecordingError::Unavailable("the bucket is away".into()))
}

#[tokio::test]
async fn what_a_round_finds_out_about_the_bucket_is_known() {
    let (app, mut skip) = (app().await, Skip::default());
    let away = || app.recordings_health.away(app.clock.steady_ms()).is_some();
    let in_vain = SealRound { failed: vec![unavailable(1), unavailable(2)], ..SealRound::default() };
    assert!(!note(&app, Ok(in_vain), &mut skip), "it is tried again");
    assert!(away());
    assert!(note(&app, Ok(SealRound::default()), &mut skip));
    assert!(away(), "nothing was written");
    assert!(note(&app, Ok(SealRound { sealed: 1, ..SealRound::default() }), &mut skip));
    assert!(!away());
    let in_part = SealRound { sealed: 1, failed: vec![unavailable(3)], ..SealRound::default() };
    assert!(!note(&app, Ok(in_part), &mut skip), "what is left is tried again, too");
    assert!(!away());
    assert!(skip.take_unreached(), "they are tried again once the others are done");
    assert!(skip.ids.is_empty() && !skip.take_unreached());
}

#[tokio::test]
async fn it_goes_on_once_recordings_can_be_reached_again() {
    let (app, stop) = (app().await, CancellationToken::new());
    let (_, error) = unavailable(1);
    let rest = || pause_unless_reached(&app, Duration::from_hours(1), &stop);
    reach::note(&app, Some(&error));
    let reached = async { reach::note(&app, None) };
    let (go_on, ()) = timeout(PATIENCE, async { tokio::join!(rest(), reached) }).await.expect("at once");
    assert!(go_on);
    stop.cancel();
    assert!(!timeout(PATIENCE, rest()).await.expect("at once"));
}

/// Whether a round ends within some time.
async fn ends(app: &Arc<App>, pace: &mut Pace, within: Duration) -> bool {
    let (stop, lock, skip) = (CancellationToken::new(), RecordingsLock::new(None), Skip::default());
    pace.pause = Duration::ZERO;
    timeout(within, wait_and_seal(app, &stop, &lock, pace, &skip)).await.is_ok()
}

#[tokio::test]
async fn no_round_begins_while_batches_are_refused_until_it_has_stood_back_long_enough() {
    let (app, mut pace) = (app().await, Pace::default());
    assert!(ends(&app, &mut pace, PATIENCE).await);
    app.admission.turned_away(app.clock.steady_ms());
    assert!(!ends(&app, &mut pace, A_MOMENT).await);
    assert!((0..1_000).any(|_| pace.stand_back(true).is_none()));
    assert!(ends(&app, &mut pace, PATIENCE).await);
}

#[tokio::test]
async fn what_a_full_round_leaves_waits_for_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let recordings = Recordings::local(folder.path()).expect("a folder");
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(SystemClock::new()));
    let settings = Settings { seal_within: Duration::from_hours(1), ..Settings::default() };
    let started =
        Collector::start(Arc::clone(&store) as _, recordings, clock, CommitMetrics::default(), settings)
            .await;
    let app = started.expect("a collector").app;
    let commit = async |first: u64, runs: u64| {
        let runs_of = (first..first + runs).fold(batch(first), |batch, n| batch.finished(n, n, facts("x")));
        store.commit(runs_of.build()).await.expect("stored");
        app.evaluation.ended(runs);
        app.committed.notify_one();
    };
    let is_sealed = async |runs: u64| {
        let sealed = async {
            while app.metrics.sealed.get() < runs {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, sealed).await.expect("sealed");
        (app.metrics.sealed.get(), store.packs(0).await.expect("a store").len())
    };
    let (stop, lock) = (CancellationToken::new(), Arc::new(RecordingsLock::new(None)));
    // What an earlier run of the service left does not wait.
    commit(1, 1).await;
    let job = tokio::spawn(run(Arc::clone(&app), stop.clone(), lock));
    assert_eq!(is_sealed(1).await, (1, 0));
    commit(2, 1030).await;
    assert_eq!(is_sealed(1025).await, (1025, 1));
    sleep(QUIET * 2).await;
    assert_eq!(is_sealed(1025).await, (1025, 1), "six wait for others");
    commit(1032, 1017).await;
    sleep(A_MOMENT).await;
    assert_eq!(is_sealed(1025).await, (1025, 1), "one is missing to a full round");
    commit(2049, 1).await;
    assert_eq!(is_sealed(2049).await, (2049, 2));
    stop.cancel();
    timeout(PATIENCE, job).await.expect("it ends").expect("no panic");
}
