//! See `queryscope_fuzzed::retry_after`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::retry_after(bytes));
