//! See `queryscope_fuzzed::headers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::headers(bytes));
