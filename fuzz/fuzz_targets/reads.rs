//! See `queryscope_fuzzed::reads`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::reads(bytes));
