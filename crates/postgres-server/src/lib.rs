//! Real PostgreSQL servers for tests: on a port and in a folder of their own, as a user who is not root (PostgreSQL
//! refuses root), without durability but in a [`Server`] that asks for it.
//!
//! Linux alone: `setpriv`, `setsid` and `flock` are util-linux's.

#![expect(clippy::disallowed_methods, reason = "it waits for real processes")]

mod installed;
mod server;
mod shared;

pub use server::Server;
pub use shared::shared;
