//! Tokens.

use deadpool_postgres::GenericClient;
use queryscope_store::TokenRecord;

use crate::error::DbError;

/// All tokens, by name.
pub(crate) async fn all(client: &impl GenericClient) -> Result<Vec<TokenRecord>, DbError> {
    let sql = "SELECT name, project, hash, created_unix_ms FROM token ORDER BY name COLLATE \"C\"";
    let rows = client.query(&client.prepare_cached(sql).await?, &[]).await?;
    let token = |row: &tokio_postgres::Row| {
        let hash: Vec<u8> = row.get(2);
        let hash = hash.try_into().map_err(|_| DbError::Damaged("no hash of a token"))?;
        Ok(TokenRecord { name: row.get(0), project: row.get(1), hash, created_unix_ms: row.get(3) })
    };
    rows.iter().map(token).collect()
}

/// Adds a token; `false` when its name is taken.
pub(crate) async fn add(client: &impl GenericClient, token: &TokenRecord) -> Result<bool, DbError> {
    let sql = "
        INSERT INTO token (name, project, hash, created_unix_ms) VALUES ($1, $2, $3, $4)
        ON CONFLICT (name) DO NOTHING";
    let values = (&token.name, &token.project, &token.hash[..], &token.created_unix_ms);
    Ok(client.execute(sql, &[values.0, values.1, &values.2, values.3]).await? > 0)
}

/// Takes a token out; `false` when there is none of that name.
pub(crate) async fn revoke(client: &impl GenericClient, name: &str) -> Result<bool, DbError> {
    Ok(client.execute("DELETE FROM token WHERE name = $1", &[&name]).await? > 0)
}
