//! What the functions say of the traffic of a real sender.

mod captures;
mod findings;
