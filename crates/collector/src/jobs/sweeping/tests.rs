use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use queryscope_recordings::Recordings;
use queryscope_store::testsuite::{MemoryStore, batch, facts, query_id};
use queryscope_store::{Facts, Store};
use tokio::time::{sleep, timeout};

use super::*;
use crate::clock::{Clock, SystemClock};
use crate::collector::Collector;
use crate::metrics::CommitMetrics;
use crate::settings::Settings;

const DAY_NS: i64 = 86_400_000_000_000;
const LOOK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_mins(1);

/// Queries that began so many days ago, each with a version that was replaced and was written so many hours ago: the
/// files of these, and of those that count.
async fn replaced<const N: usize>(
    root: &Path,
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    now_unix_ns: i64,
    queries: [(u64, i64, u64); N],
) -> ([PathBuf; N], [PathBuf; N]) {
    let sealed = async || {
        let round = recordings.seal_round(store, N, 1, &HashSet::new()).await.expect("a round");
        assert_eq!(round.sealed, N);
        let mut files = Vec::new();
        for (query, ..) in queries {
            let parts = store.recording(query_id(query)).await.expect("a store").expect("a query");
            files.push(root.join(parts.sealed.expect("sealed").path));
        }
        <[PathBuf; N]>::try_from(files).expect("one each")
    };
    let now = Duration::from_nanos(now_unix_ns.unsigned_abs());
    for (query, days, _) in queries {
        let facts = Facts { started_unix_ns: Some(now_unix_ns - days * DAY_NS), ..facts("x") };
        store.commit(batch(query).finished(query, 2, facts).build()).await.expect("stored");
    }
    let old = sealed().await;
    for ((query, _, hours), path) in queries.iter().zip(&old) {
        let written = UNIX_EPOCH + now - Duration::from_hours(*hours);
        File::options().append(true).open(path).expect("a file").set_modified(written).expect("set");
        store.commit(batch(*query).progress(*query, [3]).build()).await.expect("stored");
    }
    (old, sealed().await)
}

#[tokio::test]
async fn what_was_replaced_goes_a_day_after_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let recordings = Recordings::local(folder.path()).expect("a folder").shared();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let clock = SystemClock::new();
    // Days are looked at one after the other: that of the one that goes is the last.
    let queries = [(1, 9, 25), (2, 7, 23), (3, 6, 25)];
    let ([too_old, fresh, goes], count) =
        replaced(folder.path(), &store, &recordings, clock.unix_ns(), queries).await;
    let (commits, settings) = (CommitMetrics::default(), Settings::default());
    let collector = Collector::start(store, recordings, Arc::new(clock), commits, settings).await;
    let (stop, lock) = (CancellationToken::new(), Arc::new(RecordingsLock::new(None)));
    let job = tokio::spawn(run(collector.expect("a collector").app, stop.clone(), lock, Duration::ZERO));
    let gone = async {
        while goes.exists() {
            sleep(LOOK).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("it goes");
    assert!(fresh.exists(), "somebody may be reading it");
    assert!(too_old.exists(), "its day is not looked at: retention takes it");
    assert!(count.iter().all(|path| path.exists()));
    stop.cancel();
    timeout(PATIENCE, job).await.expect("it ends").expect("no panic");
}
