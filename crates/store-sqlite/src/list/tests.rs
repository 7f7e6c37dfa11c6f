use std::cell::RefCell;

use proptest::prelude::*;
use proptest::sample::select;
use queryscope_columns::{Columns, ROWS};

use super::*;
use crate::load;
use crate::migrate::{open_reader, open_writer};

const QUERIES: usize = 300;
/// What a field of a filter may ask for; nobody has the last.
const VALUES: [&str; 4] = ["a", "b", "c", "nobody"];

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
                 known, started_unix_ns, warnings)
             VALUES (?1, randomblob(16), 1, ?1 % 2 + 1, nullif(?1 / 2 % 3, 0), nullif(?1 / 3 % 3, 0), ?1 % 3 + 1,
                 nullif(?1 / 5 % 4, 0), nullif(?1 / 7 % 4, 0), ?1 % 4, 1, (?1 + ?1 % 5 * 11) / 4 * 10, 0)",
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
    let mut rows = db.prepare(load::PAGE_OF_ROWS).expect("a statement");
    let rows = rows.query_map([0, i64::MAX], load::state).expect("read");
    columns.load(rows.map(|row| row.expect("a row")));
    for row in (0..=QUERIES).step_by(2 * ROWS) {
        columns.finish_segment(row as i64);
    }
    columns.finish_loading();
    columns.snapshot()
}

fn filter() -> impl Strategy<Value = QueryFilter> {
    let text = || prop::option::weighted(0.4, select(&VALUES[..]).prop_map(String::from));
    let is = || {
        let is = prop_oneof![
            3 => select(&VALUES[..]).prop_map(|text| Is::Value(text.into())),
            1 => Just(Is::Absent),
        ];
        prop::option::weighted(0.4, is)
    };
    let status = prop::option::weighted(0.4, select(&Status::ALL[..]));
    let bound = || prop::option::weighted(0.2, -10..800_i64);
    (text(), is(), is(), is(), is(), text(), status, bound(), bound()).prop_map(
        |(project, label, fingerprint, service, environment, host, status, since_unix_ns, until_unix_ns)| {
            QueryFilter {
                project,
                label,
                fingerprint,
                service,
                environment,
                host,
                status,
                since_unix_ns,
                until_unix_ns,
                search: None,
            }
        },
    )
}

fn request() -> impl Strategy<Value = ListRequest> {
    let after = (-10..800_i64, 0..=QUERIES as i64)
        .prop_map(|(started_unix_ns, tie)| Position { started_unix_ns, tie });
    let order = select(&[Order::Newest, Order::Oldest][..]);
    (filter(), order, prop::option::weighted(0.5, after), 0..4_u64, 0..20_usize)
        .prop_map(|(filter, order, after, offset, limit)| ListRequest { filter, order, after, offset, limit })
}

#[test]
fn columns_and_indexes_give_the_same_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = filled(&folder);
    let (terms, columns) = (TermTexts::default(), columns(&db));
    let found = RefCell::new(0);
    proptest!(ProptestConfig::with_cases(500), |(request in request())| {
        let by_index = page(&db, &terms, &request, None).expect("read");
        prop_assert_eq!(page(&db, &terms, &request, Some(&columns)).expect("read"), by_index.clone());
        *found.borrow_mut() += by_index.len();
    });
    assert!(found.into_inner() > 500, "most requests find something");
}

#[test]
fn columns_that_are_behind_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = filled(&folder);
    let (terms, behind) = (TermTexts::default(), columns(&db));
    let filter =
        QueryFilter { status: Some(Status::Finished), host: Some("c".into()), ..QueryFilter::default() };
    let request = ListRequest { filter, order: Order::Oldest, after: None, offset: 0, limit: 5 };
    let rows = |columns: Option<&Snapshot>| -> Vec<i64> {
        let listed = page(&db, &terms, &request, columns).expect("read");
        listed.into_iter().map(|listed| listed.position.tie).collect()
    };
    let before = rows(Some(&behind));
    assert_eq!((before.len(), &before), (5, &rows(None)));
    let writer = open_writer(&folder.path().join("a.db"), true).expect("opens");
    writer.execute("DELETE FROM query WHERE id = ?1", [before[0]]).expect("deleted");
    writer.execute("UPDATE query SET status = 2 WHERE id = ?1", [before[2]]).expect("changed");
    let after = rows(Some(&behind));
    assert_eq!(after[..3], [before[1], before[3], before[4]]);
    assert_eq!((after.len(), &after), (5, &rows(None)));
}

#[test]
fn a_filter_is_served_by_one_index_or_by_the_columns() {
    let all = QueryFilter::default;
    let label = Some(Is::Absent);
    for (filter, expected) in [
        (all(), true),
        (QueryFilter { since_unix_ns: Some(1), until_unix_ns: Some(2), ..all() }, true),
        (QueryFilter { label: label.clone(), since_unix_ns: Some(1), ..all() }, true),
        (QueryFilter { status: Some(Status::Failed), ..all() }, true),
        // No index holds those that finished.
        (QueryFilter { status: Some(Status::Finished), ..all() }, false),
        (QueryFilter { status: Some(Status::Failed), project: Some("p".into()), ..all() }, false),
        (QueryFilter { label, fingerprint: Some(Is::Absent), ..all() }, false),
    ] {
        assert_eq!(one_index_serves(&filter), expected, "{filter:?}");
    }
}
