use std::cell::RefCell;

use proptest::prelude::*;
use queryscope_columns::{Columns, Found, ROWS, Selection, Snapshot};
use queryscope_store::testsuite::any_page;
use queryscope_store::{Order, QueryFilter};

use super::*;
use crate::load;
use crate::migrate::{open_reader, open_writer};
use crate::names::DatabaseNames;

const QUERIES: usize = 300;

/// Queries of each combination of values, several of them started at the same time.
fn filled(folder: &tempfile::TempDir) -> Connection {
    let path = folder.path().join("a.db");
    let db = open_writer(&path, true).expect("a new database");
    db.execute_batch(
        "INSERT INTO term (id, text) VALUES (1, 'a'), (2, 'b'), (3, 'c');
         INSERT INTO stream (id, stream_id, project, process_line) VALUES (1, randomblob(16), 1, '')",
    )
    .expect("filled");
    let mut insert = db
        .prepare(
            "INSERT INTO query (id, query_id, stream, project, service, environment, host, label, fingerprint, status,
                 known, started_unix_ns, warnings, engine_version, program_version)
             VALUES (?1, randomblob(16), 1, ?1 % 2 + 1, nullif(?1 / 2 % 3, 0), nullif(?1 / 3 % 3, 0), ?1 % 3 + 1,
                 nullif(?1 / 5 % 4, 0), nullif(?1 / 7 % 4, 0), ?1 % 4, 1, (?1 + ?1 % 5 * 11) / 4 * 10, 0,
                 nullif(?1 / 11 % 3, 0), nullif(?1 / 13 % 3, 0))",
        )
        .expect("a statement");
    for row in 1..=QUERIES {
        insert.execute([row]).expect("inserted");
    }
    drop(insert);
    open_reader(&path).expect("opens")
}

/// Columns of which every other segment is sorted.
fn columns(db: &Connection) -> Snapshot {
    let mut columns = Columns::default();
    columns.load(load::rows(db, 0, i64::MAX).expect("read"));
    for row in (0..=QUERIES).step_by(2 * ROWS) {
        columns.finish_segment(row as i64);
    }
    columns.finish_loading();
    columns.snapshot()
}

fn places(db: &Connection, terms: &TermTexts, columns: &Snapshot, request: &ListRequest) -> Found {
    let selection = Selection::of(&DatabaseNames { db, terms }, &request.filter).expect("in terms");
    queryscope_columns::page(columns, &selection, request).expect("found")
}

#[test]
fn columns_and_indexes_give_the_same_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = filled(&folder);
    let (terms, columns) = (TermTexts::default(), columns(&db));
    let listed = RefCell::new(0);
    proptest!(ProptestConfig::with_cases(500), |(request in any_page(0..QUERIES as i64 + 1, -10..800))| {
        let by_index = page(&db, &terms, &request, None).expect("read");
        let found = places(&db, &terms, &columns, &request);
        prop_assert_eq!(page(&db, &terms, &request, Some(&found)).expect("read"), by_index.clone());
        let of_index: Vec<_> = by_index.iter().map(|listed| listed.position).collect();
        prop_assert_eq!(found.positions().collect::<Vec<_>>(), of_index);
        *listed.borrow_mut() += by_index.len();
    });
    assert!(listed.into_inner() > 500, "most requests find something");
}

#[test]
fn columns_that_are_behind_are_noticed() {
    let filter =
        QueryFilter { status: Some(Status::Finished), host: Some("c".into()), ..QueryFilter::default() };
    let request = ListRequest { filter, sort: None, order: Order::Oldest, after: None, offset: 0, limit: 5 };
    for change in [
        "DELETE FROM query WHERE id = ?1",
        "UPDATE query SET status = 2 WHERE id = ?1",
        "UPDATE query SET started_unix_ns = 1000 WHERE id = ?1",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let db = filled(&folder);
        let (terms, behind) = (TermTexts::default(), columns(&db));
        let rows = |columns: Option<&Snapshot>| -> Vec<i64> {
            let places = columns.map(|columns| places(&db, &terms, columns, &request));
            let listed = page(&db, &terms, &request, places.as_ref()).expect("read");
            listed.into_iter().map(|listed| listed.position.tie).collect()
        };
        let before = rows(Some(&behind));
        let writer = open_writer(&folder.path().join("a.db"), true).expect("opens");
        writer.execute(change, [before[1]]).expect("changed");
        let after = rows(Some(&behind));
        assert_eq!((after.len(), &after), (5, &rows(None)), "{change}");
        assert_eq!(after[..2], [before[0], before[2]], "{change}");
    }
}
