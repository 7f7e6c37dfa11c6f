//! Loss of power.
//!
//! All calls of a service on its data folder are recorded; a model of the file system (`disk`) says what is durable
//! after each. At calls chosen at random the folder is rebuilt as a loss of power there could leave it, and judged
//! against what had been acknowledged by then. The next round goes on from the one that ended the last.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::Setup;
use super::crash::{SERVE, settle};
use crate::clock;
use crate::disk::{Disk, Image, Loss};
use crate::service::Launch;
use crate::strace;
use crate::trace::{Call, calls};
use crate::traffic::Traffic;

const CALLS: &str = "open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,rename,\
                     renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,fsync,fdatasync,\
                     sync_file_range,copy_file_range,sendfile";
/// Larger than any write of the service.
const BYTES_MAX: usize = 32 << 20;
/// The index of the log is in shared memory and made anew from the log.
const IGNORED: &[&str] = &["-shm"];
const TRAFFIC_MAX: Duration = Duration::from_millis(500);
/// Time for queries to fall silent and be sealed.
const QUIET: Duration = Duration::from_millis(1300);
/// Moments at which the power fails in a round, beside its end.
const CUTS: usize = 6;

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    strace::version()?;
    let traffic = Traffic::new(&setup.folder, setup.seed);
    let mut random = setup.random();
    let mut sums = Sums::default();
    // The folder the data folder is made in is part of the model: its name must be durable as well.
    let root = setup.folder.join("disk");
    std::fs::create_dir(&root)?;
    for round in 0..rounds {
        let (before, out) = (Disk::load(&root, IGNORED)?, setup.folder.join("trace"));
        let trace = record(setup, &traffic, &root, &out, round, &mut random)?;
        let image = cut(setup, &traffic, before, &calls(&trace)?, &mut random, &mut sums)
            .with_context(|| format!("round {round}"))?;
        image.write(&root)?;
    }
    let totals = settle(setup, &root.join("data"), &traffic)?;
    let Sums { cuts, undone, writes, names, syncs } = sums;
    Ok(format!(
        "{cuts} losses, on average {} changes not durable; {writes} writes, {names} names, {syncs} syncs; {totals}",
        undone / cuts.max(1)
    ))
}

#[derive(Debug, Default)]
struct Sums {
    cuts: u64,
    undone: u64,
    writes: u64,
    names: u64,
    syncs: u64,
}

/// Lets a service run for a while under load, and ends it in one way or another.
fn record(
    setup: &Setup,
    traffic: &Traffic,
    root: &Path,
    out: &Path,
    round: u32,
    random: &mut StdRng,
) -> Result<String> {
    let data = root.join("data");
    let launch = Launch::new(&setup.binary, &data, &SERVE).log(setup.folder.join("log"));
    let mut service = launch.under(strace::record(CALLS, out, BYTES_MAX)).start()?;
    let pid = service.pid();
    let (quiet, order) = (random.random_bool(0.5), random.random_bool(0.5));
    let load_for = random.random_range(Duration::ZERO..TRAFFIC_MAX);
    if quiet {
        // What the last round left is sealed now.
        std::thread::sleep(QUIET);
    }
    std::thread::scope(|scope| -> Result<()> {
        traffic.send(scope, &service.address, setup.seed.wrapping_add(round.into()), Duration::ZERO);
        std::thread::sleep(load_for);
        if order {
            // It moves its log into the database.
            return service.stop();
        }
        service.kill().map(|_| ())
    })?;
    strace::whole(out, pid)
}

/// Fails the power at some calls and at the end, and gives what is left at the end.
fn cut(
    setup: &Setup,
    traffic: &Traffic,
    mut disk: Disk,
    calls: &[Call],
    random: &mut StdRng,
    sums: &mut Sums,
) -> Result<Image> {
    let concerned: Vec<usize> = (0..calls.len()).filter(|at| disk.is_concerned(&calls[*at])).collect();
    // Half of the moments are those after which something becomes visible that must not come too early.
    let telling = |at: &&usize| !["write", "pwrite64", "openat"].contains(&calls[**at].name.as_str());
    let telling: Vec<usize> = concerned.iter().filter(telling).copied().collect();
    let mut cuts: Vec<usize> = (0..CUTS)
        .filter_map(|n| if n % 2 == 0 { concerned.choose(random) } else { telling.choose(random) })
        .copied()
        .collect();
    cuts.sort_unstable();
    for (at, call) in calls.iter().enumerate() {
        while cuts.first() == Some(&at) {
            cuts.remove(0);
            // The power fails when this call is about to be made.
            judge(setup, traffic, &disk, call.unix_us, random, sums)
                .with_context(|| format!("before {}", call.name_and_place()))?;
        }
        disk.apply(call)?;
    }
    let image = judge(setup, traffic, &disk, clock::unix_us(), random, sums).context("at the end")?;
    sums.writes += disk.stats.writes;
    sums.names += disk.stats.names;
    sums.syncs += disk.stats.syncs;
    Ok(image)
}

/// Fails the power, and judges what is left by what had been acknowledged before.
fn judge(
    setup: &Setup,
    traffic: &Traffic,
    disk: &Disk,
    unix_us: i64,
    random: &mut StdRng,
    sums: &mut Sums,
) -> Result<Image> {
    sums.cuts += 1;
    sums.undone += disk.pending() as u64;
    let loss = *[Loss::All, Loss::Some, Loss::Some, Loss::None].choose(random).unwrap_or(&Loss::All);
    let image = disk.lose_power(loss, random);
    let logs = setup.folder.join("acknowledged");
    std::fs::create_dir_all(&logs)?;
    let acknowledged = traffic.acknowledged_until(unix_us, &logs)?;
    let some = acknowledged.iter().any(|log| log.metadata().is_ok_and(|log| log.len() > 0));
    if !image.has(Path::new("data/queryscope.db")) {
        ensure!(!some, "the database is gone, and something had been acknowledged ({loss:?})");
        return Ok(image);
    }
    ensure!(!some || image.has(Path::new("data/token")), "the token that was in use is gone ({loss:?})");
    let left = setup.folder.join("left");
    image.write(&left)?;
    let data = left.join("data");
    if !some {
        // The database may be half way to its format, which only a service completes.
        let launch = Launch::new(&setup.binary, &data, &SERVE).log(setup.folder.join("log"));
        launch.start()?.stop().with_context(|| format!("started where {loss:?} of it is lost"))?;
    }
    setup.binary.check(&data, acknowledged).with_context(|| format!("{loss:?} of it is lost"))?;
    Ok(image)
}
