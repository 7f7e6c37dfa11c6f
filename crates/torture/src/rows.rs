//! What can happen, a module each.

mod crash;
mod faults;
mod flips;
mod lost;
mod order;
mod points;
mod power;
mod retention;
mod same;
mod soak;
mod space;
mod stop;

use std::path::PathBuf;

use anyhow::Result;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::binary::Binary;

/// Something that can happen.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Rounds that take a few seconds, and those the report is made from.
    pub(crate) quick: u32,
    pub(crate) long: u32,
    /// Gives figures, or why the promise did not hold.
    pub(crate) run: fn(&Setup, u32) -> Result<String>,
}

/// What a row works with.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) binary: Binary,
    /// A folder of the row's own, empty.
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
}

impl Setup {
    pub(crate) fn random(&self) -> StdRng {
        StdRng::seed_from_u64(self.seed)
    }
}

const fn row(
    name: &'static str,
    what: &'static str,
    quick: u32,
    long: u32,
    run: fn(&Setup, u32) -> Result<String>,
) -> Row {
    Row { name, what, quick, long, run }
}

pub(crate) const ROWS: &[Row] = &[
    row("crash", "SIGKILL at random under load, and while recordings are written", 6, 1000, crash::run),
    row("points", "SIGKILL at each point of the path", 11, 330, points::run),
    row("order", "a sync of the log between each request and its 202", 1, 10, order::run),
    row(
        "power",
        "loss of power at any call: all, some or none of what was not synced is lost",
        2,
        100,
        power::run,
    ),
    row("faults", "EIO, ENOSPC and short writes at the N-th call", 6, u32::MAX, faults::run),
    row("space", "no space beyond any byte: 503, reads go on, recovers by itself", 4, 200, space::limit),
    row("full", "a full file system: ingest, reads, backup, start, retention, stop", 1, 10, space::full),
    row("flips", "a flipped bit is found and named, or nobody sees it", 4, 300, flips::run),
    row("same", "the same events over 100 connections at once: stored once, in order", 1, 50, same::run),
    row("lost", "the answer is lost, and the batch sent again", 300, 10_000, lost::run),
    row("stop", "SIGTERM under load: what is stored was answered, nothing is refused", 2, 100, stop::run),
    row("retention", "old queries go while they are read and the process is killed", 1, 50, retention::run),
    row("soak", "memory, log and descriptors stay flat; rounds are seconds", 4, 900, soak::run),
];
