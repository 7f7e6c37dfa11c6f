//! A server that speaks S3, for tests: `s3s-fs` over a folder, in the process of the test.
//!
//! It checks signatures as S3 does. It is stopped and started again at the same address, and when told to it
//! answers 503, takes its time, ends connections instead of an answer or in the middle of one. What it cannot
//! show: limits of S3 (rates, 5 MiB a part, 10,000 parts), pages of more than its own names at once, a bucket that
//! is none of its own accord (a write makes it: it is told to say so), and other clouds.

mod faults;
mod server;

pub use faults::Fault;
pub use server::{BUCKET, BucketServer};
