use std::cell::Cell;
use std::sync::Arc;

use deadpool_postgres::{Client, Pool};
use proptest::prelude::*;
use queryscope_columns::{Found, Index, Selection, Snapshot};
use queryscope_postgres_server::shared;
use queryscope_store::testsuite::any_page;
use queryscope_store::{Order, QueryFilter, Status};
use tokio::runtime::Handle;

use super::*;
use crate::columns;
use crate::connect::Server;
use crate::format::STEPS;
use crate::migrate::migrate;
use crate::names::ColumnNames;
use crate::options::PostgresOptions;

const QUERIES: i64 = 300;
/// Queries of each combination of values, several of them started at the same time.
const FILL: &str = "
    INSERT INTO term (id, text, folded) VALUES (1, 'a', 'a'), (2, 'b', 'b'), (3, 'c', 'c');
    INSERT INTO stream (id, stream_id, project, process_line) VALUES (1, gen_random_uuid(), 1, '');
    INSERT INTO query (id, query_id, stream, project, service, environment, host, label, fingerprint, status, known,
        started_unix_ns, warnings, events, engine_version, program_version)
    SELECT n, gen_random_uuid(), 1, n % 2 + 1, nullif(n / 2 % 3, 0), nullif(n / 3 % 3, 0), n % 3 + 1,
        nullif(n / 5 % 4, 0), nullif(n / 7 % 4, 0), n % 4, 1, (n + n % 5 * 11) / 4 * 10, 0, 0,
        nullif(n / 11 % 3, 0), nullif(n / 13 % 3, 0)
    FROM generate_series(1, 300) AS n";

/// A database, and columns of it.
struct Filled {
    client: Client,
    names: ColumnNames,
    columns: Snapshot,
}

impl Filled {
    async fn new() -> Self {
        let server = Server::of(&shared(), &PostgresOptions::default()).expect("an address");
        let pool: Pool = server.pool(2, "").expect("a pool");
        let mut client = pool.get().await.expect("connects");
        migrate(&mut client, STEPS, true).await.expect("brought up to date");
        client.batch_execute(FILL).await.expect("filled");
        let (terms, index) = (TermTexts::default(), Index::new(true));
        columns::load(&pool, &terms, &index).await.expect("loaded");
        let columns = index.snapshot_now().expect("filled");
        let names = ColumnNames { terms: Arc::new(terms), pool, runtime: Handle::current() };
        Self { client, names, columns }
    }

    async fn by_index(&self, request: &ListRequest) -> Vec<Listed> {
        page(&self.client, &self.names.terms, request, None).await.expect("read")
    }

    fn places(&self, request: &ListRequest) -> Found {
        let selection = Selection::of(&self.names, &request.filter).expect("in terms");
        queryscope_columns::page(&self.columns, &selection, request).expect("found")
    }

    async fn by_places(&self, request: &ListRequest, places: &Found) -> Option<Vec<Listed>> {
        let rows: Vec<i64> = places.positions().map(|place| place.tie).collect();
        let found = listed_at(&self.client, &self.names.terms, &rows).await.expect("read");
        places.page(request, found)
    }

    async fn by_columns(&self, request: &ListRequest) -> Vec<Listed> {
        let places = self.places(request);
        page(&self.client, &self.names.terms, request, Some(&places)).await.expect("read")
    }
}

#[test]
fn columns_and_indexes_give_the_same_page() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let filled = runtime.block_on(Filled::new());
    let found = Cell::new(0);
    proptest!(ProptestConfig::with_cases(300), |(request in any_page(0..QUERIES + 1, -10..800))| {
        let by_index = runtime.block_on(filled.by_index(&request));
        let places = filled.places(&request);
        let of_index: Vec<_> = by_index.iter().map(|listed| listed.position).collect();
        prop_assert_eq!(places.positions().collect::<Vec<_>>(), of_index);
        let by_places = runtime.block_on(filled.by_places(&request, &places));
        prop_assert_eq!(by_places, Some(by_index.clone()));
        found.set(found.get() + by_index.len());
    });
    assert!(found.into_inner() > 300, "most requests find something");
}

#[tokio::test]
async fn columns_that_are_behind_are_noticed() {
    let filled = Filled::new().await;
    let filter =
        QueryFilter { status: Some(Status::Finished), host: Some("c".into()), ..QueryFilter::default() };
    let request = ListRequest { filter, sort: None, order: Order::Oldest, after: None, offset: 0, limit: 5 };
    for change in [
        "DELETE FROM query WHERE id =",
        "UPDATE query SET status = 2 WHERE id =",
        "UPDATE query SET started_unix_ns = 1000 WHERE id =",
    ] {
        let before = filled.by_columns(&request).await;
        filled.client.batch_execute("BEGIN").await.expect("begun");
        let row = before[1].position.tie;
        filled.client.batch_execute(&format!("{change} {row}")).await.expect("changed");
        let after = filled.by_columns(&request).await;
        assert_eq!(after, filled.by_index(&request).await, "{change}");
        assert_eq!(after.len(), 5);
        assert_eq!((&after[0], &after[1]), (&before[0], &before[2]), "{change}");
        filled.client.batch_execute("ROLLBACK").await.expect("taken back");
    }
}
