//! What following the log of changes costs the database: the newest of it, however long it is.

use std::time::Duration;

use queryscope_postgres_server::shared;
use queryscope_store::Store;
use queryscope_store::testsuite::{batch, facts};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::NoTls;

/// Commits after which the database would have chosen a plan for all further ones.
const COMMITS: u64 = 20;
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Changes as a busy quarter of an hour leaves them, which the database has no statistics of.
const LONG: &str = "
    INSERT INTO change (query, query_id, status, moved, new)
    SELECT number, gen_random_uuid(), 1, true, true FROM generate_series(1, 20000) AS number";
const READS: &str = "
    SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relid = 'change'::regclass";

#[tokio::test]
async fn a_look_does_not_read_the_whole_log() {
    let address = shared();
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
    sql.batch_execute(LONG).await.expect("written");
    for number in 1..=COMMITS {
        store.commit(batch(1).finished(number, number, facts("x")).build()).await.expect("stored");
    }
    // Connections tell what they read a while later.
    let begun = tokio::time::Instant::now();
    loop {
        let row = sql.query_one(READS, &[]).await.expect("read");
        let (whole, by_index): (i64, i64) = (row.get(0), row.get(1));
        // Once to make its index.
        assert!(whole <= 1, "the whole log was read {whole} times");
        if by_index >= COMMITS.cast_signed() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "the log was read {by_index} times");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    store.close().await.expect("closed");
}
