//! What a group of batches changes, worked out in memory from what the database holds of their streams and runs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use queryscope_protocol::{QueryId, Seq, StreamId};
use queryscope_store::{
    Committed, FreshPart, Known, Packer, Query, SeenChange, SeqRange, Status, StoreError, StreamBatch,
    StreamProcess, seq_ranges,
};

use crate::error::DbError;

/// A stream as it is stored; its row is locked.
#[derive(Debug, Clone)]
pub(crate) struct StoredStream {
    pub(crate) row: i64,
    pub(crate) project: i64,
    pub(crate) process_line: String,
    /// Whether this group made it.
    pub(crate) new: bool,
}

/// What is stored of a query; its row is locked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredQuery {
    pub(crate) row: i64,
    pub(crate) stream: i64,
    pub(crate) status: Status,
    pub(crate) known: Known,
}

/// What the database holds of the streams and queries of a group.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) streams: HashMap<StreamId, StoredStream>,
    pub(crate) queries: HashMap<QueryId, StoredQuery>,
    /// The seen ranges that touch what the group says, by the stream's row.
    pub(crate) seen: HashMap<i64, BTreeMap<u64, u64>>,
}

/// A query the group adds to.
#[derive(Debug)]
pub(crate) struct QueryChange {
    /// Its row; `None` when it is new.
    pub(crate) row: Option<i64>,
    pub(crate) stream: i64,
    /// What it is now; of a query that is not new, only what profiles in the group say.
    pub(crate) query: Query,
    /// What it started at by a profile in the group.
    pub(crate) started_unix_ns: Option<i64>,
    /// Whether a profile in the group says what it is.
    pub(crate) told: bool,
    /// Whether its state or what is known of it is another than before.
    pub(crate) moved: bool,
    /// Events it gets.
    pub(crate) events: i64,
    pub(crate) heard_unix_ms: i64,
}

impl QueryChange {
    /// Whether the row of the query is written.
    pub(crate) fn is_written(&self) -> bool {
        self.row.is_none() || self.moved || self.query.status != Status::Running
    }
}

/// A chunk the group adds, to the query with this place among the changed ones.
#[derive(Debug)]
pub(crate) struct NewChunk<'b> {
    pub(crate) query: usize,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    pub(crate) gzip: Cow<'b, [u8]>,
    /// The query's state with it, and whether that moved.
    pub(crate) status: Status,
    pub(crate) moved: bool,
    pub(crate) new: bool,
}

/// What a group of batches comes to.
#[derive(Debug, Default)]
pub(crate) struct Group<'b> {
    /// A result for each batch.
    pub(crate) results: Vec<Result<Committed, StoreError>>,
    pub(crate) queries: Vec<QueryChange>,
    pub(crate) chunks: Vec<NewChunk<'b>>,
    /// Events that end runs, each with the place of its query among the changed ones.
    pub(crate) ended: Vec<(usize, Seq)>,
    /// Events that no query keeps, by the stream's row.
    pub(crate) unkept: BTreeMap<i64, i64>,
    /// Seen ranges that go, that come, and that grow: the stream's row, the first seq, the last.
    pub(crate) seen_gone: Vec<(i64, i64)>,
    pub(crate) seen_new: Vec<(i64, i64, i64)>,
    pub(crate) seen_grown: Vec<(i64, i64, i64)>,
    /// Rows of streams that were made for batches which were refused.
    pub(crate) unused_streams: Vec<i64>,
    /// A refused batch has decided what a stream is: others of the group must not be judged by that.
    pub(crate) is_to_split: bool,
}

