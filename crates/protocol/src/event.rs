//! One event: a line of a batch.

use std::borrow::Cow;

use crate::check::{
    self, Allowed, Anything, Counters, Cursor, DecimalMap, Depth, EventsEngine, Id, Integer, Kept, LaterText,
    Millis, Nested, Optional, Problem, Profile, Rule, Stop, Unsigned, object,
};
use crate::error::{BatchErrorKind, Step, got};
use crate::id::{QueryId, Seq, StreamId};
use crate::summary::ProfileSummary;
use crate::text::Text;

/// An event and the line it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// The line as it was sent, without its line feed.
    pub line: &'a str,
    /// Number of the event within its stream.
    pub seq: Seq,
    /// The engine the format name carries; `None` for the neutral form.
    pub engine: Option<Cow<'a, str>>,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What an event tells.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind<'a> {
    /// `process`: what the sending process is.
    Process(Process<'a>),
    /// `query.started`: the profile so far, without counters.
    Started(QueryId, Box<ProfileSummary<'a>>),
    /// `query.progress`: a sample of the counters that changed, this many milliseconds after the start.
    Progress(QueryId, f64),
    /// `query.finished`: the complete profile.
    Finished(QueryId, Box<ProfileSummary<'a>>),
    /// A type this version does not know, with the query it belongs to when it names one.
    Other(Option<QueryId>),
}

impl EventKind<'_> {
    /// The query the event belongs to.
    pub fn query_id(&self) -> Option<QueryId> {
        match self {
            Self::Process(_) => None,
            Self::Started(id, _) | Self::Progress(id, _) | Self::Finished(id, _) => Some(*id),
            Self::Other(id) => *id,
        }
    }
}

/// What the sending process is.
#[derive(Debug, Clone, PartialEq)]
pub struct Process<'a> {
    /// Identity of the stream.
    pub id: StreamId,
    /// What the process is, as configured.
    pub service: Option<Text<'a>>,
    /// Where it runs, as configured.
    pub environment: Option<Text<'a>>,
    /// Version of the program, as configured.
    pub program_version: Option<Text<'a>>,
    /// Name of its machine.
    pub host: Text<'a>,
    /// Process id on its machine.
    pub pid: Option<u64>,
    /// When the process started, in Unix nanoseconds.
    pub started_unix_ns: Option<i64>,
}

impl<'a> Event<'a> {
    /// Reads one line as it is sent, and checks every member the format names.
    ///
    /// # Errors
    /// What is wrong with the line, and what is allowed.
    pub fn read(line: &'a str) -> Result<Self, BatchErrorKind> {
        Self::read_to(line, Depth::Whole)
    }

    /// Reads one line as it is stored. Earlier versions accepted lines that [`Event::read`] refuses: below the first
    /// level of a profile or sample, nothing is checked here.
    ///
    /// # Errors
    /// What is wrong with the line, and what is allowed.
    pub fn read_stored(line: &'a str) -> Result<Self, BatchErrorKind> {
        Self::read_to(line, Depth::Summary)
    }

    fn read_to(line: &'a str, depth: Depth) -> Result<Self, BatchErrorKind> {
        let (seq, engine, kind) = match type_of(line)?.as_ref() {
            "process" => check::read::<ProcessLine>(line, depth)?,
            "query.started" => {
                let (seq, engine, id, profile) = profile(line, depth)?;
                (seq, engine, EventKind::Started(id, profile))
            }
            "query.finished" => {
                let (seq, engine, id, profile) = profile(line, depth)?;
                (seq, engine, EventKind::Finished(id, profile))
            }
            "query.progress" => check::read::<ProgressLine>(line, depth)?,
            _ => check::read::<OtherLine>(line, depth)?,
        };
        Ok(Self { line, seq, engine, kind })
    }
}

/// Number, engine and kind of an event.
type Read<'a> = (Seq, Option<Cow<'a, str>>, EventKind<'a>);
/// The same of an event with a profile.
type ReadProfile<'a> = (Seq, Option<Cow<'a, str>>, QueryId, Box<ProfileSummary<'a>>);

/// Reads an event with a profile, which must be of the event's query.
fn profile(line: &str, depth: Depth) -> Result<ReadProfile<'_>, BatchErrorKind> {
    let event = check::read::<ProfileLine>(line, depth)?;
    let (_, _, query_id, profile) = &event;
    if depth == Depth::Whole && profile.query_id.parse() != Ok(*query_id) {
        let path = vec![Step::member("profile"), Step::member("query_id")].into();
        let allowed = format!("the query_id of the event, {query_id}");
        return Err(BatchErrorKind::NotAllowed {
            path,
            allowed,
            got: got(&format!("{:?}", &*profile.query_id)),
        });
    }
    Ok(event)
}

