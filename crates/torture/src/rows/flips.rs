//! Bits that flip where nobody writes.

mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::Setup;
use super::crash::{SERVE, settle};
use crate::binary::Verdict;
use crate::service::Launch;
use crate::traffic::Traffic;

/// A check finds the flip, and says in which recording or that it is the database; or nobody sees it: every recording
/// is what was sent, and every query is there.
pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let (data, copy) = (setup.folder.join("data"), setup.folder.join("copy"));
    let traffic = Traffic::new(&setup.folder, setup.seed);
    std::thread::scope(|scope| -> Result<()> {
        let mut service = Launch::new(&setup.binary, &data, &SERVE).start()?;
        traffic.send(scope, &service.address, setup.seed, std::time::Duration::from_millis(5));
        std::thread::sleep(std::time::Duration::from_millis(500));
        service.kill().map(|_| ())
    })?;
    settle(setup, &data, &traffic)?;
    wait_until_sealed(setup, &data)?;
    let mut random = setup.random();
    let (mut found, mut unseen) = ([0, 0], [0, 0]);
    for round in 0..rounds {
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        copy_folder(&data, &copy)?;
        let recordings = files(&copy.join("recordings"))?;
        let in_recording = round % 2 == 0;
        let file = if in_recording {
            recordings.choose(&mut random).context("no recording")?.clone()
        } else {
            copy.join("queryscope.db")
        };
        let place = flip(&file, in_recording, &mut random)?;
        match setup.binary.judge(&copy, traffic.acknowledged())? {
            Verdict::Unsound(said) => {
                found[usize::from(in_recording)] += 1;
                let name = file.file_name().and_then(|name| name.to_str()).context("a name")?;
                // A recording of its own is named by its query, a pack by its number.
                let named = if in_recording { name.split('.').next().unwrap_or("") } else { "" };
                ensure!(said.contains(named), "bit {place} of {name}: it is not named:\n{said}");
            }
            Verdict::Sound(_) => {
                unseen[usize::from(in_recording)] += 1;
                let service = Launch::new(&setup.binary, &copy, &SERVE).start()?;
                traffic.compare(&service.address);
                service.stop().with_context(|| format!("bit {place} of {}", file.display()))?;
            }
        }
    }
    Ok(format!(
        "in recordings {} found and named, {} changed nothing that is read; \
         in the database {} found, {} changed nothing",
        found[1], unseen[1], found[0], unseen[0]
    ))
}

/// Every query has ended; gives the service time to write their recordings.
fn wait_until_sealed(setup: &Setup, data: &Path) -> Result<()> {
    let service = Launch::new(&setup.binary, data, &SERVE).start()?;
    let (mut before, mut same) = (0, 0);
    while same < 8 {
        std::thread::sleep(std::time::Duration::from_millis(250));
        let now = super::crash::below(&data.join("recordings"));
        same = if now == before && now > 0 { same + 1 } else { 0 };
        before = now;
    }
    service.stop()
}

/// Flips a bit of a recording, or of a page of the database that is in use.
fn flip(file: &Path, in_recording: bool, random: &mut StdRng) -> Result<String> {
    let mut bytes = fs::read(file)?;
    let range = if in_recording {
        0..bytes.len()
    } else {
        pages::in_use(&bytes).choose(random).context("no page is in use")?.clone()
    };
    let (at, bit) = (random.random_range(range), random.random_range(0..8));
    bytes[at] ^= 1 << bit;
    fs::write(file, bytes)?;
    Ok(format!("{at}.{bit}"))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
