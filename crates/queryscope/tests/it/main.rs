//! The real binary in a folder of its own: as a service that is killed and restarted, and as every command.

mod arrows;
mod backup;
mod bucket;
mod check;
mod common;
mod demo;
mod displaced;
mod formats;
mod full;
mod help;
mod import;
mod migrate;
mod open_files;
mod recording;
mod restart;
mod retention;
mod rolling;
mod sender;
mod shared;
mod tokens;
