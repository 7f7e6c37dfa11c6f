//! Senders that remember what they were told, and everything that can happen to the service they send to.

mod clock;
mod events;
mod http;
mod source;
mod traffic;

pub use events::Stream;
pub use http::{Answer, Client};
pub use traffic::{Address, Traffic};
