//! Queries of real sessions, from SQL to the events that are sent.

#![expect(clippy::disallowed_methods, reason = "real time passes in these tests")]

mod collector;
mod ends;
mod memory;
mod provoked;
mod redaction;
mod tpch;
mod ways;