object! {
    /// A `process` event.
    ProcessLine as "a JSON object" -> Read<'de> {
        required {
            schema: EventsEngine,
            seq: EventSeq,
            id: Id,
            host: Kept,
        }
        optional {
            service: Optional<Kept>,
            environment: Optional<Kept>,
            program_version: LaterText,
            pid: Optional<Unsigned>,
            started_unix_ns: Optional<Integer>,
        }
        others: Anything,
    }
    keeps {
        let process = Process {
            id: StreamId::new(id),
            service: service.flatten(),
            environment: environment.flatten(),
            program_version: program_version.flatten(),
            host,
            pid: pid.flatten(),
            started_unix_ns: started_unix_ns.flatten(),
        };
        (seq, schema, EventKind::Process(process))
    }
}

object! {
    /// A `query.started` or `query.finished` event.
    ProfileLine as "a JSON object" -> ReadProfile<'de> {
        required {
            schema: EventsEngine,
            seq: EventSeq,
            query_id: Id,
            profile: Profile,
        }
        optional {}
        others: Anything,
    }
    keeps (seq, schema, QueryId::new(query_id), Box::new(profile))
}

object! {
    /// A `query.progress` event.
    ProgressLine as "a JSON object" -> Read<'de> {
        required {
            schema: EventsEngine,
            seq: EventSeq,
            query_id: Id,
            elapsed_ms: Millis,
            nodes: DecimalMap<Nested<Counters>>,
        }
        optional {}
        others: Anything,
    }
    keeps (seq, schema, EventKind::Progress(QueryId::new(query_id), elapsed_ms))
}

object! {
    /// An event of a type this version does not know.
    OtherLine as "a JSON object" -> Read<'de> {
        required {
            schema: EventsEngine,
            seq: EventSeq,
        }
        optional {
            query_id: Optional<Id>,
        }
        others: Anything,
    }
    keeps (seq, schema, EventKind::Other(query_id.flatten().map(QueryId::new)))
}

/// The number of an event within its stream.
struct EventSeq;

impl<'de> Rule<'de> for EventSeq {
    type Value = Seq;
    const ALLOWED: Allowed = Allowed::new("an integer from 1 to 9223372036854775807");

    fn read(cursor: &mut Cursor<'de>) -> Result<Seq, Stop> {
        Seq::new(Unsigned::read(cursor)?).map_err(|_| Stop)
    }
}

/// Finds the `type` of a line and reads no further than that: most lines name it before anything long.
fn type_of(line: &str) -> Result<Cow<'_, str>, BatchErrorKind> {
    let mut cursor = Cursor::new(line, Depth::Whole);
    match find_type(&mut cursor) {
        Ok(name) => Ok(name),
        Err(Stop) => Err(cursor.into_error()),
    }
}

fn find_type<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Stop> {
    let start = cursor.skip_space();
    if !cursor.takes(b'{') {
        cursor.note(start, Problem::NotAllowed(Allowed::new("a JSON object")));
        return Err(Stop);
    }
    let mut goes_on = !cursor.takes(b'}');
    while goes_on {
        if cursor.name()? == "type" {
            let name = check::expect::<Kept>(cursor).inspect_err(|_| cursor.step(Step::member("type")))?;
            return Ok(name.into_inner());
        }
        cursor.skip_value()?;
        goes_on = cursor.goes_on(b'}')?;
    }
    cursor.end()?;
    Err(cursor.missing("type"))
}

#[cfg(test)]
mod tests;
