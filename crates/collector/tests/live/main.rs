//! The live streams, over real sockets.

mod captures;
mod client;
mod costs;
mod ends;
mod events;
mod lost;
mod nodes;
mod one;
mod running;
mod server;
mod slow;
