//! Issues of queries, their transitions and notes.
//!
//! Each move of an issue locks its row first. Evaluations and what is taken over from elsewhere make issues: they lock
//! the row of `evaluation` before that.

mod read;

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::{Client, GenericClient, Pool, Transaction};
use queryscope_issues::limits::NOTES_MAX;
use queryscope_issues::{Issue, Note, State, Transition as Move};
use queryscope_store::{IssueMoved, IssueRecord, IssueStep, NoteAdded, ObservedQuery, TermNumbers};

pub(crate) use self::read::{by_number, counts, mutes_due, page, problems, record, records};
use self::read::{issue_of, text_fits};
use crate::error::DbError;
use crate::evaluation::{self, KeyIds, columns, key_ids};
use crate::format::Format;
use crate::outbox;
use crate::terms::TermIds;

/// In the log of commits: `first_seq` of a row that names an issue by its number, as `query`. No run starts then, so
/// that collectors of an earlier version find no change by it.
pub(crate) const TOLD: i64 = i64::MIN;

const KNOWN: &str = "
    SELECT issue.body, issue.project, issue.service, issue.label FROM issue
    JOIN unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS key (project, service, label)
    USING (project, service, label) ORDER BY issue.number FOR UPDATE OF issue";
const PUT: &str = "
    INSERT INTO issue (id, project, service, label, kind, state, wall_ms_a_day, moved_unix_ns, muted_until_unix_ns,
        body)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (label, project, service, kind) DO UPDATE SET state = excluded.state,
        wall_ms_a_day = excluded.wall_ms_a_day, moved_unix_ns = excluded.moved_unix_ns,
        muted_until_unix_ns = excluded.muted_until_unix_ns, body = excluded.body
    RETURNING number";
const PUT_TRANSITION: &str = "
    INSERT INTO issue_transition (issue, number, unix_ns, from_state, to_state, actor, by_name, reason, comment, change)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const PUT_NOTE: &str = "
    INSERT INTO issue_note (issue, number, unix_ns, by_name, text) VALUES ($1, $2, $3, $4, $5)";
const LAST_NOTE: &str = "SELECT coalesce(max(number), 0) FROM issue_note WHERE issue = $1";
const LOCK: &str = "SELECT body, number, project, service, label FROM issue WHERE id = $1 FOR UPDATE";
const IS_THERE: &str = "
    SELECT EXISTS (SELECT FROM issue WHERE id = $1
        OR (label, project, service, kind) = ($2::bigint, $3::bigint, $4::bigint, $5::text))";
const TELL: &str = "
    INSERT INTO change (query, query_id, moved, new, first_seq)
    SELECT issue, '00000000-0000-0000-0000-000000000000', false, false, $2 FROM unnest($1::bigint[]) AS told (issue)";
const DELETE_OF: &str = "
    DELETE FROM issue USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS key (project, service, label)
    WHERE (issue.project, issue.service, issue.label) = (key.project, key.service, key.label) RETURNING number";
const DELETE_BEFORE: &str = "DELETE FROM issue WHERE state = $1 AND moved_unix_ns < $2 RETURNING number";
const DELETE_TRANSITIONS: &str = "DELETE FROM issue_transition WHERE issue = ANY($1)";
const DELETE_NOTES: &str = "DELETE FROM issue_note WHERE issue = ANY($1)";

