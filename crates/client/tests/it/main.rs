//! The library as a program uses it: with its threads, and the one installed telemetry.

#![expect(clippy::disallowed_methods, reason = "real time passes in these tests")]

mod end;
mod install;
mod memory;
mod schema;
mod whole;
