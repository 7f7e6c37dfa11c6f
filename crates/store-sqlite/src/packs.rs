//! Packs of recordings, and how many runs point to each.

use std::collections::BTreeMap;

use queryscope_store::{Pack, RecordingPlace};
use rusqlite::{Connection, OptionalExtension, params};

const RUNS: &str = "SELECT runs FROM pack WHERE day = ?1 AND number = ?2";
const COUNT: &str = "
    INSERT INTO pack (day, number, runs) VALUES (?1, ?2, max(?3, 0))
    ON CONFLICT (day, number) DO UPDATE SET runs = max(runs + ?3, 0)";
/// Makes the table anew from the rows of runs; what was given up stays given up.
const RECOUNT: &str = "
    INSERT INTO pack (day, number, runs)
    SELECT sealed_day, sealed_version, count(*) FROM query WHERE pack_offset IS NOT NULL GROUP BY 1, 2
    ON CONFLICT (day, number) DO UPDATE SET runs = excluded.runs WHERE runs <> excluded.runs";
const EMPTY: &str = "
    UPDATE pack SET runs = 0 WHERE runs <> 0 AND (day, number) NOT IN (
        SELECT sealed_day, sealed_version FROM query WHERE pack_offset IS NOT NULL)";

/// What a transaction leaves that was pointed to, or was to be.
#[derive(Debug, Default)]
pub(crate) struct Left {
    files: Vec<String>,
    /// How many runs more point to a pack.
    packs: BTreeMap<Pack, i64>,
}

impl Left {
    /// Notes that a run points to a place; `false`, and nothing is noted, when that is in a pack that is given up.
    pub(crate) fn point(&mut self, db: &Connection, place: &RecordingPlace) -> rusqlite::Result<bool> {
        let Some(pack) = place.pack() else { return Ok(true) };
        if runs(db, pack)? == Some(0) {
            return Ok(false);
        }
        *self.packs.entry(pack).or_default() += 1;
        Ok(true)
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

    /// Counts what points to packs; gives back the paths that nothing points to.
    pub(crate) fn settle(self, db: &Connection) -> rusqlite::Result<Vec<String>> {
        let mut orphans = self.files;
        for (pack, more) in self.packs {
            if more != 0 {
                db.prepare_cached(COUNT)?.execute(params![pack.day, pack.number.cast_signed(), more])?;
            }
            if runs(db, pack)?.is_none_or(|runs| runs == 0) {
                orphans.push(pack.path());
            }
        }
        Ok(orphans)
    }
}

fn runs(db: &Connection, pack: Pack) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached(RUNS)?
        .query_row(params![pack.day, pack.number.cast_signed()], |row| row.get(0))
        .optional()
}

/// The packs of a day that runs point to.
pub(crate) fn of_day(db: &Connection, day: i64) -> rusqlite::Result<Vec<Pack>> {
    db.prepare_cached("SELECT number FROM pack WHERE day = ?1 AND runs > 0")?
        .query_map([day], |row| Ok(Pack { day, number: row.get::<_, i64>(0)?.cast_unsigned() }))?
        .collect()
}

/// Gives up a pack that nothing points to; whether that is so.
pub(crate) fn give_up(db: &Connection, pack: Pack) -> rusqlite::Result<bool> {
    let is_free = runs(db, pack)?.is_none_or(|runs| runs == 0);
    if is_free {
        db.prepare_cached(COUNT)?.execute(params![pack.day, pack.number.cast_signed(), 0])?;
    }
    Ok(is_free)
}

/// Forgets packs that are given up, of days before one: nothing of them is left that could be pointed to.
pub(crate) fn forget_before(db: &Connection, day: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM pack WHERE runs = 0 AND day < ?1")?.execute([day])?;
    Ok(())
}

/// Counts anew what points to packs; how many were counted otherwise.
pub(crate) fn recount(db: &Connection) -> rusqlite::Result<usize> {
    Ok(db.execute(RECOUNT, [])? + db.execute(EMPTY, [])?)
}
