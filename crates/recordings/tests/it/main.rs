//! Recordings on the real file system, of queries in the suite's model of a store.

mod bucket;
mod download;
mod kinds;
mod packs;
mod read;
mod seal;
mod sweep;
mod world;
