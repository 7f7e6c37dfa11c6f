//! What the work itself costs on this machine with the best libraries: the floor under every figure.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use libdeflater::Decompressor;
use queryscope_protocol::{Batch, EventKind, QueryId, limits::MAX_BATCH_BYTES};
use serde::Serialize;

use crate::body::Packer;
use crate::process::thread_cpu_seconds;
use crate::workload::{Shapes, Workload};

/// Distinct bodies the floor goes round: more than the caches of the CPU hold.
const BODIES: usize = 24;
/// Level a collector packs its chunks with.
const CHUNK_LEVEL: i32 = 1;
/// Bytes of one append.
const APPEND: [u8; 4096] = [0x5a; 4096];
/// Bytes of the row of one commit: a W3 event as it is kept.
const ROW_BYTES: usize = 1500;

/// The floor, measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Floor {
    /// Decoded MB (10^6 bytes) of W1 per CPU second: inflate, read, pack.
    pub(crate) w1_mb_per_cpu_s: f64,
    /// CPU milliseconds per decoded MB to inflate it.
    pub(crate) inflate_ms_per_mb: f64,
    /// CPU milliseconds per decoded MB to read every envelope and summary.
    pub(crate) read_ms_per_mb: f64,
    /// CPU milliseconds per decoded MB to pack a gzip member (level 1) for each query.
    pub(crate) pack_ms_per_mb: f64,
    /// Durable commits of one row each a second: SQLite, WAL, synchronous=FULL.
    pub(crate) commits_per_s: f64,
    /// Appends of 4 KB a second, each followed by fdatasync.
    pub(crate) syncs_per_s: f64,
}

/// Measures the floor: the CPU part for `each`, commits and appends for `each` in a folder.
///
/// # Errors
/// When the folder cannot be written to, or a body is not what it should be.
pub(crate) fn measure(shapes: &Shapes, folder: &Path, seed: u64, each: Duration) -> Result<Floor> {
    let cpu = measure_cpu(shapes, seed, each)?;
    let per_mb = |seconds: f64| seconds * 1e3 / cpu.mb;
    Ok(Floor {
        w1_mb_per_cpu_s: cpu.mb / (cpu.inflate_s + cpu.read_s + cpu.pack_s),
        inflate_ms_per_mb: per_mb(cpu.inflate_s),
        read_ms_per_mb: per_mb(cpu.read_s),
        pack_ms_per_mb: per_mb(cpu.pack_s),
        commits_per_s: commits_per_second(folder, each)?,
        syncs_per_s: syncs_per_second(folder, each)?,
    })
}

#[derive(Debug, Default)]
struct Cpu {
    mb: f64,
    inflate_s: f64,
    read_s: f64,
    pack_s: f64,
}

fn measure_cpu(shapes: &Shapes, seed: u64, each: Duration) -> Result<Cpu> {
    let mut sender = Packer::default();
    let bodies: Vec<Vec<u8>> = shapes
        .bodies(Workload::W1, 0, seed, crate::clock::unix_ns())
        .take(BODIES)
        .map(|body| sender.pack(&body.text).to_vec())
        .collect();
    let mut decompressor = Decompressor::new();
    let mut packer = Packer::new(CHUNK_LEVEL);
    let mut decoded = vec![0; MAX_BATCH_BYTES];
    let mut gathered = Gathered::default();
    let mut cpu = Cpu::default();
    let begin = Instant::now();
    for body in bodies.iter().cycle() {
        let start = thread_cpu_seconds();
        let length = decompressor.gzip_decompress(body, &mut decoded)?;
        let inflated = thread_cpu_seconds();
        gathered.read(&decoded[..length])?;
        let read = thread_cpu_seconds();
        let packed: usize = gathered.queries().map(|(_, lines)| packer.pack(lines).len()).sum();
        let end = thread_cpu_seconds();
        ensure!((1..length).contains(&packed), "{length} bytes packed into {packed}");
        cpu.mb += length as f64 / 1e6;
        cpu.inflate_s += inflated - start;
        cpu.read_s += read - inflated;
        cpu.pack_s += end - read;
        if begin.elapsed() >= each {
            break;
        }
    }
    Ok(cpu)
}

