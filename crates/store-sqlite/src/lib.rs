//! The embedded store: one SQLite database in WAL mode.
//!
//! One thread writes: it takes what has queued up while it wrote the last group and commits it in one
//! transaction with `synchronous=FULL`, so a group costs one fsync and what is acknowledged survives the loss
//! of power. Readers have connections of their own and never wait for it.

mod access;
mod account;
mod audit;
mod changes;
mod checkpoint;
mod commit;
mod copy;
mod deploys;
mod error;
mod evaluation;
mod inbox;
mod issues;
mod list;
mod load;
mod losses;
mod migrate;
mod names;
mod notes;
mod options;
mod outbox;
mod pace;
mod packs;
mod places;
mod plans;
mod put;
mod readers;
mod recording;
mod repair;
mod retention;
mod row;
mod search;
mod seen;
mod segments;
mod silence;
mod store;
mod streams;
mod terms;
mod token;
mod touched;
mod vacuum;
mod verify;
mod views;
mod writer;

pub use copy::copy;
pub use error::OpenError;
pub use options::SqliteOptions;
pub use repair::{Repair, StoredChunk, StoredQuery, StoredStream, Unbalanced};
pub use store::SqliteStore;