/// Moves the issues of queries by what an evaluation saw, in its transaction; `false` when nobody is to be told.
pub(crate) async fn observe(
    transaction: &Transaction<'_>,
    numbers: &TermNumbers,
    observed: &[ObservedQuery],
) -> Result<bool, DbError> {
    if observed.is_empty() {
        return Ok(false);
    }
    let keys = observed.iter().map(|query| key_ids(numbers, &query.key));
    let keys: Vec<KeyIds> = keys.collect::<Option<_>>().ok_or(DbError::Damaged("no number of a text"))?;
    let each_once: BTreeSet<KeyIds> = keys.iter().copied().collect();
    let (projects, services, labels) = columns(&each_once.into_iter().collect::<Vec<_>>());
    let statement = transaction.prepare_cached(KNOWN).await?;
    let mut known: HashMap<KeyIds, Vec<Option<Issue>>> = HashMap::new();
    for row in transaction.query(&statement, &[&projects, &services, &labels]).await? {
        known.entry((row.get(1), row.get(2), row.get(3))).or_default().push(issue_of(&row).ok());
    }
    let mut told = Vec::new();
    for (query, key) in observed.iter().zip(keys) {
        // One that is damaged stays as it is, for `check` to name, and keeps no other query from its evaluation.
        let known: Option<Vec<Issue>> = known.remove(&key).unwrap_or_default().into_iter().collect();
        for moved in known.map(|known| query.moves(known)).unwrap_or_default() {
            let number = put(transaction, key, &moved.issue, &moved.transitions).await?;
            outbox::note(transaction, &moved.issue, &moved.transitions).await?;
            told.extend((!moved.transitions.is_empty()).then_some(number));
        }
    }
    tell(transaction, &told).await?;
    Ok(!told.is_empty())
}

/// Has followers look at issues.
async fn tell(transaction: &Transaction<'_>, issues: &[i64]) -> Result<(), DbError> {
    if !issues.is_empty() {
        transaction.execute(&transaction.prepare_cached(TELL).await?, &[&issues, &TOLD]).await?;
    }
    Ok(())
}

/// Writes an issue and adds transitions; gives back its number.
async fn put(
    transaction: &Transaction<'_>,
    (project, service, label): KeyIds,
    issue: &Issue,
    transitions: &[Move],
) -> Result<i64, DbError> {
    let statement = transaction.prepare_cached(PUT).await?;
    let row = transaction
        .query_one(
            &statement,
            &[
                &issue.id,
                &project,
                &service,
                &label,
                &issue.kind.name(),
                &issue.state.name(),
                &issue.wall_ms_a_day,
                &issue.moved_unix_ns,
                &issue.muted_until_unix_ns(),
                &issue.to_json().as_bytes(),
            ],
        )
        .await?;
    let number: i64 = row.get(0);
    let statement = transaction.prepare_cached(PUT_TRANSITION).await?;
    for each in transitions {
        transaction
            .execute(
                &statement,
                &[
                    &number,
                    &each.number.cast_signed(),
                    &each.unix_ns,
                    &each.from.map(State::name),
                    &each.to.name(),
                    &each.actor.name(),
                    &each.by,
                    &each.reason,
                    &each.comment,
                    &each.change,
                ],
            )
            .await?;
    }
    Ok(number)
}

/// Makes a step.
pub(crate) async fn step(
    client: &mut Client,
    format: Format,
    id: &str,
    step: &IssueStep,
    unix_ns: i64,
) -> Result<IssueMoved, DbError> {
    if !text_fits(id) {
        return Ok(IssueMoved::Unknown);
    }
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(LOCK).await?;
    let Some(row) = transaction.query_opt(&statement, &[&id]).await? else { return Ok(IssueMoved::Unknown) };
    let mut issue = issue_of(&row)?;
    let moved = match step.take(&mut issue, unix_ns) {
        Err(refusal) => return Ok(IssueMoved::Refused(refusal)),
        Ok(None) => return Ok(IssueMoved::Unchanged),
        Ok(Some(moved)) => moved,
    };
    let key = (row.get(2), row.get(3), row.get(4));
    let made = [moved];
    let number = put(&transaction, key, &issue, &made).await?;
    outbox::note(&transaction, &issue, &made).await?;
    tell(&transaction, &[number]).await?;
    transaction.commit().await?;
    Ok(IssueMoved::Moved(Box::new(issue)))
}

