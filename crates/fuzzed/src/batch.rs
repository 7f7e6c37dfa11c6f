//! The text of a batch.

use std::borrow::Cow;

use queryscope_protocol::{Batch, Event, EventKind, seq_of};
use serde::de::IgnoredAny;

/// Reads a body as a batch.
///
/// # Panics
/// When a refusal blames no line of the body, an event is not the line it came in, two readers of one line disagree, or
/// what is accepted can not be read as a whole.
pub fn batch(body: &[u8]) {
    let lines: Vec<&[u8]> = lines(body).collect();
    let blamed = |line: Option<usize>| {
        let exists = line.is_none_or(|line| (1..=lines.len().max(1)).contains(&line));
        assert!(exists, "line {line:?} of {} is blamed", lines.len());
    };
    let batch = match Batch::open(body) {
        Ok(batch) => batch,
        Err(error) => return blamed(error.line),
    };
    let mut behind = lines.iter().skip_while(|line| line.trim_ascii().is_empty());
    assert_eq!(Some(&batch.process_line.as_bytes()), behind.next());
    for event in batch.events {
        match event {
            Ok(event) => {
                assert!(behind.any(|line| *line == event.line.as_bytes()), "no line of the body");
                check(&event);
            }
            Err(error) => {
                assert!(!error.kind.to_string().is_empty());
                blamed(error.line);
            }
        }
    }
}

/// An accepted line is JSON and can be read as a whole, and what is read of it later is what was read of it first.
fn check(event: &Event<'_>) {
    assert!(serde_json::from_str::<IgnoredAny>(event.line).is_ok(), "no JSON: {}", event.line);
    assert_eq!(seq_of(event.line.as_bytes()), Some(event.seq), "{}", event.line);
    assert_eq!(Event::read_stored(event.line).as_ref(), Ok(event));
    let sample = event.sample().expect("counters as the format wants them");
    if let (Some(sample), EventKind::Progress(_, elapsed_ms)) = (sample, &event.kind) {
        assert_eq!(sample.elapsed_ms.to_bits(), elapsed_ms.to_bits());
    }
    let profile = event.profile().expect("a profile as the format wants it");
    if let (Some(profile), EventKind::Started(_, summary) | EventKind::Finished(_, summary)) =
        (profile, &event.kind)
    {
        assert_eq!(*profile.query_id, *summary.query_id);
        assert_eq!(profile.wall_ms.to_bits(), summary.wall_ms.to_bits());
        assert_eq!(profile.label.as_deref(), summary.label.as_deref());
        assert_eq!(profile.fingerprint.as_deref(), summary.fingerprint.as_deref());
        assert_eq!(profile.failed.as_deref(), summary.failed.as_deref());
        assert_eq!(profile.started_unix_ns, summary.started_unix_ns);
    }
    if let Some(Cow::Owned(engine)) = &event.engine {
        assert!(!engine.is_empty());
    }
}

/// Lines ended by line feeds; the last one may do without.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}
