//! What is fuzzed: one function a target.
//!
//! Each takes any bytes and panics when something does not hold. `fuzz/fuzz_targets` gives them to libFuzzer,
//! `tests/corpora.rs` gives them what libFuzzer has found worth keeping.

mod batch;
mod cookie;
mod gzip;
mod headers;
mod insights;
mod live;
mod members;
mod reads;
mod recording;
mod retry_after;
mod seen;
mod service;

pub use batch::batch;
pub use cookie::cookie;
pub use gzip::gzip;
pub use headers::headers;
pub use insights::insights;
pub use live::live;
pub use reads::reads;
pub use recording::recording;
pub use retry_after::retry_after;
pub use seen::seen;

/// A target: its name, which is that of its corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 10] = [
    ("batch", batch),
    ("cookie", cookie),
    ("gzip", gzip),
    ("headers", headers),
    ("insights", insights),
    ("live", live),
    ("reads", reads),
    ("recording", recording),
    ("retry_after", retry_after),
    ("seen", seen),
];
