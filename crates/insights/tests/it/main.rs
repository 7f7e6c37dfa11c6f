//! What the functions say of the traffic of a real sender.

mod captures;
mod compare;
mod engines;
mod events;
mod findings;
mod made;
mod progress;
mod tpch;
mod user_code;
mod vocabulary;
