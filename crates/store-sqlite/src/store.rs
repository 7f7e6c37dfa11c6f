//! [`SqliteStore`]: the interface of a store over the writer and the readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use queryscope_columns::{
    Index, Selection, Snapshot, facets, find_page, finds_page, groups, overview, places, series, versions,
};
use queryscope_history::Version;
use queryscope_issues::{Issue, Note};
use queryscope_protocol::QueryId;
use queryscope_store::{
    AccessStore, ChangesRequest, Commits, Committed, Deleted, DeployStore, Evaluation, Facets, Foreground,
    GroupsAnswer, GroupsRequest, HistoryRevision, IssueCount, IssueMoved, IssueRecord, IssueStep,
    IssuesRequest, ListRequest, Listed, NoteAdded, NoteStore, OutboxStore, OverviewAnswer, OverviewRequest,
    OwnerOf, Pack, PendingRun, Places, QUERY_COLUMNS, Query, QueryFilter, QueryHistory, QueryKey,
    RecordingParts, Sealed, Series, SeriesRequest, Store, StoreError, StoreStats, StoredChange, StreamBatch,
    TokenRecord, ViewStore,
};
use rusqlite::{Connection, OptionalExtension};

use crate::error::OpenError;
use crate::load::Loader;
use crate::names::DatabaseNames;
use crate::options::SqliteOptions;
use crate::readers::Readers;
use crate::row::listed;
use crate::silence::{self, Ended};
use crate::terms::TermTexts;
use crate::writer::Writer;
use crate::{changes, evaluation, inbox, issues, list, packs, recording, retention, token};

/// A store in one SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    pub(crate) writer: Writer,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(crate) readers: Readers,
    index: Arc<Index>,
    /// None where the columns stay empty.
    loader: Option<Loader>,
    /// The commits under way.
    foreground: Arc<Foreground>,
}

