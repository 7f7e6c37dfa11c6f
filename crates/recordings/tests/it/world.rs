//! A folder of recordings and a store.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use futures_util::TryStreamExt;
use queryscope_recordings::{Content, RecordingError, Recordings, SealRound};
use queryscope_store::testsuite::{BatchBuilder, MemoryStore, facts, query_id};
use queryscope_store::{Packer, RecordingParts, RecordingPlace, Store, unpack};

/// Queries a round of sealing takes.
const LIMIT: usize = 100;

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) recordings: Recordings,
    pub(crate) store: Arc<dyn Store>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recordings = Recordings::local(&folder.path().join("recordings")).expect("a folder");
        Self { folder, recordings, store: Arc::new(MemoryStore::default()) }
    }

    /// Recordings elsewhere.
    pub(crate) fn with(recordings: Recordings) -> Self {
        Self { recordings, ..Self::new() }
    }

    pub(crate) async fn commit(&self, batch: BatchBuilder) {
        self.store.commit(batch.build()).await.expect("stored");
    }

    pub(crate) async fn parts(&self, query: u64) -> RecordingParts {
        self.store.recording(query_id(query)).await.expect("a store").expect("a query")
    }

    /// The bytes a reader gets now.
    pub(crate) async fn read(&self, query: u64) -> Vec<u8> {
        let content = self.recordings.read(&self.store, self.parts(query).await).await.expect("a recording");
        drain(content).await.expect("readable")
    }

    /// The lines a reader gets now, the process event first.
    pub(crate) async fn lines(&self, query: u64) -> Vec<String> {
        lines(&self.read(query).await)
    }

    pub(crate) async fn seal(&self) -> SealRound {
        let round =
            self.recordings.seal_round(&self.store, LIMIT, 4, &HashSet::new()).await.expect("a round");
        assert!(round.left.is_empty(), "{round:?}");
        round
    }

    /// Seals queries into files or objects of their own.
    pub(crate) async fn seal_alone(&self, queries: impl IntoIterator<Item = u64>) {
        for query in queries {
            let written = self.recordings.write(&self.store, query_id(query)).await.expect("written");
            let sealed = vec![written.expect("ended")];
            self.recordings.sync(&sealed).await.expect("synced");
            for path in self.store.seal(sealed).await.expect("a store") {
                if !self.recordings.is_shared() {
                    self.recordings.delete(&path).await.expect("deleted");
                }
            }
        }
    }

    /// Where the sealed recording of a query is.
    pub(crate) async fn place(&self, query: u64) -> RecordingPlace {
        self.parts(query).await.sealed.expect("sealed")
    }

    /// All files and empty folders under the recordings' folder, sorted.
    pub(crate) fn tree(&self) -> Vec<String> {
        let root = self.root();
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let entries: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().collect();
            if entries.is_empty() && folder != root {
                found.push(folder.strip_prefix(&root).expect("below").display().to_string() + "/");
            }
            for entry in entries {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(&root).expect("below").display().to_string());
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("recordings")
    }
}

/// The line of the process event of a batch.
pub(crate) fn process_line(batch: &BatchBuilder) -> String {
    batch.clone().build().process.line
}

/// Ends a query that started at 1 s, in 1970.
pub(crate) fn end(batch: BatchBuilder, query: u64, seq: u64) -> BatchBuilder {
    batch.finished(query, seq, facts("label"))
}

/// The lines of packed bytes.
pub(crate) fn lines(gzip: &[u8]) -> Vec<String> {
    let lines = String::from_utf8(unpack(gzip).expect("sound gzip")).expect("UTF-8");
    assert!(lines.is_empty() || lines.ends_with('\n'));
    lines.lines().map(ToOwned::to_owned).collect()
}

pub(crate) fn seqs(lines: &[String]) -> Vec<u64> {
    let seq = |line: &String| queryscope_protocol::seq_of(line.as_bytes()).expect("a seq").get();
    lines.iter().map(seq).collect()
}

pub(crate) fn pack(line: &str) -> Vec<u8> {
    Packer::new().pack([line.as_bytes()])
}

/// All bytes of a recording, which are as many as it said.
pub(crate) async fn drain(content: Content) -> Result<Vec<u8>, RecordingError> {
    let size = content.size;
    let bytes = content.bytes.try_collect::<Vec<_>>().await?.concat();
    assert!(size.is_none_or(|size| size == bytes.len() as u64));
    Ok(bytes)
}

/// Longest line of noise, in bytes.
const NOISE_BYTES: usize = 5 << 20;

/// Hexadecimal noise, the same each time.
static NOISE: LazyLock<String> = LazyLock::new(|| {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = String::with_capacity(NOISE_BYTES + 16);
    while noise.len() < NOISE_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        write!(noise, "{state:016x}").expect("a string grows");
    }
    noise
});

/// A line of about this many bytes that gzip can make half as long at best.
pub(crate) fn long_line(seq: u64, bytes: usize) -> String {
    format!(r#"{{"seq":{seq},"noise":"{}"}}"#, &NOISE[..bytes])
}
