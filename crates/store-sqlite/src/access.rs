//! Users, sessions and the log of access.

use std::str::FromStr;

use async_trait::async_trait;
use queryscope_store::{
    AccessEntry, AccessStore, LastAdmin, Role, SESSIONS_OF_USER_MAX, Session, SessionHash, StoreError, User,
    UserOutcome,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::store::SqliteStore;

const USER: &str = "u.name, u.role, u.project, u.password, u.created_unix_ms";

/// A word of a column.
pub(crate) fn word<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::<T::Err>::new(error))
    })
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        name: row.get(0)?,
        role: word(row, 1)?,
        project: row.get(2)?,
        password: row.get(3)?,
        created_unix_ms: row.get(4)?,
    })
}

fn add_user(db: &Connection, user: &User) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "INSERT INTO login_user (name, role, project, password, created_unix_ms) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (name) DO NOTHING",
    )?
    .execute(params![user.name, user.role.name(), user.project, user.password, user.created_unix_ms])
    .map(|added| added == 1)
}

fn end_sessions_of(db: &Connection, name: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM login_session WHERE user = ?1")?.execute([name]).map(drop)
}

fn begin_session(db: &Connection, session: &Session) -> rusqlite::Result<bool> {
    let begun = db
        .prepare_cached(
            "INSERT INTO login_session (hash, user, created_unix_ms, used_unix_ms)
             SELECT ?1, name, ?3, ?4 FROM login_user WHERE name = ?2",
        )?
        .execute(params![session.hash, session.user, session.created_unix_ms, session.used_unix_ms])?;
    db.prepare_cached(
        "DELETE FROM login_session WHERE hash IN (
             SELECT hash FROM login_session WHERE user = ?1 ORDER BY used_unix_ms DESC, hash DESC LIMIT -1 OFFSET ?2
         )",
    )?
    .execute(params![session.user, SESSIONS_OF_USER_MAX])?;
    Ok(begun == 1)
}

fn session(
    db: &Connection,
    hash: SessionHash,
    used_since_unix_ms: i64,
) -> rusqlite::Result<Option<(Session, User)>> {
    db.prepare_cached(&format!(
        "SELECT {USER}, s.created_unix_ms, s.used_unix_ms
         FROM login_session AS s JOIN login_user AS u ON u.name = s.user
         WHERE s.hash = ?1 AND s.used_unix_ms >= ?2"
    ))?
    .query_row(params![hash, used_since_unix_ms], |row| {
        let user = user(row)?;
        let (created_unix_ms, used_unix_ms) = (row.get(5)?, row.get(6)?);
        Ok((Session { hash, user: user.name.clone(), created_unix_ms, used_unix_ms }, user))
    })
    .optional()
}

fn note(db: &Connection, entries: &[AccessEntry], keep: usize) -> rusqlite::Result<()> {
    let sql = "INSERT INTO access_log (unix_ms, action, actor, subject, address) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = db.prepare_cached(sql)?;
    for entry in entries {
        let AccessEntry { unix_ms, action, actor, subject, address } = entry;
        insert.execute(params![unix_ms, action.name(), actor, subject, address])?;
    }
    db.prepare_cached(
        "DELETE FROM access_log WHERE number <= (SELECT number FROM access_log ORDER BY number DESC LIMIT 1 OFFSET ?1)",
    )?
    .execute([keep])
    .map(drop)
}

fn log(db: &Connection, before: Option<i64>, limit: usize) -> rusqlite::Result<Vec<(i64, AccessEntry)>> {
    db.prepare_cached(
        "SELECT number, unix_ms, action, actor, subject, address FROM access_log WHERE number < ?1
         ORDER BY number DESC LIMIT ?2",
    )?
    .query_map(params![before.unwrap_or(i64::MAX), limit], |row| {
        let entry = AccessEntry {
            unix_ms: row.get(1)?,
            action: word(row, 2)?,
            actor: row.get(3)?,
            subject: row.get(4)?,
            address: row.get(5)?,
        };
        Ok((row.get(0)?, entry))
    })?
    .collect()
}

/// Whether a user is the last administrator of all projects, who is to stay.
fn is_kept(db: &Connection, name: &str, last: LastAdmin) -> rusqlite::Result<bool> {
    let sql = "
        SELECT count(*) = 1 AND max(name) = ?1 FROM login_user WHERE role = ?2 AND project IS NULL";
    let is_last = || db.prepare_cached(sql)?.query_row([name, Role::Admin.name()], |row| row.get(0));
    if last == LastAdmin::Stays { is_last() } else { Ok(false) }
}

fn made(rows: usize) -> UserOutcome {
    if rows == 1 { UserOutcome::Made } else { UserOutcome::NoUser }
}

#[async_trait]
impl AccessStore for SqliteStore {
    async fn users(&self) -> Result<Vec<User>, StoreError> {
        let sql = format!("SELECT {USER} FROM login_user AS u ORDER BY u.name");
        self.readers.read(move |db, _| db.prepare_cached(&sql)?.query_map([], user)?.collect()).await
    }

