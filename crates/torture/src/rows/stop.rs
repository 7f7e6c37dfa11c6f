//! A stop under load.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Setup;
use crate::service::Launch;
use crate::traffic::Traffic;

/// Requests that are answered before each stop.
const LOAD: u64 = 50;
const LOAD_WITHIN: Duration = Duration::from_secs(30);

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
    let held = setup.binary.check(&data, acknowledged)?;
    ensure!(held.events == held.acknowledged, "more is stored than was answered, or less: {held:?}");
    Ok(format!("{} events stored, as many answered; slowest stop {} ms", held.events, slowest.as_millis()))
}
