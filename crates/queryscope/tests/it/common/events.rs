//! Streams of events.

use std::path::PathBuf;

pub(crate) use queryscope_torture::Stream;

/// What a real sender posted: one gzip file a request, in the order they arrived.
pub(crate) fn captures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the captures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    files.sort();
    files
}
