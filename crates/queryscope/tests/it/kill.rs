//! The one promise, under `kill -9`: an event answered with 202 is stored, once, byte for byte.

use std::path::Path;
use std::time::{Duration, Instant};

use queryscope_torture::Traffic;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{Running, Service, below, command};

const ROUNDS: u32 = 50;
/// Traffic runs for up to this long before the process is killed.
const KILLED_WITHIN: Duration = Duration::from_millis(60);
/// Some rounds begin with quiet until recordings are being written, so that kills hit that as well: it begins
/// half a second after the last query fell silent.
const QUIET_MAX: Duration = Duration::from_millis(1500);
const KILLED_SEALING_WITHIN: Duration = Duration::from_millis(20);
/// The folder is checked so often, and at least every so many rounds when there are few.
const CHECKS: u32 = 5;
const CHECKED_EVERY_MIN: u32 = 10;
/// Bounds a check of the folder of a run of many rounds.
const CHECK_WITHIN: Duration = Duration::from_mins(10);
/// Traffic beside a check is as of senders that do not hurry: it must not grow faster than it is checked.
const PAUSE_WHILE_CHECKED: Duration = Duration::from_millis(200);
/// Queries fall silent within a round that begins with quiet: they end, are sealed, and report again later.
const SERVE: [&str; 2] = ["--silent-after", "300ms"];

/// On one data folder. `QUERYSCOPE_KILL_ROUNDS` sets the number of rounds and `QUERYSCOPE_KILL_SEED` what is sent
/// and when the process is killed; which request a kill hits is up to the machine all the same.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    let rounds = setting("QUERYSCOPE_KILL_ROUNDS").unwrap_or(ROUNDS);
    let seed = setting("QUERYSCOPE_KILL_SEED").unwrap_or_else(rand::random);
    println!("QUERYSCOPE_KILL_SEED={seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let traffic = Traffic::new(folder.path(), seed);
    let mut random = StdRng::seed_from_u64(seed);
    let mut slowest_start = Duration::ZERO;

    for round in 0..rounds {
        let begun = Instant::now();
        let service = Service::start_with(&data, &SERVE);
        slowest_start = slowest_start.max(begun.elapsed());
        let sealing = round % 5 == 3;
        if sealing {
            wait_for_sealing(&data.join("recordings"));
        }
        let within = if sealing { KILLED_SEALING_WITHIN } else { KILLED_WITHIN };
        let lives_for = random.random_range(Duration::ZERO..=within);
        let checked = (round + 1) % (rounds / CHECKS).max(CHECKED_EVERY_MIN) == 0;
        std::thread::scope(|scope| {
            let pause = if checked { PAUSE_WHILE_CHECKED } else { Duration::ZERO };
            traffic.send(scope, &service.address(), seed.wrapping_add(round.into()), pause);
            if checked {
                check(&data, &traffic);
            }
            std::thread::sleep(lives_for);
            service.kill();
        });
        if checked {
            check(&data, &traffic);
        }
    }

    let service = Service::start_with(&data, &SERVE);
    traffic.finish(&service.address());
    traffic.compare(&service.address());
    let (queries, events, streams) = traffic.totals();
    let totals = format!("{queries} queries, {events} events, {streams} streams");
    assert!(check(&data, &traffic).starts_with(&totals), "{totals}");
    service.stop();
    assert!(check(&data, &traffic).starts_with(&totals), "{totals}");
    println!("{rounds} rounds, {totals}, {}; slowest start {slowest_start:?}", traffic.requests());
}

/// Waits until files are written, unless there is nothing to write.
fn wait_for_sealing(recordings: &Path) {
    let (begun, before) = (Instant::now(), below(recordings));
    while below(recordings) == before && begun.elapsed() < QUIET_MAX {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Judges the folder, which must be sound and hold what was acknowledged so far.
fn check(data: &Path, traffic: &Traffic) -> String {
    let mut check = command();
    check.arg("check").arg("--data").arg(data);
    for log in traffic.acknowledged() {
        check.arg("--acknowledged").arg(log);
    }
    let checked = Running::start(&mut check).wait_long(CHECK_WITHIN).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
    checked
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: {text:?} is no number")))
}
