//! `queryscope check --repair`: makes derived things anew, and puts aside what is damaged.
//!
//! What an event says, nobody can tell again: an event that is lost is named and counted as lost. Everything else is
//! told by the events that are left: rows of queries, counts, what has been seen, which query a chunk is of, where a
//! recording is. Nothing is thrown away: what is taken out lies in the folder's `quarantine`.

mod events;
mod files;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use queryscope_collector::{Clock, SystemClock};
use queryscope_protocol::{QueryId, Seq, StreamId};
use queryscope_recordings::Location;
use queryscope_store::{
    Account, Query, RecordingPlace, Report, Store, StreamProcess, named_by, pack_named_by,
};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use queryscope_store_sqlite::{Repair, StoredQuery, StoredStream};

use self::events::{Line, lines, members, read};
use self::files::Files;
use super::files::FilesFound;
use super::place::database_options;
use super::queries::Stored;
use super::{Findings, Subject, summary};
use crate::data::DataFolder;

/// Mends what a check has found. The folder is nobody else's meanwhile.
pub(crate) fn run(
    data: &DataFolder,
    stored: &Stored,
    found: FilesFound,
    findings: &mut Findings,
) -> Result<()> {
    let root = root_of_recordings(data)?;
    let mut mending = Mending {
        db: Repair::begin(&data.database(), SystemClock::new().unix_ms())?,
        files: Files::new(data, root, found.damaged.into_iter().collect()),
        rows: &stored.rows,
        waiting: stored.damaged.iter().copied().collect(),
        findings,
    };
    mending.recordings_are_there(data)?;
    mending.wait_for_damaged_packs()?;
    mending
        .mend(stored)
        .context("nothing is repaired; what is damaged in the database itself, only a backup mends")?;
    mending.set_damaged_packs_aside()?;
    for path in found.left.into_iter().filter(|path| path.exists()) {
        if mending.is_pointed_to(&path)? {
            continue;
        }
        mending.files.set_aside(&path)?;
        mending.findings.repaired(
            &Subject::File(path.display().to_string()),
            "no query points to it: it is in quarantine",
        );
    }
    let Mending { db, files, .. } = mending;
    // What was mended points elsewhere.
    db.mend_packs()?;
    db.commit()?;
    files.finish()
}

/// Takes out of a database that others may use what does not say what the rest says, and is not needed.
pub(super) async fn run_shared(address: &str, findings: &mut Findings) -> Result<()> {
    let options = PostgresOptions { answers: false, ..database_options() };
    let store = PostgresStore::open(address, options).await.context("the database cannot be opened")?;
    let removed = store.remove_wrong_copies().await?;
    if removed > 0 {
        let mended = format!("{removed} copies of runs differed from their rows");
        findings.repaired(&Subject::Store, &mended);
    }
    store.close().await?;
    Ok(())
}

/// Where the recordings are that a repair reads and takes out.
///
/// # Errors
/// When they are in a bucket.
pub(super) fn root_of_recordings(data: &DataFolder) -> Result<PathBuf> {
    match data.location()? {
        Location::Folder(root) => Ok(root),
        bucket @ Location::Bucket { .. } => bail!(
            "the recordings lie in {bucket}, where nothing is repaired: \
             repair a copy of the folder that has them in `recordings` and no `recordings.at`"
        ),
    }
}

struct Mending<'m> {
    db: Repair,
    files: Files,
    /// Rows that can be read, of queries with which something is wrong.
    rows: &'m BTreeMap<QueryId, Query>,
    waiting: VecDeque<QueryId>,
    findings: &'m mut Findings,
}

/// The events of one query while it is being mended.
#[derive(Default)]
struct Events {
    lines: BTreeMap<Seq, Vec<u8>>,
    reports: Vec<Report>,
}

