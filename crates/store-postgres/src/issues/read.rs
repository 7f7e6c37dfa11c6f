//! Reading issues.

use std::collections::HashMap;

use deadpool_postgres::{Client, GenericClient};
use queryscope_issues::{Actor, Issue, Kind, Note, State, Transition};
use queryscope_store::{Is, IssueCount, IssueRecord, IssuesRequest, TermNumbers};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::list::bound;
use crate::snapshot::snapshot;
use crate::terms;

const ONE: &str = "SELECT body, number FROM issue WHERE id = $1";
const BY_NUMBER: &str = "SELECT body FROM issue WHERE number = ANY($1) ORDER BY number";
const RECORDS: &str = "SELECT body, number FROM issue WHERE id > $1 ORDER BY id LIMIT $2";
const TRANSITIONS: &str = "
    SELECT issue, number, unix_ns, from_state, to_state, actor, by_name, reason, comment, change
    FROM issue_transition WHERE issue = ANY($1) ORDER BY issue, number";
const NOTES: &str = "
    SELECT issue, unix_ns, by_name, text FROM issue_note WHERE issue = ANY($1) ORDER BY issue, number";
const DUE: &str = "
    SELECT id FROM issue WHERE muted_until_unix_ns <= $1 ORDER BY muted_until_unix_ns LIMIT $2";
const COUNTS: &str = "SELECT kind, state, count(*) FROM issue GROUP BY kind, state";
const ALL: &str = "
    SELECT body, number, id, kind, state, wall_ms_a_day, moved_unix_ns, muted_until_unix_ns FROM issue
    WHERE id > $1 ORDER BY id LIMIT $2";
/// Issues that are judged at once.
const JUDGED_AT_ONCE: i64 = 256;

/// Whether a text of the database can hold it.
pub(super) fn text_fits(text: &str) -> bool {
    !text.contains('\0')
}

/// The issue whose body is the first column.
pub(super) fn issue_of(row: &Row) -> Result<Issue, DbError> {
    let body = str::from_utf8(row.get(0)).map_err(|_| DbError::Damaged("an issue that is not UTF-8"))?;
    Issue::from_json(body).map_err(|_| DbError::Damaged("an issue that cannot be read"))
}

/// One issue with its history, as it is at one moment.
pub(crate) async fn record(client: &mut Client, id: &str) -> Result<Option<IssueRecord>, DbError> {
    if !text_fits(id) {
        return Ok(None);
    }
    let moment = snapshot(client).await?;
    let statement = moment.prepare_cached(ONE).await?;
    let rows = moment.query(&statement, &[&id]).await?;
    let record = histories(&moment, &rows).await?.pop();
    moment.commit().await?;
    Ok(record)
}

