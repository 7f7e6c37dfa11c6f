//! The table of tokens.

use queryscope_store::TokenRecord;
use rusqlite::{Connection, params};

use crate::access::word;

/// All tokens by name.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<TokenRecord>> {
    let sql = "SELECT name, project, hash, created_unix_ms, scope, expires_unix_ms, used_unix_ms FROM token
               ORDER BY name";
    db.prepare_cached(sql)?
        .query_map([], |row| {
            Ok(TokenRecord {
                name: row.get(0)?,
                project: row.get(1)?,
                hash: row.get(2)?,
                created_unix_ms: row.get(3)?,
                scope: word(row, 4)?,
                expires_unix_ms: row.get(5)?,
                used_unix_ms: row.get(6)?,
            })
        })?
        .collect()
}

/// Adds a token unless its name is taken.
pub(crate) fn add(db: &Connection, token: &TokenRecord) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "INSERT INTO token (name, project, hash, created_unix_ms, scope, expires_unix_ms, used_unix_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (name) DO NOTHING",
    )?
    .execute(params![
        token.name,
        token.project,
        token.hash,
        token.created_unix_ms,
        token.scope.name(),
        token.expires_unix_ms,
        token.used_unix_ms,
    ])
    .map(|added| added == 1)
}

/// Takes a token out.
pub(crate) fn revoke(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("DELETE FROM token WHERE name = ?1")?.execute([name]).map(|taken| taken == 1)
}
