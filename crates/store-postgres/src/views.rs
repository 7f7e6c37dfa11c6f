//! Views that are shared.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use queryscope_store::{SharedView, StoreError, VIEWS_MAX, VIEWS_OF_PROJECT_MAX, ViewStore};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::list::bound;
use crate::store::{PostgresStore, rows};

/// One at a time shares a view: those that are there are counted.
const LOCK: &str = "LOCK TABLE shared_view IN SHARE ROW EXCLUSIVE MODE";
const HAS_ROOM: &str = "
    SELECT EXISTS (SELECT FROM shared_view WHERE project = $1 AND name = $2)
        OR ((SELECT count(*) FROM shared_view) < $3
            AND (SELECT count(*) FROM shared_view WHERE project = $1) < $4)";
const REPLACE: &str =
    "UPDATE SET search = excluded.search, by_name = excluded.by_name, unix_ns = excluded.unix_ns";

/// A view, or `then` where one of its project and name is there; whether anything was written.
async fn put(transaction: &Transaction<'_>, view: &SharedView, then: &str) -> Result<bool, DbError> {
    let SharedView { project, name, search, by, unix_ns } = view;
    let sql = format!(
        "INSERT INTO shared_view (project, name, search, by_name, unix_ns) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project, name) DO {then}"
    );
    let values: [&(dyn ToSql + Sync); 5] = [project, name, search, by, unix_ns];
    Ok(transaction.execute(&transaction.prepare_cached(&sql).await?, &values).await? > 0)
}

fn read(row: &Row) -> SharedView {
    SharedView {
        project: row.get(0),
        name: row.get(1),
        search: row.get(2),
        by: row.get(3),
        unix_ns: row.get(4),
    }
}

impl PostgresStore {
    async fn share(&self, view: &SharedView) -> Result<bool, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        transaction.batch_execute(LOCK).await?;
        let (all, of_project) = (bound(VIEWS_MAX), bound(VIEWS_OF_PROJECT_MAX));
        let values: [&(dyn ToSql + Sync); 4] = [&view.project, &view.name, &all, &of_project];
        let has_room = transaction.query_one(&transaction.prepare_cached(HAS_ROOM).await?, &values).await?;
        let shared = has_room.get(0) && put(&transaction, view, REPLACE).await?;
        transaction.commit().await?;
        Ok(shared)
    }

    async fn adopt_shared(&self, views: &[SharedView]) -> Result<usize, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        let mut adopted = 0;
        for view in views {
            adopted += usize::from(put(&transaction, view, "NOTHING").await?);
        }
        transaction.commit().await?;
        Ok(adopted)
    }
}

#[async_trait]
impl ViewStore for PostgresStore {
    async fn shared_views(&self, project: Option<&str>) -> Result<Vec<SharedView>, StoreError> {
        if project.is_some_and(|project| project.contains('\0')) {
            return Ok(Vec::new());
        }
        let sql = "SELECT project, name, search, by_name, unix_ns FROM shared_view
                   WHERE $1::text IS NULL OR project = $1 ORDER BY name, project";
        Ok(rows(&self.reader().await?, sql, &[&project]).await?.iter().map(read).collect())
    }

    async fn share_view(&self, view: SharedView) -> Result<bool, StoreError> {
        Ok(self.share(&view).await?)
    }

    async fn unshare_view(&self, project: &str, name: &str) -> Result<bool, StoreError> {
        if [project, name].iter().any(|text| text.contains('\0')) {
            return Ok(false);
        }
        let sql = "DELETE FROM shared_view WHERE project = $1 AND name = $2";
        Ok(self.change(sql, &[&project, &name]).await? > 0)
    }

    async fn adopt_views(&self, views: Vec<SharedView>) -> Result<usize, StoreError> {
        Ok(self.adopt_shared(&views).await?)
    }
}