/// Works out what batches change, in their order; the numbers of projects are given.
///
/// # Errors
/// When a chunk is damaged.
pub(crate) fn group<'b>(
    batches: impl Iterator<Item = &'b StreamBatch>,
    projects: impl Fn(&str) -> Option<i64>,
    stored: Stored,
) -> Result<Group<'b>, DbError> {
    let seen_before = stored.seen.clone();
    let mut grouping = Grouping {
        stored,
        places: HashMap::new(),
        used: HashSet::new(),
        packer: Packer::new(),
        group: Group::default(),
    };
    for batch in batches {
        let result = match grouping.check(batch, projects(&batch.project)) {
            Ok(()) => Ok(grouping.add(batch)?),
            Err(refusal) => {
                let stream = grouping.stored.streams.get(&batch.process.id);
                grouping.group.is_to_split |= stream.is_some_and(|stream| stream.new);
                Err(refusal)
            }
        };
        grouping.group.results.push(result);
    }
    Ok(grouping.end(&seen_before))
}

struct Grouping<'b> {
    stored: Stored,
    /// Places of queries among the changed ones.
    places: HashMap<QueryId, usize>,
    /// Streams something was added to.
    used: HashSet<i64>,
    packer: Packer,
    group: Group<'b>,
}

impl<'b> Grouping<'b> {
    fn check(&self, batch: &StreamBatch, project: Option<i64>) -> Result<(), StoreError> {
        let foreign = || StoreError::ForeignStream(batch.process.id);
        let stream = self.stored.streams.get(&batch.process.id).ok_or_else(foreign)?;
        if project != Some(stream.project) {
            return Err(foreign());
        }
        for part in &batch.parts {
            let owner = match self.places.get(&part.query_id) {
                Some(place) => Some(self.group.queries[*place].stream),
                None => self.stored.queries.get(&part.query_id).map(|query| query.stream),
            };
            if owner.is_some_and(|owner| owner != stream.row) {
                return Err(StoreError::ForeignQuery(part.query_id));
            }
        }
        Ok(())
    }

    fn add(&mut self, batch: &'b StreamBatch) -> Result<Committed, DbError> {
        let stream = &self.stored.streams[&batch.process.id];
        let row = stream.row;
        let process = batch.process.as_first_sent(&stream.process_line);
        self.used.insert(row);
        let seqs = batch.seqs();
        let fresh = self.see(row, &seqs);
        let accepted: u64 = fresh.iter().map(|run| run.last - run.first + 1).sum();
        let mut unkept = accepted;
        let mut ended = Vec::new();
        for part in &batch.parts {
            let Some(part) = part.fresh(&fresh, &mut self.packer)? else { continue };
            unkept -= part.events as u64;
            let query_id = part.query_id;
            if self.add_part(row, batch, &process, part) {
                ended.push(query_id);
            }
        }
        if unkept > 0 {
            *self.group.unkept.entry(row).or_default() += unkept.cast_signed();
        }
        Ok(Committed { accepted, duplicates: seqs.len() as u64 - accepted, ended })
    }

    /// Notes seqs of a stream as seen and gives back the runs that had not been.
    fn see(&mut self, stream: i64, seqs: &[Seq]) -> Vec<SeqRange> {
        let ranges = self.stored.seen.entry(stream).or_default();
        let mut fresh = Vec::new();
        for run in seq_ranges(seqs.iter().copied()) {
            let near = run.neighbourhood();
            let touching: Vec<SeqRange> = ranges
                .range(..=near.last)
                .rev()
                .map(|(first, last)| SeqRange { first: *first, last: *last })
                .take_while(|range| range.last >= near.first)
                .collect();
            let touching: Vec<SeqRange> = touching.into_iter().rev().collect();
            let mut change = SeenChange::of(run, &touching);
            for range in &touching {
                ranges.remove(&range.first);
            }
            ranges.insert(change.merged.first, change.merged.last);
            fresh.append(&mut change.fresh);
        }
        fresh
    }

