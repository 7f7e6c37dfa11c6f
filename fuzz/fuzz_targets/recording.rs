//! See `queryscope_fuzzed::recording`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::recording(bytes));
