//! Random histories: whatever happens to a store, it shows what the model shows.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use queryscope_protocol::QueryId;

use super::Snapshot;
use super::accounts::balance;
use super::batch::{batch, facts, query_id};
use super::memory::MemoryStore;
use super::subject::{ALL, Subjects};
use crate::batch::{Facts, StreamBatch};
use crate::error::StoreError;
use crate::path::recording_path;
use crate::recording::{Pack, RecordingPlace, Sealed, Slice};
use crate::store::{Committed, Store};

const STREAMS: u64 = 2;
const QUERIES: u64 = 6;
const SEQS: u64 = 40;
const STEPS: usize = 40;

/// What happens to a store. The clock of a history shows the number of the step.
#[derive(Debug, Clone)]
enum Step {
    Commit(Sent),
    /// Ends what has been silent for so many steps.
    EndSilent(i64),
    RefreshRunning,
    /// Seals a query under a day, all its chunks but so many of the last, into a file of its own or a pack.
    Seal {
        query: u64,
        day: i64,
        left: usize,
        pack: Option<u64>,
    },
    Packs {
        day: i64,
    },
    GiveUp(Pack),
    DeleteBefore {
        day: i64,
    },
    Reopen,
}

/// A batch: by seq, the query and the event.
#[derive(Debug, Clone)]
struct Sent {
    stream: u64,
    project: &'static str,
    events: BTreeMap<u64, (u64, Event)>,
}

#[derive(Debug, Clone)]
enum Event {
    Progress,
    Started { day: i64 },
    Finished { day: i64, failed: bool },
    Loose,
}

/// What a store answers to a step.
#[derive(Debug, PartialEq)]
enum Answer {
    Committed(Committed),
    ForeignStream,
    ForeignQuery,
    Count(u64),
    Paths(BTreeSet<String>),
    Deleted(BTreeSet<QueryId>, BTreeSet<String>),
    Packs(BTreeSet<Pack>),
    GivenUp(bool),
    Done,
}

pub(super) fn any_history(subjects: &Subjects) {
    subjects.any(prop::collection::vec(step(), 1..STEPS), &async |s, history| {
        let model = MemoryStore::default();
        for (now, step) in (0..).zip(&history) {
            if matches!(step, Step::Reopen) {
                s.reopen().await;
            }
            let expected = answer(&model, now, step).await;
            assert_eq!(answer(&*s.store, now, step).await, expected, "step {now}: {step:?}");
        }
        assert_eq!(s.snapshot().await, Snapshot::of(&model).await);
        balance(s).await;
    });
}

async fn answer(store: &dyn Store, now: i64, step: &Step) -> Answer {
    match step {
        Step::Commit(sent) => match store.commit(build(sent, now)).await {
            Ok(committed) => Answer::Committed(committed),
            Err(StoreError::ForeignStream(_)) => Answer::ForeignStream,
            Err(StoreError::ForeignQuery(_)) => Answer::ForeignQuery,
            Err(error) => panic!("{error}"),
        },
        Step::EndSilent(steps) => Answer::Count(store.end_silent(now - steps).await.expect("a store")),
        Step::RefreshRunning => {
            store.refresh_running(now).await.expect("a store");
            Answer::Done
        }
        Step::Seal { query, day, left, pack } => {
            let parts = store.recording(query_id(*query)).await.expect("a store");
            let mut chunks: Vec<i64> =
                parts.iter().flat_map(|parts| &parts.chunks).map(|chunk| chunk.id).collect();
            chunks.truncate(chunks.len().saturating_sub(*left));
            let place = match pack {
                None => RecordingPlace::file(recording_path(query_id(*query), day_unix_ns(*day))),
                Some(number) => {
                    let slice = Some(Slice { offset: query * 10, bytes: chunks.len() as u64 });
                    RecordingPlace { path: Pack { day: *day, number: *number }.path(), slice }
                }
            };
            let replaces = parts.and_then(|parts| parts.sealed);
            let sealed = Sealed { query_id: query_id(*query), place, replaces, chunks };
            Answer::Paths(store.seal(vec![sealed]).await.expect("a store").into_iter().collect())
        }
        Step::DeleteBefore { day } => {
            let deleted = store.delete_before(day_unix_ns(*day), ALL).await.expect("a store");
            Answer::Deleted(deleted.queries.into_iter().collect(), deleted.orphans.into_iter().collect())
        }
        Step::Packs { day } => Answer::Packs(store.packs(*day).await.expect("a store").into_iter().collect()),
        Step::GiveUp(pack) => Answer::GivenUp(store.give_up_pack(*pack).await.expect("a store")),
        Step::Reopen => Answer::Done,
    }
}

fn build(sent: &Sent, now: i64) -> StreamBatch {
    let mut building =
        batch(sent.stream).project(sent.project).received(now).guessed_start(day_unix_ns(now % 4));
    for (seq, (query, event)) in &sent.events {
        // The label tells which event had the say.
        let told = |day: i64| Facts {
            started_unix_ns: (day > 0).then(|| day_unix_ns(day)),
            ..facts(&format!("{event:?} {seq} at {now}"))
        };
        building = match event {
            Event::Progress => building.progress(*query, [*seq]),
            Event::Started { day } => building.started(*query, *seq, told(*day)),
            Event::Finished { day, failed } => {
                let failed = failed.then(|| format!("error {seq}"));
                building.finished(*query, *seq, Facts { failed, ..told(*day) })
            }
            Event::Loose => building.loose([*seq]),
        };
    }
    building.build()
}

const fn day_unix_ns(day: i64) -> i64 {
    day * 86_400_000_000_000
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => sent().prop_map(Step::Commit),
        2 => (0_i64..8).prop_map(Step::EndSilent),
        1 => Just(Step::RefreshRunning),
        3 => (1..=QUERIES, 0_i64..4, 0_usize..3, prop::option::of(0_u64..2))
            .prop_map(|(query, day, left, pack)| Step::Seal { query, day, left, pack }),
        1 => (0_i64..4).prop_map(|day| Step::Packs { day }),
        1 => (0_i64..4, 0_u64..2).prop_map(|(day, number)| Step::GiveUp(Pack { day, number })),
        1 => (0_i64..5).prop_map(|day| Step::DeleteBefore { day }),
        1 => Just(Step::Reopen),
    ]
}

fn sent() -> impl Strategy<Value = Sent> {
    let events = prop::collection::btree_map(1..=SEQS, (1..=QUERIES, event()), 0..12);
    let project = prop_oneof![20 => Just("default"), 1 => Just("other")];
    // Rarely a stream claims the query of another.
    (1..=STREAMS, project, events, prop::bool::weighted(0.05)).prop_map(
        |(stream, project, mut events, claims)| {
            if !claims {
                for (query, _) in events.values_mut() {
                    *query = (*query - 1) / STREAMS * STREAMS + stream;
                }
            }
            Sent { stream, project, events }
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Progress),
        2 => (0_i64..4).prop_map(|day| Event::Started { day }),
        2 => (0_i64..4, any::<bool>()).prop_map(|(day, failed)| Event::Finished { day, failed }),
        1 => Just(Event::Loose),
    ]
}
