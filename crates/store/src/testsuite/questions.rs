//! Random histories and questions: a store answers over many queries as the model does, to the last digit.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use queryscope_history::{Group, LabelOverview, Totals, Version, Window};

use super::analysis::{DAY_NS, HOUR_NS, NOW_NS};
use super::batch::{batch, facts, query_id};
use super::memory::MemoryStore;
use super::population::{LABELS, PLACES, PROJECTS, any_filter, maybe};
use super::subject::{ALL, Subjects, request};
use crate::analysis::{
    Facets, GroupBy, GroupsRequest, OverviewOrder, OverviewRequest, OverviewSplit, OwnerOf, Places, Series,
    SeriesBy, SeriesRequest,
};
use crate::batch::{Facts, StreamBatch};
use crate::filter::QueryFilter;
use crate::path::recording_path;
use crate::query::{Query, Status};
use crate::recording::{RecordingPlace, Sealed};
use crate::store::Store;

/// Entries of a page.
const PAGE: usize = 2;
const STREAMS: u64 = 4;
/// Queries of each stream.
const QUERIES: u64 = 60;
const SEQS: u64 = 400;
const RULES: [&str; 3] = ["scan", "skew", "spill"];

/// What happens to a store. The clock of a history shows the number of the step.
#[derive(Debug, Clone)]
enum Step {
    Commit(Sent),
    /// Sends a batch again: the one that many steps ago, if that was one.
    Resend(usize),
    EndSilent(i64),
    Seal(u64),
    DeleteBefore(i64),
    Reopen,
    Ask(Box<Question>),
}

/// A batch of a stream: by seq, the query and the event.
#[derive(Debug, Clone)]
struct Sent {
    stream: u64,
    service: Option<&'static str>,
    environment: Option<&'static str>,
    host: &'static str,
    events: BTreeMap<u64, (u64, Event)>,
}

#[derive(Debug, Clone)]
enum Event {
    Progress,
    Started(Told),
    Finished(Told),
}