impl SqliteStore {
    /// Opens the database at a path, makes it when there is none, and brings it up to date.
    ///
    /// # Errors
    /// When SQLite is too old, the database is of a later version (or, unless it may be brought up to date, of an
    /// earlier one), or cannot be opened.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let (readers, answers) = (options.readers, options.answers);
        let index = Arc::new(Index::new(answers));
        let (writer, thread) = Writer::start(path, options, Arc::clone(&index))?;
        let readers = Readers::open(path, readers)?;
        let loader = answers.then(|| Loader::start(path, Arc::clone(&index))).transpose()?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            thread: Mutex::new(Some(thread)),
            readers,
            index,
            loader,
            foreground: Arc::default(),
        })
    }

    /// Answers from the columns, of the queries a filter keeps.
    async fn analyse<T: Send + 'static>(
        &self,
        filter: QueryFilter,
        answer: impl FnOnce(&DatabaseNames<'_>, &Snapshot, &Selection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let snapshot = self.index.snapshot().await?.yielding_to(self.foreground());
        self.readers
            .work(move |db, terms| {
                let names = DatabaseNames { db, terms };
                answer(&names, &snapshot, &Selection::of(&names, &filter)?)
            })
            .await
    }

    /// Bytes of the database and of its log.
    fn bytes(&self) -> (u64, u64) {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        (bytes(&self.path), bytes(Path::new(&log)))
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
        let _under_way = self.foreground.enter();
        self.writer.commit(batch).await
    }

    fn foreground(&self) -> Arc<Foreground> {
        Arc::clone(&self.foreground)
    }

    async fn end_silent(&self, heard_before_unix_ms: i64) -> Result<u64, StoreError> {
        let (mut total, mut after) = (0, Some(i64::MIN));
        while let Some(row) = after {
            let (ended, next) = self
                .writer
                .write_and_tell(move |db| {
                    let Ended { changes, next } = silence::end(db, heard_before_unix_ms, row)?;
                    Ok(((changes.len() as u64, next), changes))
                })
                .await?;
            (total, after) = (total + ended, next);
        }
        Ok(total)
    }

    async fn refresh_running(&self, now_unix_ms: i64) -> Result<(), StoreError> {
        self.writer
            .write(move |db| db.execute("UPDATE running SET heard_unix_ms = ?1", [now_unix_ms]).map(|_| ()))
            .await
    }

    fn commits(&self) -> Commits {
        self.writer.follow()
    }

    async fn query(&self, id: QueryId) -> Result<Option<Query>, StoreError> {
        let sql = format!(
            "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.query_id = ?1"
        );
        self.readers
            .read(move |db, terms| {
                db.prepare_cached(&sql)?
                    .query_row([id.uuid().as_bytes()], |row| {
                        listed(db, terms, row).map(|listed| listed.query)
                    })
                    .optional()
            })
            .await
    }

    async fn queries(&self, request: ListRequest) -> Result<Vec<Listed>, StoreError> {
        // The database is read afterwards, and says what has changed since.
        let columns = if finds_page(&request) { self.index.snapshot_now() } else { None };
        self.readers
            .read(move |db, terms| {
                let find = |columns: Snapshot| find_page(&DatabaseNames { db, terms }, &columns, &request);
                let places = columns.map(find).transpose()?.flatten();
                list::page(db, terms, &request, places.as_ref())
            })
            .await
    }

    async fn facets(&self, filter: QueryFilter) -> Result<Facets, StoreError> {
        let expression = filter.expression.clone();
        self.analyse(filter, move |names, snapshot, selection| {
            facets(names, snapshot, selection, &expression)
        })
        .await
    }

    async fn groups(&self, request: GroupsRequest) -> Result<GroupsAnswer, StoreError> {
        let filter = request.filter.clone();
        self.analyse(filter, move |names, snapshot, selection| groups(names, snapshot, selection, &request))
            .await
    }

    async fn versions(&self, filter: QueryFilter) -> Result<Vec<Version>, StoreError> {
        self.analyse(filter, |names, snapshot, selection| versions(names, snapshot, selection)).await
    }

    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError> {
        let filter = request.filter.clone();
        self.analyse(filter, move |names, snapshot, selection| overview(names, snapshot, selection, &request))
            .await
    }

    async fn series(&self, request: SeriesRequest) -> Result<Series, StoreError> {
        let filter = request.filter.clone();
        self.analyse(filter, move |names, snapshot, selection| series(names, snapshot, selection, &request))
            .await
    }

    async fn place_totals(
        &self,
        filter: QueryFilter,
        owner_of: Option<OwnerOf>,
    ) -> Result<Places, StoreError> {
        self.analyse(filter, move |names, snapshot, selection| {
            places(names, snapshot, selection, owner_of.as_ref())
        })
        .await
    }

    async fn engines(&self) -> Result<Vec<String>, StoreError> {
        self.readers
            .read(|db, _| {
                db.prepare_cached(
                    "SELECT text FROM term WHERE id IN (SELECT term FROM engine) ORDER BY text",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
            })
            .await
    }

    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError> {
        self.readers.read(move |db, terms| recording::parts(db, terms, id)).await
    }

    async fn recordings(&self, ids: &[QueryId]) -> Result<Vec<Option<RecordingParts>>, StoreError> {
        let ids = ids.to_vec();
        let all = move |db: &Connection, terms: &TermTexts| {
            ids.iter().map(|id| recording::parts(db, terms, *id)).collect()
        };
        self.readers.read(all).await
    }

    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.readers.read(move |db, _| recording::chunks(db, &ids)).await
    }

    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError> {
        self.readers.read(move |db, _| recording::unsealed(db, limit)).await
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError> {
        self.writer.write(move |db| recording::seal(db, &sealed)).await
    }

    async fn packs(&self, day: i64) -> Result<Vec<Pack>, StoreError> {
        self.readers.read(move |db, _| packs::of_day(db, day)).await
    }

    async fn give_up_pack(&self, pack: Pack) -> Result<bool, StoreError> {
        self.writer.write(move |db| packs::give_up(db, pack)).await
    }

    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Deleted, StoreError> {
        self.writer.write(move |db| retention::delete_before(db, started_unix_ns, limit)).await
    }

    async fn probe(&self) -> Result<(), StoreError> {
        // The first page is written to the log, whether it changes or not.
        let same = |db: &Connection| {
            let format: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            db.pragma_update(None, "user_version", format)
        };
        self.writer.write(same).await
    }

    async fn pending_runs(&self, after: Option<i64>, limit: usize) -> Result<Vec<PendingRun>, StoreError> {
        self.readers.read(move |db, terms| inbox::page(db, terms, after, limit)).await
    }

    async fn evaluation_lease(&self, _holder: &str, _ttl: Duration) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn record_evaluation(&self, evaluation: Evaluation) -> Result<bool, StoreError> {
        let told = evaluation.told_changes().cloned().collect();
        let moved = self.writer.write(move |db| evaluation::record(db, &evaluation)).await?;
        self.writer.tell_found(told);
        self.writer.tell_issues(moved);
        Ok(true)
    }

    async fn query_history(&self, key: &QueryKey) -> Result<Option<QueryHistory>, StoreError> {
        let key = key.clone();
        self.readers.read(move |db, _| evaluation::history(db, &key)).await
    }

    async fn history_revision(&self, key: &QueryKey) -> Result<Option<HistoryRevision>, StoreError> {
        let key = key.clone();
        self.readers.read(move |db, _| evaluation::revision(db, &key)).await
    }

    async fn evaluated_queries(
        &self,
        after: Option<QueryKey>,
        limit: usize,
    ) -> Result<Vec<QueryKey>, StoreError> {
        self.readers.read(move |db, terms| evaluation::queries(db, terms, after.as_ref(), limit)).await
    }

    async fn forget_evaluation(&self, _: &str, key: &QueryKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.writer.write(move |db| evaluation::forget(db, &key)).await.map(|()| true)
    }

    async fn is_brought_forward(&self) -> Result<bool, StoreError> {
        self.readers.read(|db, _| evaluation::is_brought_forward(db)).await
    }

    async fn mark_brought_forward(&self) -> Result<(), StoreError> {
        self.writer.write(|db| db.execute("UPDATE evaluation SET brought_forward = 1", []).map(drop)).await
    }

    async fn changes(&self, request: ChangesRequest) -> Result<Vec<StoredChange>, StoreError> {
        self.readers.read(move |db, terms| changes::page(db, terms, &request)).await
    }

    async fn change(&self, id: &str) -> Result<Option<StoredChange>, StoreError> {
        let id = id.to_owned();
        self.readers.read(move |db, terms| changes::one(db, terms, &id)).await
    }

    async fn issues(&self, request: IssuesRequest) -> Result<Vec<Issue>, StoreError> {
        self.readers.read(move |db, _| issues::page(db, &request)).await
    }

    async fn issue(&self, id: &str) -> Result<Option<IssueRecord>, StoreError> {
        let id = id.to_owned();
        self.readers.read(move |db, _| issues::record(db, &id)).await
    }

    async fn move_issue(&self, id: &str, step: IssueStep, unix_ns: i64) -> Result<IssueMoved, StoreError> {
        let id = id.to_owned();
        let moved = self.writer.write(move |db| issues::step(db, &id, &step, unix_ns)).await?;
        if let IssueMoved::Moved(issue) = &moved {
            self.writer.tell_issues(vec![Issue::clone(issue)]);
        }
        Ok(moved)
    }

    async fn note_issue(&self, id: &str, note: Note) -> Result<NoteAdded, StoreError> {
        let id = id.to_owned();
        self.writer.write(move |db| issues::add_note(db, &id, &note)).await
    }

    async fn mutes_due(&self, unix_ns: i64, limit: usize) -> Result<Vec<String>, StoreError> {
        self.readers.read(move |db, _| issues::mutes_due(db, unix_ns, limit)).await
    }

    async fn issue_counts(&self) -> Result<Vec<IssueCount>, StoreError> {
        self.readers.read(|db, _| issues::counts(db)).await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.readers.read(|db, _| token::all(db)).await
    }

    async fn add_token(&self, token: TokenRecord) -> Result<bool, StoreError> {
        self.writer.write(move |db| token::add(db, &token)).await
    }

    async fn revoke_token(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.writer.write(move |db| token::revoke(db, &name)).await
    }

    fn access(&self) -> &dyn AccessStore {
        self
    }

    fn deploys(&self) -> &dyn DeployStore {
        self
    }

    fn notes(&self) -> &dyn NoteStore {
        self
    }

    fn views(&self) -> &dyn ViewStore {
        self
    }

    fn outbox(&self) -> &dyn OutboxStore {
        self
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let counts = self.readers.read(|db, _| {
            let running = db
                .prepare_cached("SELECT count(*) FROM running")?
                .query_row([], |row| row.get::<_, u64>(0))?;
            let unsealed = recording::unsealed(db, StoreStats::UNSEALED_MAX)?.len();
            Ok((running, unsealed as u64))
        });
        let (running, unsealed) = counts.await?;
        let (database, log) = self.bytes();
        let queued = self.writer.queued() as u64;
        Ok(StoreStats { bytes: database + log, log_bytes: log, running, unsealed, queued })
    }

    async fn close(&self) -> Result<(), StoreError> {
        if let Some(loader) = &self.loader {
            loader.stop().await;
        }
        self.readers.close();
        self.writer.close().await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread.map(JoinHandle::join) {
            Some(Err(_)) => Err(StoreError::unavailable("the writer's thread panicked")),
            _ => Ok(()),
        }
    }
}
