//! What earlier repairs found to be lost, apart from what retention deleted.
//!
//! A loss is recorded as a number of events of a query, or of a stream where nothing tells the query: what was lost
//! cannot be read any more, so its seqs are not known. Of the acknowledged events that are missing, as many are lost as
//! were recorded, those of their own query first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use queryscope_protocol::{QueryId, Seq, StreamId};
use queryscope_store::{Loss, StoreAudit};

use super::{Findings, Subject};

/// The record of one stream.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// By query, which may be gone.
    of_queries: BTreeMap<QueryId, Recorded>,
    /// Of queries nobody knows.
    of_none: Recorded,
    /// How many of these events are counted among those no query keeps.
    pub(crate) unkept: u64,
}

/// Events that are lost, and when that was recorded.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) events: u64,
    days: BTreeSet<Option<String>>,
}

impl Losses {
    pub(crate) async fn of(store: &dyn StoreAudit, stream: StreamId) -> Result<Self> {
        let mut losses = Self::default();
        for loss in store.losses(stream).await? {
            match loss.query_id {
                Some(id) => losses.of_queries.entry(id).or_default().add(&loss),
                None => losses.of_none.add(&loss),
            }
        }
        losses.unkept = losses.of_none.events;
        for (id, recorded) in &losses.of_queries {
            // A query that is there counts its own.
            let kept = store.account(*id).await?.map_or(0, |account| account.lost);
            losses.unkept += recorded.events.saturating_sub(kept);
        }
        Ok(losses)
    }

    /// Takes out of missing events those that are recorded as lost, and tells of them; how many these are.
    pub(crate) fn take(&self, missing: &mut Vec<(QueryId, Seq)>, findings: &mut Findings) -> Recorded {
        let mut of_queries = self.of_queries.clone();
        let mut of_none = self.of_none.clone();
        let mut told: BTreeMap<QueryId, Recorded> = BTreeMap::new();
        let mut take = |id: QueryId, from: &mut Recorded| {
            let lost = from.events > 0;
            if lost {
                from.events -= 1;
                let told = told.entry(id).or_default();
                told.events += 1;
                told.days.extend(from.days.iter().cloned());
            }
            lost
        };
        missing.retain(|(id, _)| !of_queries.get_mut(id).is_some_and(|recorded| take(*id, recorded)));
        missing.retain(|(id, _)| !take(*id, &mut of_none));
        let mut all = Recorded::default();
        for (id, recorded) in told {
            let Recorded { events, days } = &recorded;
            let text = format!("{events} acknowledged events are lost, as {} recorded", repairs(days));
            findings.known_loss(&Subject::Query(id), &text);
            all.join(recorded);
        }
        all
    }

    /// Notes what is known to be lost of a stream and of no query that is there to say so.
    fn note(&self, stream: StreamId, findings: &mut Findings) {
        let mut all = Recorded::default();
        self.of_queries.values().chain([&self.of_none]).for_each(|recorded| all.join(recorded.clone()));
        if self.unkept > 0 {
            let text = format!("{} of its events are lost, as {} recorded", self.unkept, repairs(&all.days));
            findings.note(&Subject::Stream(stream), &text);
        }
    }
}

impl Recorded {
    fn add(&mut self, loss: &Loss) {
        self.events += loss.events;
        self.days.insert(loss.found_unix_ms.map(day));
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.events += other.events;
        self.days.extend(other.days);
    }

    /// The repairs that recorded it.
    pub(crate) fn repairs(&self) -> String {
        repairs(&self.days)
    }
}

/// Notes what is known to be lost of all streams.
pub(crate) async fn note(
    store: &dyn StoreAudit,
    streams: impl Iterator<Item = StreamId>,
    findings: &mut Findings,
) -> Result<HashMap<StreamId, Losses>> {
    let mut all = HashMap::new();
    let mut streams: Vec<StreamId> = streams.collect();
    streams.sort_unstable();
    for stream in streams {
        let losses = Losses::of(store, stream).await?;
        losses.note(stream, findings);
        all.insert(stream, losses);
    }
    Ok(all)
}

fn day(unix_ms: i64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0));
    humantime::format_rfc3339_seconds(time).to_string().chars().take_while(|char| *char != 'T').collect()
}

fn repairs(days: &BTreeSet<Option<String>>) -> String {
    match (days.first(), days.last()) {
        (Some(Some(first)), Some(Some(last))) if first == last => format!("the repair of {first}"),
        (Some(Some(first)), Some(Some(last))) => format!("the repairs of {first} to {last}"),
        (_, Some(Some(last))) => format!("the repairs until {last}"),
        _ => "an earlier repair".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_are_named_by_their_days() {
        let days = |days: &[Option<i64>]| days.iter().map(|at| at.map(day)).collect::<BTreeSet<_>>();
        let (first, last) = (Some(1_795_391_999_999), Some(1_795_392_000_000));
        assert_eq!(repairs(&days(&[first])), "the repair of 2026-11-22");
        assert_eq!(repairs(&days(&[last, first])), "the repairs of 2026-11-22 to 2026-11-23");
        assert_eq!(repairs(&days(&[None, last])), "the repairs until 2026-11-23");
        assert_eq!(repairs(&days(&[None])), "an earlier repair");
    }
}
