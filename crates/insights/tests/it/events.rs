//! Files of events in `tests/data`.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use queryscope_protocol::{Event, EventKind, Profile};

pub(crate) fn inflate(data: &[u8]) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(data).read_to_string(&mut text).expect("gzip");
    text
}

/// The profiles of queries that ended.
pub(crate) fn finished(text: &str) -> Vec<Profile<'_>> {
    let events = text.lines().map(|line| Event::read(line).expect("an event"));
    let ended = events.filter(|event| matches!(event.kind, EventKind::Finished(..)));
    ended.map(|event| event.profile().expect("valid").expect("a profile")).collect()
}
