//! The conformance suite's model passes the suite.

use std::sync::Arc;

use async_trait::async_trait;
use queryscope_store::Store;
use queryscope_store::testsuite::{Harness, MemoryStore};

#[derive(Default)]
struct InMemory(MemoryStore);

#[async_trait]
impl Harness for InMemory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.0.reopen())
    }
}

queryscope_store::conformance_tests!(InMemory);
