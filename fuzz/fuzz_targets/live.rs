//! See `queryscope_fuzzed::live`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::live(bytes));
