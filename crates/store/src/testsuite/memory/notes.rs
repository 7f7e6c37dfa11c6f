//! Notes of the model.

use std::cmp::Reverse;

use async_trait::async_trait;

use super::MemoryStore;
use crate::error::StoreError;
use crate::notes::{NOTES_MAX, NOTES_OF_QUERY_MAX, NoteEdit, NoteStore, NotesRequest, QueryNote};

#[async_trait]
impl NoteStore for MemoryStore {
    async fn add_query_note(&self, note: QueryNote) -> Result<bool, StoreError> {
        let notes = &mut self.disk()?.notes;
        let query = |note: &QueryNote| (note.project.clone(), note.service.clone(), note.label.clone());
        let of_query = notes.values().filter(|other| query(other) == query(&note)).count();
        if notes.len() >= NOTES_MAX || of_query >= NOTES_OF_QUERY_MAX || notes.contains_key(&note.id) {
            return Ok(false);
        }
        notes.insert(note.id.clone(), note);
        Ok(true)
    }

    async fn query_notes(&self, request: NotesRequest) -> Result<Vec<QueryNote>, StoreError> {
        let place = |note: &QueryNote| (Reverse(note.unix_ns), note.id.clone());
        let after = request.after.map(|(unix_ns, id)| (Reverse(unix_ns), id));
        let is_kept = |note: &QueryNote| {
            request.project.as_ref().is_none_or(|project| note.project == *project)
                && request
                    .service
                    .as_deref()
                    .is_none_or(|of| note.service.as_deref().unwrap_or_default() == of)
                && request.label.as_ref().is_none_or(|label| note.label == *label)
                && request.since_unix_ns.is_none_or(|since| note.unix_ns >= since)
                && request.until_unix_ns.is_none_or(|until| note.unix_ns <= until)
                && after.as_ref().is_none_or(|after| place(note) > *after)
        };
        let mut kept: Vec<QueryNote> =
            self.disk()?.notes.values().filter(|note| is_kept(note)).cloned().collect();
        kept.sort_by_key(place);
        kept.truncate(request.limit);
        Ok(kept)
    }

    async fn edit_query_note(
        &self,
        id: &str,
        project: Option<&str>,
        edit: NoteEdit,
    ) -> Result<Option<QueryNote>, StoreError> {
        let notes = &mut self.disk()?.notes;
        let note = notes.get_mut(id).filter(|note| project.is_none_or(|project| note.project == project));
        Ok(note.map(|note| {
            let NoteEdit { text, edited_unix_ns, by } = edit;
            (note.text, note.edited_unix_ns, note.edited_by) = (text, Some(edited_unix_ns), by);
            note.clone()
        }))
    }

    async fn delete_query_note(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<Option<QueryNote>, StoreError> {
        let notes = &mut self.disk()?.notes;
        let is_there = |note: &QueryNote| project.is_none_or(|project| note.project == project);
        Ok(if notes.get(id).is_some_and(is_there) { notes.remove(id) } else { None })
    }

    async fn adopt_query_notes(&self, adopted: Vec<QueryNote>) -> Result<usize, StoreError> {
        let notes = &mut self.disk()?.notes;
        let before = notes.len();
        for note in adopted {
            notes.entry(note.id.clone()).or_insert(note);
        }
        Ok(notes.len() - before)
    }
}
