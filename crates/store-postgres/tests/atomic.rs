//! What a commit that is refused leaves: nothing, whichever of its statements fails, the last one included; or,
//! where its outcome is not known, what a resend finds.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queryscope_postgres_server::shared;
use queryscope_store::testsuite::{batch, facts};
use queryscope_store::{Committed, Facts, Store, StoreAudit, StoreError, StreamBatch};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::{Client, NoTls};

/// More than there are connections.
const TRIES_MAX: usize = 10;

/// What stops a commit, and lets it go on again.
struct Obstacle {
    put: String,
    take: String,
}

impl Obstacle {
    /// A row that is put into a table is refused.
    fn on(table: &str) -> Self {
        Self {
            put: format!(
                "CREATE TRIGGER stop BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse()"
            ),
            take: format!("DROP TRIGGER stop ON {table}"),
        }
    }

    /// While the transaction is committed, a function is called.
    fn at_commit(function: &str) -> Self {
        Self {
            put: format!(
                "CREATE CONSTRAINT TRIGGER stop AFTER INSERT ON chunk DEFERRABLE INITIALLY DEFERRED
                 FOR EACH ROW EXECUTE FUNCTION {function}()"
            ),
            take: "DROP TRIGGER stop ON chunk".into(),
        }
    }
}

const FUNCTIONS: &str = "
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE SEQUENCE refused;
    CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF nextval('refused') > 3 THEN RETURN NEW; END IF;
            RAISE EXCEPTION 'others were faster' USING ERRCODE = TG_ARGV[0];
        END $$;
    CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$";

/// A new stream with a running and a failed query; two events.
fn sent(number: u64) -> StreamBatch {
    let ended = Facts { failed: Some(format!("boom {number}")), ..facts("x") };
    batch(number).engine(&format!("e{number}")).progress(number, [2]).finished(100 + number, 3, ended).build()
}

#[tokio::test]
async fn whatever_fails_nothing_is_stored_and_the_resend_is() {
    let address = shared();
    let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    sql.batch_execute(FUNCTIONS).await.expect("made");
    let tables = ["term", "stream", "query", "running", "engine", "chunk", "change", "seen"];
    let obstacles = tables.map(Obstacle::on).into_iter().chain(["refuse", "cut"].map(Obstacle::at_commit));
    for (number, obstacle) in (1..).zip(obstacles) {
        stopped(&store, &sql, &obstacle, number).await;
        assert_eq!(store.verify().await.expect("judged"), [""; 0], "{}", obstacle.put);
    }
}

#[tokio::test]
async fn who_loses_a_conflict_tries_again() {
    let address = shared();
    let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
    let (sql, connection) = tokio_postgres::connect(&address, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    sql.batch_execute(FUNCTIONS).await.expect("made");
    // A value that must be unique, a deadlock, a transaction that cannot be put in order.
    for (number, state) in (1..).zip(["23505", "40P01", "40001"]) {
        let conflicts = format!(
            "ALTER SEQUENCE refused RESTART;
             CREATE TRIGGER stop BEFORE INSERT ON chunk FOR EACH ROW EXECUTE FUNCTION conflict('{state}')"
        );
        sql.batch_execute(&conflicts).await.expect("put");
        let Committed { accepted, duplicates, .. } = store.commit(sent(number)).await.expect("stored");
        assert_eq!((accepted, duplicates), (2, 0), "{state}");
        sql.batch_execute("DROP TRIGGER stop ON chunk").await.expect("taken");
    }
}

async fn stopped(store: &PostgresStore, sql: &Client, obstacle: &Obstacle, number: u64) {
    sql.batch_execute(&obstacle.put).await.expect("put");
    let refused = store.commit(sent(number)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{}: {refused:?}", obstacle.put);
    sql.batch_execute(&obstacle.take).await.expect("taken");
    assert_eq!(committed(store, number).await, (2, 0), "{}", obstacle.put);
    assert_eq!(committed(store, number).await, (0, 2), "{}", obstacle.put);
}

/// Sends until it is stored, as senders do: the store may not have noticed yet that a connection is gone. Events
/// that were accepted, and duplicates.
async fn committed(store: &PostgresStore, number: u64) -> (u64, u64) {
    for _ in 0..TRIES_MAX {
        if let Ok(Committed { accepted, duplicates, .. }) = store.commit(sent(number)).await {
            return (accepted, duplicates);
        }
    }
    panic!("it is not stored")
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_refused_and_found_by_the_resend() {
    let address = shared();
    let lose = Arc::new(AtomicBool::new(false));
    let address = through_proxy(&address, Arc::clone(&lose)).await;
    let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
    assert_eq!(committed(&store, 1).await, (2, 0));
    lose.store(true, Ordering::SeqCst);
    let refused = store.commit(sent(2)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(!lose.load(Ordering::SeqCst), "no answer was lost");
    assert_eq!(committed(&store, 2).await, (0, 2));
    assert_eq!(store.verify().await.expect("judged"), [""; 0]);
}

/// The same server behind a proxy that loses, once it is told to, the answer to one commit of a batch.
async fn through_proxy(address: &str, lose: Arc<AtomicBool>) -> String {
    let (before, rest) = address.split_once("127.0.0.1:").expect("an address of this machine");
    let (port, rest) = rest.split_once('/').expect("a port");
    let server = format!("127.0.0.1:{port}");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass(client, server.clone(), Arc::clone(&lose)));
        }
    });
    format!("{before}127.0.0.1:{port}/{rest}")
}

async fn pass(mut client: TcpStream, server: String, lose: Arc<AtomicBool>) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    let (mut said, mut answered) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let (mut writes, mut loses) = (false, false);
    let holds = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    loop {
        tokio::select! {
            read = client.read(&mut said) => {
                let said = &said[..read?];
                // Others commit what they have read.
                writes |= holds(said, b"INSERT INTO chunk");
                loses |= writes && holds(said, b"COMMIT\0") && lose.swap(false, Ordering::SeqCst);
                if said.is_empty() {
                    return Ok(());
                }
                server.write_all(said).await?;
            }
            read = server.read(&mut answered) => {
                let answered = &answered[..read?];
                if answered.is_empty() || loses {
                    return Ok(());
                }
                client.write_all(answered).await?;
            }
        }
    }
}
