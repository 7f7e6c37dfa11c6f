//! Issues of queries, their transitions and notes.

mod judge;

use queryscope_issues::limits::NOTES_MAX;
use queryscope_issues::{Actor, Issue, Kind, Note, State, Transition};
use queryscope_store::{
    Is, IssueCount, IssueMoved, IssueRecord, IssueStep, IssuesRequest, NoteAdded, ObservedQuery, QueryKey,
};
use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

pub(crate) use self::judge::{mend, problems};
use crate::error::damaged;
use crate::evaluation::KeyIds;
use crate::outbox;
use crate::terms::{self, TermIds};

/// Moves the issues of queries by what an evaluation saw; gives back those that made a transition.
pub(crate) fn observe(
    db: &Connection,
    terms: &mut TermIds,
    observed: &[ObservedQuery],
) -> rusqlite::Result<Vec<Issue>> {
    let mut told = Vec::new();
    for query in observed {
        let QueryKey { project, service, label } = &query.key;
        let key: KeyIds = (
            terms.id(db, project)?,
            terms.optional(db, service.as_deref())?.unwrap_or(0),
            terms.id(db, label)?,
        );
        let known = db
            .prepare_cached("SELECT body FROM issue WHERE project = ?1 AND service = ?2 AND label = ?3")?
            .query_map(key, |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        let known = known.iter().map(|body| Issue::from_json(body)).collect::<Result<Vec<Issue>, _>>();
        // One that is damaged stays as it is, for `check` to name, and keeps no other query from its evaluation.
        let Ok(known) = known else { continue };
        for moved in query.moves(known) {
            put(db, key, &moved.issue, &moved.transitions)?;
            outbox::note(db, &moved.issue, &moved.transitions)?;
            if !moved.transitions.is_empty() {
                told.push(moved.issue);
            }
        }
    }
    Ok(told)
}

/// Writes an issue and adds transitions.
fn put(
    db: &Connection,
    (project, service, label): KeyIds,
    issue: &Issue,
    transitions: &[Transition],
) -> rusqlite::Result<()> {
    let number: i64 = db
        .prepare_cached(
            "INSERT INTO issue (id, project, service, label, kind, state, wall_ms_a_day, moved_unix_ns,
                 muted_until_unix_ns, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (label, project, service, kind) DO UPDATE SET state = excluded.state,
                 wall_ms_a_day = excluded.wall_ms_a_day, moved_unix_ns = excluded.moved_unix_ns,
                 muted_until_unix_ns = excluded.muted_until_unix_ns, body = excluded.body
             RETURNING number",
        )?
        .query_row(
            params![
                issue.id,
                project,
                service,
                label,
                issue.kind.name(),
                issue.state.name(),
                issue.wall_ms_a_day,
                issue.moved_unix_ns,
                issue.muted_until_unix_ns(),
                issue.to_json(),
            ],
            |row| row.get(0),
        )?;
    let mut insert = db.prepare_cached(
        "INSERT INTO issue_transition (issue, number, unix_ns, from_state, to_state, actor, by_name, reason, comment,
             change) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for each in transitions {
        insert.execute(params![
            number,
            each.number,
            each.unix_ns,
            each.from.map(State::name),
            each.to.name(),
            each.actor.name(),
            each.by,
            each.reason,
            each.comment,
            each.change,
        ])?;
    }
    Ok(())
}

/// The number of an issue, its query in terms, and the issue.
fn find(db: &Connection, id: &str) -> rusqlite::Result<Option<(i64, KeyIds, Issue)>> {
    db.prepare_cached("SELECT body, number, project, service, label FROM issue WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(1)?, (row.get(2)?, row.get(3)?, row.get(4)?), read(row)?)))
        .optional()
}

/// Makes a step.
pub(crate) fn step(
    db: &Connection,
    id: &str,
    step: &IssueStep,
    unix_ns: i64,
) -> rusqlite::Result<IssueMoved> {
    let Some((_, key, mut issue)) = find(db, id)? else { return Ok(IssueMoved::Unknown) };
    match step.take(&mut issue, unix_ns) {
        Err(refusal) => Ok(IssueMoved::Refused(refusal)),
        Ok(None) => Ok(IssueMoved::Unchanged),
        Ok(Some(transition)) => {
            let made = [transition];
            put(db, key, &issue, &made)?;
            outbox::note(db, &issue, &made)?;
            Ok(IssueMoved::Moved(Box::new(issue)))
        }
    }
}

/// Adds a note.
pub(crate) fn add_note(db: &Connection, id: &str, note: &Note) -> rusqlite::Result<NoteAdded> {
    let Some((issue, ..)) = find(db, id)? else { return Ok(NoteAdded::Unknown) };
    let last: i64 = db
        .prepare_cached("SELECT coalesce(max(number), 0) FROM issue_note WHERE issue = ?1")?
        .query_row([issue], |row| row.get(0))?;
    if last >= NOTES_MAX as i64 {
        return Ok(NoteAdded::Full);
    }
    put_note(db, issue, last + 1, note)?;
    Ok(NoteAdded::Added)
}

fn put_note(db: &Connection, issue: i64, number: i64, note: &Note) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO issue_note (issue, number, unix_ns, by_name, text) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![issue, number, note.unix_ns, note.by, note.text])
    .map(drop)
}

