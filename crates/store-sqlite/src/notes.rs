//! Notes on queries.

use async_trait::async_trait;
use queryscope_store::{
    NOTES_MAX, NOTES_OF_QUERY_MAX, NoteEdit, NoteStore, NotesRequest, QueryNote, StoreError,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::store::SqliteStore;

const COLUMNS: &str =
    "id, project, service, label, unix_ns, written_unix_ns, by_name, text, edited_unix_ns, edited_by";

/// Adds a note, unless its id is there; whether it did.
fn put(db: &Connection, note: &QueryNote) -> rusqlite::Result<bool> {
    let QueryNote {
        id,
        project,
        service,
        label,
        unix_ns,
        written_unix_ns,
        by,
        text,
        edited_unix_ns,
        edited_by,
    } = note;
    let sql = format!(
        "INSERT INTO query_note ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO NOTHING"
    );
    let service = service.as_deref().unwrap_or_default();
    db.prepare_cached(&sql)?
        .execute(params![
            id,
            project,
            service,
            label,
            unix_ns,
            written_unix_ns,
            by,
            text,
            edited_unix_ns,
            edited_by
        ])
        .map(|added| added == 1)
}

fn read(row: &Row<'_>) -> rusqlite::Result<QueryNote> {
    Ok(QueryNote {
        id: row.get(0)?,
        project: row.get(1)?,
        service: Some(row.get(2)?).filter(|service: &String| !service.is_empty()),
        label: row.get(3)?,
        unix_ns: row.get(4)?,
        written_unix_ns: row.get(5)?,
        by: row.get(6)?,
        text: row.get(7)?,
        edited_unix_ns: row.get(8)?,
        edited_by: row.get(9)?,
    })
}

/// Whether a note more of the query may be there.
fn has_room(db: &Connection, note: &QueryNote) -> rusqlite::Result<bool> {
    let service = note.service.as_deref().unwrap_or_default();
    db.prepare_cached(
        "SELECT (SELECT count(*) FROM query_note) < ?4 AND
             (SELECT count(*) FROM query_note WHERE project = ?1 AND service = ?2 AND label = ?3) < ?5",
    )?
    .query_row(params![note.project, service, note.label, NOTES_MAX, NOTES_OF_QUERY_MAX], |row| row.get(0))
}

fn page(db: &Connection, request: &NotesRequest) -> rusqlite::Result<Vec<QueryNote>> {
    let NotesRequest { project, service, label, since_unix_ns, until_unix_ns, after, limit } = request;
    let (since, until) = (since_unix_ns.unwrap_or(i64::MIN), until_unix_ns.unwrap_or(i64::MAX));
    let (moment, id) = after.as_ref().map_or((i64::MAX, ""), |(moment, id)| (*moment, id));
    let sql = format!(
        "SELECT {COLUMNS} FROM query_note
         WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR service = ?2) AND (?3 IS NULL OR label = ?3)
             AND unix_ns >= ?4 AND unix_ns <= ?5 AND (unix_ns < ?6 OR (unix_ns = ?6 AND id > ?7))
         ORDER BY unix_ns DESC, id LIMIT ?8"
    );
    db.prepare_cached(&sql)?
        .query_map(params![project, service, label, since, until, moment, id, limit], read)?
        .collect()
}

#[async_trait]
impl NoteStore for SqliteStore {
    async fn add_query_note(&self, note: QueryNote) -> Result<bool, StoreError> {
        self.writer.write(move |db| Ok(has_room(db, &note)? && put(db, &note)?)).await
    }

    async fn query_notes(&self, request: NotesRequest) -> Result<Vec<QueryNote>, StoreError> {
        self.readers.read(move |db, _| page(db, &request)).await
    }

    async fn edit_query_note(
        &self,
        id: &str,
        project: Option<&str>,
        edit: NoteEdit,
    ) -> Result<Option<QueryNote>, StoreError> {
        let (id, project) = (id.to_owned(), project.map(str::to_owned));
        let sql = format!(
            "UPDATE query_note SET text = ?3, edited_unix_ns = ?4, edited_by = ?5
             WHERE id = ?1 AND (?2 IS NULL OR project = ?2) RETURNING {COLUMNS}"
        );
        let NoteEdit { text, edited_unix_ns, by } = edit;
        let edit = move |db: &Connection| {
            let values = (id, project, text, edited_unix_ns, by);
            db.prepare_cached(&sql)?.query_row(values, read).optional()
        };
        self.writer.write(edit).await
    }

    async fn delete_query_note(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<Option<QueryNote>, StoreError> {
        let (id, project) = (id.to_owned(), project.map(str::to_owned));
        let sql = format!(
            "DELETE FROM query_note WHERE id = ?1 AND (?2 IS NULL OR project = ?2) RETURNING {COLUMNS}"
        );
        let delete =
            move |db: &Connection| db.prepare_cached(&sql)?.query_row((id, project), read).optional();
        self.writer.write(delete).await
    }

    async fn adopt_query_notes(&self, notes: Vec<QueryNote>) -> Result<usize, StoreError> {
        let adopt = move |db: &Connection| {
            notes.iter().try_fold(0, |adopted, note| Ok(adopted + usize::from(put(db, note)?)))
        };
        self.writer.write(adopt).await
    }
}
