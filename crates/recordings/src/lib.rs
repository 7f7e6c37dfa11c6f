//! Recordings: the events of one run as gzip-compressed JSON Lines.
//!
//! While a run's events are chunks in the store, its recording is put together from them as it is read;
//! sealing writes the same to a file of its own, or to a pack of several recordings, and deletes the chunks. Chunks are
//! gzip members, so a recording is, wherever it can be, nothing but its chunks joined end to end. A download is one
//! member. Recordings lie on any [`object_store::ObjectStore`]: a local folder or a bucket.

mod ahead;
mod assemble;
mod bucket;
mod content;
mod download;
mod error;
mod files;
mod folders;
mod gather;
mod join;
mod lines;
mod location;
mod merge;
mod owner;
mod pack;
mod pages;
mod recordings;
mod seal;
mod source;
mod sweep;

pub use content::Content;
pub use download::one_member;
pub use error::RecordingError;
pub use files::{FileError, FileWriter, Files};
pub use gather::Loose;
pub use lines::LineReader;
pub use location::{Cloud, Location, UnknownLocation};
pub use pack::{PackEntry, check_pack, pack_entries};
pub use recordings::Recordings;
pub use seal::SealRound;
pub use sweep::Swept;