    async fn user(&self, name: &str) -> Result<Option<User>, StoreError> {
        let sql = format!("SELECT {USER} FROM login_user AS u WHERE u.name = ?1");
        let name = name.to_owned();
        self.readers.read(move |db, _| db.prepare_cached(&sql)?.query_row([name], user).optional()).await
    }

    async fn add_user(&self, user: User) -> Result<bool, StoreError> {
        self.writer.write(move |db| add_user(db, &user)).await
    }

    async fn change_password(&self, name: &str, password: String) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let change = move |db: &Connection| {
            end_sessions_of(db, &name)?;
            let sql = "UPDATE login_user SET password = ?2 WHERE name = ?1";
            db.prepare_cached(sql)?.execute([name, password]).map(|changed| changed == 1)
        };
        self.writer.write(change).await
    }

    async fn change_role(
        &self,
        name: &str,
        role: Role,
        project: Option<String>,
        last: LastAdmin,
    ) -> Result<UserOutcome, StoreError> {
        let name = name.to_owned();
        let sql = "UPDATE login_user SET role = ?2, project = ?3 WHERE name = ?1";
        let change = move |db: &Connection| {
            let stays_admin = role == Role::Admin && project.is_none();
            if !stays_admin && is_kept(db, &name, last)? {
                return Ok(UserOutcome::IsLastAdmin);
            }
            db.prepare_cached(sql)?.execute(params![name, role.name(), project]).map(made)
        };
        self.writer.write(change).await
    }

    async fn remove_user(&self, name: &str, last: LastAdmin) -> Result<UserOutcome, StoreError> {
        let name = name.to_owned();
        let remove = move |db: &Connection| {
            if is_kept(db, &name, last)? {
                return Ok(UserOutcome::IsLastAdmin);
            }
            end_sessions_of(db, &name)?;
            db.prepare_cached("DELETE FROM login_user WHERE name = ?1")?.execute([name]).map(made)
        };
        self.writer.write(remove).await
    }

    async fn begin_session(&self, session: Session) -> Result<bool, StoreError> {
        self.writer.write(move |db| begin_session(db, &session)).await
    }

    async fn session(
        &self,
        hash: SessionHash,
        used_since_unix_ms: i64,
    ) -> Result<Option<(Session, User)>, StoreError> {
        self.readers.read(move |db, _| session(db, hash, used_since_unix_ms)).await
    }

    async fn sessions(&self, used_since_unix_ms: i64, limit: usize) -> Result<Vec<Session>, StoreError> {
        let sql =
            "SELECT hash, user, created_unix_ms, used_unix_ms FROM login_session WHERE used_unix_ms >= ?1
                   ORDER BY used_unix_ms DESC, hash DESC LIMIT ?2";
        let session = |row: &Row<'_>| {
            let (hash, user) = (row.get(0)?, row.get(1)?);
            Ok(Session { hash, user, created_unix_ms: row.get(2)?, used_unix_ms: row.get(3)? })
        };
        let values = (used_since_unix_ms, limit);
        self.readers.read(move |db, _| db.prepare_cached(sql)?.query_map(values, session)?.collect()).await
    }

    async fn use_session(&self, hash: SessionHash, unix_ms: i64) -> Result<(), StoreError> {
        let sql = "UPDATE login_session SET used_unix_ms = ?2 WHERE hash = ?1 AND used_unix_ms < ?2";
        self.writer.write(move |db| db.prepare_cached(sql)?.execute(params![hash, unix_ms]).map(drop)).await
    }

    async fn end_session(&self, hash: SessionHash) -> Result<bool, StoreError> {
        let sql = "DELETE FROM login_session WHERE hash = ?1";
        self.writer.write(move |db| db.prepare_cached(sql)?.execute([hash]).map(|ended| ended == 1)).await
    }

    async fn end_idle_sessions(&self, used_before_unix_ms: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM login_session WHERE used_unix_ms < ?1";
        self.writer
            .write(move |db| db.prepare_cached(sql)?.execute([used_before_unix_ms]).map(|ended| ended as u64))
            .await
    }

    async fn use_tokens(&self, names: Vec<String>, unix_ms: i64) -> Result<(), StoreError> {
        let note = move |db: &Connection| {
            let sql = "UPDATE token SET used_unix_ms = max(coalesce(used_unix_ms, ?2), ?2) WHERE name = ?1";
            let mut update = db.prepare_cached(sql)?;
            names.iter().try_for_each(|name| update.execute(params![name, unix_ms]).map(drop))
        };
        self.writer.write(note).await
    }

    async fn note_access(&self, entries: Vec<AccessEntry>, keep: usize) -> Result<(), StoreError> {
        self.writer.write(move |db| note(db, &entries, keep)).await
    }

    async fn access_log(
        &self,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(i64, AccessEntry)>, StoreError> {
        self.readers.read(move |db, _| log(db, before, limit)).await
    }
}
