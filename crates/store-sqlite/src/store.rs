//! [`SqliteStore`]: the interface of a store over the writer and the readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use async_trait::async_trait;
use queryscope_columns::{Selection, Snapshot, facets, finds_page, groups, overview, versions};
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{
    Account, Commits, Committed, Deleted, Facets, Foreground, GroupsAnswer, GroupsRequest, ListRequest,
    Listed, Loss, OverviewAnswer, OverviewRequest, Query, QueryFilter, RecordingParts, Sealed, Store,
    StoreError, StoreStats, StreamBatch, StreamSeen, TokenRecord, VersionEntry,
};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::account;
use crate::error::OpenError;
use crate::load::LoadedColumns;
use crate::names::DatabaseNames;
use crate::options::SqliteOptions;
use crate::readers::Readers;
use crate::row::{COLUMNS, listed};
use crate::silence::{self, Ended};
use crate::writer::Writer;
use crate::{list, losses, recording, retention, seen, token, verify};

/// A store in one SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    writer: Writer,
    thread: Mutex<Option<JoinHandle<()>>>,
    readers: Readers,
    columns: LoadedColumns,
    /// The commits under way.
    foreground: Arc<Foreground>,
}

impl SqliteStore {
    /// Opens the database at a path, makes it when there is none, and brings it up to date.
    ///
    /// # Errors
    /// When SQLite is too old, the database is of a later version (or, unless it may be brought up to date, of an
    /// earlier one), or can not be opened.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let columns = Arc::default();
        let (readers, answers) = (options.readers, options.answers);
        let (writer, thread) = Writer::start(path, options, Arc::clone(&columns))?;
        let readers = Readers::open(path, readers)?;
        let loaded = if answers { LoadedColumns::load(path, columns)? } else { LoadedColumns::none(columns) };
        Ok(Self {
            path: path.to_owned(),
            writer,
            thread: Mutex::new(Some(thread)),
            readers,
            columns: loaded,
            foreground: Arc::default(),
        })
    }

    /// Answers from the columns, of the queries a filter keeps.
    async fn analyse<T: Send + 'static>(
        &self,
        filter: QueryFilter,
        answer: impl FnOnce(&DatabaseNames<'_>, &Snapshot, &Selection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let snapshot = self.columns.snapshot().await?.yielding_to(self.foreground());
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
            "SELECT {COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.query_id = ?1"
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
        let columns = if finds_page(&request) { self.columns.snapshot_now() } else { None };
        self.readers.read(move |db, terms| list::page(db, terms, &request, columns.as_ref())).await
    }

    async fn facets(&self, filter: QueryFilter) -> Result<Facets, StoreError> {
        self.analyse(filter, |names, snapshot, selection| facets(names, snapshot, selection)).await
    }

    async fn groups(&self, request: GroupsRequest) -> Result<GroupsAnswer, StoreError> {
        let filter = request.filter.clone();
        self.analyse(filter, move |names, snapshot, selection| groups(names, snapshot, selection, &request))
            .await
    }

    async fn versions(&self, filter: QueryFilter) -> Result<Vec<VersionEntry>, StoreError> {
        self.analyse(filter, |names, snapshot, selection| versions(names, snapshot, selection)).await
    }

    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError> {
        let filter = request.filter.clone();
        self.analyse(filter, move |names, snapshot, selection| overview(names, snapshot, selection, &request))
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

    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.readers.read(move |db, _| recording::chunks(db, &ids)).await
    }

    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError> {
        self.readers.read(move |db, _| recording::unsealed(db, limit)).await
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError> {
        self.writer.write(move |db| recording::seal(db, &sealed)).await
    }

    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Vec<Deleted>, StoreError> {
        self.writer.write(move |db| retention::delete_before(db, started_unix_ns, limit)).await
    }

    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.id > ?1 ORDER BY q.id LIMIT ?2"
        );
        self.readers
            .read(move |db, terms| {
                db.prepare_cached(&sql)?
                    .query_map((after.unwrap_or(i64::MIN), limit), |row| listed(db, terms, row))?
                    .collect()
            })
            .await
    }

    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError> {
        self.readers.read(move |db, _| account::query_ids(db, after, limit)).await
    }

    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError> {
        self.readers.read(move |db, _| account::of_query(db, id)).await
    }

    async fn unkept(&self, id: StreamId) -> Result<Option<u64>, StoreError> {
        self.readers.read(move |db, _| account::unkept(db, id)).await
    }

    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError> {
        self.readers.read(move |db, _| losses::of_stream(db, id)).await
    }

    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError> {
        self.writer.write(move |db| losses.iter().try_for_each(|loss| losses::record(db, loss))).await
    }

    async fn probe(&self) -> Result<(), StoreError> {
        // The first page is written to the log, whether it changes or not.
        let same = |db: &Connection| {
            let format: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            db.pragma_update(None, "user_version", format)
        };
        self.writer.write(same).await
    }

    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError> {
        self.readers
            .read(move |db, terms| {
                let after = after.map_or(Vec::new(), |id| id.uuid().as_bytes().to_vec());
                let mut statement = db.prepare_cached(
                    "SELECT id, stream_id, project, process_line FROM stream WHERE stream_id > ?1
                     ORDER BY stream_id LIMIT ?2",
                )?;
                let streams = statement.query_map((after, limit), |row| {
                    Ok(StreamSeen {
                        stream_id: StreamId::new(Uuid::from_bytes(row.get(1)?)),
                        project: terms.text(db, row.get(2)?)?.to_string(),
                        process_line: row.get(3)?,
                        seen: seen::all(db, row.get(0)?)?,
                    })
                })?;
                streams.collect()
            })
            .await
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

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.readers.read(|db, _| Ok(verify::problems(db))).await
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
        self.columns.stop().await;
        self.readers.close();
        self.writer.close().await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread.map(JoinHandle::join) {
            Some(Err(_)) => Err(StoreError::unavailable("the writer's thread panicked")),
            _ => Ok(()),
        }
    }
}