/// One issue with its history.
pub(crate) fn record(db: &Connection, id: &str) -> rusqlite::Result<Option<IssueRecord>> {
    let Some((number, _, issue)) = find(db, id)? else { return Ok(None) };
    history(db, number, issue).map(Some)
}

fn history(db: &Connection, number: i64, issue: Issue) -> rusqlite::Result<IssueRecord> {
    let transitions = db
        .prepare_cached(
            "SELECT number, unix_ns, from_state, to_state, actor, by_name, reason, comment, change
             FROM issue_transition WHERE issue = ?1 ORDER BY number",
        )?
        .query_map([number], read_transition)?
        .collect::<rusqlite::Result<_>>()?;
    let notes = db
        .prepare_cached("SELECT unix_ns, by_name, text FROM issue_note WHERE issue = ?1 ORDER BY number")?
        .query_map([number], |row| Ok(Note { unix_ns: row.get(0)?, by: row.get(1)?, text: row.get(2)? }))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(IssueRecord { issue, transitions, notes })
}

/// Up to `limit` issues with their histories, by id, after one.
pub(crate) fn records(
    db: &Connection,
    after: Option<&str>,
    limit: usize,
) -> rusqlite::Result<Vec<IssueRecord>> {
    let found: Vec<(i64, Issue)> = db
        .prepare_cached("SELECT body, number FROM issue WHERE id > ?1 ORDER BY id LIMIT ?2")?
        .query_map((after.unwrap_or_default(), limit), |row| Ok((row.get(1)?, read(row)?)))?
        .collect::<rusqlite::Result<_>>()?;
    found.into_iter().map(|(number, issue)| history(db, number, issue)).collect()
}

/// Takes over issues that are not there; gives back how many.
pub(crate) fn adopt(db: &Connection, records: &[IssueRecord]) -> rusqlite::Result<usize> {
    let mut terms = TermIds::default();
    let mut adopted = 0;
    for IssueRecord { issue, transitions, notes } in records {
        let service = terms.optional(db, issue.service.as_deref())?.unwrap_or(0);
        let key: KeyIds = (terms.id(db, &issue.project)?, service, terms.id(db, &issue.label)?);
        let is_there = db
            .prepare_cached(
                "SELECT 1 FROM issue WHERE id = ?1
                 UNION ALL SELECT 1 FROM issue WHERE project = ?2 AND service = ?3 AND label = ?4 AND kind = ?5",
            )?
            .exists(params![issue.id, key.0, key.1, key.2, issue.kind.name()])?;
        if is_there {
            continue;
        }
        put(db, key, issue, transitions)?;
        let number: i64 = db
            .prepare_cached("SELECT number FROM issue WHERE id = ?1")?
            .query_row([&issue.id], |row| row.get(0))?;
        for (note, at) in notes.iter().zip(1..) {
            put_note(db, number, at, note)?;
        }
        adopted += 1;
    }
    Ok(adopted)
}

/// One page.
pub(crate) fn page(db: &Connection, request: &IssuesRequest) -> rusqlite::Result<Vec<Issue>> {
    let (sql, values) = select(db, request)?;
    db.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
}

