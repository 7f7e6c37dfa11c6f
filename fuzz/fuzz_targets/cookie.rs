//! See `queryscope_fuzzed::cookie`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::cookie(bytes));