/// Up to `limit` issues with their histories, by id, after one.
pub(crate) async fn records(
    client: &mut Client,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<IssueRecord>, DbError> {
    let moment = snapshot(client).await?;
    let statement = moment.prepare_cached(RECORDS).await?;
    let rows = moment.query(&statement, &[&after.unwrap_or_default(), &bound(limit)]).await?;
    let records = histories(&moment, &rows).await?;
    moment.commit().await?;
    Ok(records)
}

/// Histories of issues: rows of bodies and numbers.
async fn histories(client: &impl GenericClient, rows: &[Row]) -> Result<Vec<IssueRecord>, DbError> {
    let numbers: Vec<i64> = rows.iter().map(|row| row.get(1)).collect();
    let mut transitions = transitions_of(client, &numbers).await?;
    let mut notes: HashMap<i64, Vec<Note>> = HashMap::new();
    for row in client.query(&client.prepare_cached(NOTES).await?, &[&numbers]).await? {
        let note = Note { unix_ns: row.get(1), by: row.get(2), text: row.get(3) };
        notes.entry(row.get(0)).or_default().push(note);
    }
    let record = |(row, number): (&Row, &i64)| {
        Ok(IssueRecord {
            issue: issue_of(row)?,
            transitions: transitions.remove(number).unwrap_or_default(),
            notes: notes.remove(number).unwrap_or_default(),
        })
    };
    rows.iter().zip(&numbers).map(record).collect()
}

async fn transitions_of(
    client: &impl GenericClient,
    numbers: &[i64],
) -> Result<HashMap<i64, Vec<Transition>>, DbError> {
    let mut transitions: HashMap<i64, Vec<Transition>> = HashMap::new();
    for row in client.query(&client.prepare_cached(TRANSITIONS).await?, &[&numbers]).await? {
        let from: Option<&str> = row.get(3);
        transitions.entry(row.get(0)).or_default().push(Transition {
            number: row.get::<_, i64>(1).cast_unsigned(),
            unix_ns: row.get(2),
            from: from.map(|name| named(name, State::from_name)).transpose()?,
            to: named(row.get(4), State::from_name)?,
            actor: named(row.get(5), Actor::from_name)?,
            by: row.get(6),
            reason: row.get(7),
            comment: row.get(8),
            change: row.get(9),
        });
    }
    Ok(transitions)
}

fn named<T>(name: &str, from_name: fn(&str) -> Option<T>) -> Result<T, DbError> {
    from_name(name).ok_or(DbError::Damaged("a name that is none"))
}

/// Issues by their numbers; one that cannot be read is left out.
pub(crate) async fn by_number(client: &impl GenericClient, numbers: &[i64]) -> Result<Vec<Issue>, DbError> {
    let rows = client.query(&client.prepare_cached(BY_NUMBER).await?, &[&numbers]).await?;
    Ok(rows.iter().filter_map(|row| issue_of(row).ok()).collect())
}

/// One page.
pub(crate) async fn page(client: &Client, request: &IssuesRequest) -> Result<Vec<Issue>, DbError> {
    let service = match &request.service {
        Some(Is::Value(text)) => Some(text.as_str()),
        Some(Is::Absent) | None => None,
    };
    let texts = [request.project.as_deref(), request.label.as_deref(), service];
    let texts: Vec<&str> = texts.into_iter().flatten().collect();
    let numbers = terms::find(client, &texts).await?;
    let Some((sql, values)) = select(request, &numbers) else { return Ok(Vec::new()) };
    let values: Vec<&(dyn ToSql + Sync)> =
        values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    let rows = client.query(&client.prepare_cached(&sql).await?, &values).await?;
    rows.iter().map(issue_of).collect()
}

/// The statement of a page and its values; `None` where no issue is on it.
fn select(
    request: &IssuesRequest,
    numbers: &TermNumbers,
) -> Option<(String, Vec<Box<dyn ToSql + Sync + Send>>)> {
    let mut conditions = Vec::new();
    let mut values: Vec<Box<dyn ToSql + Sync + Send>> = Vec::new();
    let mut add = |condition: &str, value: Box<dyn ToSql + Sync + Send>| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("${}", values.len())));
    };
    for (condition, text) in [("project = ?", &request.project), ("label = ?", &request.label)] {
        if let Some(text) = text {
            add(condition, Box::new(*numbers.get(text.as_str())?));
        }
    }
    match &request.service {
        None => {}
        Some(Is::Absent) => add("service = ?", Box::new(0_i64)),
        Some(Is::Value(text)) => add("service = ?", Box::new(*numbers.get(text.as_str())?)),
    }
    if let Some(kind) = request.kind {
        add("kind = ?", Box::new(kind.name()));
    }
    match &request.states[..] {
        [] => {}
        [state] => add("state = ?", Box::new(state.name())),
        states => {
            add("state = ANY(?)", Box::new(states.iter().map(|state| state.name()).collect::<Vec<_>>()))
        }
    }
    if let Some(after) = &request.after {
        if !text_fits(&after.id) {
            return None;
        }
        add("wall_ms_a_day <= ?", Box::new(after.wall_ms_a_day));
        values.push(Box::new(after.wall_ms_a_day));
        values.push(Box::new(after.id.clone()));
        let last = values.len();
        conditions.push(format!("(wall_ms_a_day < ${} OR id > ${last})", last - 1));
    }
    let all = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    values.push(Box::new(bound(request.limit)));
    let last = values.len();
    Some((
        format!("SELECT body FROM issue WHERE {all} ORDER BY wall_ms_a_day DESC, id LIMIT ${last}"),
        values,
    ))
}

/// Ids of issues whose mute's time is over.
pub(crate) async fn mutes_due(client: &Client, unix_ns: i64, limit: usize) -> Result<Vec<String>, DbError> {
    let rows = client.query(&client.prepare_cached(DUE).await?, &[&unix_ns, &bound(limit)]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// How many of each kind and state there are.
pub(crate) async fn counts(client: &Client) -> Result<Vec<IssueCount>, DbError> {
    let rows = client.query(&client.prepare_cached(COUNTS).await?, &[]).await?;
    let count = |row: &Row| {
        Ok(IssueCount {
            kind: named(row.get(0), Kind::from_name)?,
            state: named(row.get(1), State::from_name)?,
            count: row.get::<_, i64>(2).cast_unsigned(),
        })
    };
    rows.iter().map(count).collect()
}

/// What is wrong with issues: each is one history, and lists find what it says.
pub(crate) async fn problems(client: &mut Client) -> Result<Vec<String>, DbError> {
    let mut problems = Vec::new();
    let mut after = String::new();
    loop {
        let moment = snapshot(client).await?;
        let statement = moment.prepare_cached(ALL).await?;
        let rows = moment.query(&statement, &[&after, &JUDGED_AT_ONCE]).await?;
        let Some(last) = rows.last() else { return Ok(problems) };
        after = last.get(2);
        let numbers: Vec<i64> = rows.iter().map(|row| row.get(1)).collect();
        let transitions = transitions_of(&moment, &numbers).await?;
        moment.commit().await?;
        for (row, number) in rows.iter().zip(&numbers) {
            let id: &str = row.get(2);
            let Ok(issue) = issue_of(row) else {
                problems.push(format!("issue {id}: it cannot be read"));
                continue;
            };
            let columns: (&str, &str, f64, i64, Option<i64>) =
                (row.get(3), row.get(4), row.get(5), row.get(6), row.get(7));
            let said = (
                issue.kind.name(),
                issue.state.name(),
                issue.wall_ms_a_day,
                issue.moved_unix_ns,
                issue.muted_until_unix_ns(),
            );
            if issue.id != id || columns != said {
                problems.push(format!("issue {id}: lists find another than it is"));
            }
            let found =
                queryscope_issues::problems(&issue, transitions.get(number).map_or(&[], Vec::as_slice));
            problems.extend(found.into_iter().map(|problem| format!("issue {id}: {problem}")));
        }
    }
}