/// The statement of a page, and its values.
fn select(db: &Connection, request: &IssuesRequest) -> rusqlite::Result<(String, Vec<Value>)> {
    let mut conditions = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    // No text has the number -1.
    let term = |text: &str| terms::find(db, text).map(|found| Value::from(found.unwrap_or(-1)));
    for (condition, text) in [("project = ?", &request.project), ("label = ?", &request.label)] {
        if let Some(text) = text {
            conditions.push(condition.to_owned());
            values.push(term(text)?);
        }
    }
    if let Some(service) = &request.service {
        conditions.push("service = ?".into());
        values.push(match service {
            Is::Absent => Value::from(0),
            Is::Value(text) => term(text)?,
        });
    }
    if let Some(kind) = request.kind {
        conditions.push("kind = ?".into());
        values.push(kind.name().to_owned().into());
    }
    if !request.states.is_empty() {
        conditions.push(format!("state IN ({})", vec!["?"; request.states.len()].join(", ")));
        values.extend(request.states.iter().map(|state| Value::from(state.name().to_owned())));
    }
    if let Some(after) = &request.after {
        conditions.push("wall_ms_a_day <= ? AND (wall_ms_a_day < ? OR id > ?)".into());
        values.extend([after.wall_ms_a_day.into(), after.wall_ms_a_day.into(), after.id.clone().into()]);
    }
    let all = if conditions.is_empty() { "1".to_owned() } else { conditions.join(" AND ") };
    values.push(i64::try_from(request.limit).unwrap_or(i64::MAX).into());
    Ok((format!("SELECT body FROM issue WHERE {all} ORDER BY wall_ms_a_day DESC, id LIMIT ?"), values))
}

/// Ids of issues whose mute's time is over.
pub(crate) fn mutes_due(db: &Connection, unix_ns: i64, limit: usize) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached(
        "SELECT id FROM issue WHERE muted_until_unix_ns <= ?1 ORDER BY muted_until_unix_ns LIMIT ?2",
    )?
    .query_map((unix_ns, limit), |row| row.get(0))?
    .collect()
}

/// How many of each kind and state there are.
pub(crate) fn counts(db: &Connection) -> rusqlite::Result<Vec<IssueCount>> {
    db.prepare_cached("SELECT kind, state, count(*) FROM issue GROUP BY kind, state")?
        .query_map([], |row| {
            Ok(IssueCount {
                kind: named(row, 0, Kind::from_name)?,
                state: named(row, 1, State::from_name)?,
                count: row.get(2)?,
            })
        })?
        .collect()
}

/// Deletes the issues of a query.
pub(crate) fn delete_of(db: &Connection, key: KeyIds) -> rusqlite::Result<()> {
    delete(db, "project = ?1 AND service = ?2 AND label = ?3", params![key.0, key.1, key.2])
}

/// Deletes issues that were resolved before a time.
pub(crate) fn delete_before(db: &Connection, unix_ns: i64) -> rusqlite::Result<()> {
    delete(db, "state = ?1 AND moved_unix_ns < ?2", params![State::Resolved.name(), unix_ns])
}

fn delete(db: &Connection, which: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
    for table in ["issue_transition", "issue_note"] {
        let sql = format!("DELETE FROM {table} WHERE issue IN (SELECT number FROM issue WHERE {which})");
        db.prepare_cached(&sql)?.execute(values)?;
    }
    db.prepare_cached(&format!("DELETE FROM issue WHERE {which}"))?.execute(values).map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Issue> {
    let body: String = row.get(0)?;
    Issue::from_json(&body)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

fn read_transition(row: &Row<'_>) -> rusqlite::Result<Transition> {
    let from: Option<String> = row.get(2)?;
    Ok(Transition {
        number: row.get(0)?,
        unix_ns: row.get(1)?,
        from: from.map(|_| named(row, 2, State::from_name)).transpose()?,
        to: named(row, 3, State::from_name)?,
        actor: named(row, 4, Actor::from_name)?,
        by: row.get(5)?,
        reason: row.get(6)?,
        comment: row.get(7)?,
        change: row.get(8)?,
    })
}

fn named<T>(row: &Row<'_>, column: usize, from_name: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    from_name(&name).ok_or_else(|| damaged(column, "a name that is none"))
}
