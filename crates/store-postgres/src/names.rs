//! The texts of the terms in the columns, in memory.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use deadpool_postgres::{GenericClient, Pool};
use queryscope_columns::{Names, RowState};
use queryscope_protocol::QueryId;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::error::DbError;
use crate::terms;

/// Every term the columns hold. Numbers are never used again, so it is never stale.
#[derive(Debug, Default)]
pub(crate) struct TermTexts(RwLock<Texts>);

#[derive(Debug, Default)]
struct Texts {
    by_id: HashMap<i64, Arc<str>>,
    by_text: HashMap<Arc<str>, i64>,
}

impl TermTexts {
    /// Reads the texts of rows that are about to be put into the columns. A query that is damaged is none.
    pub(crate) async fn learn(
        &self,
        client: &impl GenericClient,
        rows: &mut [RowState],
    ) -> Result<(), DbError> {
        let lost = self.know(client, rows.iter().flat_map(terms_of).collect()).await?;
        for row in rows.iter_mut().filter(|row| terms_of(row).any(|id| lost.contains(&id))) {
            tracing::error!(row = row.row, "a run without its texts is left out of answers over many");
            row.query = None;
        }
        Ok(())
    }

    /// Reads the texts of numbers that are about to be put into the columns; gives back those that have none.
    pub(crate) async fn know(
        &self,
        client: &impl GenericClient,
        mut ids: BTreeSet<i64>,
    ) -> Result<BTreeSet<i64>, DbError> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            ids.retain(|id| !known.by_id.contains_key(id));
        }
        let read = terms::texts(client, &ids.iter().copied().collect::<Vec<_>>()).await?;
        if !read.is_empty() {
            ids.retain(|id| !read.contains_key(id));
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            known.by_text.extend(read.iter().map(|(id, text)| (Arc::clone(text), *id)));
            known.by_id.extend(read);
        }
        Ok(ids)
    }

    /// The texts of numbers, wherever they are; 0 is none.
    pub(crate) async fn texts(
        &self,
        client: &impl GenericClient,
        ids: BTreeSet<i64>,
    ) -> Result<Named, DbError> {
        let mut texts = HashMap::with_capacity(ids.len());
        let mut unknown = Vec::new();
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for id in ids.into_iter().filter(|id| *id != 0) {
                match known.by_id.get(&id) {
                    Some(text) => drop(texts.insert(id, Arc::clone(text))),
                    None => unknown.push(id),
                }
            }
        }
        texts.extend(terms::texts(client, &unknown).await?);
        Ok(Named(texts))
    }
}

/// The texts of some numbers.
#[derive(Debug)]
pub(crate) struct Named(HashMap<i64, Arc<str>>);

impl Named {
    /// The text of a number.
    pub(crate) fn text(&self, id: i64) -> Result<String, DbError> {
        let text = self.0.get(&id).ok_or(DbError::Damaged("the number of a text that is not there"))?;
        Ok(text.to_string())
    }

    /// The text of a number that may be absent, or 0.
    pub(crate) fn optional(&self, id: impl Into<Option<i64>>) -> Result<Option<String>, DbError> {
        id.into().filter(|id| *id != 0).map(|id| self.text(id)).transpose()
    }
}

fn terms_of(row: &RowState) -> impl Iterator<Item = i64> {
    row.query.iter().flat_map(|query| {
        let (origin, plan) = (query.origin, query.plan);
        let optional = [
            origin.service,
            origin.environment,
            origin.program_version,
            plan.label,
            plan.fingerprint,
            plan.rules,
            plan.engine_version,
        ];
        [origin.project, origin.host].into_iter().chain(optional.into_iter().flatten())
    })
}

/// What is known of the numbers in the columns, for a thread that may block.
pub(crate) struct ColumnNames {
    pub(crate) terms: Arc<TermTexts>,
    pub(crate) pool: Pool,
    pub(crate) runtime: Handle,
}

impl Names for ColumnNames {
    type Error = DbError;

    fn text(&self, term: i64) -> Result<Arc<str>, DbError> {
        let known = self.terms.0.read().unwrap_or_else(PoisonError::into_inner);
        known.by_id.get(&term).cloned().ok_or(DbError::Damaged("the number of a text that is not there"))
    }

    fn find(&self, text: &str) -> Result<Option<i64>, DbError> {
        let known = self.terms.0.read().unwrap_or_else(PoisonError::into_inner);
        Ok(known.by_text.get(text).copied())
    }

    fn rules(&self, term: i64) -> Result<Vec<String>, DbError> {
        serde_json::from_str(&self.text(term)?).map_err(|_| DbError::Damaged("no list of rules"))
    }

    fn query_id(&self, row: i64) -> Result<Option<QueryId>, DbError> {
        self.runtime.block_on(async {
            let client = self.pool.get().await?;
            let query = client.prepare_cached("SELECT query_id FROM query WHERE id = $1").await?;
            let found = client.query_opt(&query, &[&row]).await?;
            Ok(found.map(|row| QueryId::new(row.get::<_, Uuid>(0))))
        })
    }
}
