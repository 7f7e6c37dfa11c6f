//! The real binary in a folder of its own: as a service that is killed and restarted, and as every command.

mod common;
mod demo;
mod import;
mod kill;
mod restart;
mod tokens;
