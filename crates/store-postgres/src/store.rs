//! [`PostgresStore`]: the interface of a store over the writers, the readers and the follower.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient, Pool};
use queryscope_columns::{
    Found, Selection, Snapshot, facets, find_page, finds_page, groups, overview, places, series, versions,
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
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::connect::Server;
use crate::error::{DbError, OpenError};
use crate::evaluation::Recorded;
use crate::follow::Follower;
use crate::format::{Format, STEPS, Step};
use crate::hints::Hints;
use crate::list;
use crate::names::{ColumnNames, TermTexts};
use crate::options::PostgresOptions;
use crate::row::listed;
use crate::terms::TermIds;
use crate::writer::{LOOK_WAIT, Writer, Writing};
use crate::{
    changes, evaluation, inbox, issues, kept, migrate, packs, recording, retention, segments, silence, token,
};

/// Connections of the follower: one looks, one loads, one forgets.
const FOLLOWERS: usize = 3;

const ENGINES: &str = "
    SELECT text FROM term JOIN engine ON engine.term = term.id ORDER BY text";
/// What is written goes to files of its own, which grow.
const PROBE: &str = "
    CREATE TEMPORARY TABLE queryscope_probe ON COMMIT DROP AS
    SELECT repeat(n::text, 1000) FROM generate_series(1000, 1099) AS n";
const STATS: &str = "
    SELECT (SELECT count(*) FROM running), (SELECT sum(pg_total_relation_size(name::regclass))::bigint
        FROM unnest(ARRAY['term', 'stream', 'seen', 'query', 'running', 'chunk', 'change', 'segment',
            'run_plan', 'pending_run', 'evaluated_query', 'evaluated_run', 'query_change', 'issue', 'issue_transition',
            'issue_note', 'notice', 'delivery', 'query_note', 'shared_view']) AS name)";

/// A store in a PostgreSQL database that other collectors use, too.
#[derive(Debug)]
pub struct PostgresStore {
    /// Tells this store from others on the same database.
    node: Uuid,
    pub(crate) format: Format,
    read: Pool,
    writer: Writer,
    pub(crate) write: Pool,
    follower: Arc<Follower>,
    follow: Pool,
    pub(crate) terms: Arc<TermTexts>,
    pub(crate) numbers: Arc<TermIds>,
    /// The commits under way.
    foreground: Arc<Foreground>,
}

impl PostgresStore {
    /// Connects to the database at an address (`postgres://user:password@host:port/database?sslmode=…`) and brings it
    /// up to date. Connections live in the runtime this is called in.
    ///
    /// # Errors
    /// When the address is none, or the database cannot be reached, is too old, or of a later version (or, unless it
    /// may be brought up to date, of an earlier one).
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self, OpenError> {
        Self::open_with(address, options, STEPS).await
    }

    /// The latest format of a database that this version knows.
    #[cfg(feature = "testsuite")]
    pub const FORMAT: i32 = STEPS.len() as i32;

    /// As a later version would open it, whose format has further steps: for each its SQL, and the oldest format whose
    /// programs may use the database afterwards.
    ///
    /// # Errors
    /// Those of [`PostgresStore::open`].
    #[cfg(feature = "testsuite")]
    pub async fn open_as_later(
        address: &str,
        options: PostgresOptions,
        further: &[(&'static str, i32)],
    ) -> Result<Self, OpenError> {
        let further = further.iter().map(|&(sql, usable_from)| Step { sql, usable_from });
        let steps: Vec<Step> = STEPS.iter().copied().chain(further).collect();
        Self::open_with(address, options, &steps).await
    }

    async fn open_with(address: &str, options: PostgresOptions, steps: &[Step]) -> Result<Self, OpenError> {
        let server = Server::of(address, &options)?;
        // One writer needs a second connection for new texts, and other work that writes one.
        let write = server.pool(options.writers.max(1) * 2 + 1, "")?;
        let custom = "SET plan_cache_mode = force_custom_plan";
        let read = server.pool(options.readers, custom)?;
        // They ask for the newest of the log alone. In a plan for any snapshot, and in one made before there are
        // statistics, reading all of it looks as cheap: then each look takes as long as the log has grown.
        let follow = server.pool(FOLLOWERS, "SET enable_seqscan = off")?;
        let mut client = write.get().await.map_err(DbError::from)?;
        migrate::migrate(&mut client, steps, options.upgrade).await?;
        drop(client);
        let (node, format) = (queryscope_store::random_id(), Format::of(steps));
        let terms = Arc::<TermTexts>::default();
        let follower = Arc::new(Follower::start(follow.clone(), format, Arc::clone(&terms), &options));
        // Before the store is open, so that nobody who follows it then misses a commit.
        follower.catch_up().await.map_err(|error| OpenError::Database(error.into()))?;
        let numbers = Arc::<TermIds>::default();
        let hints = Hints::start(server.clone(), node, &follower);
        let writing = Writing {
            pool: write.clone(),
            format,
            terms: Arc::clone(&numbers),
            follower: Arc::clone(&follower),
            hints,
            timeout: options.statement_timeout,
            on_commit: options.on_commit,
        };
        let writer = Writer::start(options.writers, writing);
        tracing::info!(%server, "connected");
        Ok(Self {
            node,
            format,
            read,
            writer,
            write,
            follower,
            follow,
            terms,
            numbers,
            foreground: Arc::default(),
        })
    }

    /// Takes out the copies of queries that do not say what their rows say, while others may use the database;
    /// gives back how many there were. It is made anew when a collector starts.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_wrong_copies(&self) -> Result<usize, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(segments::remove_wrong(&mut client, self.format).await?)
    }

    pub(crate) async fn reader(&self) -> Result<Client, DbError> {
        Ok(self.read.get().await?)
    }

    /// Answers from the columns, with everything that is committed now.
    async fn analyse<T: Send + 'static>(
        &self,
        filter: QueryFilter,
        answer: impl FnOnce(&ColumnNames, &Snapshot, &Selection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let snapshot = self.follower.snapshot().await?.yielding_to(self.foreground());
        self.answer(snapshot, filter, answer).await
    }

    /// Answers from columns, of the queries a filter keeps, on a thread that may block.
    async fn answer<T: Send + 'static>(
        &self,
        snapshot: Snapshot,
        filter: QueryFilter,
        answer: impl FnOnce(&ColumnNames, &Snapshot, &Selection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let names = ColumnNames {
            terms: Arc::clone(&self.terms),
            pool: self.read.clone(),
            runtime: Handle::current(),
        };
        let answered =
            tokio::task::spawn_blocking(move || answer(&names, &snapshot, &Selection::of(&names, &filter)?));
        Ok(answered.await.map_err(StoreError::unavailable)??)
    }

    /// The places of a page, where the columns have them.
    async fn places(&self, request: &ListRequest) -> Result<Option<Found>, StoreError> {
        if !finds_page(request) {
            return Ok(None);
        }
        let Some(snapshot) = self.follower.snapshot_now().await else { return Ok(None) };
        let (filter, request) = (request.filter.clone(), request.clone());
        self.answer(snapshot, filter, move |names, snapshot, _| find_page(names, snapshot, &request)).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
        let _under_way = self.foreground.enter();
        self.writer.commit(batch).await
    }

    fn foreground(&self) -> Arc<Foreground> {
        Arc::clone(&self.foreground)
    }

    async fn end_silent(&self, heard_before_unix_ms: i64) -> Result<u64, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        let ended = silence::end_silent(&mut client, self.format, heard_before_unix_ms).await?;
        if ended > 0 {
            self.follower.catch_up().await?;
        }
        Ok(ended)
    }

    async fn refresh_running(&self, now_unix_ms: i64) -> Result<(), StoreError> {
        let client = self.write.get().await.map_err(DbError::from)?;
        Ok(silence::refresh(&client, now_unix_ms).await?)
    }

    fn commits(&self) -> Commits {
        self.follower.follow()
    }

    async fn query(&self, id: QueryId) -> Result<Option<Query>, StoreError> {
        let client = self.reader().await?;
        let sql = format!(
            "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.query_id = $1"
        );
        let rows = rows(&client, &sql, &[&id.uuid()]).await?;
        Ok(listed(&client, &self.terms, &rows).await?.pop().map(|listed| listed.query))
    }

    async fn queries(&self, request: ListRequest) -> Result<Vec<Listed>, StoreError> {
        // No more look for places than can read them.
        let client = self.reader().await?;
        let places = self.places(&request).await?;
        Ok(list::page(&client, &self.terms, &request, places.as_ref()).await?)
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
        self.analyse(filter, versions).await
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
        let rows = rows(&self.reader().await?, ENGINES, &[]).await?;
        let text = |row: &tokio_postgres::Row| String::from_utf8(row.get(0));
        let engines: Result<_, _> = rows.iter().map(text).collect();
        Ok(engines.map_err(|_| DbError::Damaged("a text that is not UTF-8"))?)
    }

    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError> {
        Ok(self.recordings(&[id]).await?.pop().flatten())
    }

    async fn recordings(&self, ids: &[QueryId]) -> Result<Vec<Option<RecordingParts>>, StoreError> {
        let kept = kept::kept(&mut self.reader().await?, &self.terms, ids).await?;
        Ok(kept.into_iter().map(|kept| kept.map(|kept| kept.parts)).collect())
    }

    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(recording::chunks(&self.reader().await?, &ids).await?)
    }

    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError> {
        Ok(recording::unsealed(&mut self.reader().await?, self.format, self.node, limit).await?)
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(recording::seal(&mut client, self.format, &sealed).await?)
    }

    async fn packs(&self, day: i64) -> Result<Vec<Pack>, StoreError> {
        Ok(packs::of_day(&self.reader().await?, day).await?)
    }

    async fn give_up_pack(&self, pack: Pack) -> Result<bool, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(packs::give_up(&mut client, self.format, pack).await?)
    }

    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Deleted, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(retention::delete_before(&mut client, self.format, started_unix_ns, limit).await?)
    }

    async fn probe(&self) -> Result<(), StoreError> {
        let client = self.write.get().await.map_err(DbError::from)?;
        client.batch_execute(PROBE).await.map_err(DbError::from)?;
        Ok(())
    }

    async fn pending_runs(&self, after: Option<i64>, limit: usize) -> Result<Vec<PendingRun>, StoreError> {
        Ok(inbox::page(&self.reader().await?, &self.terms, after, limit).await?)
    }

    async fn evaluation_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(evaluation::lease(&mut client, self.format, holder, ttl).await?)
    }

    async fn record_evaluation(&self, evaluation: Evaluation) -> Result<bool, StoreError> {
        let recorded = evaluation::record(&self.write, self.format, &self.numbers, &evaluation).await?;
        let Recorded::Done { tells_issues } = recorded else { return Ok(false) };
        if tells_issues || !evaluation.told.is_empty() {
            // As with a batch, who follows from now on hears of later ones alone. Others look now and then.
            let _ = tokio::time::timeout(LOOK_WAIT, self.follower.catch_up()).await;
        }
        Ok(true)
    }

    async fn query_history(&self, key: &QueryKey) -> Result<Option<QueryHistory>, StoreError> {
        Ok(evaluation::history(&mut self.reader().await?, key).await?)
    }

    async fn history_revision(&self, key: &QueryKey) -> Result<Option<HistoryRevision>, StoreError> {
        Ok(evaluation::revision(&self.reader().await?, key).await?)
    }

    async fn evaluated_queries(
        &self,
        after: Option<QueryKey>,
        limit: usize,
    ) -> Result<Vec<QueryKey>, StoreError> {
        Ok(evaluation::queries(&self.reader().await?, &self.terms, after.as_ref(), limit).await?)
    }

    async fn forget_evaluation(&self, holder: &str, key: &QueryKey) -> Result<bool, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(evaluation::forget(&mut client, self.format, holder, key).await?)
    }

    async fn is_brought_forward(&self) -> Result<bool, StoreError> {
        Ok(evaluation::is_brought_forward(&self.reader().await?).await?)
    }

    async fn mark_brought_forward(&self) -> Result<(), StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(evaluation::mark_brought_forward(&mut client, self.format).await?)
    }

    async fn changes(&self, request: ChangesRequest) -> Result<Vec<StoredChange>, StoreError> {
        Ok(changes::page(&self.reader().await?, &self.terms, &request).await?)
    }

    async fn change(&self, id: &str) -> Result<Option<StoredChange>, StoreError> {
        Ok(changes::one(&self.reader().await?, &self.terms, id).await?)
    }

    async fn issues(&self, request: IssuesRequest) -> Result<Vec<Issue>, StoreError> {
        Ok(issues::page(&self.reader().await?, &request).await?)
    }

    async fn issue(&self, id: &str) -> Result<Option<IssueRecord>, StoreError> {
        Ok(issues::record(&mut self.reader().await?, id).await?)
    }

    async fn move_issue(&self, id: &str, step: IssueStep, unix_ns: i64) -> Result<IssueMoved, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        let moved = issues::step(&mut client, self.format, id, &step, unix_ns).await?;
        drop(client);
        if matches!(moved, IssueMoved::Moved(_)) {
            let _ = tokio::time::timeout(LOOK_WAIT, self.follower.catch_up()).await;
        }
        Ok(moved)
    }

    async fn note_issue(&self, id: &str, note: Note) -> Result<NoteAdded, StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(issues::add_note(&mut client, self.format, id, &note).await?)
    }

    async fn mutes_due(&self, unix_ns: i64, limit: usize) -> Result<Vec<String>, StoreError> {
        Ok(issues::mutes_due(&self.reader().await?, unix_ns, limit).await?)
    }

    async fn issue_counts(&self) -> Result<Vec<IssueCount>, StoreError> {
        Ok(issues::counts(&self.reader().await?).await?)
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        Ok(token::all(&self.reader().await?).await?)
    }

    async fn add_token(&self, token: TokenRecord) -> Result<bool, StoreError> {
        Ok(token::add(&self.reader().await?, &token).await?)
    }

    async fn revoke_token(&self, name: &str) -> Result<bool, StoreError> {
        Ok(token::revoke(&self.reader().await?, name).await?)
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
        let client = self.reader().await?;
        let unsealed = recording::waiting(&client, StoreStats::UNSEALED_MAX).await?;
        let rows = rows(&client, STATS, &[]).await?;
        let number = |column| rows.first().map_or(0, |row| row.get::<_, i64>(column).cast_unsigned());
        Ok(StoreStats {
            bytes: number(1),
            log_bytes: 0,
            running: number(0),
            unsealed,
            queued: self.writer.queued() as u64,
        })
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.writer.finish().await;
        self.follower.stop().await;
        let released = async { recording::release(&self.reader().await?, self.node).await }.await;
        for pool in [&self.read, &self.write, &self.follow] {
            pool.close();
        }
        Ok(released?)
    }
}

pub(crate) async fn rows(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn tokio_postgres::types::ToSql + Sync)],
) -> Result<Vec<tokio_postgres::Row>, DbError> {
    Ok(client.query(&client.prepare_cached(sql).await?, values).await?)
}