/// Adds a note.
pub(crate) async fn add_note(
    client: &mut Client,
    format: Format,
    id: &str,
    note: &Note,
) -> Result<NoteAdded, DbError> {
    if !text_fits(id) {
        return Ok(NoteAdded::Unknown);
    }
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(LOCK).await?;
    let Some(row) = transaction.query_opt(&statement, &[&id]).await? else { return Ok(NoteAdded::Unknown) };
    let issue: i64 = row.get(1);
    let statement = transaction.prepare_cached(LAST_NOTE).await?;
    let last: i64 = transaction.query_one(&statement, &[&issue]).await?.get(0);
    if last >= NOTES_MAX as i64 {
        return Ok(NoteAdded::Full);
    }
    put_note(&transaction, issue, last + 1, note).await?;
    transaction.commit().await?;
    Ok(NoteAdded::Added)
}

async fn put_note(
    transaction: &Transaction<'_>,
    issue: i64,
    number: i64,
    note: &Note,
) -> Result<(), DbError> {
    let statement = transaction.prepare_cached(PUT_NOTE).await?;
    transaction.execute(&statement, &[&issue, &number, &note.unix_ns, &note.by, &note.text]).await?;
    Ok(())
}

/// Takes over issues that are not there; gives back how many.
pub(crate) async fn adopt(
    pool: &Pool,
    format: Format,
    terms: &TermIds,
    records: &[IssueRecord],
) -> Result<usize, DbError> {
    let mut client = pool.get().await?;
    let names = records.iter().flat_map(|record| {
        let Issue { project, service, label, .. } = &record.issue;
        [Some(project), service.as_ref(), Some(label)].into_iter().flatten()
    });
    let numbers = terms.numbers(&client, names.map(String::as_str).collect()).await?;
    let transaction = format.begin(&mut client).await?;
    transaction.execute(&transaction.prepare_cached(evaluation::LOCK).await?, &[]).await?;
    let mut adopted = 0;
    for record in records {
        adopted += usize::from(adopt_one(&transaction, &numbers, record).await?);
    }
    transaction.commit().await?;
    Ok(adopted)
}

async fn adopt_one(
    transaction: &Transaction<'_>,
    numbers: &TermNumbers,
    IssueRecord { issue, transitions, notes }: &IssueRecord,
) -> Result<bool, DbError> {
    let number = |text: &String| numbers.get(text.as_str()).copied();
    let service = issue.service.as_ref().map_or(Some(0), number);
    let key = number(&issue.project).zip(service).zip(number(&issue.label));
    let ((project, service), label) = key.ok_or(DbError::Damaged("no number of a text"))?;
    let statement = transaction.prepare_cached(IS_THERE).await?;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&issue.id, &label, &project, &service, &issue.kind.name()];
    let is_there: bool = transaction.query_one(&statement, &values).await?.get(0);
    if is_there {
        return Ok(false);
    }
    let number = put(transaction, (project, service, label), issue, transitions).await?;
    for (note, at) in notes.iter().zip(1..) {
        put_note(transaction, number, at, note).await?;
    }
    Ok(true)
}

/// Deletes the issues of some queries.
pub(crate) async fn delete_of(transaction: &Transaction<'_>, keys: &[KeyIds]) -> Result<(), DbError> {
    let (projects, services, labels) = columns(keys);
    let statement = transaction.prepare_cached(DELETE_OF).await?;
    let gone = transaction.query(&statement, &[&projects, &services, &labels]).await?;
    delete_histories(transaction, gone.iter().map(|row| row.get(0)).collect()).await
}

/// Deletes issues that were resolved before a time.
pub(crate) async fn delete_before(client: &mut Client, format: Format, unix_ns: i64) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(DELETE_BEFORE).await?;
    let gone = transaction.query(&statement, &[&State::Resolved.name(), &unix_ns]).await?;
    delete_histories(&transaction, gone.iter().map(|row| row.get(0)).collect()).await?;
    Ok(transaction.commit().await?)
}

async fn delete_histories(transaction: &Transaction<'_>, issues: Vec<i64>) -> Result<(), DbError> {
    if issues.is_empty() {
        return Ok(());
    }
    for sql in [DELETE_TRANSITIONS, DELETE_NOTES] {
        transaction.execute(&transaction.prepare_cached(sql).await?, &[&issues]).await?;
    }
    Ok(())
}
