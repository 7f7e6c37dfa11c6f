//! Texts that repeat, by number.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use deadpool_postgres::GenericClient;
use queryscope_store::{Lookup, TermNumbers};

use crate::error::DbError;

/// Texts held in memory for writing; beyond it this cache starts anew.
const CACHED_MAX: usize = 100_000;
/// Longer texts, as errors may be, are not held.
const CACHED_BYTES_MAX: usize = 256;

const FIND: &str = "
    SELECT term.id, term.text
    FROM unnest($1::bytea[]) AS asked (t) JOIN term ON sha256(term.text) = sha256(asked.t)";
const ADD: &str = "
    INSERT INTO term (text, folded) SELECT t, f FROM unnest($1::bytea[], $2::bytea[]) AS new (t, f)
    ON CONFLICT (sha256(text)) DO NOTHING";
const HOLDING: &str = "SELECT id, text FROM term WHERE position($1::bytea IN folded) > 0";
const TEXTS: &str = "SELECT id, text FROM term WHERE id = ANY($1)";

/// The writers' side: the number of every text they name. Numbers are never used again, so it is never stale.
#[derive(Debug, Default)]
pub(crate) struct TermIds(RwLock<HashMap<Arc<str>, i64>>);

impl TermIds {
    /// The numbers of texts, which are stored when they are new. Not in a transaction: what another collector adds at
    /// the same time must be seen.
    pub(crate) async fn numbers(
        &self,
        client: &impl GenericClient,
        texts: BTreeSet<&str>,
    ) -> Result<TermNumbers, DbError> {
        let mut numbers = TermNumbers::with_capacity(texts.len());
        let mut unknown = Vec::new();
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for text in texts {
                match known.get_key_value(text) {
                    Some((text, id)) => drop(numbers.insert(Arc::clone(text), *id)),
                    None => unknown.push(text),
                }
            }
        }
        if !unknown.is_empty() {
            let found = find(client, &unknown).await?;
            let new: Vec<&str> = unknown.into_iter().filter(|text| !found.contains_key(*text)).collect();
            self.keep(&found);
            numbers.extend(found);
            if !new.is_empty() {
                // In one order, so that two who add the same never wait for each other.
                let folded: Vec<String> = new.iter().map(|text| text.to_lowercase()).collect();
                let folded: Vec<&[u8]> = folded.iter().map(String::as_bytes).collect();
                let texts: Vec<&[u8]> = new.iter().map(|text| text.as_bytes()).collect();
                client.execute(&client.prepare_cached(ADD).await?, &[&texts, &folded]).await?;
                let added = find(client, &new).await?;
                self.keep(&added);
                numbers.extend(added);
            }
        }
        Ok(numbers)
    }

    fn keep(&self, numbers: &TermNumbers) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHED_MAX {
            known.clear();
        }
        let short = numbers.iter().filter(|(text, _)| text.len() <= CACHED_BYTES_MAX);
        known.extend(short.map(|(text, id)| (Arc::clone(text), *id)));
    }
}

/// The numbers of those texts that have one.
pub(crate) async fn find(client: &impl GenericClient, texts: &[&str]) -> Result<TermNumbers, DbError> {
    let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let rows = client.query(&client.prepare_cached(FIND).await?, &[&bytes]).await?;
    rows.iter().map(|row| Ok((text_of(row.get(1))?, row.get(0)))).collect()
}

/// The numbers of the texts each lookup asks for.
pub(crate) async fn matching(
    client: &impl GenericClient,
    lookups: &[Lookup<'_>],
) -> Result<Vec<Vec<i64>>, DbError> {
    let mut all = Vec::with_capacity(lookups.len());
    for lookup in lookups {
        let statement = client.prepare_cached(HOLDING).await?;
        let mut found = Vec::new();
        for row in client.query(&statement, &[&lookup.needle().as_bytes()]).await? {
            if lookup.matches(&text_of(row.get(1))?) {
                found.push(row.get(0));
            }
        }
        all.push(found);
    }
    Ok(all)
}

/// The texts of numbers.
pub(crate) async fn texts(
    client: &impl GenericClient,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<str>>, DbError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = client.query(&client.prepare_cached(TEXTS).await?, &[&ids]).await?;
    rows.iter().map(|row| Ok((row.get(0), text_of(row.get(1))?))).collect()
}

fn text_of(bytes: &[u8]) -> Result<Arc<str>, DbError> {
    str::from_utf8(bytes).map(Into::into).map_err(|_| DbError::Damaged("a text that is not UTF-8"))
}
