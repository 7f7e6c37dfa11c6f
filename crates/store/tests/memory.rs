//! The conformance suite's model passes the suite.

use std::sync::Arc;

use async_trait::async_trait;
use queryscope_store::StoreAudit;
use queryscope_store::testsuite::{Harness, MemoryStore};

#[derive(Default)]
struct InMemory(MemoryStore);

#[async_trait]
impl Harness for InMemory {
    async fn open(&self) -> Arc<dyn StoreAudit> {
        Arc::new(self.0.reopen())
    }

    fn is_shared(&self) -> bool {
        true
    }
}

queryscope_store::conformance_tests!(InMemory);
