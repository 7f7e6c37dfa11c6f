use std::time::Duration;

use deadpool_postgres::Object;
use proptest::prelude::*;
use proptest::sample::Index;
use queryscope_postgres_server::shared;

use super::*;
use crate::connect::Server;
use crate::format::STEPS;
use crate::migrate::migrate;
use crate::names::TermTexts;
use crate::options::PostgresOptions;

const SEGMENT: i64 = ROWS as i64;
/// How long anything waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A database, and who writes to it.
struct Shared {
    pool: Pool,
    format: Format,
    client: Client,
}

impl Shared {
    async fn new() -> Self {
        let server = Server::of(&shared(), &PostgresOptions::default()).expect("an address");
        let pool = server.pool(9, "").expect("a pool");
        let mut client = pool.get().await.expect("connects");
        migrate(&mut client, STEPS, true).await.expect("brought up to date");
        // The rows here name these as project, host and label.
        client
            .batch_execute(
                "INSERT INTO term (id, text, folded)
                 SELECT n, n::text::bytea, '' FROM generate_series(1, 9) AS n",
            )
            .await
            .expect("texts");
        Self { pool, format: Format::of(STEPS), client }
    }

    async fn another(&self) -> Object {
        self.pool.get().await.expect("connects")
    }

    async fn change(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    async fn insert(&self, rows: std::ops::Range<i64>) {
        self.change(&insertion(rows)).await;
    }

    async fn set(&self, first: i64) -> Mark {
        let mut client = self.another().await;
        Mark::set(&mut client, self.format, first).await.expect("set").expect("free")
    }

    /// Waits until a mark is seen by all; others use the server, too.
    async fn seen(&self, mark: &Mark) {
        let begun = tokio::time::Instant::now();
        while !mark.is_seen(&self.client).await.expect("looked") {
            assert!(begun.elapsed() < PATIENCE, "somebody still writes");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn fill(&self, mark: &Mark, copy: &SegmentCopy) -> bool {
        mark.fill(&mut self.another().await, self.format, copy).await.expect("done")
    }

    /// Copies segments, whatever else is going on at the server.
    async fn copy(&self, segments: impl IntoIterator<Item = i64>) {
        for first in segments {
            let mark = self.set(first).await;
            self.seen(&mark).await;
            let copy = mark.read(&self.client).await.expect("read");
            assert!(self.fill(&mark, &copy).await);
        }
    }

    /// First rows of the segments that have a copy.
    async fn copied(&self) -> Vec<i64> {
        let rows = self.client.query(MADE, &[&LAST]).await.expect("read");
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn wrong(&self) -> Vec<i64> {
        wrong(&mut self.another().await).await.expect("judged")
    }

    /// What the table says.
    async fn rows(&self) -> Vec<RowState> {
        columns::rows(&self.client, 0, i64::MAX).await.expect("read")
    }

    /// What columns say that are filled anew.
    async fn loaded(&self) -> Vec<RowState> {
        let index = queryscope_columns::Index::new(true);
        columns::load(&self.pool, &TermTexts::default(), &index).await.expect("loaded");
        let snapshot = index.snapshot_now().expect("filled");
        let segments = (0..100).filter_map(|number| snapshot.copy(number * SEGMENT));
        let mut rows: Vec<_> = segments.flat_map(|copy| copy.rows().expect("a copy")).collect();
        rows.sort_unstable_by_key(|row| row.row);
        rows
    }
}

fn insertion(rows: std::ops::Range<i64>) -> String {
    format!(
        "INSERT INTO query
             (id, query_id, stream, project, host, label, status, known, started_unix_ns, warnings, events)
         SELECT n, gen_random_uuid(), 1, 1, 2, nullif(n % 3, 0), 0, 1, n * 1000, 0, 0
         FROM generate_series({}, {}) AS n",
        rows.start,
        rows.end - 1
    )
}

fn ended(row: i64) -> String {
    format!("UPDATE query SET status = 1, wall_ms = 3.5, cpu_ms = 4.5, bytes_read = 5 WHERE id = {row}")
}

#[tokio::test]
async fn whoever_changes_a_row_takes_the_copy_of_its_segment_out() {
    let store = Shared::new().await;
    // The third place is taken by a row that comes late.
    store.change(&[insertion(1..3), insertion(4..5 * SEGMENT)].join(";")).await;
    let columns = [
        ("project", "9"),
        ("service", "9"),
        ("environment", "9"),
        ("host", "9"),
        ("label", "NULL"),
        ("fingerprint", "9"),
        ("rules", "9"),
        ("status", "1"),
        ("started_unix_ns", "9"),
        ("wall_ms", "9"),
        ("cpu_ms", "9"),
        ("result_rows", "9"),
        ("bytes_read", "9"),
        ("spilled_bytes", "9"),
        ("peak_memory_bytes", "9"),
        ("warnings", "9"),
    ];
    let set = columns.map(|(column, value)| {
        format!("UPDATE query SET {column} = {value} WHERE id IN ({SEGMENT}, {})", 4 * SEGMENT)
    });
    let others = [
        format!("UPDATE query SET id = {} WHERE id = {}", 9 * SEGMENT, 2 * SEGMENT - 1),
        format!("DELETE FROM query WHERE id IN ({}, {})", SEGMENT + 2, 4 * SEGMENT + 1),
    ];
    let all = [0, SEGMENT, 2 * SEGMENT];
    store.copy(all).await;
    assert_eq!(store.copied().await, all);
    for change in set.into_iter().chain(others) {
        store.change(&change).await;
        assert_eq!(store.copied().await, [0, 2 * SEGMENT], "{change}");
        store.copy([SEGMENT]).await;
    }
    store.change(&insertion(3..4)).await;
    assert_eq!(store.copied().await, [SEGMENT, 2 * SEGMENT]);
    store.change(&insertion(5 * SEGMENT..6 * SEGMENT)).await;
    store.change("UPDATE query SET sealed_day = 3, status = status, events = events + 1").await;
    assert_eq!(store.copied().await, [SEGMENT, 2 * SEGMENT], "no answer over many is of that");
    store.copy([0]).await;
    assert_eq!((store.copied().await, store.wrong().await), (all.to_vec(), Vec::new()));
    assert_eq!(store.loaded().await, store.rows().await);
}

#[tokio::test]
async fn who_writes_when_a_mark_is_set_is_waited_for() {
    for end in ["COMMIT", "ROLLBACK"] {
        for change in [ended(3), "DELETE FROM query WHERE id = 5".into(), insertion(6..7)] {
            let store = Shared::new().await;
            store.change(&[insertion(1..6), insertion(7..5 * SEGMENT)].join(";")).await;
            let writer = store.another().await;
            writer.batch_execute(&format!("BEGIN; {change}")).await.expect("changed");
            let mark = store.set(0).await;
            assert!(!mark.is_seen(&store.client).await.expect("looked"), "{change}");
            writer.batch_execute(end).await.expect("ended");
            store.seen(&mark).await;
            let copy = mark.read(&store.client).await.expect("read");
            assert!(store.fill(&mark, &copy).await, "{change}: nothing changed after the mark");
            assert_eq!((store.copied().await, store.wrong().await), (vec![0], Vec::new()), "{change}");
        }
    }
}

#[tokio::test]
async fn who_begins_to_write_while_a_mark_is_being_set_is_waited_for() {
    let store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let gate = store.another().await;
    gate.batch_execute(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_advisory_xact_lock(TG_RELID::bigint); RETURN NEW; END $$;
         CREATE TRIGGER wait AFTER INSERT ON segment FOR EACH ROW EXECUTE FUNCTION wait();
         SELECT pg_advisory_lock('segment'::regclass::bigint)",
    )
    .await
    .expect("closed");
    let writer = store.another().await;
    let (mark, ()) = tokio::join!(store.set(0), async {
        is_waited_for(&store, &gate).await;
        writer.batch_execute(&format!("BEGIN; {}", ended(1))).await.expect("changed");
        gate.batch_execute("SELECT pg_advisory_unlock('segment'::regclass::bigint)").await.expect("open");
    });
    assert!(!mark.is_seen(&store.client).await.expect("looked"));
    writer.batch_execute("COMMIT").await.expect("ended");
    store.seen(&mark).await;
    let copy = mark.read(&store.client).await.expect("read");
    assert!(store.fill(&mark, &copy).await);
    assert_eq!(store.wrong().await, [0; 0]);
}

#[tokio::test]
async fn what_changed_after_a_mark_is_not_copied() {
    let store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let mark = store.set(0).await;
    store.seen(&mark).await;
    let copy = mark.read(&store.client).await.expect("read");
    store.change(&ended(1)).await;
    assert!(!store.fill(&mark, &copy).await);
    // Nor where somebody has begun anew.
    let another = store.set(0).await;
    assert!(!store.fill(&mark, &copy).await);
    store.seen(&another).await;
    let copy = another.read(&store.client).await.expect("read");
    assert!(store.fill(&another, &copy).await);
    assert_eq!((store.copied().await, store.wrong().await), (vec![0], Vec::new()));
}

#[tokio::test]
async fn what_changes_while_a_copy_is_put_in_takes_it_out() {
    for (end, is_made) in [("COMMIT", false), ("ROLLBACK", true)] {
        let store = Shared::new().await;
        store.insert(1..5 * SEGMENT).await;
        let mark = store.set(0).await;
        store.seen(&mark).await;
        let copy = mark.read(&store.client).await.expect("read");
        let writer = store.another().await;
        writer.batch_execute(&format!("BEGIN; {}", ended(1))).await.expect("changed");
        let (filled, ()) = tokio::join!(store.fill(&mark, &copy), async {
            is_waited_for(&store, &writer).await;
            writer.batch_execute(end).await.expect("ended");
        });
        assert_eq!(filled, is_made, "{end}");
        assert_eq!(store.wrong().await, [0; 0], "{end}");
    }
    // The other way round.
    let store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    store.copy([0]).await;
    let copier = store.another().await;
    copier.batch_execute("BEGIN; UPDATE segment SET marked = now()").await.expect("changed");
    let change = ended(1);
    tokio::join!(store.change(&change), async {
        is_waited_for(&store, &copier).await;
        copier.batch_execute("COMMIT").await.expect("ended");
    });
    assert_eq!(store.copied().await, [0; 0]);
}

async fn is_waited_for(store: &Shared, client: &Client) {
    let process: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.expect("read").get(0);
    let looker = store.another().await;
    let waiting = "SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    let begun = tokio::time::Instant::now();
    while looker.query(waiting, &[&process]).await.expect("read").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nobody waits");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[tokio::test]
async fn a_segment_is_copied_by_one() {
    let store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let mark = store.set(0).await;
    let mut another = store.another().await;
    assert!(Mark::set(&mut another, store.format, 0).await.expect("looked").is_none(), "it is being copied");
    store.seen(&mark).await;
    assert_eq!(store.copied().await, [0; 0], "a mark is no copy");
    assert_eq!((store.wrong().await, store.loaded().await), (Vec::new(), store.rows().await));
    let copy = mark.read(&store.client).await.expect("read");
    assert!(store.fill(&mark, &copy).await);
    assert!(Mark::set(&mut another, store.format, 0).await.expect("looked").is_none(), "it is copied");
}

#[tokio::test]
async fn what_stays_as_it_is_is_copied() {
    let store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let index = queryscope_columns::Index::new(true);
    columns::load(&store.pool, &TermTexts::default(), &index).await.expect("loaded");
    let look = async || copy_settled(&store.pool, store.format, &index).await.expect("done");
    look().await;
    assert_eq!(store.copied().await, [0; 0], "nobody knows yet that nothing changes");
    let mut twice = 0;
    // Where somebody else at the server writes for very long, nothing is copied in that time.
    while store.copied().await != [0, SEGMENT, 2 * SEGMENT, 3 * SEGMENT] {
        look().await;
        twice += 1;
        assert!(twice < 10, "nothing is copied");
    }
    assert_eq!(store.wrong().await, [0; 0]);
    store.change(&ended(1)).await;
    let changed = columns::rows(&store.client, 1, 2).await.expect("read");
    index.apply(changed);
    look().await;
    look().await;
    assert_eq!(store.copied().await, [0, SEGMENT, 2 * SEGMENT, 3 * SEGMENT]);
}

#[tokio::test]
async fn who_writes_for_long_is_waited_for_later() {
    let mut store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let writer = store.another().await;
    writer.batch_execute(&format!("BEGIN; {}", ended(3))).await.expect("changed");
    assert!(!copy(&mut store.client, store.format, 0, 2).await.expect("looked"));
    writer.batch_execute("COMMIT").await.expect("ended");
    while !copy(&mut store.client, store.format, 0, LOOKS_MAX).await.expect("looked") {}
    assert_eq!((store.copied().await, store.wrong().await), (vec![0], Vec::new()));
}

#[tokio::test]
async fn what_nobody_reads_or_makes_is_taken_out() {
    let mut store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    store.copy([0, SEGMENT, 4 * SEGMENT]).await;
    store.set(2 * SEGMENT).await;
    store.set(3 * SEGMENT).await;
    // Another build's, one whose collector is no more, and an earlier version's.
    let old = format!(
        "UPDATE segment SET first = first + 1 WHERE first = 0;
         UPDATE segment SET marked = now() - interval '11 minutes' WHERE first IN ({SEGMENT}, {});
         UPDATE segment SET cancelled = NULL WHERE first = {}",
        2 * SEGMENT,
        4 * SEGMENT
    );
    store.change(&old).await;
    assert_eq!((store.wrong().await, store.loaded().await), (Vec::new(), store.rows().await));
    tidy(&mut store.client, store.format).await.expect("done");
    let left = store.client.query("SELECT first FROM segment ORDER BY first", &[]).await.expect("read");
    assert_eq!(left.iter().map(|row| row.get(0)).collect::<Vec<i64>>(), [SEGMENT, 3 * SEGMENT]);
}

#[tokio::test]
async fn a_copy_that_is_damaged_is_not_read_and_a_wrong_one_is_found_and_taken_out() {
    let mut store = Shared::new().await;
    store.insert(1..5 * SEGMENT).await;
    let damages = [
        ("status = '\\x07'", true),
        ("wall_ms = NULL", true),
        ("cpu = '\\x07'", true),
        ("bytes_read = '\\x07'", true),
        ("row = decode(repeat('ff', 16), 'hex')", true),
        // A text nobody knows.
        ("plans = decode(repeat('63', 72), 'hex')", true),
        // It is the copy that is read.
        ("status = decode(repeat('03', 8), 'hex')", false),
        ("started_unix_ns = decode(repeat('00', 64), 'hex')", false),
    ];
    for (damage, is_noticed) in damages {
        store.copy([0, SEGMENT]).await;
        assert_eq!(store.loaded().await, store.rows().await);
        store.change(&format!("UPDATE segment SET {damage} WHERE first = {SEGMENT}")).await;
        assert_eq!(store.loaded().await == store.rows().await, is_noticed, "{damage}");
        assert_eq!(store.wrong().await, [SEGMENT], "{damage}");
        assert_eq!(remove_wrong(&mut store.client, store.format).await.expect("done"), 1);
        assert_eq!((store.copied().await, store.wrong().await), (vec![0], Vec::new()));
        store.change("DELETE FROM segment").await;
    }
}

/// What those who use a database do one after the other; each of two writers has a transaction open or none, each
/// of two copiers is at a segment or at none.
#[derive(Debug, Clone)]
enum Step {
    Begin(usize),
    Insert(usize, u8),
    End(usize, Index),
    Delete(usize, Index),
    Commit(usize),
    Rollback(usize),
    Mark(usize, u8),
    Read(usize),
    Fill(usize),
    /// All three.
    Copy(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let who = || 0..2_usize;
    prop_oneof![
        1 => who().prop_map(Step::Begin),
        2 => (who(), 1..20_u8).prop_map(|(who, rows)| Step::Insert(who, rows)),
        2 => (who(), any::<Index>()).prop_map(|(who, row)| Step::End(who, row)),
        1 => (who(), any::<Index>()).prop_map(|(who, row)| Step::Delete(who, row)),
        3 => who().prop_map(Step::Commit),
        1 => who().prop_map(Step::Rollback),
        3 => (who(), 0..3_u8).prop_map(|(who, segment)| Step::Mark(who, segment)),
        4 => who().prop_map(Step::Read),
        4 => who().prop_map(Step::Fill),
        3 => (0..5_u8).prop_map(Step::Copy),
    ]
}

/// A copier, with what it has read once it has.
type Copier = Option<(Mark, Option<SegmentCopy>)>;

/// A database, those who write to it, and those who copy.
struct World {
    store: Shared,
    writers: [Object; 2],
    open: [bool; 2],
    copiers: [Copier; 2],
    next: i64,
}

impl World {
    async fn new() -> Self {
        let store = Shared::new().await;
        let writers = [store.another().await, store.another().await];
        for writer in writers.iter().chain([&store.client]) {
            // A writer that waits for another here waits for ever.
            writer.batch_execute("SET lock_timeout = '1ms'").await.expect("set");
        }
        let next = 3 * SEGMENT;
        store.insert(1..next).await;
        Self { store, writers, open: [false; 2], copiers: [None, None], next }
    }

    /// Somebody who would have to wait gives up, with what the transaction did.
    async fn write(&mut self, who: usize, sql: &str) {
        if self.writers[who].batch_execute(sql).await.is_err() && self.open[who] {
            self.writers[who].batch_execute("ROLLBACK").await.expect("undone");
            self.open[who] = false;
        }
    }

    async fn step(&mut self, step: Step) {
        let format = self.store.format;
        match step {
            Step::Copy(segment) => {
                let _ = copy(&mut self.store.client, format, i64::from(segment) * SEGMENT, 1).await;
            }
            Step::Begin(who) if !self.open[who] => {
                self.writers[who].batch_execute("BEGIN").await.expect("begun");
                self.open[who] = true;
            }
            Step::Begin(_) => {}
            Step::Insert(who, rows) => {
                let rows = self.next..self.next + i64::from(rows);
                self.next = rows.end;
                self.write(who, &insertion(rows)).await;
            }
            Step::End(who, row) => {
                let row = row.index(30) as i64;
                self.write(who, &format!("UPDATE query SET status = status + 1 WHERE id = {row}")).await;
            }
            Step::Delete(who, row) => {
                self.write(who, &format!("DELETE FROM query WHERE id = {}", row.index(40))).await;
            }
            Step::Commit(who) => self.end(who, "COMMIT").await,
            Step::Rollback(who) => self.end(who, "ROLLBACK").await,
            Step::Mark(who, segment) => {
                let client = &mut self.store.client;
                if let Ok(Some(mark)) = Mark::set(client, format, i64::from(segment) * SEGMENT).await {
                    self.copiers[who] = Some((mark, None));
                }
            }
            Step::Read(who) => {
                if let Some((mark, read)) = &mut self.copiers[who]
                    && mark.is_seen(&self.store.client).await.expect("looked")
                {
                    *read = Some(mark.read(&self.store.client).await.expect("read"));
                }
            }
            Step::Fill(who) => {
                if let Some((mark, Some(copy))) = &self.copiers[who] {
                    let _ = mark.fill(&mut self.store.client, format, copy).await;
                }
            }
        }
    }

    async fn end(&mut self, who: usize, sql: &str) {
        if self.open[who] {
            self.writers[who].batch_execute(sql).await.expect("ended");
            self.open[who] = false;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn whoever_writes_and_copies_meanwhile_a_copy_says_what_the_rows_say(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut world = World::new().await;
            for step in steps {
                world.step(step).await;
                prop_assert_eq!(world.store.wrong().await, [0_i64; 0]);
            }
            for who in 0..2 {
                world.end(who, "COMMIT").await;
            }
            prop_assert_eq!(world.store.wrong().await, [0_i64; 0]);
            prop_assert_eq!(world.store.loaded().await, world.store.rows().await);
            Ok(())
        })?;
    }
}
