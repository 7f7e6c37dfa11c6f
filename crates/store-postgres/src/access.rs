//! Users, sessions and the log of access.

use std::str::FromStr;

use async_trait::async_trait;
use queryscope_store::{
    AccessEntry, AccessStore, LastAdmin, Role, SESSIONS_OF_USER_MAX, Session, SessionHash, StoreError, User,
    UserOutcome,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::store::{PostgresStore, rows};

const USER: &str = "u.name, u.role, u.project, u.password, u.created_unix_ms";

/// One at a time numbers entries of the log: what is read in the order of the numbers is then in that of time.
const LOG_LOCK: &str = "LOCK TABLE access_log IN SHARE ROW EXCLUSIVE MODE";

/// One at a time changes who manages everything.
const USERS_LOCK: &str = "LOCK TABLE login_user IN SHARE ROW EXCLUSIVE MODE";

/// A word of a column.
pub(crate) fn word<T: FromStr>(row: &Row, column: usize) -> Result<T, DbError> {
    let word: &str = row.get(column);
    word.parse().map_err(|_| DbError::Damaged("a word that nobody wrote"))
}

fn user(row: &Row) -> Result<User, DbError> {
    Ok(User {
        name: row.get(0),
        role: word(row, 1)?,
        project: row.get(2),
        password: row.get(3),
        created_unix_ms: row.get(4),
    })
}

impl PostgresStore {
    /// Writes in one statement; how many rows it changed.
    pub(crate) async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        let changed = transaction.execute(&transaction.prepare_cached(sql).await?, values).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Changes a user in one statement, unless that is the last administrator of all projects, who is to stay.
    async fn change_user(
        &self,
        name: &str,
        last: LastAdmin,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<UserOutcome, DbError> {
        if is_no_name(name) {
            return Ok(UserOutcome::NoUser);
        }
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        if last == LastAdmin::Stays {
            transaction.batch_execute(USERS_LOCK).await?;
            let admins = "SELECT name FROM login_user WHERE role = $1 AND project IS NULL LIMIT 2";
            let admins = transaction.query(admins, &[&Role::Admin.name()]).await?;
            if let [only] = &admins[..]
                && only.get::<_, &str>(0) == name
            {
                return Ok(UserOutcome::IsLastAdmin);
            }
        }
        let changed = transaction.execute(&transaction.prepare_cached(sql).await?, values).await?;
        transaction.commit().await?;
        Ok(if changed > 0 { UserOutcome::Made } else { UserOutcome::NoUser })
    }
}

/// Whether a text is the name of nobody, and none that the database takes.
fn is_no_name(text: &str) -> bool {
    text.contains('\0')
}

#[async_trait]
impl AccessStore for PostgresStore {
    async fn users(&self) -> Result<Vec<User>, StoreError> {
        let sql = format!("SELECT {USER} FROM login_user AS u ORDER BY u.name");
        let found = rows(&self.reader().await?, &sql, &[]).await?;
        Ok(found.iter().map(user).collect::<Result<_, _>>()?)
    }

    async fn user(&self, name: &str) -> Result<Option<User>, StoreError> {
        if is_no_name(name) {
            return Ok(None);
        }
        let sql = format!("SELECT {USER} FROM login_user AS u WHERE u.name = $1");
        let found = rows(&self.reader().await?, &sql, &[&name]).await?;
        Ok(found.first().map(user).transpose()?)
    }

    async fn add_user(&self, user: User) -> Result<bool, StoreError> {
        let sql = "
            INSERT INTO login_user (name, role, project, password, created_unix_ms) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO NOTHING";
        let User { name, role, project, password, created_unix_ms } = &user;
        Ok(self.change(sql, &[name, &role.name(), project, password, created_unix_ms]).await? > 0)
    }

    async fn change_password(&self, name: &str, password: String) -> Result<bool, StoreError> {
        if is_no_name(name) {
            return Ok(false);
        }
        let sql = "
            WITH ended AS (DELETE FROM login_session WHERE user_name = $1)
            UPDATE login_user SET password = $2 WHERE name = $1";
        Ok(self.change(sql, &[&name, &password]).await? > 0)
    }

    async fn change_role(
        &self,
        name: &str,
        role: Role,
        project: Option<String>,
        last: LastAdmin,
    ) -> Result<UserOutcome, StoreError> {
        let stays_admin = role == Role::Admin && project.is_none();
        let last = if stays_admin { LastAdmin::MayGo } else { last };
        let sql = "UPDATE login_user SET role = $2, project = $3 WHERE name = $1";
        Ok(self.change_user(name, last, sql, &[&name, &role.name(), &project]).await?)
    }

    async fn remove_user(&self, name: &str, last: LastAdmin) -> Result<UserOutcome, StoreError> {
        Ok(self.change_user(name, last, "DELETE FROM login_user WHERE name = $1", &[&name]).await?)
    }

    async fn begin_session(&self, session: Session) -> Result<bool, StoreError> {
        let Session { hash, user, created_unix_ms, used_unix_ms } = &session;
        // A user that is being removed is waited for, and then there is none.
        let begin = "
            INSERT INTO login_session (hash, user_name, created_unix_ms, used_unix_ms)
            SELECT $1, name, $3, $4 FROM login_user WHERE name = $2 FOR KEY SHARE";
        let begun = self.change(begin, &[&&hash[..], user, created_unix_ms, used_unix_ms]).await?;
        let end = "
            DELETE FROM login_session WHERE hash IN (
                SELECT hash FROM login_session WHERE user_name = $1
                ORDER BY used_unix_ms DESC, hash DESC OFFSET $2
            )";
        self.change(end, &[user, &(SESSIONS_OF_USER_MAX as i64)]).await?;
        Ok(begun > 0)
    }

    async fn session(
        &self,
        hash: SessionHash,
        used_since_unix_ms: i64,
    ) -> Result<Option<(Session, User)>, StoreError> {
        let sql = format!(
            "SELECT {USER}, s.created_unix_ms, s.used_unix_ms
             FROM login_session AS s JOIN login_user AS u ON u.name = s.user_name
             WHERE s.hash = $1 AND s.used_unix_ms >= $2"
        );
        let found = rows(&self.reader().await?, &sql, &[&&hash[..], &used_since_unix_ms]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let user = user(row)?;
        let (created_unix_ms, used_unix_ms) = (row.get(5), row.get(6));
        Ok(Some((Session { hash, user: user.name.clone(), created_unix_ms, used_unix_ms }, user)))
    }

    async fn sessions(&self, used_since_unix_ms: i64, limit: usize) -> Result<Vec<Session>, StoreError> {
        let sql = "
            SELECT hash, user_name, created_unix_ms, used_unix_ms FROM login_session WHERE used_unix_ms >= $1
            ORDER BY used_unix_ms DESC, hash DESC LIMIT $2";
        let found = rows(&self.reader().await?, sql, &[&used_since_unix_ms, &(limit as i64)]).await?;
        let session = |row: &Row| {
            let hash: &[u8] = row.get(0);
            let hash = hash.try_into().map_err(|_| DbError::Damaged("a hash of another length"))?;
            Ok(Session { hash, user: row.get(1), created_unix_ms: row.get(2), used_unix_ms: row.get(3) })
        };
        Ok(found.iter().map(session).collect::<Result<_, DbError>>()?)
    }

    async fn use_session(&self, hash: SessionHash, unix_ms: i64) -> Result<(), StoreError> {
        let sql = "UPDATE login_session SET used_unix_ms = $2 WHERE hash = $1 AND used_unix_ms < $2";
        self.change(sql, &[&&hash[..], &unix_ms]).await?;
        Ok(())
    }

    async fn end_session(&self, hash: SessionHash) -> Result<bool, StoreError> {
        Ok(self.change("DELETE FROM login_session WHERE hash = $1", &[&&hash[..]]).await? > 0)
    }

    async fn end_idle_sessions(&self, used_before_unix_ms: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM login_session WHERE used_unix_ms < $1";
        Ok(self.change(sql, &[&used_before_unix_ms]).await?)
    }

    async fn use_tokens(&self, names: Vec<String>, unix_ms: i64) -> Result<(), StoreError> {
        let sql = "UPDATE token SET used_unix_ms = greatest(used_unix_ms, $2) WHERE name = ANY ($1)";
        self.change(sql, &[&names, &unix_ms]).await?;
        Ok(())
    }

    async fn note_access(&self, entries: Vec<AccessEntry>, keep: usize) -> Result<(), StoreError> {
        let noted: Result<(), DbError> = async {
            let mut client = self.write.get().await?;
            let transaction = self.format.begin(&mut client).await?;
            transaction.batch_execute(LOG_LOCK).await?;
            let sql = "
                INSERT INTO access_log (unix_ms, action, actor, subject, address) VALUES ($1, $2, $3, $4, $5)";
            let insert = transaction.prepare_cached(sql).await?;
            for entry in &entries {
                let AccessEntry { unix_ms, action, actor, subject, address } = entry;
                transaction.execute(&insert, &[unix_ms, &action.name(), actor, subject, address]).await?;
            }
            let sql = "
                DELETE FROM access_log WHERE number <= (
                    SELECT number FROM access_log ORDER BY number DESC LIMIT 1 OFFSET $1
                )";
            transaction.execute(&transaction.prepare_cached(sql).await?, &[&(keep as i64)]).await?;
            Ok(transaction.commit().await?)
        }
        .await;
        Ok(noted?)
    }

    async fn access_log(
        &self,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(i64, AccessEntry)>, StoreError> {
        let sql = "
            SELECT number, unix_ms, action, actor, subject, address FROM access_log WHERE number < $1
            ORDER BY number DESC LIMIT $2";
        let values: [&(dyn ToSql + Sync); 2] = [&before.unwrap_or(i64::MAX), &(limit as i64)];
        let found = rows(&self.reader().await?, sql, &values).await?;
        let entry = |row: &Row| {
            let entry = AccessEntry {
                unix_ms: row.get(1),
                action: word(row, 2)?,
                actor: row.get(3),
                subject: row.get(4),
                address: row.get(5),
            };
            Ok((row.get(0), entry))
        };
        Ok(found.iter().map(entry).collect::<Result<_, DbError>>()?)
    }
}
