//! See `queryscope_fuzzed::batch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::batch(bytes));
