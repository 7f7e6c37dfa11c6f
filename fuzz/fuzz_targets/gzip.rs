//! See `queryscope_fuzzed::gzip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::gzip(bytes));
