//! Notes on queries.

use super::batch::{batch, facts};
use super::subject::{Subject, Subjects};
use crate::notes::{NOTES_OF_QUERY_MAX, NoteEdit, NoteStore, NotesRequest, QueryNote};

fn notes(s: &Subject) -> &dyn NoteStore {
    s.store.notes()
}

fn note(number: usize, unix_ns: i64) -> QueryNote {
    QueryNote {
        id: format!("note-{number:04}"),
        project: "default".into(),
        service: Some("etl".into()),
        label: "x".into(),
        unix_ns,
        written_unix_ns: 1_000,
        by: Some("Ada".into()),
        text: format!("the new join, {number} ä\n"),
        edited_unix_ns: None,
        edited_by: None,
    }
}

async fn add(s: &Subject, note: QueryNote) {
    assert!(notes(s).add_query_note(note).await.expect("a store"));
}

fn all() -> NotesRequest {
    NotesRequest { limit: 10_000, ..NotesRequest::default() }
}

async fn list(s: &Subject, request: NotesRequest) -> Vec<QueryNote> {
    notes(s).query_notes(request).await.expect("a store")
}

pub(super) fn notes_are_listed_by_page(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(list(s, all()).await, []);
        let written: Vec<QueryNote> = [(1, 30), (2, 30), (3, 20), (4, 10)]
            .into_iter()
            .map(|(number, unix_ns)| note(number, unix_ns))
            .chain([
                QueryNote { service: None, by: None, ..note(5, 5) },
                QueryNote {
                    label: "y".into(),
                    edited_unix_ns: Some(7),
                    edited_by: Some("Eve".into()),
                    ..note(6, 4)
                },
                QueryNote { project: "other".into(), ..note(7, i64::MIN) },
            ])
            .collect();
        for note in written.iter().rev() {
            add(s, note.clone()).await;
        }
        s.reopen().await;
        assert_eq!(list(s, all()).await, written);
        assert!(!notes(s).add_query_note(note(1, 7)).await.expect("a store"), "its id is there");
        let (mut joined, mut after) = (Vec::new(), None);
        loop {
            let page = list(s, NotesRequest { after, limit: 2, ..NotesRequest::default() }).await;
            let Some(last) = page.last() else { break };
            after = Some((last.unix_ns, last.id.clone()));
            joined.extend(page);
        }
        assert_eq!(joined, written);
        for (request, count) in [
            (NotesRequest { project: Some("default".into()), ..all() }, 6),
            (NotesRequest { project: Some("none".into()), ..all() }, 0),
            (NotesRequest { service: Some("etl".into()), ..all() }, 6),
            (NotesRequest { service: Some(String::new()), ..all() }, 1),
            (NotesRequest { label: Some("x".into()), ..all() }, 6),
            (NotesRequest { label: Some("x".into()), project: Some("other".into()), ..all() }, 1),
            (NotesRequest { label: Some("\0".into()), ..all() }, 0),
            (NotesRequest { since_unix_ns: Some(10), until_unix_ns: Some(20), ..all() }, 2),
        ] {
            assert_eq!(list(s, request.clone()).await.len(), count, "{request:?}");
        }
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
    });
}

pub(super) fn a_note_is_edited_within_its_project(subjects: &Subjects) {
    subjects.one(async |s| {
        add(s, note(1, 10)).await;
        add(s, note(2, 20)).await;
        let edit = async |id: &str, project: Option<&str>, text: &str, by: Option<&str>| {
            let edit = NoteEdit { text: text.into(), edited_unix_ns: 2_000, by: by.map(Into::into) };
            notes(s).edit_query_note(id, project, edit).await.expect("a store")
        };
        for (id, project) in
            [("note-0001", Some("other")), ("note-0003", None), ("\0", None), ("note-0001", Some("\0"))]
        {
            assert_eq!(edit(id, project, "x", None).await, None, "{id:?} {project:?}");
        }
        assert_eq!(list(s, all()).await, [note(2, 20), note(1, 10)]);
        let edited = |text: &str, note| QueryNote { text: text.into(), edited_unix_ns: Some(2_000), ..note };
        let expected = edited("the old join ä", note(1, 10));
        let first = edit("note-0001", Some("default"), "x", Some("Eve")).await.expect("there");
        assert_eq!(first.edited_by.as_deref(), Some("Eve"));
        assert_eq!(edit("note-0001", Some("default"), "the old join ä", None).await, Some(expected.clone()));
        let other = QueryNote { edited_by: Some("Bob".into()), ..edited("y", note(2, 20)) };
        assert_eq!(edit("note-0002", None, "y", Some("Bob")).await, Some(other.clone()));
        s.reopen().await;
        assert_eq!(list(s, all()).await, [other, expected]);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
    });
}

pub(super) fn a_note_is_deleted_within_its_project(subjects: &Subjects) {
    subjects.one(async |s| {
        add(s, note(1, 10)).await;
        add(s, note(2, 20)).await;
        let delete = async |id: &str, project: Option<&str>| {
            notes(s).delete_query_note(id, project).await.expect("a store")
        };
        for (id, project) in
            [("note-0001", Some("other")), ("note-0003", None), ("\0", None), ("note-0001", Some("\0"))]
        {
            assert_eq!(delete(id, project).await, None, "{id:?} {project:?}");
        }
        assert_eq!(list(s, all()).await.len(), 2);
        assert_eq!(delete("note-0001", Some("default")).await, Some(note(1, 10)));
        assert_eq!(delete("note-0001", Some("default")).await, None);
        assert_eq!(delete("note-0002", None).await, Some(note(2, 20)));
        assert_eq!(list(s, all()).await, []);
    });
}

pub(super) fn a_query_has_so_many_notes(subjects: &Subjects) {
    subjects.one(async |s| {
        let many: Vec<QueryNote> = (0..NOTES_OF_QUERY_MAX).map(|number| note(number, 10)).collect();
        assert_eq!(notes(s).adopt_query_notes(many).await.expect("a store"), NOTES_OF_QUERY_MAX);
        let more = note(NOTES_OF_QUERY_MAX, 10);
        assert!(!notes(s).add_query_note(more.clone()).await.expect("a store"));
        add(s, QueryNote { id: "note-of-another".into(), label: "y".into(), ..more.clone() }).await;
        assert!(notes(s).delete_query_note("note-0000", None).await.expect("a store").is_some());
        add(s, more).await;
        assert_eq!(list(s, all()).await.len(), NOTES_OF_QUERY_MAX + 1);
    });
}

pub(super) fn notes_outlive_the_runs_of_their_query(subjects: &Subjects) {
    subjects.one(async |s| {
        s.store.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
        add(s, note(1, 10)).await;
        assert_eq!(s.store.delete_before(i64::MAX, 100).await.expect("a store").queries.len(), 1);
        assert_eq!(list(s, all()).await, [note(1, 10)]);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
    });
}

pub(super) fn notes_are_taken_over_once(subjects: &Subjects) {
    subjects.one(async |s| {
        add(s, note(1, 10)).await;
        let elsewhere = vec![QueryNote { text: "another".into(), ..note(1, 10) }, note(2, 20)];
        assert_eq!(notes(s).adopt_query_notes(elsewhere.clone()).await.expect("a store"), 1);
        assert_eq!(notes(s).adopt_query_notes(elsewhere).await.expect("a store"), 0);
        assert_eq!(list(s, all()).await, [note(2, 20), note(1, 10)]);
    });
}
