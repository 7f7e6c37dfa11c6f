use queryscope_recordings::Recordings;
use queryscope_store::testsuite::{MemoryStore, query_id};
use tokio::time::timeout;

use super::*;
use crate::clock::SystemClock;
use crate::collector::Collector;
use crate::metrics::CommitMetrics;
use crate::settings::Settings;

const PATIENCE: Duration = Duration::from_mins(1);

/// The pauses, in milliseconds, after rounds that were full or not and took so long.
fn check(rounds: &[(bool, u64)], pauses_ms: &[u128]) {
    let mut pause = BUSY_PAUSE;
    let pauses = rounds.iter().map(|(full, took)| {
        pause = next_pause(pause, *full, Duration::from_millis(*took));
        pause.as_millis()
    });
    assert_eq!(pauses.collect::<Vec<_>>(), pauses_ms);
}

#[test]
fn the_longer_it_falls_behind_the_more_it_works() {
    check(&[(false, 9); 3], &[5_000; 3]);
    check(
        &[(true, 90), (true, 90), (true, 90), (false, 9), (false, 9)],
        &[4_375, 3_828, 3_349, 5_000, 5_000],
    );
    check(&[(true, 4_900), (true, 4_900), (true, 90_000)], &[4_900, 4_900, 5_000]);
}

#[test]
fn steady_ingest_is_caught_up_with_within_a_minute_and_gets_half_of_the_time() {
    let took = Duration::from_millis(100);
    let (mut pause, mut waited) = (BUSY_PAUSE, Duration::ZERO);
    while pause > took {
        waited += pause + took;
        pause = next_pause(pause, true, took);
    }
    assert_eq!((pause, waited.as_secs()), (took, 42));
}

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
    let (app, mut skip) = (app().await, HashSet::new());
    let away = || app.recordings_needed.away(app.clock.unix_ms()).is_some();
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
