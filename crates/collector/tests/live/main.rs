//! The live streams, over real sockets.

mod captures;
mod changes;
mod client;
mod costs;
mod ends;
mod events;
mod issues;
mod lost;
mod nodes;
mod one;
mod running;
mod server;
mod slow;
