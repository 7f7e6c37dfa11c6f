use std::ops::Range;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use queryscope_columns::RowState;

use super::*;
use crate::migrate::{open_reader, open_writer};
use crate::repair::Repair;
use crate::touched::Touched;
use crate::verify;

/// A database and the columns that follow it.
struct Followed {
    folder: tempfile::TempDir,
    db: Connection,
    index: queryscope_columns::Index,
    touched: Touched,
    copier: Copier,
    now: Instant,
}

impl Followed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        let touched = Touched::watch(&mut db).expect("watched");
        let now = queryscope_store::now();
        let copier = Copier::new(&db, now).expect("a copier");
        let index = queryscope_columns::Index::new(true);
        index.finish();
        Self { folder, db, index, touched, copier, now }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.db")
    }

    fn change(&mut self, sql: &str) {
        self.db.execute_batch(sql).expect("changed");
        let rows: Vec<_> =
            self.touched.take().into_iter().map(|row| load::read(&self.db, row).expect("read")).collect();
        self.index.apply(rows);
    }

    fn insert(&mut self, rows: Range<i64>) {
        for row in rows {
            let label = row % 3;
            self.change(&format!(
                "INSERT INTO query
                     (id, query_id, stream, project, host, label, status, known, started_unix_ns, warnings)
                 VALUES ({row}, randomblob(16), 1, 1, 2, nullif({label}, 0), 0, 1, {row}000, 0)"
            ));
        }
    }

    /// Lets time pass, a little at a time.
    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_secs(1);
            while self.copier.run(&mut self.db, &self.index, self.now).expect("run") {}
        }
    }

    /// First rows of the segments that have a copy.
    fn copied(&self) -> Vec<i64> {
        let mut copies = self.db.prepare("SELECT first FROM segment ORDER BY first").expect("a table");
        copies.query_map([], |row| row.get(0)).expect("read").map(|first| first.expect("a number")).collect()
    }

    fn wrong(&self) -> Vec<i64> {
        wrong(&self.db).expect("judged")
    }

    /// What the table says.
    fn rows(&self) -> Vec<RowState> {
        load::rows(&self.db, 0, i64::MAX).expect("read")
    }

    /// What columns say that are filled anew.
    fn loaded(&self) -> Vec<RowState> {
        let index = queryscope_columns::Index::new(true);
        let connections = vec![open_reader(&self.path()).expect("opens")];
        let segments = load::left(&connections[0]).expect("read");
        load::load(connections, &index, &segments).expect("loaded");
        let snapshot = index.snapshot_now().expect("filled");
        let segments = (0..100).filter_map(|number| snapshot.copy(number * ROWS as i64));
        let mut rows: Vec<_> = segments.flat_map(|copy| copy.rows().expect("a copy")).collect();
        rows.sort_unstable_by_key(|row| row.row);
        rows
    }
}

const SEGMENT: i64 = ROWS as i64;
/// Until what stays as it is has been copied.
const WHILE: Duration = Duration::from_secs(3 * LOOK_EVERY.as_secs());

#[test]
fn what_stays_as_it_is_is_copied_and_what_changes_no_longer() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    store.wait(LOOK_EVERY);
    assert_eq!(store.copied(), [0; 0], "nobody knows yet that nothing changes");
    store.wait(WHILE);
    // The last ones are written to.
    assert_eq!(store.copied(), [0, SEGMENT, 2 * SEGMENT]);
    store.change(&format!("UPDATE query SET status = 1, wall_ms = 3.5 WHERE id = {}", SEGMENT + 1));
    assert_eq!(store.copied(), [0, 2 * SEGMENT]);
    store.wait(WHILE);
    for figure in ["cpu_ms", "result_rows", "bytes_read", "spilled_bytes", "peak_memory_bytes", "warnings"] {
        store.change(&format!("UPDATE query SET {figure} = 3 WHERE id = {}", SEGMENT + 1));
        assert_eq!(store.copied(), [0, 2 * SEGMENT]);
        store.wait(WHILE);
    }
    store.change("DELETE FROM query WHERE id = 2");
    assert_eq!(store.copied(), [SEGMENT, 2 * SEGMENT]);
    store.change("UPDATE query SET sealed_day = 3");
    assert_eq!(store.copied(), [SEGMENT, 2 * SEGMENT], "no answer over many is of that");
    store.wait(WHILE);
    assert_eq!(store.copied(), [0, SEGMENT, 2 * SEGMENT]);
    assert_eq!(store.loaded(), store.rows());
    assert_eq!(store.wrong(), [0; 0]);
}

