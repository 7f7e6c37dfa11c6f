//! Messages of issues: who gets them, what they say, and how they are sent.
//!
//! The problem: a transition of an issue is to reach the right people once, in the form of their tool, over failures of
//! the receiver. The mechanism, in the order of a message: [`Config`] is one file that names receivers, routes,
//! owners and the price of CPU time. [`compose`] turns notices of transitions into [`Message`]s, those of one cause
//! into one. [`Sender`] sends a message and says whether to try again. When and how often is decided where the outbox
//! is read (the job `delivery` of the collector). Prior art: the routing of Alertmanager, CODEOWNERS, CloudEvents, the
//! signatures of Stripe.
//!
//! Time and randomness are parameters. The clock that senders read is tokio's.

#![cfg_attr(test, expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly"))]

mod addresses;
mod alertmanager;
mod compose;
mod config;
mod facts;
mod http;
mod mail;
mod message;
mod owners;
mod pace;
mod raw;
mod redact;
mod secret;
mod sender;
mod slack;
#[cfg(feature = "testsuite")]
pub mod testsuite;
mod webhook;
mod words;

pub use addresses::{Allowed, Blocked};
pub use alertmanager::{REFRESH_EVERY, labels as alert_labels};
pub use compose::{GROUP_LASTS, Group, Made, compose};
pub use config::{Config, Price, Problem, Problems, Receiver, Route};
pub use facts::{Account, Facts};
pub use message::{Member, Message};
pub use owners::{OwnerRule, Owners};
pub use pace::{GIVE_UP_AFTER, pause};
pub use secret::{Secret, Secrets};
pub use sender::{Outcome, Sender};
pub use webhook::signature;
