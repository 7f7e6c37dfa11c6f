//! Packs of recordings, and how many runs point to each.
//!
//! A transaction that counts packs has locked the rows of its runs before, and counts packs in their order: so no two
//! wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::{Client, GenericClient};
use queryscope_store::{Pack, RecordingPlace};
use tokio_postgres::Row;

use crate::error::DbError;
use crate::format::Format;

const GIVEN_UP: &str = "
    SELECT day, number FROM pack
    WHERE (day, number) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) AND runs = 0";
/// Nothing more points to a pack that is given up.
const COUNT: &str = "
    INSERT INTO pack (day, number, runs) VALUES ($1, $2, greatest($3::bigint, 0))
    ON CONFLICT (day, number) DO UPDATE SET runs = greatest(pack.runs + $3, 0) WHERE pack.runs > 0 OR $3 < 0
    RETURNING runs";
const RUNS: &str = "SELECT runs FROM pack WHERE day = $1 AND number = $2";
const OF_DAY: &str = "SELECT number FROM pack WHERE day = $1 AND runs > 0";
const GIVE_UP: &str = "
    INSERT INTO pack (day, number, runs) VALUES ($1, $2, 0) ON CONFLICT (day, number) DO NOTHING";
const FORGET: &str = "DELETE FROM pack WHERE runs = 0 AND day < $1";

/// What a transaction leaves that was pointed to, or was to be.
#[derive(Debug, Default)]
pub(crate) struct Left {
    files: Vec<String>,
    given_up: BTreeSet<Pack>,
    /// How many runs more point to a pack.
    packs: BTreeMap<Pack, i64>,
}

impl Left {
    /// To point to some packs.
    pub(crate) async fn of(client: &impl GenericClient, packs: &BTreeSet<Pack>) -> Result<Self, DbError> {
        if packs.is_empty() {
            return Ok(Self::default());
        }
        let (days, numbers): (Vec<_>, Vec<_>) =
            packs.iter().map(|pack| (pack.day, pack.number.cast_signed())).unzip();
        let rows = client.query(&client.prepare_cached(GIVEN_UP).await?, &[&days, &numbers]).await?;
        let pack = |row: &Row| Pack { day: row.get(0), number: row.get::<_, i64>(1).cast_unsigned() };
        Ok(Self { given_up: rows.iter().map(pack).collect(), ..Self::default() })
    }

    /// Notes that a run points to a place; `false`, and nothing is noted, when that is in a pack that is given up.
    pub(crate) fn point(&mut self, place: &RecordingPlace) -> bool {
        let Some(pack) = place.pack() else { return true };
        if self.given_up.contains(&pack) {
            return false;
        }
        *self.packs.entry(pack).or_default() += 1;
        true
    }

    /// Notes that a run points to a place no more.
    pub(crate) fn unpoint(&mut self, place: &RecordingPlace) {
        self.leave(place);
        if let Some(pack) = place.pack() {
            *self.packs.entry(pack).or_default() -= 1;
        }
    }

    /// Notes that a run was to point to a place, and does not.
    pub(crate) fn leave(&mut self, place: &RecordingPlace) {
        match place.pack() {
            None => self.files.push(place.path.clone()),
            Some(pack) => drop(self.packs.entry(pack).or_default()),
        }
    }

    /// Counts what points to packs; gives back the paths that nothing points to. `None` when another has given up a
    /// pack meanwhile: then the transaction must be taken back.
    pub(crate) async fn settle(self, client: &impl GenericClient) -> Result<Option<Vec<String>>, DbError> {
        let mut orphans = self.files;
        for (pack, more) in self.packs {
            let (day, number) = (pack.day, pack.number.cast_signed());
            let runs = if more == 0 {
                client.query_opt(&client.prepare_cached(RUNS).await?, &[&day, &number]).await?
            } else {
                let counted = client.prepare_cached(COUNT).await?;
                let counted = client.query_opt(&counted, &[&day, &number, &more]).await?;
                if counted.is_none() {
                    return Ok(None);
                }
                counted
            };
            if runs.is_none_or(|row| row.get::<_, i64>(0) == 0) {
                orphans.push(pack.path());
            }
        }
        Ok(Some(orphans))
    }
}

/// The packs of a day that runs point to.
pub(crate) async fn of_day(client: &impl GenericClient, day: i64) -> Result<Vec<Pack>, DbError> {
    let rows = client.query(&client.prepare_cached(OF_DAY).await?, &[&day]).await?;
    Ok(rows.iter().map(|row| Pack { day, number: row.get::<_, i64>(0).cast_unsigned() }).collect())
}

/// Gives up a pack that nothing points to; whether that is so.
pub(crate) async fn give_up(client: &mut Client, format: Format, pack: Pack) -> Result<bool, DbError> {
    let (day, number) = (pack.day, pack.number.cast_signed());
    let transaction = format.begin(client).await?;
    transaction.execute(&transaction.prepare_cached(GIVE_UP).await?, &[&day, &number]).await?;
    let runs = transaction.query_opt(&transaction.prepare_cached(RUNS).await?, &[&day, &number]).await?;
    transaction.commit().await?;
    Ok(runs.is_some_and(|row| row.get::<_, i64>(0) == 0))
}

/// Forgets packs that are given up, of days before one: nothing of them is left that could be pointed to.
pub(crate) async fn forget_before(client: &mut Client, format: Format, day: i64) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    transaction.execute(&transaction.prepare_cached(FORGET).await?, &[&day]).await?;
    Ok(transaction.commit().await?)
}
