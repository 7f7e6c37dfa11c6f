//! Whether stored issues are sound, and what a repair makes of those that are not.
//!
//! An issue is its body and its transitions; the other columns of its row say the same to lists. A repair writes these
//! columns anew. An issue whose body or history is damaged is deleted: what people said of it is not known any more,
//! and the service opens it anew where its change lasts.

use queryscope_issues::Issue;
use queryscope_store::IssueRecord;
use rusqlite::{Connection, Row, params};

use super::{delete, history};
use crate::terms::TermIds;

/// What lists find an issue by: id, project, service, label, kind, state, `wall_ms_a_day`, `moved_unix_ns` and
/// `muted_until_unix_ns`.
type Columns = (String, String, Option<String>, String, String, String, f64, i64, Option<i64>);

/// An issue that is not sound.
struct Wrong {
    number: i64,
    id: String,
    damage: Damage,
}

/// What is wrong with an issue.
enum Damage {
    /// Its columns alone are not what it says.
    Columns(Box<Issue>),
    /// Its body or its history, in words.
    History(Vec<String>),
}

/// What is wrong with issues: each is one history, and lists find what it says.
pub(crate) fn problems(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems = Vec::new();
    for Wrong { id, damage, .. } in judge(db)? {
        match damage {
            Damage::Columns(_) => problems.push(format!("issue {id}: lists find another than it is")),
            Damage::History(found) => {
                problems.extend(found.into_iter().map(|problem| format!("issue {id}: {problem}")));
            }
        }
    }
    Ok(problems)
}

/// Mends issues; how many had other columns than they say, and how many were deleted.
pub(crate) fn mend(db: &Connection, terms: &mut TermIds) -> rusqlite::Result<(usize, usize)> {
    let (mut written, mut deleted) = (0, 0);
    for Wrong { number, damage, .. } in judge(db)? {
        let is_written = match damage {
            Damage::Columns(issue) => put_columns(db, terms, number, &issue)?,
            Damage::History(_) => false,
        };
        if is_written {
            written += 1;
        } else {
            delete(db, "number = ?1", params![number])?;
            deleted += 1;
        }
    }
    Ok((written, deleted))
}

fn judge(db: &Connection) -> rusqlite::Result<Vec<Wrong>> {
    let text = |term: &str| format!("(SELECT text FROM term WHERE term.id = issue.{term})");
    let mut statement = db.prepare(&format!(
        "SELECT body, number, id, {}, {}, {}, kind, state, wall_ms_a_day, moved_unix_ns, muted_until_unix_ns
         FROM issue",
        text("project"),
        text("service"),
        text("label"),
    ))?;
    let mut rows = statement.query([])?;
    let mut wrong = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, id) = (row.get(1)?, row.get(2)?);
        // A value of another type is damage, too.
        let body: Option<String> = row.get(0).ok();
        let damage = match body.and_then(|body| Issue::from_json(&body).ok()) {
            None => Some(Damage::History(vec!["it cannot be read".into()])),
            Some(issue) => damage(db, number, issue, columns(row).ok().as_ref()),
        };
        wrong.extend(damage.map(|damage| Wrong { number, id, damage }));
    }
    Ok(wrong)
}

fn damage(db: &Connection, number: i64, issue: Issue, columns: Option<&Columns>) -> Option<Damage> {
    match history(db, number, issue) {
        Err(error) => Some(Damage::History(vec![format!("its history cannot be read: {error}")])),
        Ok(IssueRecord { issue, transitions, .. }) => {
            let problems = queryscope_issues::problems(&issue, &transitions);
            if problems.is_empty() {
                (columns != Some(&columns_of(&issue))).then(|| Damage::Columns(Box::new(issue)))
            } else {
                Some(Damage::History(problems))
            }
        }
    }
}

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
        row.get(9)?,
        row.get(10)?,
    ))
}

fn columns_of(issue: &Issue) -> Columns {
    (
        issue.id.clone(),
        issue.project.clone(),
        issue.service.clone(),
        issue.label.clone(),
        issue.kind.name().to_owned(),
        issue.state.name().to_owned(),
        issue.wall_ms_a_day,
        issue.moved_unix_ns,
        issue.muted_until_unix_ns(),
    )
}

/// Writes the columns of an issue as it says them; `false` where another issue has its id, or its query and kind.
fn put_columns(db: &Connection, terms: &mut TermIds, number: i64, issue: &Issue) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE OR IGNORE issue SET id = ?2, project = ?3, service = ?4, label = ?5, kind = ?6, state = ?7,
                 wall_ms_a_day = ?8, moved_unix_ns = ?9, muted_until_unix_ns = ?10
             WHERE number = ?1",
        )?
        .execute(params![
            number,
            issue.id,
            terms.id(db, &issue.project)?,
            terms.optional(db, issue.service.as_deref())?.unwrap_or(0),
            terms.id(db, &issue.label)?,
            issue.kind.name(),
            issue.state.name(),
            issue.wall_ms_a_day,
            issue.moved_unix_ns,
            issue.muted_until_unix_ns(),
        ])?;
    Ok(changed > 0)
}
