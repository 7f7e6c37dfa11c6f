//! Labels of the history that run once more while the demo is watched, so that it is known what is usual of them.

use std::time::Duration;

use anyhow::Context;
use queryscope_protocol::{BatchWriter, Process};
use rand::RngExt;
use rand::rngs::StdRng;

use super::super::id::{query_id, stream_id};
use super::super::recordings::Posting;
use super::labels::{FASTER, LABELS, SLOWER};
use super::{FIRST_SEQ, Run, UP_BEFORE, course};

/// Which label begins how many seconds after the first recording, or before it, and how long it runs.
const PROGRAMME: [(&str, i64, f64); 8] = [
    // About as long as its runs with the new plan.
    (SLOWER, -48, 92_000.0),
    ("orders/ingest-events", 2, 4_100.0),
    ("billing/month-to-date", 4, 29_000.0),
    // Past its usual time: longer than any run of its plan took.
    (FASTER, 9, 26_000.0),
    ("orders/ingest-events", 14, 5_200.0),
    ("orders/ingest-events", 26, 3_800.0),
    ("billing/month-to-date", 37, 16_000.0),
    ("orders/ingest-events", 40, 4_600.0),
];

/// The programme in order of time, as processes of their own send it.
pub(in super::super) fn schedule(rng: &mut StdRng, start_unix_ns: i64) -> anyhow::Result<Vec<Posting>> {
    let mut postings = Vec::new();
    for (name, second, wall_ms) in PROGRAMME {
        let label = LABELS.iter().find(|label| label.name == name).context("no such label")?;
        let begins_ms = second * 1_000;
        let started_unix_ns = start_unix_ns + begins_ms * 1_000_000;
        let (plan, _, failed) = label.story_at(Duration::ZERO);
        let query_id = query_id(rng, started_unix_ns);
        let run = Run { label, plan, query_id, started_unix_ns, wall_ms, volume: 1.0, done: 1.0, failed };
        let process = Process {
            id: stream_id(rng),
            service: Some(label.service.into()),
            environment: Some(label.environment.into()),
            program_version: None,
            host: label.hosts[0].into(),
            pid: Some(rng.random_range(300..32_000)),
            started_unix_ns: Some(started_unix_ns - UP_BEFORE.as_nanos() as i64),
        };
        for (told, seq) in course::course(&run).into_iter().zip(FIRST_SEQ..) {
            let mut writer = BatchWriter::new(None, &process)?;
            course::write(&mut writer, seq, &run, told)?;
            let at_ms = (begins_ms as f64 + told.after_ms()).max(0.0);
            postings.push(Posting {
                at: Duration::from_secs_f64(at_ms / 1_000.0),
                batch: writer.into_bytes(),
                ended: usize::from(matches!(told, course::Told::Finished(_))),
            });
        }
    }
    postings.sort_by_key(|posting| posting.at);
    Ok(postings)
}

#[cfg(test)]
mod tests;
