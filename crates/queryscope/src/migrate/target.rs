//! The database that is moved to.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::future::try_join_all;
use queryscope_protocol::{QueryId, seq_of};
use queryscope_recordings::{LineReader, Location, RecordingError, Recordings};
use queryscope_store::{Committed, QueryPart, Store, StoreAudit, StoreError, StreamBatch, lines_of, unpack};

use crate::store::{self, Opened};

/// Batches, and bytes of them, that are committed at once.
const WAVE_BATCHES: usize = 256;
const WAVE_BYTES: usize = 8 << 20;
/// Recordings of a round, and of these written at once.
const SEALED_AT_ONCE: usize = 256;
const WRITTEN_AT_ONCE: usize = 16;
/// How long a database may be away.
const AWAY_MAX: Duration = Duration::from_mins(1);
const TRY_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Target {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) audit: Arc<dyn StoreAudit>,
    /// Where its recordings are; without a place they stay in the database, for collectors to write.
    recordings: Recordings,
    place: Option<Location>,
    wave: Vec<StreamBatch>,
    wave_bytes: usize,
    /// Events that had not been there.
    events: u64,
}

impl Target {
    pub(crate) async fn open(address: &str, place: Option<&Location>, source: &Opened) -> Result<Self> {
        let audit = store::open_database(address).await?;
        let recordings = match place {
            Some(place) => store::recordings(place)?.shared(),
            // Nothing is read there of a database whose queries are chunks.
            None => source.recordings.clone(),
        };
        let place = place.cloned();
        let store = Arc::<dyn StoreAudit>::clone(&audit);
        Ok(Self { store, audit, recordings, place, wave: Vec::new(), wave_bytes: 0, events: 0 })
    }

    /// Commits a batch, with others.
    pub(crate) async fn send(&mut self, batch: StreamBatch) -> Result<()> {
        self.wave_bytes += bytes_of(&batch);
        self.wave.push(batch);
        if self.wave.len() == WAVE_BATCHES || self.wave_bytes >= WAVE_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// Commits what waits, in any order where the database fails some of it, and writes the recordings of what has
    /// ended.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let commits = self.wave.iter().map(|batch| commit(&self.store, batch));
        let committed = try_join_all(commits).await?;
        for (batch, Committed { accepted, duplicates, .. }) in self.wave.iter().zip(committed) {
            self.events += accepted;
            if duplicates > 0 {
                for part in &batch.parts {
                    self.compare(part).await.with_context(|| format!("query {}", part.query_id))?;
                }
            }
        }
        self.wave.clear();
        self.wave_bytes = 0;
        patiently(|| self.store.end_silent(StreamBatch::NO_NEWS_UNIX_MS + 1)).await?;
        self.seal().await
    }

    /// Asserts that the database has these events as they are here.
    async fn compare(&self, part: &QueryPart) -> Result<()> {
        let parts = patiently(|| self.store.recording(part.query_id)).await?;
        let parts =
            parts.context("the database has its events as those of another query, or has deleted it")?;
        if let (Some(place), None) = (&parts.sealed, &self.place) {
            bail!(
                "the database has it already, with a recording {place}: say with --recordings where that is"
            );
        }
        let content = self.recordings.read(&self.store, parts).await?;
        let mut stored = LineReader::new(part.query_id, content.bytes);
        let lines = unpack(&part.gzip)?;
        for (seq, line) in part.seqs.iter().zip(lines_of(&lines)) {
            let found = loop {
                match stored.next_text().await? {
                    Some(text) if seq_of(&text).is_none_or(|stored| stored < *seq) => {}
                    found => break found,
                }
            };
            if found.as_deref() != Some(line) {
                bail!("event {seq} is in the database as another");
            }
        }
        Ok(())
    }

    /// Writes recordings, so that the database does not hold what is moved twice.
    async fn seal(&self) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let mut skip = HashSet::<QueryId>::new();
        loop {
            let round = async || match self
                .recordings
                .seal_round(&self.store, SEALED_AT_ONCE, WRITTEN_AT_ONCE, &skip)
                .await
            {
                Err(RecordingError::Store(error)) => Err(error),
                round => Ok(round),
            };
            let round = patiently(round).await?;
            let unwritten = || format!("recordings cannot be written to {place}");
            let round = round.with_context(unwritten)?;
            for (id, error) in round.failed {
                match error {
                    // Collectors will, or it was damaged there before.
                    RecordingError::Store(_) | RecordingError::Damaged { .. } => {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "a recording is not written"
                        );
                        skip.insert(id);
                    }
                    error => return Err(error).with_context(unwritten),
                }
            }
            if !round.full {
                return Ok(());
            }
        }
    }

    /// Ends; gives back how many events were new, and how many recordings are to be written.
    pub(crate) async fn close(self) -> Result<(u64, u64)> {
        let unsealed = self.store.stats().await?.unsealed;
        self.store.close().await?;
        Ok((self.events, unsealed))
    }
}

async fn commit(store: &Arc<dyn Store>, batch: &StreamBatch) -> Result<Committed> {
    match patiently(|| store.commit(batch.clone())).await {
        Err(error @ (StoreError::ForeignQuery(_) | StoreError::ForeignStream(_))) => {
            Err(error).context("the database has something else under the same id")
        }
        committed => Ok(committed?),
    }
}

/// Asks again while the database is away.
pub(crate) async fn patiently<T>(
    mut ask: impl AsyncFnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let begun = queryscope_store::now();
    loop {
        match ask().await {
            Err(StoreError::Unavailable(error) | StoreError::Full(error)) if begun.elapsed() < AWAY_MAX => {
                tracing::warn!(error = &*error as &dyn std::error::Error, "waiting for the database");
                tokio::time::sleep(TRY_EVERY).await;
            }
            answer => return answer,
        }
    }
}

fn bytes_of(batch: &StreamBatch) -> usize {
    let parts = batch.parts.iter().map(|part| part.gzip.len() + size_of_val(&part.seqs[..]));
    parts.sum::<usize>() + size_of_val(&batch.loose[..])
}
