//! Notes on queries.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use queryscope_store::{
    NOTES_MAX, NOTES_OF_QUERY_MAX, NoteEdit, NoteStore, NotesRequest, QueryNote, StoreError,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::list::bound;
use crate::store::{PostgresStore, rows};

const COLUMNS: &str =
    "id, project, service, label, unix_ns, written_unix_ns, by_name, text, edited_unix_ns, edited_by";
/// One at a time adds a note: those that are there are counted.
const LOCK: &str = "LOCK TABLE query_note IN SHARE ROW EXCLUSIVE MODE";
const HAS_ROOM: &str = "
    SELECT (SELECT count(*) FROM query_note) < $4 AND
        (SELECT count(*) FROM query_note WHERE project = $1 AND service = $2 AND label = $3) < $5";

/// Adds a note, unless its id is there; whether it did.
async fn put(transaction: &Transaction<'_>, note: &QueryNote) -> Result<bool, DbError> {
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
        "INSERT INTO query_note ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (id) DO NOTHING"
    );
    let service = service.as_deref().unwrap_or_default();
    let values: [&(dyn ToSql + Sync); 10] =
        [id, project, &service, label, unix_ns, written_unix_ns, by, text, edited_unix_ns, edited_by];
    Ok(transaction.execute(&transaction.prepare_cached(&sql).await?, &values).await? > 0)
}

fn read(row: &Row) -> QueryNote {
    QueryNote {
        id: row.get(0),
        project: row.get(1),
        service: Some(row.get(2)).filter(|service: &String| !service.is_empty()),
        label: row.get(3),
        unix_ns: row.get(4),
        written_unix_ns: row.get(5),
        by: row.get(6),
        text: row.get(7),
        edited_unix_ns: row.get(8),
        edited_by: row.get(9),
    }
}

impl PostgresStore {
    async fn add(&self, note: &QueryNote) -> Result<bool, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        transaction.batch_execute(LOCK).await?;
        let service = note.service.as_deref().unwrap_or_default();
        let (all, of_query) = (bound(NOTES_MAX), bound(NOTES_OF_QUERY_MAX));
        let values: [&(dyn ToSql + Sync); 5] = [&note.project, &service, &note.label, &all, &of_query];
        let has_room = transaction.query_one(&transaction.prepare_cached(HAS_ROOM).await?, &values).await?;
        let added = has_room.get(0) && put(&transaction, note).await?;
        transaction.commit().await?;
        Ok(added)
    }

    async fn adopt_notes(&self, notes: &[QueryNote]) -> Result<usize, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        let mut adopted = 0;
        for note in notes {
            adopted += usize::from(put(&transaction, note).await?);
        }
        transaction.commit().await?;
        Ok(adopted)
    }

    /// Changes or deletes one note by a statement, and gives it back.
    async fn change_note(
        &self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<QueryNote>, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        let sql =
            format!("{statement} WHERE id = $1 AND ($2::text IS NULL OR project = $2) RETURNING {COLUMNS}");
        let changed = transaction.query_opt(&transaction.prepare_cached(&sql).await?, values).await?;
        transaction.commit().await?;
        Ok(changed.as_ref().map(read))
    }
}

#[async_trait]
impl NoteStore for PostgresStore {
    async fn add_query_note(&self, note: QueryNote) -> Result<bool, StoreError> {
        Ok(self.add(&note).await?)
    }

    async fn query_notes(&self, request: NotesRequest) -> Result<Vec<QueryNote>, StoreError> {
        let NotesRequest { project, service, label, since_unix_ns, until_unix_ns, after, limit } = request;
        let after_id = after.as_ref().map(|(_, id)| id);
        let names = [&project, &service, &label].into_iter().flatten();
        if names.chain(after_id).any(|text| text.contains('\0')) {
            return Ok(Vec::new());
        }
        let (since, until) = (since_unix_ns.unwrap_or(i64::MIN), until_unix_ns.unwrap_or(i64::MAX));
        let (moment, id) = after.unwrap_or((i64::MAX, String::new()));
        let sql = format!(
            "SELECT {COLUMNS} FROM query_note
             WHERE ($1::text IS NULL OR project = $1) AND ($2::text IS NULL OR service = $2)
                 AND ($3::text IS NULL OR label = $3) AND unix_ns >= $4 AND unix_ns <= $5
                 AND (unix_ns < $6 OR (unix_ns = $6 AND id > $7))
             ORDER BY unix_ns DESC, id LIMIT $8"
        );
        let limit = bound(limit);
        let values: [&(dyn ToSql + Sync); 8] =
            [&project, &service, &label, &since, &until, &moment, &id, &limit];
        Ok(rows(&self.reader().await?, &sql, &values).await?.iter().map(read).collect())
    }

    async fn edit_query_note(
        &self,
        id: &str,
        project: Option<&str>,
        edit: NoteEdit,
    ) -> Result<Option<QueryNote>, StoreError> {
        if [Some(id), project].into_iter().flatten().any(|text| text.contains('\0')) {
            return Ok(None);
        }
        let NoteEdit { text, edited_unix_ns, by } = edit;
        let statement = "UPDATE query_note SET text = $3, edited_unix_ns = $4, edited_by = $5";
        Ok(self.change_note(statement, &[&id, &project, &text, &edited_unix_ns, &by]).await?)
    }

    async fn delete_query_note(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<Option<QueryNote>, StoreError> {
        if [Some(id), project].into_iter().flatten().any(|text| text.contains('\0')) {
            return Ok(None);
        }
        Ok(self.change_note("DELETE FROM query_note", &[&id, &project]).await?)
    }

    async fn adopt_query_notes(&self, notes: Vec<QueryNote>) -> Result<usize, StoreError> {
        Ok(self.adopt_notes(&notes).await?)
    }
}
