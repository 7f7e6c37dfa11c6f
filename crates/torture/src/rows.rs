//! What can happen, a module each.

mod crash;
mod order;
mod points;
mod power;

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

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "crash",
        what: "SIGKILL at random under load, and while recordings are written",
        quick: 6,
        long: 1000,
        run: crash::run,
    },
    Row { name: "points", what: "SIGKILL at each point of the path", quick: 11, long: 330, run: points::run },
    Row {
        name: "order",
        what: "a sync of the log between each request and its 202",
        quick: 1,
        long: 10,
        run: order::run,
    },
    Row {
        name: "power",
        what: "loss of power at any call: all, some or none of what was not synced is lost",
        quick: 3,
        long: 100,
        run: power::run,
    },
    //    Row { name: "faults", what: "EIO, ENOSPC and short writes at the N-th call", quick: 8, long: u32::MAX, run: faults::run },
    //    Row { name: "space", what: "no space for files beyond any byte: 503, reads go on, recovers by itself", quick: 4, long: 200, run: space::limit },
    //    Row { name: "full", what: "a full file system of its own", quick: 1, long: 10, run: space::full },
    //    Row { name: "flips", what: "a flipped bit is found and named, or nobody sees it", quick: 6, long: 300, run: flips::run },
    //    Row { name: "same", what: "the same batch 100 times at once, and windows that overlap", quick: 1, long: 50, run: same::run },
    //    Row { name: "lost", what: "the answer is lost after the commit, and the batch is sent again", quick: 300, long: 10_000, run: lost::run },
    //    Row { name: "stop", what: "SIGTERM under load: no request is refused, and none that was stored goes without answer", quick: 3, long: 100, run: stop::run },
    //    Row { name: "retention", what: "old queries go while they are read and the process is killed", quick: 2, long: 50, run: retention::run },
    //    Row { name: "soak", what: "memory, log and descriptors stay flat (rounds: seconds)", quick: 6, long: 900, run: soak::run },
];
