//! Views that are shared.

use async_trait::async_trait;
use queryscope_store::{SharedView, StoreError, VIEWS_MAX, VIEWS_OF_PROJECT_MAX, ViewStore};
use rusqlite::{Connection, Row, params};

use crate::store::SqliteStore;

/// A view, or `then` where one of its project and name is there; whether anything was written.
fn put(db: &Connection, view: &SharedView, then: &str) -> rusqlite::Result<bool> {
    let SharedView { project, name, search, by, unix_ns } = view;
    let sql = format!(
        "INSERT INTO shared_view (project, name, search, by_name, unix_ns) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (project, name) DO {then}"
    );
    db.prepare_cached(&sql)?.execute(params![project, name, search, by, unix_ns]).map(|put| put == 1)
}

fn share(db: &Connection, view: &SharedView) -> rusqlite::Result<bool> {
    let has_room: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM shared_view WHERE project = ?1 AND name = ?2)
                 OR ((SELECT count(*) FROM shared_view) < ?3
                     AND (SELECT count(*) FROM shared_view WHERE project = ?1) < ?4)",
        )?
        .query_row(params![view.project, view.name, VIEWS_MAX, VIEWS_OF_PROJECT_MAX], |row| row.get(0))?;
    let replace =
        "UPDATE SET search = excluded.search, by_name = excluded.by_name, unix_ns = excluded.unix_ns";
    Ok(has_room && put(db, view, replace)?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<SharedView> {
    Ok(SharedView {
        project: row.get(0)?,
        name: row.get(1)?,
        search: row.get(2)?,
        by: row.get(3)?,
        unix_ns: row.get(4)?,
    })
}

#[async_trait]
impl ViewStore for SqliteStore {
    async fn shared_views(&self, project: Option<&str>) -> Result<Vec<SharedView>, StoreError> {
        let project = project.map(str::to_owned);
        let sql = "SELECT project, name, search, by_name, unix_ns FROM shared_view
                   WHERE ?1 IS NULL OR project = ?1 ORDER BY name, project";
        self.readers.read(move |db, _| db.prepare_cached(sql)?.query_map([project], read)?.collect()).await
    }

    async fn share_view(&self, view: SharedView) -> Result<bool, StoreError> {
        self.writer.write(move |db| share(db, &view)).await
    }

    async fn unshare_view(&self, project: &str, name: &str) -> Result<bool, StoreError> {
        let of = [project.to_owned(), name.to_owned()];
        let sql = "DELETE FROM shared_view WHERE project = ?1 AND name = ?2";
        self.writer.write(move |db| db.prepare_cached(sql)?.execute(of).map(|deleted| deleted == 1)).await
    }

    async fn adopt_views(&self, views: Vec<SharedView>) -> Result<usize, StoreError> {
        let adopt = move |db: &Connection| {
            views.iter().try_fold(0, |adopted, view| Ok(adopted + usize::from(put(db, view, "NOTHING")?)))
        };
        self.writer.write(adopt).await
    }
}