impl Mending<'_> {
    fn mend(&mut self, stored: &Stored) -> Result<()> {
        self.structure()?;
        self.streams(stored)?;
        self.give_chunks_to_their_queries()?;
        while let Some(id) = self.waiting.pop_front() {
            self.query(id).with_context(|| format!("query {id} cannot be repaired"))?;
        }
        self.balance()
    }

    /// A disk that is not there is not taken for recordings that are lost.
    fn recordings_are_there(&self, data: &DataFolder) -> Result<()> {
        if !self.files.has_none()? {
            return Ok(());
        }
        for id in &self.waiting {
            if self.db.query(*id)?.is_some_and(|query| query.sealed.is_some()) {
                let root = data.location()?;
                bail!(
                    "queries have recordings, and {root} is empty: is its disk there? \
                     Are they lost, make a folder in it"
                );
            }
        }
        Ok(())
    }

    /// Whether a file is the recording of a query, now that more can be read.
    fn is_pointed_to(&self, path: &Path) -> Result<bool> {
        let path = self.files.name(path);
        if let Some(pack) = pack_named_by(&path) {
            return Ok(!self.db.of_pack(pack)?.is_empty());
        }
        let Some((id, _)) = named_by(&path) else { return Ok(false) };
        Ok(self.db.query(id)?.is_some_and(|query| query.sealed == Some(RecordingPlace::file(path))))
    }

    /// Of a damaged pack, all queries are mended: what is whole of their recordings becomes chunks.
    fn wait_for_damaged_packs(&mut self) -> Result<()> {
        for pack in self.files.damaged_packs().clone() {
            for id in self.db.of_pack(pack)? {
                if !self.waiting.contains(&id) {
                    self.waiting.push_back(id);
                }
            }
        }
        Ok(())
    }

    fn set_damaged_packs_aside(&mut self) -> Result<()> {
        for pack in self.files.damaged_packs().clone() {
            let path = pack.path();
            let kept = self.files.set_aside_recording(&path)?;
            self.findings.repaired(&Subject::File(path), &format!("it is in {kept}"));
        }
        Ok(())
    }

    fn structure(&mut self) -> Result<()> {
        let (rebuilt, left) = self.db.rebuild_indexes()?;
        if rebuilt && left.is_empty() {
            self.findings.repaired(&Subject::Store, "the indexes are made anew");
        }
        for line in left {
            self.findings.lost(&Subject::Store, &format!("{line}: only a backup helps"));
        }
        for mended in self.db.mend_structure()?.into_iter().chain(self.db.mend_packs()?) {
            self.findings.repaired(&Subject::Store, &mended);
        }
        Ok(())
    }

    /// Streams that are not there are made anew where a recording tells of them, and what is stored of a stream has
    /// been seen.
    fn streams(&mut self, stored: &Stored) -> Result<()> {
        for id in self.db.of_no_stream()? {
            if let Some(query) = self.db.query(id)? {
                self.restore_stream(id, &query)?;
            }
            self.waiting.push_back(id);
        }
        for (stream, seqs) in &stored.streams {
            let seqs =
                seqs.runs().flat_map(|(first, last)| first..=last).filter_map(|seq| Seq::new(seq).ok());
            self.mark_seen(*stream, seqs)?;
        }
        Ok(())
    }

    fn mark_seen(&mut self, stream: StreamId, seqs: impl IntoIterator<Item = Seq>) -> Result<()> {
        let fresh = self.db.mark_seen(stream, seqs)?;
        if fresh > 0 {
            self.findings
                .repaired(&Subject::Stream(stream), &format!("{fresh} stored events are marked as seen"));
        }
        Ok(())
    }

    /// The events say whose they are: chunks that are with another query, or with none, go to theirs.
    fn give_chunks_to_their_queries(&mut self) -> Result<()> {
        let mut chunks: Vec<_> = self.db.orphans()?.into_iter().map(|chunk| (None, chunk)).collect();
        for id in self.waiting.clone() {
            let Some(query) = self.db.query(id)? else { continue };
            chunks.extend(query.chunks.into_iter().map(|chunk| (Some(id), chunk)));
        }
        for (holder, chunk) in chunks {
            let held = lines(&chunk.gzip).unwrap_or_default();
            let owner = held.first().and_then(|line| line.owner);
            let alone = owner.is_some() && held.iter().all(|line| line.owner == owner);
            let owner = owner.filter(|owner| alone && Some(*owner) != holder);
            let query = match owner {
                Some(owner) => self.db.query(owner)?.map(|query| (owner, query)),
                None => None,
            };
            let what = format!("chunk {}", chunk.id);
            if let Some((owner, query)) = query {
                self.db.give_chunk(chunk.id, &query)?;
                self.findings.repaired(&Subject::Query(owner), &format!("{what} is its again"));
                if !self.waiting.contains(&owner) {
                    self.waiting.push_back(owner);
                }
            } else if holder.is_none() {
                let path = self.files.keep(&format!("chunk-{}.jsonl.gz", chunk.id), &chunk.gzip)?;
                self.db.remove_chunk(chunk.id)?;
                self.findings
                    .lost(&Subject::Store, &format!("{what} is of no query that is there: it is in {path}"));
            }
        }
        Ok(())
    }

    fn query(&mut self, id: QueryId) -> Result<()> {
        let Some(query) = self.db.query(id)? else { return Ok(()) };
        let Some(stream) = query.stream.clone() else {
            self.findings.lost(
                &Subject::Query(id),
                "its stream is not there, and no recording tells of it: left as it is",
            );
            return Ok(());
        };
        let mut events = Events::default();
        let mut salvaged = self.sealed(id, &query, &stream, &mut events)?;
        self.chunks(id, &query, &mut events)?;
        salvaged.lines.retain(|seq, _| !events.lines.contains_key(seq));
        self.db.add_chunk(&query, &salvaged.by_seq())?;
        events.take(salvaged);
        let account = self.account(id, &query, &stream, events.lines.len() as u64)?;
        if events.lines.is_empty() {
            return self.remove(id, &query);
        }
        if account.lost == 0 {
            self.row(id, &stream, &events.reports)?;
        }
        self.mark_seen(stream.id, events.lines.into_keys())
    }

    /// Takes the events of the sealed recording. One that is damaged goes to quarantine, and what is whole of it
    /// is given back: it becomes a chunk, from which the service makes a recording.
    fn sealed(
        &mut self,
        id: QueryId,
        query: &StoredQuery,
        stream: &StoredStream,
        events: &mut Events,
    ) -> Result<Events> {
        let mut salvaged = Events::default();
        let Some(place) = &query.sealed else { return Ok(salvaged) };
        let subject = Subject::Query(id);
        let mut bytes = self.files.recording(place)?;
        let is_elsewhere =
            bytes.as_ref().is_none_or(|bytes| place.slice.is_some() && !is_whole(bytes, id, stream));
        if is_elsewhere
            && let Some((found, content)) = self.files.find(id, |content| is_whole(content, id, stream))?
        {
            self.db.point_to(query, Some(&found))?;
            self.findings.repaired(&subject, &format!("its recording is not {place} but {found}"));
            for line in lines(&content).unwrap_or_default().into_iter().skip(1) {
                events.add(line);
            }
            return Ok(salvaged);
        }
        let is_in_damaged = place.pack().is_some_and(|pack| self.files.damaged_packs().contains(&pack));
        if let Some(bytes) = bytes.take_if(|bytes| is_whole(bytes, id, stream) && !is_in_damaged) {
            for line in lines(&bytes).unwrap_or_default().into_iter().skip(1) {
                events.add(line);
            }
            return Ok(salvaged);
        }
        let Some(bytes) = bytes else {
            self.db.point_to(query, None)?;
            self.findings
                .repaired(&subject, &format!("it points no more to its recording {place}, which is missing"));
            return Ok(salvaged);
        };
        self.db.point_to(query, None)?;
        for member in members(&bytes) {
            for line in member.into_iter().filter(|line| line.owner == Some(id)) {
                salvaged.add(line);
            }
        }
        let count = salvaged.lines.len();
        let text = match place.slice {
            None => {
                let kept = self.files.set_aside_recording(&place.path)?;
                format!("its damaged recording is in {kept}; {count} whole events of it are kept")
            }
            Some(_) => format!("{count} whole events are kept of its recording {place}, which is damaged"),
        };
        self.findings.repaired(&subject, &text);
        Ok(salvaged)
    }

    /// Takes the events of the chunks. What is not whole or is there already goes to quarantine.
    fn chunks(&mut self, id: QueryId, query: &StoredQuery, events: &mut Events) -> Result<()> {
        let subject = Subject::Query(id);
        let mut again = Events::default();
        for chunk in &query.chunks {
            let held = lines(&chunk.gzip);
            let number = |seq: Option<Seq>| seq.map_or(0, |seq| seq.get().cast_signed());
            let in_place = held.as_ref().is_some_and(|held| {
                let seqs: Vec<Option<Seq>> = held.iter().map(|line| line.seq).collect();
                let range =
                    seqs.first().zip(seqs.last()).map(|(first, last)| (number(*first), number(*last)));
                let ascending = seqs.windows(2).all(|pair| pair[0] < pair[1]);
                ascending
                    && range == Some(chunk.range)
                    && held.iter().all(|line| {
                        let seq = line.seq.filter(|_| line.owner == Some(id));
                        seq.is_some_and(|seq| {
                            !again.lines.contains_key(&seq)
                                && events.lines.get(&seq).is_none_or(|first| *first == line.text)
                        })
                    })
            });
            let held = held.unwrap_or_default();
            if in_place {
                for line in held {
                    again.add(line);
                }
                continue;
            }
            let path = self.files.keep(&format!("{id}-chunk-{}.jsonl.gz", chunk.id), &chunk.gzip)?;
            self.db.remove_chunk(chunk.id)?;
            let mut whole = Events::default();
            for line in held.into_iter().filter(|line| line.owner == Some(id)) {
                let there = line
                    .seq
                    .is_some_and(|seq| events.lines.contains_key(&seq) || again.lines.contains_key(&seq));
                if !there {
                    whole.add(line);
                }
            }
            self.db.add_chunk(query, &whole.by_seq())?;
            let count = whole.lines.len();
            self.findings.repaired(
                &subject,
                &format!("chunk {} is in {path}; {count} events of it are kept", chunk.id),
            );
            again.take(whole);
        }
        events.take(again);
        Ok(())
    }

    /// Sets how many events there are: as many as were given less those that are lost.
    fn account(
        &mut self,
        id: QueryId,
        query: &StoredQuery,
        stream: &StoredStream,
        stored: u64,
    ) -> Result<Account> {
        let subject = Subject::Query(id);
        let Some(given) = query.committed else {
            self.db.set_account(query, stored, 0)?;
            self.findings.repaired(&subject, &format!("its {stored} events are counted"));
            return Ok(Account { committed: stored, lost: 0 });
        };
        let account = |committed, lost| Account { committed, lost };
        // More is counted than has been seen of the stream, by as much: the count is wrong, and nothing is lost.
        let unbalanced = self.db.unbalanced()?.into_iter().find(|found| found.stream_id == stream.id);
        let miscounted =
            unbalanced.is_some_and(|found| found.missing == stored.cast_signed() - given.cast_signed());
        let account =
            if given <= stored || miscounted { account(stored, 0) } else { account(given, given - stored) };
        self.db.set_account(query, account.committed, account.lost)?;
        if account.committed != given {
            self.findings.repaired(&subject, &format!("it was given {stored} events, not {given}"));
        }
        if account.lost > 0 {
            self.findings.lost(&subject, &format!("{} of the {given} events it was given", account.lost));
        }
        Ok(account)
    }

    /// Puts a query's row aside, of which no event is left.
    fn remove(&mut self, id: QueryId, query: &StoredQuery) -> Result<()> {
        let row: serde_json::Map<_, _> =
            self.db.values(query)?.into_iter().map(|(name, value)| (name, value.into())).collect();
        let row = serde_json::to_vec_pretty(&row)?;
        let path = self.files.keep(&format!("{id}-row.json"), &row)?;
        let counted = self.db.query(id)?.unwrap_or_else(|| query.clone());
        self.db.remove_query(&counted)?;
        self.findings.lost(&Subject::Query(id), &format!("it has no events: its row is in {path}"));
        Ok(())
    }

    /// Makes the row what the events make of it.
    fn row(&mut self, id: QueryId, stream: &StoredStream, reports: &[Report]) -> Result<()> {
        let Some(first) = reports.first() else { return Ok(()) };
        let mut like = self.rows.get(&id).cloned();
        let unreadable = like.is_none();
        if unreadable {
            // How long it has been silent is not told: it is followed as after a restart.
            let first = Report { guessed_start_unix_ns: id.made_unix_ns().unwrap_or(0), ..first.clone() };
            like = summary::candidates(&stream.project, &stream.process_line, id, &[first], None)
                .into_iter()
                .next();
        }
        let Some(like) = like else { return Ok(()) };
        let like = Query { project: stream.project.clone(), ..like };
        let rows = summary::candidates(&stream.project, &stream.process_line, id, reports, Some(&like));
        let Some((row, differences)) = summary::nearest(&like, rows) else { return Ok(()) };
        if unreadable || !differences.is_empty() {
            self.db.put_query(&row)?;
            let what = if unreadable { "its row is made anew".to_owned() } else { differences.join("; ") };
            self.findings.repaired(&Subject::Query(id), &what);
        }
        Ok(())
    }

    /// A recording begins with the process event of its stream.
    fn restore_stream(&mut self, id: QueryId, query: &StoredQuery) -> Result<()> {
        let Some(place) = &query.sealed else { return Ok(()) };
        let Some(bytes) = self.files.recording(place)? else { return Ok(()) };
        let Some(first) = lines(&bytes).unwrap_or_default().into_iter().next() else { return Ok(()) };
        let line = String::from_utf8(first.text)?;
        let Some(process) = StreamProcess::read(&line) else { return Ok(()) };
        if self.db.restore_stream(query, process.id, &line)? {
            self.findings.repaired(
                &Subject::Stream(process.id),
                &format!("its row is made anew, as the recording of query {id} tells"),
            );
        }
        Ok(())
    }

    /// Queries run or have ended now, and what is missing of a stream is no query's any more.
    fn balance(&mut self) -> Result<()> {
        for mended in self.db.mend_running()? {
            self.findings.repaired(&Subject::Store, &mended);
        }
        for stream in self.db.unbalanced()? {
            let subject = Subject::Stream(stream.stream_id);
            self.db.balance(stream)?;
            if stream.missing > 0 {
                self.findings.lost(
                    &subject,
                    &format!("{} events of it are seen and of no query that is there", stream.missing),
                );
            } else {
                self.findings.repaired(&subject, "what no query keeps of it is counted anew");
            }
        }
        Ok(())
    }
}

impl Events {
    /// Adds an event; of one seq the first stays.
    fn add(&mut self, line: Line) {
        let Some(seq) = line.seq else { return };
        self.lines.entry(seq).or_insert_with(|| {
            self.reports.extend(line.reports);
            line.text
        });
    }

    fn by_seq(&self) -> Vec<(Seq, &[u8])> {
        self.lines.iter().map(|(seq, line)| (*seq, line.as_slice())).collect()
    }

    fn take(&mut self, other: Self) {
        for line in other.lines.into_values() {
            self.add(read(&line));
        }
    }
}

/// Whether bytes are the recording of a query: the process event of its stream, then its events in order.
fn is_whole(gzip: &[u8], id: QueryId, stream: &StoredStream) -> bool {
    let Some(lines) = lines(gzip) else { return false };
    let Some((first, events)) = lines.split_first() else { return false };
    first.text == stream.process_line.as_bytes()
        && events.iter().all(|line| line.owner == Some(id))
        && events.windows(2).all(|pair| pair[0].seq < pair[1].seq)
}
