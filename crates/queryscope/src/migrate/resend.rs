//! A run of the folder as batches that make the same run of it elsewhere.

use anyhow::{Context, Result, bail, ensure};
use queryscope_collector::{Clock, SystemClock};
use queryscope_protocol::{Event, EventKind, Seq};
use queryscope_recordings::LineReader;
use queryscope_store::{
    Facts, Known, Naming, Packer, Query, QueryPart, RecordingParts, Report, Status, StreamBatch,
    StreamProcess,
};

use crate::store::Opened;

/// What is wrong with the folder, and what helps.
pub(crate) const DAMAGED: &str = "it is damaged in the folder (queryscope check --repair mends what can be)";

/// Bytes of lines after which a batch ends.
const BATCH_BYTES: usize = 4 << 20;

/// Reads a query as any reader would, and gives its events in batches.
pub(crate) struct Resend {
    query: Query,
    process: StreamProcess,
    lines: LineReader,
    received_unix_ms: i64,
    tell: Tell,
    events: u64,
    packer: Packer,
}

/// Which events say what the query is.
#[derive(Debug, PartialEq)]
enum Tell {
    /// The one that made its row, which is yet to come.
    Awaited,
    /// None any more.
    Told,
    /// Whichever are left: the row tells of events that are lost.
    All,
}

/// The process of a query's stream, its names as they were made when its row was.
fn process_of(query: &Query, line: &str) -> Option<StreamProcess> {
    let made = |process: &StreamProcess| {
        (&process.service, &process.environment, &process.host)
            == (&query.service, &query.environment, &query.host)
    };
    let mut named = StreamProcess::read_as_named(line);
    let nearest = named.iter().position(made).unwrap_or(0);
    (!named.is_empty()).then(|| named.swap_remove(nearest))
}

impl Resend {
    /// Begins with a query of the folder, which may be `new` to the database; of some the row cannot be `kept` since
    /// events are `lost` that made it.
    pub(crate) async fn of(source: &Opened, parts: RecordingParts, new: bool, lost: bool) -> Result<Self> {
        let query = parts.query.clone();
        let mut process = process_of(&query, &parts.process_line)
            .context("the process event of its stream cannot be read")?;
        // An earlier version did not keep it.
        process.program_version = process.program_version.filter(|_| query.program_version.is_some());
        let process_line = parts.process_line.clone();
        let content = source.recordings.read(&source.store, parts).await.context(DAMAGED)?;
        let mut lines = LineReader::new(query.query_id, content.bytes);
        let first = lines.next_text().await.context(DAMAGED)?;
        ensure!(
            first.as_deref() == Some(process_line.as_bytes()),
            "{DAMAGED}: it does not begin with the process event of its stream"
        );
        // As silent as it was; or heard of now, as all are of which a service hears after a restart.
        let silent = new && query.status == Status::Unfinished;
        let received_unix_ms =
            if silent { StreamBatch::NO_NEWS_UNIX_MS } else { SystemClock::new().unix_ms() };
        let tell = match query.known {
            _ if lost => Tell::All,
            Known::Guess => Tell::Told,
            Known::Started | Known::Finished => Tell::Awaited,
        };
        Ok(Self { query, process, lines, received_unix_ms, tell, events: 0, packer: Packer::new() })
    }

    /// The next events.
    pub(crate) async fn next(&mut self) -> Result<Option<StreamBatch>> {
        let mut texts = Vec::new();
        let mut seqs = Vec::new();
        let mut report = self.silent();
        let mut bytes = 0;
        while bytes < BATCH_BYTES {
            let Some(text) = self.lines.next_text().await.context(DAMAGED)? else { break };
            seqs.push(self.take(&text, &mut report).context(DAMAGED)?);
            bytes += text.len();
            texts.push(text);
        }
        if texts.is_empty() {
            return Ok(None);
        }
        self.events += seqs.len() as u64;
        let part = QueryPart {
            query_id: self.query.query_id,
            seqs,
            gzip: self.packer.pack(texts.iter().map(Vec::as_slice)),
            report,
        };
        Ok(Some(StreamBatch {
            project: self.query.project.clone(),
            process: self.process.clone(),
            received_unix_ms: self.received_unix_ms,
            parts: vec![part],
            loose: Vec::new(),
        }))
    }

    /// Whether everything was there.
    pub(crate) fn end(self, given: Option<u64>) -> Result<()> {
        let stored = self.events;
        if let Some(given) = given.filter(|given| *given != stored) {
            bail!("{DAMAGED}: it was given {given} events, {stored} are stored");
        }
        ensure!(self.tell != Tell::Awaited, "{DAMAGED}: its row is not what its events make of it");
        Ok(())
    }

    /// What is known without any event.
    fn silent(&self) -> Report {
        Report {
            engine: self.query.engine.clone(),
            guessed_start_unix_ns: self.query.started_unix_ns,
            ..Report::default()
        }
    }

    /// Takes what an event says.
    fn take(&mut self, text: &[u8], report: &mut Report) -> Result<Seq> {
        let line = std::str::from_utf8(text).context("a line is not UTF-8")?;
        let event = Event::read_stored(line)?;
        let seq = event.seq;
        ensure!(event.kind.query_id() == Some(self.query.query_id), "event {seq} is of another query");
        let (started, profile) = match &event.kind {
            EventKind::Started(_, profile) => (true, profile),
            EventKind::Finished(_, profile) => (false, profile),
            _ => return Ok(seq),
        };
        let named = |naming| {
            let facts = Facts::named(seq, profile, naming);
            // An earlier version did not keep these.
            Facts {
                engine_version: facts.engine_version.clone().filter(|_| self.query.engine_version.is_some()),
                bytes_read: facts.bytes_read.filter(|_| self.query.bytes_read.is_some()),
                spilled_bytes: facts.spilled_bytes.filter(|_| self.query.spilled_bytes.is_some()),
                peak_memory_bytes: facts.peak_memory_bytes.filter(|_| self.query.peak_memory_bytes.is_some()),
                ..facts
            }
        };
        let mut named = Naming::ALL.map(named).into_iter();
        let facts = match self.tell {
            Tell::Told => None,
            Tell::Awaited => named.find(|facts| self.made_by(started, facts)),
            Tell::All => named.next(),
        };
        let Some(facts) = facts else { return Ok(seq) };
        if self.tell == Tell::Awaited {
            self.tell = Tell::Told;
        }
        // A start nobody said is known from elsewhere.
        let facts =
            Facts { started_unix_ns: facts.started_unix_ns.or(Some(self.query.started_unix_ns)), ..facts };
        let told = if started { &mut report.started } else { &mut report.finished };
        told.get_or_insert(facts);
        Ok(seq)
    }

    /// Whether the row of the query is what these facts make of it.
    fn made_by(&self, started: bool, facts: &Facts) -> bool {
        let facts = Some(facts.clone());
        let report = if started {
            Report { started: facts, ..self.silent() }
        } else {
            Report { finished: facts, ..self.silent() }
        };
        let mut made = Query::first(&self.query.project, &self.process, self.query.query_id, &report);
        if made.status == Status::Running {
            made.status = self.query.status;
        }
        made == self.query
    }
}
