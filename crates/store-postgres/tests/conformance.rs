//! The shared store passes the conformance suite of all stores.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use queryscope_store::StoreAudit;
use queryscope_store::testsuite::Harness;
use queryscope_store_postgres::{PostgresOptions, PostgresStore};

const COPY_EVERY: Duration = Duration::from_millis(20);

/// A schema of its own on a real server.
struct Schema(String);

impl Default for Schema {
    fn default() -> Self {
        Self(queryscope_postgres_server::shared())
    }
}

#[async_trait]
impl Harness for Schema {
    async fn open(&self) -> Arc<dyn StoreAudit> {
        // Copies are made and taken out meanwhile, and read where a store is opened again.
        let options = PostgresOptions { copy_every: COPY_EVERY, ..PostgresOptions::default() };
        let store = PostgresStore::open(&self.0, options).await;
        Arc::new(store.expect("opens"))
    }

    fn is_shared(&self) -> bool {
        true
    }

    /// Each takes seconds.
    fn worlds(&self) -> u32 {
        6
    }
}

queryscope_store::conformance_tests!(Schema);
