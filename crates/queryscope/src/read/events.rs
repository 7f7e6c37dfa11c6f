//! The events of one run: its plan with what the nodes have counted.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use queryscope_insights::Latest;
use queryscope_protocol::{Event, EventKind, Profile};
use reqwest::Response;

use super::service::{Service, segment};
use super::sse::{Message, Parser};

/// A stream without a byte for so long is dead: the service sends a comment every 15 s.
pub(crate) const SILENT_MAX: Duration = Duration::from_secs(40);
/// A running run has told all so far when nothing comes for so long.
const TOLD: Duration = Duration::from_millis(300);
/// A run whose samples never pause.
const TOLD_MAX: usize = 64;

/// A live stream.
pub(crate) struct Stream {
    response: Response,
    parser: Parser,
    waiting: std::collections::VecDeque<Message>,
}

impl Stream {
    /// Opens a stream, behind a message that was read before.
    ///
    /// # Errors
    /// As those of [`Service::get`].
    pub(crate) async fn open(
        service: &Service,
        path: &str,
        params: &[(&str, String)],
        after: Option<&str>,
    ) -> Result<Self> {
        let opening = tokio::time::timeout(SILENT_MAX, service.open(path, params, after)).await;
        let response = opening.context("the service does not answer")??;
        Ok(Self { response, parser: Parser::default(), waiting: std::collections::VecDeque::new() })
    }

    /// The next message; `None` at the end of the stream. May be dropped while it waits.
    ///
    /// # Errors
    /// When the connection ends in the middle, or nothing comes for [`SILENT_MAX`].
    pub(crate) async fn next(&mut self) -> Result<Option<Message>> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Ok(Some(message));
            }
            let chunk = tokio::time::timeout(SILENT_MAX, self.response.chunk()).await;
            let chunk = chunk.context("the stream is silent")?.context("the stream was cut off")?;
            let Some(chunk) = chunk else { return Ok(None) };
            self.waiting.extend(self.parser.take(&chunk)?);
        }
    }
}

/// What the events of a run have told so far.
#[derive(Debug, Default)]
pub(crate) struct RunEvents {
    /// The event with the last profile: of the start, or of the end.
    profile: Option<String>,
    has_ended: bool,
    latest: Latest,
}

impl RunEvents {
    /// Takes the data of a message `events`.
    pub(crate) fn take(&mut self, data: &str) {
        for line in data.lines() {
            // A line that cannot be read says nothing of the plan; the service has checked it once.
            let Ok(event) = Event::read_stored(line) else { continue };
            match event.kind {
                // It replaces everything before.
                EventKind::Process(_) => *self = Self::default(),
                EventKind::Started(..) if !self.has_ended => self.profile = Some(line.to_owned()),
                EventKind::Finished(..) => {
                    self.profile = Some(line.to_owned());
                    self.has_ended = true;
                }
                EventKind::Progress(..) => {
                    if let Ok(Some(sample)) = event.sample() {
                        self.latest.take(sample);
                    }
                }
                EventKind::Started(..) | EventKind::Other(_) => {}
            }
        }
    }

    /// The event that ended the run, where it has ended.
    pub(crate) fn into_last_event(self) -> Option<String> {
        self.profile.filter(|_| self.has_ended)
    }

    /// The profile with the counters of now; `None` while no event has one.
    pub(crate) fn profile(&self) -> Option<Profile<'_>> {
        let line = self.profile.as_deref()?;
        let profile = Event::read_stored(line).ok()?.profile().ok()??;
        Some(if self.has_ended { profile } else { self.latest.of(profile) })
    }
}

/// All that a run has told.
///
/// # Errors
/// When the events cannot be read.
pub(crate) async fn read(service: &Service, run: &str) -> Result<RunEvents> {
    let path = format!("/api/live/{}", segment(run));
    let mut stream = Stream::open(service, &path, &[], None).await?;
    let mut events = RunEvents::default();
    let mut messages = 0;
    loop {
        let next = if messages == 0 {
            stream.next().await?
        } else {
            match tokio::time::timeout(TOLD, stream.next()).await {
                Ok(next) => next?,
                Err(_) if events.profile.is_some() => return Ok(events),
                Err(_) => bail!("its events say nothing of its plan yet"),
            }
        };
        let Some(Message { event, data, .. }) = next else { return Ok(events) };
        match event.as_str() {
            "finished" => return Ok(events),
            "events" => events.take(&data),
            _ => {}
        }
        messages += 1;
        if messages > TOLD_MAX && !events.has_ended && events.profile.is_some() {
            // Behind the events so far, each message is a new sample.
            return Ok(events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn line(kind: &str, rest: &str) -> String {
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":2,"type":"{kind}","query_id":"{QUERY}",{rest}}}"#
        )
    }

    fn profile(kind: &str, wall_ms: f64, metrics: &str) -> String {
        let node = format!(r#"{{"id":1,"kind":"Scan","role":"scan","inputs":[]{metrics}}}"#);
        let plan = format!(r#""plan":{{"physical":[{node}],"logical":[]}}"#);
        let head = r#""schema":"engine-telemetry/profile@1""#;
        line(kind, &format!(r#""profile":{{{head},"query_id":"{QUERY}","wall_ms":{wall_ms},{plan}}}"#))
    }

    fn rows(events: &RunEvents) -> Option<u64> {
        events.profile()?.plan.physical[0].metrics.as_ref()?.get("rows_out")
    }

    #[test]
    fn a_running_run_has_its_latest_counters_and_an_ended_one_the_last() {
        let mut events = RunEvents::default();
        assert!(events.profile().is_none());
        events.take(&profile("query.started", 1000.0, ""));
        events.take(&line("query.progress", r#""elapsed_ms":1500,"nodes":{"1":{"rows_out":5}}"#));
        assert_eq!(rows(&events), Some(5));
        events.take(&profile("query.finished", 2000.0, r#","metrics":{"rows_out":9}"#));
        events.take(&profile("query.started", 1000.0, ""));
        assert_eq!(rows(&events), Some(9), "a late start changes nothing");
        let process = line("process", r#""id":"01a1faa8-1bd9-77b2-97ab-860dd7026507","host":"h""#);
        events.take(&process.replace(&format!(r#""query_id":"{QUERY}","#), ""));
        assert!(events.profile().is_none(), "everything comes anew");
    }
}
