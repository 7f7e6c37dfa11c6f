//! Every input that fuzzing found worth keeping, on the toolchain of every day.

use std::fs;
use std::path::Path;

use queryscope_fuzzed::TARGETS;

/// Bytes of all corpora together: they are cloned by everybody.
const BYTES_MAX: u64 = 1 << 20;

fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |file: fs::DirEntry| {
        let bytes = fs::read(file.path()).expect("a file");
        (file.file_name().to_string_lossy().into_owned(), bytes)
    };
    files.map(|file| read(file.expect("an entry"))).collect()
}

#[test]
fn every_input_of_every_corpus_passes() {
    let mut bytes = 0;
    for (name, target) in TARGETS {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "the corpus of {name} is empty");
        for (file, input) in inputs {
            // The name of the input, should the target panic.
            println!("fuzz/corpus/{name}/{file}");
            target(&input);
            bytes += input.len() as u64;
        }
    }
    assert!(bytes <= BYTES_MAX, "the corpora have {bytes} bytes: minimise them");
}

#[test]
fn every_target_is_built_for_the_fuzzer() {
    for (name, _) in TARGETS {
        let file = format!("{}/../../fuzz/fuzz_targets/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&file).expect("a target");
        assert!(text.contains(&format!("queryscope_fuzzed::{name}(")), "{file}");
    }
}
