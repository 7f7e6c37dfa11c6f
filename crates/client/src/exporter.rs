//! Where events go.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use queryscope_protocol::{FormatError, StreamId};
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::redaction::Redaction;

/// A place that events go to: what is known of it before anything is sent.
pub trait Exporter: Send + Sync + 'static {
    /// Makes ready to deliver a process's events. Called once at the start, and once more in each child that
    /// the process forks: the child is a stream of its own, and must not use what its parent has open.
    ///
    /// # Errors
    /// What keeps the telemetry from starting.
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError>;

    /// Whether [`Stats`](crate::Stats) count what is delivered here. Not so for a place within the process.
    fn is_counted(&self) -> bool {
        true
    }

    /// What is masked for this place alone, besides what is masked for all.
    fn redaction(&self) -> Redaction {
        Redaction::none()
    }
}

/// Delivers batches, one at a time, on a background thread of its own, which may block.
pub trait Delivery: Send {
    /// Delivers a batch, before the deadline when there is one: the process ends.
    ///
    /// A batch that is answered with [`Answer::Later`] comes again, with the same events in the same bytes,
    /// though perhaps with fewer of them or more behind them.
    fn deliver(&mut self, batch: &Batch<'_>, deadline: Option<Instant>) -> Answer;
}

/// The stream of one process's events.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stream {
    /// Its identity.
    pub id: StreamId,
    /// The process.
    pub pid: u32,
    /// Whether the process is a child that was forked while telemetry ran.
    pub forked: bool,
}

/// Events on their way, as lines of JSON without line feeds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<'b> {
    /// The process event, which opens every batch.
    pub process: &'b [u8],
    /// The events, in the order of their seqs; at least one.
    pub events: &'b [&'b [u8]],
    /// How many events were made for this exporter and dropped since the start of the stream.
    pub dropped: u64,
}

impl Batch<'_> {
    /// The profiles of the queries that ended, each as JSON (profile@1).
    pub fn finished_profiles(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|line| finished_profile(line))
    }

    /// Writes the lines of the batch, each ended by a line feed.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: &mut impl Write) -> std::io::Result<()> {
        for line in std::iter::once(&self.process).chain(self.events) {
            writer.write_all(line)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// The profile of a `query.finished` event, as it stands in its line.
fn finished_profile(line: &[u8]) -> Option<&str> {
    #[derive(Deserialize)]
    struct Finished<'a> {
        r#type: &'a str,
        #[serde(borrow)]
        profile: Option<&'a RawValue>,
    }

    let event: Finished<'_> = serde_json::from_slice(line).ok()?;
    event.profile.filter(|_| event.r#type == "query.finished").map(RawValue::get)
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// It has arrived.
    Delivered,
    /// It may arrive later: send it again, after this time where the server names one.
    Later {
        /// The wait the server asked for.
        after: Option<Duration>,
        /// What happened, for the log.
        problem: String,
    },
    /// It is too large: send the halves.
    TooLarge,
    /// It will never be taken: drop it.
    Refused {
        /// What happened, for the log.
        problem: String,
    },
    /// This sender may not send: never send again.
    Forbidden {
        /// What happened, for the log.
        problem: String,
    },
}

/// Telemetry cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// No exporter was given.
    #[error("there is no exporter: say where events go")]
    NoExporter,
    /// There is neither an option nor an environment variable with a token.
    #[error("there is no token: set the token option or TELEMETRY_TOKEN")]
    NoToken,
    /// A token no header can hold.
    #[error("the token has characters a header cannot hold")]
    Token,
    /// An address that is none.
    #[error("{url:?} is not the address of a server like http://127.0.0.1:7766")]
    Url {
        /// What was given.
        url: String,
    },
    /// An engine name the formats cannot hold.
    #[error(transparent)]
    Engine(#[from] FormatError),
    /// A file that cannot be opened.
    #[error("{path} cannot be opened")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A thread that cannot be started.
    #[error("a background thread cannot be started")]
    Thread(#[source] std::io::Error),
}
