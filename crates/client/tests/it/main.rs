//! The library as a program uses it: with its threads, and the one installed telemetry.

mod end;
mod install;
mod memory;
mod schema;
mod whole;
