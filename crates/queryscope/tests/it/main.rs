//! The real binary in a folder of its own: as a service that is killed and restarted, and as every command.

#![expect(clippy::disallowed_methods, reason = "real time passes in these tests")]

mod arrows;
mod backup;
mod bucket;
mod check;
mod common;
mod demo;
mod displaced;
mod evaluated;
mod formats;
mod full;
mod gate;
mod help;
mod import;
mod import_profiles;
mod log;
mod migrate;
mod open_files;
mod read;
mod recording;
mod restart;
mod retention;
mod rolling;
mod sender;
mod shared;
mod tokens;
mod top;
mod users;
