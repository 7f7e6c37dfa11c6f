//! The conformance suite every store passes, and what tests of stores and their users share.
//!
//! A store's crate names the suite once, in a test of its own:
//!
//! ```ignore
//! #[derive(Default)]
//! struct Folder(tempfile::TempDir);
//!
//! #[async_trait]
//! impl Harness for Folder {
//!     async fn open(&self) -> Arc<dyn Store> { … }
//! }
//!
//! queryscope_store::conformance_tests!(Folder);
//! ```

mod batch;
mod memory;

pub use batch::{BatchBuilder, batch, facts, line, query_id, seq, seqs, stream_id};
pub use memory::MemoryStore;
