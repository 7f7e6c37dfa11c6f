//! The embedded store passes the conformance suite of all stores.

use std::sync::Arc;

use async_trait::async_trait;
use queryscope_store::StoreAudit;
use queryscope_store::testsuite::Harness;
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};

/// A folder with a database in it.
struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }
}

#[async_trait]
impl Harness for Folder {
    async fn open(&self) -> Arc<dyn StoreAudit> {
        let path = self.0.path().join("store.db");
        Arc::new(SqliteStore::open(&path, SqliteOptions::default()).expect("opens"))
    }
}

queryscope_store::conformance_tests!(Folder);
