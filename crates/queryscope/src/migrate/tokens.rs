//! Tokens of the folder, among them the one that is kept beside its database.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::{Result, bail};
use queryscope_collector::hash_token;
use queryscope_store::{Store, TokenRecord};

use crate::data::{DEFAULT_PROJECT, DataFolder};

/// Adds them to the database; how many were not there.
pub(crate) async fn migrate(
    data: &DataFolder,
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
) -> Result<usize> {
    let there = target.tokens().await?;
    let mut new = source.tokens().await?;
    new.extend(kept(data)?);
    // By its hash a token is found: its name is for people.
    new.retain(|token| {
        !there.iter().any(|other| (other.hash, &other.project) == (token.hash, &token.project))
    });
    for token in &new {
        let name = &token.name;
        if there.iter().any(|other| other.name == *name) {
            bail!("the database has another token {name:?}: revoke it there, or in the folder");
        }
        if let Some(other) = there.iter().find(|other| other.hash == token.hash) {
            bail!(
                "the database has the token {name:?} for project {:?}: revoke it there, or in the folder",
                other.project
            );
        }
    }
    let count = new.len();
    for token in new {
        let name = token.name.clone();
        if !target.add_token(token).await? {
            bail!("the database has another token {name:?} as of now");
        }
    }
    Ok(count)
}

/// The token made at the first start, under a name that says which it is and not what.
fn kept(data: &DataFolder) -> Result<Option<TokenRecord>> {
    let file = data.token_file();
    if !file.exists() {
        return Ok(None);
    }
    let (token, _) = data.token()?;
    let made = std::fs::metadata(&file)?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let hash = hash_token(&token);
    let [a, b, c, d, ..] = hash;
    let name = format!("first-of-a-folder-{a:02x}{b:02x}{c:02x}{d:02x}");
    let created_unix_ms = i64::try_from(made.as_millis()).unwrap_or(0);
    Ok(Some(TokenRecord::of_sender(name, DEFAULT_PROJECT, hash, created_unix_ms)))
}
