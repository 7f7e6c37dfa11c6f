//! The shared store: one PostgreSQL database under any number of collectors.
//!
//! A batch is added to its stream under the lock of the stream's row, in one transaction with what has been seen of
//! it: whichever collectors a sender and its resends reach, each event is stored once. A collector keeps nothing
//! that another could miss. Answers over many queries come from columns in each collector's memory, which follow
//! the commits of all collectors.

mod access;
mod audit;
mod change;
mod changes;
mod columns;
mod commit;
mod conflict;
mod connect;
mod deploys;
mod error;
mod evaluation;
mod follow;
mod format;
mod group;
mod hints;
mod inbox;
mod issues;
mod kept;
mod list;
mod losses;
mod migrate;
mod names;
mod notes;
mod options;
mod outbox;
mod packs;
mod plans;
mod recording;
mod retention;
mod row;
mod search;
mod segments;
mod silence;
mod snapshot;
mod store;
mod terms;
mod tls;
mod token;
mod verify;
mod views;
mod writer;

pub use error::OpenError;
pub use options::PostgresOptions;
pub use store::PostgresStore;