/// What a profile says.
#[derive(Debug, Clone)]
struct Told {
    started_unix_ns: i64,
    wall_ms: f64,
    cpu_ms: Option<f64>,
    bytes_read: Option<i64>,
    failed: bool,
    label: Option<&'static str>,
    fingerprint: Option<&'static str>,
    rules: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Question {
    filter: QueryFilter,
    now_unix_ns: i64,
    days: u32,
    utc_offset_minutes: i32,
}

#[derive(Debug, PartialEq)]
struct Answers {
    /// By start and id: among queries of the same start each store has an order of its own.
    list: Vec<Query>,
    facets: Facets,
    by_label: Vec<Group<'static>>,
    by_plan: Vec<Group<'static>>,
    versions: Vec<Version>,
    overview: Vec<LabelOverview<'static>>,
    /// Page after page, in each order and split.
    overviews: Vec<(Totals, Vec<LabelOverview<'static>>)>,
    /// Of a range between two moments.
    between: Vec<LabelOverview<'static>>,
    /// Undivided, and divided.
    series: Vec<Series>,
    /// Without owners, and with them.
    places: [Places; 2],
}

pub(super) fn any_question_of_any_history(subjects: &Subjects) {
    let history = prop::collection::vec(step(), 1..50);
    let asked = prop::collection::vec(question(), 1..12);
    subjects.any((history, asked), &async |s, (history, asked)| {
        let model = MemoryStore::default();
        for (now, step) in (0..).zip(&history) {
            match step {
                Step::Reopen => s.reopen().await,
                Step::Ask(question) => {
                    let answers = ask(&*s.store, question).await;
                    assert_eq!(answers, ask(&model, question).await, "step {now}: {question:?}");
                }
                change => {
                    take(&model, now, change, &history).await;
                    take(&*s.store, now, change, &history).await;
                }
            }
        }
        for _ in 0..2 {
            for question in &asked {
                assert_eq!(ask(&*s.store, question).await, ask(&model, question).await, "{question:?}");
            }
            s.reopen().await;
        }
    });
}

async fn ask(store: &dyn Store, question: &Question) -> Answers {
    let Question { filter, now_unix_ns, days, utc_offset_minutes } = question;
    let window = Window::new(*now_unix_ns, *days, *utc_offset_minutes).expect("a window");
    let listed = store.queries(request(filter.clone())).await.expect("a store");
    let mut list: Vec<Query> = listed.into_iter().map(|listed| listed.query).collect();
    list.sort_by_key(|query| (query.started_unix_ns, query.query_id));
    Answers {
        list,
        facets: store.facets(filter.clone()).await.expect("a store"),
        by_label: store.all_groups(filter.clone(), GroupBy::Label).await.expect("a store"),
        by_plan: group_pages(store, filter).await,
        versions: store.versions(filter.clone()).await.expect("a store"),
        overview: store.whole_overview(filter.clone(), window).await.expect("a store"),
        overviews: overview_pages(store, filter, window).await,
        between: store.whole_overview(filter.clone(), between(&window)).await.expect("a store"),
        series: all_series(store, filter, between(&window)).await,
        places: [places(store, filter, None).await, places(store, filter, Some(Arc::new(owner_of))).await],
    }
}

async fn places(store: &dyn Store, filter: &QueryFilter, owner_of: Option<OwnerOf>) -> Places {
    store.place_totals(filter.clone(), owner_of).await.expect("a store")
}

/// Some labels have one owner, others another or none.
fn owner_of(label: &str) -> Option<String> {
    let place = LABELS.iter().position(|other| *other == label)?;
    ["ada", "bob"].get(place % 3).map(|owner| (*owner).to_owned())
}

/// The last fifth of a range, which ends a while before it.
fn between(window: &Window) -> Window {
    let (since, now) = (window.since_unix_ns(), window.now_unix_ns());
    let fifth = (now - since) / 5;
    Window::between(now - 2 * fifth, now - fifth, 0).expect("a window")
}

async fn all_series(store: &dyn Store, filter: &QueryFilter, window: Window) -> Vec<Series> {
    let mut answers = Vec::new();
    for by in [None, Some(SeriesBy::Fingerprint), Some(SeriesBy::Host), Some(SeriesBy::Environment)] {
        let request = SeriesRequest { filter: filter.clone(), window, by, most: 2 };
        answers.push(store.series(request).await.expect("a store"));
    }
    answers
}

/// Groups by plan, page after page.
async fn group_pages(store: &dyn Store, filter: &QueryFilter) -> Vec<Group<'static>> {
    let (mut groups, mut after) = (Vec::new(), None);
    loop {
        let request =
            GroupsRequest { filter: filter.clone(), by: GroupBy::Fingerprint, after, limit: Some(PAGE) };
        let answer = store.groups(request).await.expect("a store");
        assert!(answer.entries.len() <= PAGE && (answer.next.is_none() || answer.entries.len() == PAGE));
        groups.extend(answer.entries.iter());
        after = answer.next;
        if after.is_none() {
            return groups;
        }
    }
}

async fn overview_pages(
    store: &dyn Store,
    filter: &QueryFilter,
    window: Window,
) -> Vec<(Totals, Vec<LabelOverview<'static>>)> {
    let mut overviews = Vec::new();
    for (order, split) in [
        (OverviewOrder::Time, OverviewSplit::Service),
        (OverviewOrder::News, OverviewSplit::Label),
        (OverviewOrder::News, OverviewSplit::Service),
    ] {
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let filter = filter.clone();
            let request = OverviewRequest { filter, window, order, split, after, limit: Some(PAGE) };
            let answer = store.overview(request).await.expect("a store");
            assert!(answer.entries.len() <= PAGE && (answer.next.is_none() || answer.entries.len() == PAGE));
            entries.extend(answer.entries.iter());
            after = answer.next;
            if after.is_none() {
                overviews.push((answer.totals, entries));
                break;
            }
        }
    }
    overviews
}

async fn take(store: &dyn Store, now: i64, step: &Step, history: &[Step]) {
    match step {
        Step::Commit(sent) => drop(store.commit(build(sent, now)).await.expect("stored")),
        Step::Resend(back) => {
            let at = usize::try_from(now).expect("a step").checked_sub(*back);
            if let Some(Step::Commit(sent)) = at.map(|at| &history[at]) {
                store.commit(build(sent, now)).await.expect("stored");
            }
        }
        Step::EndSilent(steps) => drop(store.end_silent(now - steps).await.expect("a store")),
        Step::Seal(query) => {
            let parts = store.recording(query_id(*query)).await.expect("a store");
            let Some(parts) = parts.filter(|parts| parts.query.status != Status::Running) else { return };
            let sealed = Sealed {
                query_id: query_id(*query),
                place: RecordingPlace::file(recording_path(query_id(*query), parts.query.started_unix_ns)),
                chunks: parts.chunks.iter().map(|chunk| chunk.id).collect(),
                replaces: parts.sealed,
            };
            store.seal(vec![sealed]).await.expect("a store");
        }
        Step::DeleteBefore(unix_ns) => drop(store.delete_before(*unix_ns, ALL).await.expect("a store")),
        Step::Reopen | Step::Ask(_) => {}
    }
}

