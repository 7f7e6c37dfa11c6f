//! See `queryscope_fuzzed::insights`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queryscope_fuzzed::insights(bytes));