/// The lines of each query of a batch; its space is used again for the next batch.
#[derive(Debug, Default)]
struct Gathered {
    lines: Vec<(Option<QueryId>, Vec<u8>)>,
    used: usize,
}

impl Gathered {
    /// Reads every event as an ingest must, and gathers the lines of each query.
    fn read(&mut self, body: &[u8]) -> Result<()> {
        self.used = 0;
        let batch = Batch::open(body)?;
        for event in batch.events {
            let event = event?;
            if let EventKind::Finished(_, profile) = &event.kind {
                std::hint::black_box(profile.warnings().count());
            }
            let lines = self.lines_of(event.kind.query_id());
            lines.extend_from_slice(event.line.as_bytes());
            lines.push(b'\n');
        }
        Ok(())
    }

    fn lines_of(&mut self, query: Option<QueryId>) -> &mut Vec<u8> {
        // The events of a query stand together mostly: the last one is looked at first.
        let place = self.lines[..self.used].iter().rposition(|(known, _)| *known == query);
        let place = place.unwrap_or_else(|| {
            self.used += 1;
            if self.lines.len() < self.used {
                self.lines.push((query, Vec::new()));
            }
            let (new, lines) = &mut self.lines[self.used - 1];
            *new = query;
            lines.clear();
            self.used - 1
        });
        &mut self.lines[place].1
    }

    fn queries(&self) -> impl Iterator<Item = &(Option<QueryId>, Vec<u8>)> {
        self.lines[..self.used].iter()
    }
}

fn commits_per_second(folder: &Path, each: Duration) -> Result<f64> {
    let folder = tempfile::tempdir_in(folder)?;
    let database = rusqlite::Connection::open(folder.path().join("floor.sqlite"))?;
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "full")?;
    database.execute("CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)", ())?;
    let mut insert = database.prepare("INSERT INTO chunk (bytes) VALUES (?1)")?;
    let row = [0x5a_u8; ROW_BYTES];
    per_second(each, || Ok(insert.execute([&row[..]]).map(|_| ())?))
}

fn syncs_per_second(folder: &Path, each: Duration) -> Result<f64> {
    let folder = tempfile::tempdir_in(folder)?;
    let mut file = File::create(folder.path().join("floor.log"))?;
    per_second(each, || {
        file.write_all(&APPEND)?;
        Ok(file.sync_data()?)
    })
}

fn per_second(each: Duration, mut once: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    let mut count = 0_u32;
    while begin.elapsed() < each {
        once()?;
        count += 1;
    }
    Ok(f64::from(count) / begin.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captures;

    #[test]
    fn every_part_of_the_floor_is_measured() {
        let shapes = Shapes::from_captures(captures::of_repository()).expect("all shapes");
        let folder = tempfile::tempdir().expect("a folder");
        let floor = measure(&shapes, folder.path(), 3, Duration::from_millis(100)).expect("a floor");
        let parts = floor.inflate_ms_per_mb + floor.read_ms_per_mb + floor.pack_ms_per_mb;
        assert!((floor.w1_mb_per_cpu_s * parts / 1e3 - 1.0).abs() < 1e-6, "{floor:?}");
        assert!(floor.inflate_ms_per_mb > 0.0 && floor.pack_ms_per_mb > 0.0, "{floor:?}");
        assert!(floor.commits_per_s > 1.0 && floor.syncs_per_s > 1.0, "{floor:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn the_lines_of_each_query_are_gathered() {
        let shapes = Shapes::from_captures(captures::of_repository()).expect("all shapes");
        let mut gathered = Gathered::default();
        for (workload, queries) in [(Workload::W1, 24), (Workload::W2, 1)] {
            let body = shapes.bodies(workload, 0, 1, 5).next().expect("a body").text;
            gathered.read(&body).expect("a batch");
            assert_eq!(gathered.queries().count(), queries);
            let events = |lines: &[u8]| lines.split(|byte| *byte == b'\n').count() - 1;
            assert!(gathered.queries().all(|(_, lines)| events(lines) == 9));
            let process_bytes = body.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
            let gathered_bytes: usize = gathered.queries().map(|(_, lines)| lines.len()).sum();
            assert_eq!(gathered_bytes + process_bytes, body.len());
        }
    }
}
