//! The collector as senders and readers meet it: through its real router and, where sockets matter, through
//! real sockets. Each test has a store and recordings of its own.

mod app;
mod events;
mod faulty;
mod large;
mod socket;

mod access;
mod analysis;
mod answers;
mod changes;
mod dashboard;
mod delivery;
mod deploys;
mod export;
mod ingest;
mod issues;
mod metrics;
mod notes;
mod openapi;
mod read;
mod replay;
mod retention;
mod security;
mod senders;
mod sockets;
mod states;
mod views;
