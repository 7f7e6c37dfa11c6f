//! Tokens.

use deadpool_postgres::GenericClient;
use queryscope_store::TokenRecord;
use tokio_postgres::types::ToSql;

use crate::access::word;
use crate::error::DbError;

/// All tokens, by name.
pub(crate) async fn all(client: &impl GenericClient) -> Result<Vec<TokenRecord>, DbError> {
    let sql = "SELECT name, project, hash, created_unix_ms, scope, expires_unix_ms, used_unix_ms FROM token
               ORDER BY name COLLATE \"C\"";
    let rows = client.query(&client.prepare_cached(sql).await?, &[]).await?;
    let token = |row: &tokio_postgres::Row| {
        let hash: Vec<u8> = row.get(2);
        Ok(TokenRecord {
            name: row.get(0),
            project: row.get(1),
            hash: hash.try_into().map_err(|_| DbError::Damaged("no hash of a token"))?,
            created_unix_ms: row.get(3),
            scope: word(row, 4)?,
            expires_unix_ms: row.get(5),
            used_unix_ms: row.get(6),
        })
    };
    rows.iter().map(token).collect()
}

/// Adds a token; `false` when its name is taken.
pub(crate) async fn add(client: &impl GenericClient, token: &TokenRecord) -> Result<bool, DbError> {
    let sql = "
        INSERT INTO token (name, project, hash, created_unix_ms, scope, expires_unix_ms, used_unix_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (name) DO NOTHING";
    let TokenRecord { name, project, hash, created_unix_ms, scope, expires_unix_ms, used_unix_ms } = token;
    let (hash, scope) = (&hash[..], scope.name());
    let values: [&(dyn ToSql + Sync); 7] =
        [name, project, &hash, created_unix_ms, &scope, expires_unix_ms, used_unix_ms];
    Ok(client.execute(sql, &values).await? > 0)
}

/// Takes a token out; `false` when there is none of that name.
pub(crate) async fn revoke(client: &impl GenericClient, name: &str) -> Result<bool, DbError> {
    Ok(client.execute("DELETE FROM token WHERE name = $1", &[&name]).await? > 0)
}
