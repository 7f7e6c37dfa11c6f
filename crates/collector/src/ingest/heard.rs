//! [`Heard`]: what a batch tells of its sender.

use axum::http::{HeaderMap, HeaderName, header};
use queryscope_protocol::limits::DROPPED_MAX;
use queryscope_protocol::{DROPPED_HEADER, IMPORTED_HEADER, STREAM_HEADER, StreamId};
use queryscope_store::{Facts, QueryPart, StreamProcess};

use crate::access::one;
use crate::senders::{Identity, Named};

const STREAM: HeaderName = HeaderName::from_static(STREAM_HEADER);
const DROPPED: HeaderName = HeaderName::from_static(DROPPED_HEADER);
const IMPORTED: HeaderName = HeaderName::from_static(IMPORTED_HEADER);
/// Characters of a `User-Agent` that are kept.
const AGENT_CHARS_MAX: usize = 200;

/// What a batch tells of its sender: its headers at once, its body when it has been read.
#[derive(Debug)]
pub(crate) struct Heard {
    /// The project of its token.
    pub(crate) project: String,
    /// When its head came, in Unix nanoseconds.
    pub(crate) at_unix_ns: i64,
    pub(crate) agent: Option<String>,
    /// The stream that its headers name.
    pub(crate) stream: Option<StreamId>,
    /// Events that its process dropped since its start.
    pub(crate) dropped: Option<u64>,
    /// Whether it is no news: a run in it without an end does not run.
    pub(crate) is_imported: bool,
    /// The process of its body.
    pub(crate) process: Option<(StreamId, Named)>,
    /// The newest moment that its events tell, in Unix nanoseconds.
    pub(crate) newest_unix_ns: Option<i64>,
}

impl Heard {
    /// A batch of which nothing is told but its project.
    pub(crate) fn of_project(project: String, at_unix_ns: i64) -> Self {
        Self {
            project,
            at_unix_ns,
            agent: None,
            stream: None,
            dropped: None,
            is_imported: false,
            process: None,
            newest_unix_ns: None,
        }
    }

    /// A batch with these headers. What is not as it should be in them tells nothing.
    pub(crate) fn of_headers(project: String, at_unix_ns: i64, headers: &HeaderMap) -> Self {
        let agent = one(headers, &header::USER_AGENT).map(str::trim).filter(|agent| !agent.is_empty());
        Self {
            agent: agent.map(|agent| agent.chars().take(AGENT_CHARS_MAX).collect()),
            stream: one(headers, &STREAM).and_then(|id| id.parse().ok()),
            dropped: one(headers, &DROPPED).and_then(count),
            is_imported: one(headers, &IMPORTED) == Some("1"),
            ..Self::of_project(project, at_unix_ns)
        }
    }

    /// Which sender it is of: the body says it, else the headers.
    pub(crate) fn identity(&self) -> Identity {
        let of_body = self.process.as_ref().map(|(id, _)| *id);
        of_body.or(self.stream).map_or_else(|| Identity::Agent(self.agent.clone()), Identity::Stream)
    }

    /// Takes over the process event.
    pub(crate) fn learn_process(&mut self, process: &StreamProcess) {
        let StreamProcess { id, service, environment, program_version, host, line: _ } = process;
        let named = Named {
            service: service.clone(),
            environment: environment.clone(),
            program_version: program_version.clone(),
            host: host.clone(),
        };
        self.process = Some((*id, named));
    }

    /// Takes over the newest moment of the events: a profile is made its `wall_ms` after the start of its run.
    pub(crate) fn learn_time(&mut self, parts: &[QueryPart]) {
        let profiles = parts.iter().flat_map(|part| part.report.started.iter().chain(&part.report.finished));
        let made = |facts: &Facts| Some(facts.started_unix_ns?.saturating_add((facts.wall_ms * 1e6) as i64));
        self.newest_unix_ns = profiles.filter_map(made).max();
    }
}

/// Digits alone, up to [`DROPPED_MAX`].
fn count(text: &str) -> Option<u64> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|count| is_digits && *count <= DROPPED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "210de94c-dce3-44f0-9cd3-2604c74dbeea";

    fn heard(headers: &[(&'static str, &str)]) -> Heard {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        Heard::of_headers("default".into(), 7, &map)
    }

    #[test]
    fn headers_tell_the_stream_the_agent_and_what_was_dropped() {
        let told = heard(&[("user-agent", " x/1 "), ("queryscope-stream", ID), ("queryscope-dropped", "12")]);
        assert_eq!((told.agent.as_deref(), told.dropped), (Some("x/1"), Some(12)));
        assert_eq!(told.identity(), Identity::Stream(ID.parse().expect("an id")));
        let long = heard(&[("user-agent", &"ab".repeat(200))]);
        assert_eq!(long.identity(), Identity::Agent(Some("ab".repeat(100))));
    }

    #[test]
    fn headers_that_are_not_as_they_should_be_tell_nothing() {
        for wrong in ["", "-1", "+1", "1.0", "1e3", " ", "1000000000000000", "99999999999999999999", "x"] {
            assert_eq!(heard(&[("queryscope-dropped", wrong)]).dropped, None, "{wrong:?}");
        }
        assert_eq!(heard(&[("queryscope-dropped", "999999999999999")]).dropped, Some(DROPPED_MAX));
        let twice = heard(&[("queryscope-dropped", "1"), ("queryscope-dropped", "1")]);
        assert_eq!(twice.dropped, None);
        for wrong in ["", "x", "210de94cdce344f09cd32604c74dbeea"] {
            assert_eq!(heard(&[("queryscope-stream", wrong)]).identity(), Identity::Agent(None), "{wrong:?}");
        }
    }
}
