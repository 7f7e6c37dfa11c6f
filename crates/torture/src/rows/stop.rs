//! A stop under load.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Setup;
use crate::service::Launch;
use crate::traffic::Traffic;

/// Requests that are answered before each stop.
const LOAD: u64 = 50;
const LOAD_WITHIN: Duration = Duration::from_mins(1);

/// Nothing is refused, what is answered is stored, and what is stored was answered.
pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let mut acknowledged = Vec::new();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        // Senders of their own: nobody sends again what an earlier stop left without an answer.
        let logs = setup.folder.join(format!("logs-{round}"));
        std::fs::create_dir(&logs)?;
        let seed = setup.seed.wrapping_add(round.into());
        let traffic = Traffic::new(&logs, seed);
        let service = Launch::new(&setup.binary, &data, &[]).start()?;
        let begun = Instant::now();
        slowest = slowest.max(std::thread::scope(|scope| {
            traffic.send(scope, &service.address, seed, Duration::ZERO);
            while traffic.answered() < LOAD && begun.elapsed() < LOAD_WITHIN {
                std::thread::sleep(Duration::from_millis(1));
            }
            let begun = Instant::now();
            service.stop().map(|()| begun.elapsed())
        })?);
        ensure!(traffic.answered() >= LOAD, "too little load: {}", traffic.requests());
        ensure!(traffic.refused() == 0, "{} requests were refused", traffic.refused());
        acknowledged.extend(traffic.acknowledged());
    }
    let answered = kept(&acknowledged)?;
    let held = setup.binary.check(&data, acknowledged)?;
    ensure!(held.events == answered, "{} events are stored, {answered} were answered", held.events);
    Ok(format!("{} events stored, as many answered; slowest stop {} ms", held.events, slowest.as_millis()))
}

/// Events of queries, which alone are kept, in files of what was acknowledged.
fn kept(acknowledged: &[PathBuf]) -> Result<u64> {
    let mut events = 0;
    for log in acknowledged {
        let text = std::fs::read_to_string(log)?;
        events += text.lines().filter(|line| line.contains(r#""query_id":"#)).count() as u64;
    }
    Ok(events)
}
