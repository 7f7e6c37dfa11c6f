//! A rolling upgrade: collectors of two versions on one database while senders resend to both. The later version
//! is this one with further steps of the database's format, in this process; the earlier one is the binary.

use std::path::Path;
use std::sync::Arc;
use std::thread::scope;
use std::time::Duration;

use queryscope_collector::{Access, Collector, CommitMetrics, Settings, SystemClock, hash_token, serve};
use queryscope_postgres_server::Server;
use queryscope_recordings::Recordings;
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use queryscope_torture::{Address, Traffic};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::common::{queryscope, wait_for};
use crate::shared::{TOKEN, collector, more_answers};

const SEED: u64 = 22;
const PAUSE: Duration = Duration::from_millis(2);

const FORMAT: i32 = PostgresStore::FORMAT;
const ADDS: (&str, i32) = (include_str!("../../../store-postgres/testdata/later_adds.sql"), FORMAT);
const TAKES_AWAY: (&str, i32) =
    (include_str!("../../../store-postgres/testdata/later_takes_away.sql"), FORMAT + 1);

/// A collector of a later version; ends when dropped.
struct Later {
    runtime: Runtime,
    address: Address,
    stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl Later {
    fn start(recordings: &Path, database: &str, steps: &[(&'static str, i32)]) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let (address, serving) = runtime.block_on(async {
            let store = PostgresStore::open_as_later(database, PostgresOptions::default(), steps).await;
            let access = Access { hash: hash_token(TOKEN), project: "default".into() };
            let settings = Settings { tokens: vec![access], ..Settings::default() };
            let recordings = Recordings::local(recordings).expect("a folder").shared();
            let (clock, commits) = (Arc::new(SystemClock::new()), CommitMetrics::default());
            let store = Arc::new(store.expect("opens"));
            let collector = Collector::start(store, recordings, clock, commits, settings).await;
            let collector = collector.expect("a collector");
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("bound");
            let serving = tokio::spawn(async move {
                serve(&collector, listener, None, stopped).await.expect("a clean end");
            });
            (address, serving)
        });
        let address = Address { url: format!("http://{address}"), token: TOKEN.into() };
        Self { runtime, address, stop, serving: Some(serving) }
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            let _ = self.runtime.block_on(serving);
        }
    }
}

#[test]
fn collectors_are_replaced_one_by_one_and_nothing_is_lost_or_doubled() {
    let folder = tempfile::tempdir().expect("a folder");
    let recordings = folder.path().join("recordings");
    let postgres = Server::start(&[]);
    postgres.run("CREATE SCHEMA shared");
    let database = postgres.address("shared");
    let traffic = Traffic::new(folder.path(), SEED);
    let start = |number| collector(folder.path(), number, &database);
    scope(|scope| {
        // Dropped when this ends, however it does: the senders end with them.
        let mut earlier = vec![start(0), start(1)];
        for (seed, collector) in (0..).zip(&earlier) {
            traffic.send(scope, &collector.address(), seed, PAUSE);
        }
        more_answers(&traffic);

        // The first that is replaced brings the database up to date under the other, which goes on, also after a crash.
        earlier.remove(0).kill();
        let later = Later::start(&recordings, &database, &[ADDS]);
        traffic.send(scope, &later.address, 2, PAUSE);
        more_answers(&traffic);
        assert_eq!(traffic.refused(), 0);
        earlier.remove(0).kill();
        let earlier = start(1);
        traffic.send(scope, &earlier.address(), 3, PAUSE);
        more_answers(&traffic);

        // The version after that takes away what the earliest needs: it was not to be there any more.
        let last = Later::start(&recordings, &database, &[ADDS, TAKES_AWAY]);
        traffic.send(scope, &last.address, 4, PAUSE);
        let refused = traffic.refused();
        wait_for("refusals", || (traffic.refused() > refused).then_some(()));
        wait_for("health to say so", || {
            (earlier.get("/v1/health").json()["state"] == "degraded").then_some(())
        });
        more_answers(&traffic);
        earlier.kill();
        let data = folder.path().join("node-1");
        let data = data.to_str().expect("a text");
        let serve = ["serve", "--bind", "127.0.0.1:0", "--data", data, "--database", &database];
        let error = queryscope(serve).failure(1);
        let says = format!(
            "the database has format {}, this version knows up to {FORMAT}: use a newer queryscope",
            FORMAT + 2
        );
        assert!(error.contains(&says), "{error}");
    });

    let last = Later::start(&recordings, &database, &[ADDS, TAKES_AWAY]);
    traffic.finish(&last.address);
    traffic.compare(&last.address);
    let (queries, events, streams) = traffic.totals();
    println!("{}; {queries} queries, {events} events, {streams} streams", traffic.requests());
    let stored = postgres.run("SELECT count(*), sum(events) FROM shared.query");
    assert_eq!(stored, format!("{queries}|{events}"));
}