fn build(sent: &Sent, now: i64) -> StreamBatch {
    let Sent { stream, service, environment, host, events } = sent;
    let mut building = batch(*stream)
        .project(PROJECTS[*stream as usize % PROJECTS.len()])
        .process(*service, *environment, host)
        .received(now)
        .guessed_start(NOW_NS - now * HOUR_NS);
    for (seq, (query, event)) in events {
        let query = query * STREAMS + stream;
        building = match event {
            Event::Progress => building.progress(query, [*seq]),
            Event::Started(told) => building.started(query, *seq, told.facts()),
            Event::Finished(told) => building.finished(query, *seq, told.facts()),
        };
    }
    building.build()
}

impl Told {
    fn facts(&self) -> Facts {
        Facts {
            label: self.label.map(Into::into),
            fingerprint: self.fingerprint.map(Into::into),
            started_unix_ns: Some(self.started_unix_ns),
            wall_ms: self.wall_ms,
            cpu_ms: self.cpu_ms,
            bytes_read: self.bytes_read,
            failed: self.failed.then(|| "boom".into()),
            warnings: self.rules.len() as u32,
            rules: self.rules.iter().map(|rule| (*rule).into()).collect(),
            ..facts("")
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => sent().prop_map(Step::Commit),
        3 => (1_usize..6).prop_map(Step::Resend),
        2 => (0_i64..5).prop_map(Step::EndSilent),
        1 => (1..=QUERIES).prop_map(Step::Seal),
        1 => (25_i64..45).prop_map(|days| Step::DeleteBefore(NOW_NS - days * DAY_NS)),
        1 => start().prop_map(Step::DeleteBefore),
        2 => Just(Step::Reopen),
        6 => question().prop_map(|question| Step::Ask(Box::new(question))),
    ]
}

fn sent() -> impl Strategy<Value = Sent> {
    let events = prop::collection::btree_map(1..=SEQS, (1..=QUERIES, event()), 0..30);
    (1..=STREAMS, maybe(&PLACES), maybe(&PLACES), select(&PLACES[..]), events).prop_map(
        |(stream, service, environment, host, events)| Sent { stream, service, environment, host, events },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => Just(Event::Progress),
        2 => told().prop_map(Event::Started),
        8 => told().prop_map(Event::Finished),
    ]
}

fn told() -> impl Strategy<Value = Told> {
    // Most have the same label: some have to run often.
    let label = prop_oneof![3 => Just(Some(LABELS[0])), 2 => maybe(&LABELS)];
    let rules = prop::sample::subsequence(&RULES[..], 0..=2);
    let fails = prop::bool::weighted(0.15);
    let cpu = prop::option::of(wall());
    let bytes = prop::option::of(0..=i64::MAX);
    (start(), wall(), cpu, bytes, fails, label, maybe(&PLACES), rules).prop_map(
        |(started_unix_ns, wall_ms, cpu_ms, bytes_read, failed, label, fingerprint, rules)| {
            // What ran lately took longer, so that there is something to find.
            let slow = started_unix_ns > NOW_NS - DAY_NS && label == Some(LABELS[0]);
            let wall_ms = if slow { 3.0 * wall_ms } else { wall_ms };
            Told { started_unix_ns, wall_ms, cpu_ms, bytes_read, failed, label, fingerprint, rules }
        },
    )
}

/// Times of which some are equal, and some long.
fn wall() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (5_u8..15).prop_map(f64::from),
        3 => 0.0..100.0,
        1 => prop::num::f64::POSITIVE.prop_filter("a time", |wall_ms| *wall_ms < 1e12),
        1 => Just(0.0),
    ]
}

/// Starts around now and in the weeks before, of which some are equal and some at the bounds of a stretch.
fn start() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => (0..DAY_NS).prop_map(|ago| NOW_NS - ago),
        4 => (0..16 * DAY_NS).prop_map(|ago| NOW_NS - ago),
        2 => (0..40 * DAY_NS).prop_map(|ago| NOW_NS - ago),
        4 => (-4_i64..160).prop_map(|quarters| NOW_NS - quarters * DAY_NS / 4),
        1 => (-4_i64..160, -1_i64..=1).prop_map(|(quarters, by)| NOW_NS - quarters * DAY_NS / 4 + by),
        1 => (0..2 * DAY_NS).prop_map(|ahead| NOW_NS + ahead),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let bound = || prop::option::weighted(0.2, start());
    let now = prop_oneof![3 => Just(NOW_NS), 1 => start()];
    let days = prop_oneof![3 => select(&[1, 7, 14, 30, 90][..]), 1 => 1_u32..=90];
    let utc_offset = prop_oneof![Just(0), select(&[-1440, -60, 60, 345, 1440][..]), -1440..=1440];
    (any_filter(), bound(), bound(), now, days, utc_offset).prop_map(
        |(filter, since_unix_ns, until_unix_ns, now_unix_ns, days, utc_offset_minutes)| Question {
            filter: QueryFilter { since_unix_ns, until_unix_ns, ..filter },
            now_unix_ns,
            days,
            utc_offset_minutes,
        },
    )
}
