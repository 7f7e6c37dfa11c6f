//! Everything that can happen to a service, and senders that remember what it told them.
//!
//! The senders ([`Traffic`]) keep what was acknowledged; `queryscope check` judges the data folder against it after
//! each kill, loss of power, full disk or failing call. docs/internals/reliability.md says what is covered and how.

#![expect(clippy::disallowed_methods, reason = "it waits for real processes")]

mod binary;
mod cli;
mod clock;
mod disk;
mod events;
mod http;
mod mounted;
mod rows;
mod service;
mod source;
mod strace;
mod trace;
mod traffic;

pub use cli::main;
pub use events::Stream;
pub use http::{Answer, Client};
pub use mounted::Mounted;
pub use traffic::{Address, Traffic};
