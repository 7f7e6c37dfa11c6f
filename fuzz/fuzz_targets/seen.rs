//! See `queryscope_fuzzed::seen`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::seen(bytes));
