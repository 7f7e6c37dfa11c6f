//! The same events over many connections at once.

use std::sync::Barrier;

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use rand::seq::SliceRandom;
use uuid::Uuid;

use super::Setup;
use crate::events::Stream;
use crate::http::Client;
use crate::service::Launch;
use crate::traffic::Address;

const CONNECTIONS: usize = 100;
const EVENTS: usize = 40;
/// The largest seq there is.
const SEQ_MAX: u64 = i64::MAX as u64;

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let log = setup.folder.join("acknowledged.jsonl");
    let service = Launch::new(&setup.binary, &data, &[]).start()?;
    let mut random = setup.random();
    let (mut sent, mut stored, mut acknowledged) = (0, 0, Vec::new());
    for _ in 0..rounds {
        let (mut stream, query) = (Stream::new(), Uuid::new_v4());
        // Some begin where seqs end, and all leave gaps.
        let gap = random.random_range(1..4);
        if random.random_bool(0.5) {
            stream.seq = SEQ_MAX - EVENTS as u64 * gap - 1;
        }
        let mut events = vec![stream.started(query, "same")];
        while events.len() < EVENTS - 1 {
            stream.seq += gap - 1;
            events.push(stream.progress(query));
        }
        events.push(stream.finished(query, "same"));

        let all = vec![stream.batch(&events); CONNECTIONS];
        let mut windows: Vec<Vec<u8>> = (0..CONNECTIONS)
            .map(|_| {
                let from = random.random_range(0..EVENTS);
                let mut window = events[from..=random.random_range(from..EVENTS)].to_vec();
                match random.random_range(0..3) {
                    0 => window.reverse(),
                    1 => window.shuffle(&mut random),
                    _ => {}
                }
                stream.batch(&window)
            })
            .collect();
        windows.push(stream.batch(&events));
        // Half of the streams send windows first, half everything.
        let turns = if random.random_bool(0.5) { [windows, all] } else { [all, windows] };
        let mut new = 0;
        for bodies in turns {
            sent += bodies.iter().map(|body| body.split(|byte| *byte == b'\n').count() - 2).sum::<usize>();
            new += post_at_once(&service.address, &bodies)?;
        }
        ensure!(new == EVENTS as u64, "{new} events accepted of {EVENTS}");
        stored += new;
        acknowledged.extend(stream.batch(&events));
        let recorded = Client::new(&service.address.url).recording(query).context("no recording")?;
        ensure!(recorded[1..] == events, "the recording is not what was sent, in order");
    }
    std::fs::write(&log, acknowledged)?;
    service.stop()?;
    let held = setup.binary.check(&data, [log])?;
    ensure!((held.events, held.acknowledged) == (stored, stored), "{held:?}, {stored} accepted");
    Ok(format!("{sent} events sent over {CONNECTIONS} connections at a time, {stored} stored"))
}

/// Posts each body on a connection of its own, all at the same moment; how many events were new.
fn post_at_once(address: &Address, bodies: &[Vec<u8>]) -> Result<u64> {
    let together = Barrier::new(bodies.len());
    std::thread::scope(|scope| {
        let posts: Vec<_> = bodies
            .iter()
            .map(|body| {
                let (client, together) = (Client::new(&address.url), &together);
                scope.spawn(move || {
                    together.wait();
                    Ok(client.post(&address.token, body)?.counts().0)
                })
            })
            .collect();
        posts.into_iter().map(|post| post.join().expect("every answer is a 202")).sum()
    })
}