#[test]
fn a_start_reads_copies_and_where_one_is_damaged_the_rows() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    store.wait(WHILE);
    let rows = store.rows();
    let tamper = |store: &mut Followed, sql: &str| store.db.execute(sql, []).expect("changed");
    tamper(&mut store, &format!("UPDATE segment SET status = zeroblob({SEGMENT}) WHERE first = {SEGMENT}"));
    assert_eq!(store.loaded(), rows, "all of them run");
    tamper(
        &mut store,
        &format!("UPDATE segment SET status = replace(hex(status), '00', '03') WHERE first = {SEGMENT}"),
    );
    assert_eq!(store.loaded(), rows, "a text is no array");
    assert_eq!(store.wrong(), [SEGMENT]);
    let unfinished = "03".repeat(ROWS);
    tamper(&mut store, &format!("UPDATE segment SET status = x'{unfinished}' WHERE first = {SEGMENT}"));
    assert_ne!(store.loaded(), rows, "it is the copy that is read");
    assert_eq!(store.wrong(), [SEGMENT]);
}

#[test]
fn no_damage_of_an_array_goes_unnoticed() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    store.wait(WHILE);
    let rows = store.rows();
    store.db.execute_batch("CREATE TEMP TABLE whole AS SELECT * FROM segment").expect("kept");
    let short = [
        "origins",
        "plans",
        "row",
        "origin",
        "plan",
        "status",
        "started_unix_ns",
        "wall_ms",
        "cpu",
        "result_rows",
        "bytes_read",
        "spilled_bytes",
        "peak_memory_bytes",
        "warnings",
    ]
    .map(|array| (array, "07".to_owned()));
    let beyond = [("row", 2), ("origin", 2), ("plan", 2), ("status", 1)]
        .map(|(array, bytes)| (array, "ff".repeat(bytes * ROWS)));
    for (array, bytes) in short.into_iter().chain(beyond) {
        let sql = format!(
            "INSERT OR REPLACE INTO segment SELECT * FROM whole;
             UPDATE segment SET {array} = x'{bytes}' WHERE first = {SEGMENT}"
        );
        store.db.execute_batch(&sql).expect("changed");
        assert_eq!(store.loaded(), rows, "{array}: {bytes}");
        assert_eq!(store.wrong(), [SEGMENT], "{array}: {bytes}");
    }
}

#[test]
fn a_copy_that_is_wrong_is_found_and_a_repair_takes_it_out() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    store.wait(WHILE);
    // Of other rows than these there is nothing to be judged.
    let problems = |db: &Connection| -> Vec<String> {
        verify::problems(db).into_iter().filter(|problem| problem.starts_with("copy")).collect()
    };
    assert_eq!(problems(&store.db), [""; 0]);
    store
        .db
        .execute("UPDATE segment SET started_unix_ns = zeroblob(64) WHERE first = 8", [])
        .expect("changed");
    let expected = "copy of queries from row 8: it does not say what their rows say";
    assert_eq!(problems(&store.db), [expected]);
    let mut repair = Repair::begin(&store.path(), 0).expect("begun");
    let mended = repair.mend_structure().expect("mended");
    assert!(mended.contains(&"1 copies of runs differed from their rows".into()), "{mended:?}");
    repair.commit().expect("committed");
    assert_eq!((store.copied(), problems(&store.db)), (vec![0, 2 * SEGMENT], Vec::new()));
}

#[test]
fn nothing_is_copied_once_another_process_has_written() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    let other = open_writer(&store.path(), true).expect("opens");
    other.execute("UPDATE query SET status = 1 WHERE id = 1", []).expect("changed");
    store.wait(WHILE);
    assert_eq!(store.copied(), [0; 0], "the columns do not know of it");
}

#[test]
fn copies_of_segments_of_another_size_are_forgotten() {
    let mut store = Followed::new();
    store.insert(1..5 * SEGMENT);
    store.wait(WHILE);
    store.db.execute("UPDATE segment SET last = last + 1 WHERE first = 0", []).expect("changed");
    assert_eq!((read(&store.db, 0).expect("read"), store.loaded()), (None, store.rows()));
    drop(Copier::new(&store.db, store.now).expect("a copier"));
    assert_eq!(store.copied(), [SEGMENT, 2 * SEGMENT]);
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u8),
    End(Index),
    Delete(Index),
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..20_u8).prop_map(Step::Insert),
        any::<Index>().prop_map(Step::End),
        any::<Index>().prop_map(Step::Delete),
        (1..40_u8).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn columns_filled_from_copies_say_what_the_rows_say(steps in prop::collection::vec(step(), 1..60)) {
        let mut store = Followed::new();
        let mut last = 0;
        for step in steps {
            match step {
                Step::Insert(rows) => {
                    store.insert(last + 1..last + 1 + i64::from(rows));
                    last += i64::from(rows);
                }
                Step::End(row) => store.change(&format!(
                    "UPDATE query SET status = 2, label = 7, wall_ms = 1.5, cpu_ms = 2.5, bytes_read = 7, warnings = 1
                     WHERE id = {}",
                    row.index(last as usize + 1)
                )),
                Step::Delete(row) => {
                    store.change(&format!("DELETE FROM query WHERE id = {}", row.index(last as usize + 1)));
                }
                Step::Wait(seconds) => store.wait(Duration::from_secs(seconds.into())),
            }
        }
        prop_assert_eq!(store.wrong(), [0_i64; 0]);
        prop_assert_eq!(store.loaded(), store.rows());
    }
}