    /// Adds the new events of a query: whether they ended it.
    fn add_part(
        &mut self,
        stream: i64,
        batch: &StreamBatch,
        process: &StreamProcess,
        part: FreshPart<'b>,
    ) -> bool {
        let report = &*part.report;
        let known_place = self.places.get(&part.query_id).copied();
        let place = known_place.unwrap_or(self.group.queries.len());
        if known_place.is_none() {
            let begun = self.begin(stream, batch, process, &part);
            self.group.queries.push(begun);
            self.places.insert(part.query_id, place);
        }
        let change = &mut self.group.queries[place];
        let new = change.row.is_none() && known_place.is_none();
        let before = (change.query.status, change.query.known);
        if !new {
            change.query.hear(report);
        }
        let moved = new || (change.query.status, change.query.known) != before;
        if change.query.known != before.1 || new {
            let facts = report.finished.as_ref().or(report.started.as_ref());
            change.started_unix_ns = facts.and_then(|facts| facts.started_unix_ns).or(change.started_unix_ns);
        }
        let known_before = (!new).then_some(before.1);
        let has_ended = change.query.has_just_ended(known_before);
        let ended = change.query.ended_by(known_before, report);
        self.group.ended.extend(ended.map(|seq| (place, seq)));
        change.told |= change.query.known != before.1;
        change.moved |= moved;
        change.events += part.events as i64;
        change.heard_unix_ms = batch.received_unix_ms;
        let status = change.query.status;
        let FreshPart { first, last, gzip, .. } = part;
        self.group.chunks.push(NewChunk { query: place, first, last, gzip, status, moved, new });
        has_ended
    }

    /// A query before the group adds to it; one that is new, with what it begins with.
    fn begin(
        &self,
        stream: i64,
        batch: &StreamBatch,
        process: &StreamProcess,
        part: &FreshPart<'_>,
    ) -> QueryChange {
        let mut query = Query::first(&batch.project, process, part.query_id, &part.report);
        let stored = self.stored.queries.get(&part.query_id);
        if let Some(stored) = stored {
            // Only what the new events say is at hand; what they do not move is not written.
            (query.status, query.known) = (stored.status, stored.known);
        }
        QueryChange {
            row: stored.map(|stored| stored.row),
            stream,
            query,
            started_unix_ns: None,
            told: false,
            moved: false,
            events: 0,
            heard_unix_ms: batch.received_unix_ms,
        }
    }

    fn end(mut self, before: &HashMap<i64, BTreeMap<u64, u64>>) -> Group<'b> {
        let none = BTreeMap::new();
        for (stream, now) in &self.stored.seen {
            let before = before.get(stream).unwrap_or(&none);
            let gone = before.keys().filter(|first| !now.contains_key(first));
            self.group.seen_gone.extend(gone.map(|first| (*stream, first.cast_signed())));
            for (first, last) in now.iter().filter(|(first, last)| before.get(first) != Some(last)) {
                let is_new = !before.contains_key(first);
                let ranges = if is_new { &mut self.group.seen_new } else { &mut self.group.seen_grown };
                ranges.push((*stream, first.cast_signed(), last.cast_signed()));
            }
        }
        let made = self.stored.streams.values().filter(|stream| stream.new).map(|stream| stream.row);
        self.group.unused_streams = made.filter(|row| !self.used.contains(row)).collect();
        self.group
    }
}

/// All texts of the queries a group writes that are terms.
pub(crate) fn texts_of<'a>(queries: &'a [QueryChange], lists: &'a [Option<String>]) -> BTreeSet<&'a str> {
    let of_query = queries.iter().flat_map(|change| {
        let query = &change.query;
        let always = [query.project.as_str(), query.host.as_str()];
        let optional = [
            &query.service,
            &query.environment,
            &query.engine,
            &query.engine_version,
            &query.program_version,
            &query.label,
            &query.fingerprint,
            &query.failed,
        ];
        always.into_iter().chain(optional.into_iter().filter_map(Option::as_deref))
    });
    of_query.chain(lists.iter().filter_map(Option::as_deref)).collect()
}
