//! Notices of transitions, and messages that are to be delivered.

use std::collections::BTreeMap;
use std::time::Duration;

use queryscope_issues::{Action, Kind, Notice, State};

use super::evaluation::{TTL, key};
use super::issues::{act, is_sound, open};
use super::subject::{ALL, Subject, Subjects};
use crate::outbox::{
    Attempt, Delivery, DeliveryState, Dispatch, NewDelivery, OUTBOX_FULL, OUTBOX_MAX, OutboxPage,
    OutboxStore, StoredNotice, outbox_kept_since,
};

const HOLDER: &str = "who delivers";
/// More than an outbox holds here.
const WHOLE: usize = 100_000;

fn outbox(s: &Subject) -> &dyn OutboxStore {
    s.store.outbox()
}

async fn waiting(s: &Subject) -> Vec<StoredNotice> {
    outbox(s).notices(WHOLE).await.expect("a store")
}

fn new(route: &str, key: &str, created_unix_ns: i64) -> NewDelivery {
    let body = format!(r#"{{"says":"{route} {key} ä"}}"#);
    NewDelivery { route: route.into(), key: key.into(), created_unix_ns, state: DeliveryState::Waiting, body }
}

async fn dispatch(s: &Subject, notices: Vec<i64>, deliveries: Vec<NewDelivery>) -> BTreeMap<String, u64> {
    assert!(outbox(s).delivery_lease(HOLDER, TTL).await.expect("a store"));
    let unix_ns = deliveries.iter().map(|new| new.created_unix_ns).max().unwrap_or_default();
    let work = Dispatch { holder: HOLDER.into(), unix_ns, notices, deliveries };
    outbox(s).dispatch(work).await.expect("a store").expect("the lease")
}

async fn all(s: &Subject) -> OutboxPage {
    outbox(s).outbox_page(i64::MIN, i64::MIN, WHOLE).await.expect("a store")
}

async fn due(s: &Subject, unix_ns: i64) -> Vec<Delivery> {
    let of = async |route: &str| outbox(s).due_deliveries(route, unix_ns, ALL).await.expect("a store");
    [of("hook").await, of("mail").await].concat()
}

fn names(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(|delivery| format!("{} {}", delivery.route, delivery.key)).collect()
}

fn attempt(unix_ns: i64, state: DeliveryState, due_unix_ns: i64, error: Option<&str>) -> Attempt {
    Attempt { unix_ns, state, due_unix_ns, error: error.map(Into::into) }
}

pub(super) fn each_transition_has_a_notice(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(waiting(s).await, []);
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        act(s, &id, Action::Acknowledge).await;
        // What is refused is no transition.
        act(s, &id, Action::Acknowledge).await;
        s.reopen().await;
        let found = waiting(s).await;
        let made: Vec<(&str, u64, bool)> =
            found.iter().map(|notice| (notice.issue.as_str(), notice.transition, notice.done)).collect();
        assert_eq!(made, [(id.as_str(), 1, false), (id.as_str(), 2, false)]);
        let read: Vec<Notice> =
            found.iter().map(|notice| Notice::from_json(&notice.body).expect("a notice")).collect();
        assert_eq!((read[0].transition.to, read[1].transition.to), (State::Open, State::Acknowledged));
        assert_eq!((read[1].issue.label.as_str(), read[1].issue.state), ("a", State::Acknowledged));
        assert_eq!(found[1].unix_ns, read[1].transition.unix_ns);
        // Those that are taken over from elsewhere have none of their own.
        let mut record = s.store.issue(&id).await.expect("a store").expect("an issue");
        (record.issue.id, record.issue.label) = ("issue-1".into(), "other".into());
        assert_eq!(s.store.adopt_issues(vec![record]).await.expect("a store"), 1);
        assert_eq!(waiting(s).await, found);
        is_sound(s).await;
    });
}

pub(super) fn notices_become_deliveries_at_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        act(s, &id, Action::Acknowledge).await;
        let first = waiting(s).await[0].number;
        let deliveries = vec![new("hook", "k1", 100), new("mail", "k1", 100)];
        dispatch(s, vec![first], deliveries.clone()).await;
        // Whoever died after that and does it again adds nothing.
        dispatch(s, vec![first], deliveries).await;
        s.reopen().await;
        let left: Vec<u64> = waiting(s).await.iter().map(|notice| notice.transition).collect();
        assert_eq!(left, [2]);
        assert_eq!(names(&due(s, 100).await), ["hook k1", "mail k1"]);
        assert_eq!(due(s, 99).await, []);
        let one = due(s, 100).await.remove(0);
        assert_eq!((one.attempts, one.due_unix_ns, one.ended_unix_ns, one.last_error), (0, 100, None, None));
        assert_eq!(one.body, r#"{"says":"hook k1 ä"}"#);
        let joined = NewDelivery { state: DeliveryState::Joined, ..new("mail", "k2", 200) };
        dispatch(s, vec![], vec![joined]).await;
        assert_eq!(names(&due(s, i64::MAX).await), ["hook k1", "mail k1"], "what joined is not sent");
        let since = outbox(s).deliveries_since(101, ALL).await.expect("a store");
        assert_eq!((names(&since), since[0].ended_unix_ns), (vec!["mail k2".to_owned()], Some(200)));
        let newest = outbox(s).deliveries_since(0, 2).await.expect("a store");
        assert_eq!(names(&newest), ["mail k2", "mail k1"]);
        is_sound(s).await;
    });
}

pub(super) fn an_attempt_is_noted_while_its_delivery_waits(subjects: &Subjects) {
    use DeliveryState::{GivenUp, Refused, Sent, Waiting};
    subjects.one(async |s| {
        dispatch(s, vec![], vec![new("hook", "a", 1), new("hook", "b", 2), new("mail", "c", 3)]).await;
        let [a, b, c] = due(s, 9).await.try_into().expect("three");
        let note = async |delivery: &Delivery, attempt| {
            outbox(s).note_attempt(delivery.number, attempt).await.expect("a store")
        };
        assert!(note(&a, attempt(10, Waiting, 50, Some("500"))).await);
        assert_eq!(names(&due(s, 49).await), ["hook b", "mail c"]);
        assert_eq!(names(&due(s, 50).await), ["hook b", "hook a", "mail c"]);
        let first = outbox(s).due_deliveries("hook", 50, 1).await.expect("a store");
        assert_eq!(names(&first), ["hook b"]);
        assert!(note(&a, attempt(51, Sent, 51, None)).await);
        assert!(!note(&a, attempt(52, Sent, 52, None)).await, "it waits no more");
        assert!(note(&b, attempt(53, Refused, 53, Some("400"))).await);
        assert!(!note(&Delivery { number: 99_999, ..a.clone() }, attempt(1, Sent, 1, None)).await);
        let records = outbox(s).route_records().await.expect("a store");
        let [hook, mail] = records.try_into().expect("two routes");
        assert_eq!((hook.route.as_str(), hook.waiting, hook.sent, hook.failed), ("hook", 0, 1, 1));
        assert_eq!((hook.sent_unix_ns, hook.waiting_since_unix_ns), (Some(51), None));
        assert_eq!(hook.last_error, Some(("400".into(), 53)));
        assert_eq!((mail.waiting, mail.waiting_since_unix_ns, mail.last_error), (1, Some(3), None));
        assert!(note(&c, attempt(60, GivenUp, 60, Some("too old"))).await);
        s.reopen().await;
        let kept = all(s).await.deliveries;
        let kept: Vec<_> = kept.iter().map(|each| (each.attempts, each.state, each.ended_unix_ns)).collect();
        assert_eq!(kept, [(2, Sent, Some(51)), (1, Refused, Some(53)), (1, GivenUp, Some(60))]);
        is_sound(s).await;
    });
}

pub(super) fn one_holder_delivers_at_a_time(subjects: &Subjects) {
    subjects.one(async |s| {
        let lease = async |holder: &str, ttl| outbox(s).delivery_lease(holder, ttl).await.expect("a store");
        if !s.is_shared() {
            assert!(lease("one", TTL).await && lease("other", TTL).await);
            return;
        }
        assert!(lease("one", TTL).await && lease("one", TTL).await);
        assert!(!lease("other", TTL).await);
        let work =
            Dispatch { holder: "other".into(), deliveries: vec![new("r", "k", 1)], ..Dispatch::default() };
        assert_eq!(outbox(s).dispatch(work.clone()).await.expect("a store"), None);
        assert_eq!(all(s).await, OutboxPage::default());
        // The lease on evaluations is another.
        assert!(s.store.evaluation_lease("other", TTL).await.expect("a store"));
        assert!(lease("one", Duration::from_millis(1)).await, "it may be given up");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(lease("other", TTL).await);
        assert_eq!(outbox(s).dispatch(work).await.expect("a store"), Some(BTreeMap::new()));
    });
}

fn stored(transition: u64, unix_ns: i64, done: bool) -> StoredNotice {
    let body = format!(r#"{{"issue":{{"id":"issue-old"}},"transition":{{"number":{transition}}}}}"#);
    StoredNotice { number: 0, issue: "issue-old".into(), transition, unix_ns, done, body }
}

async fn adopt(s: &Subject, notices: Vec<StoredNotice>, deliveries: Vec<Delivery>) {
    outbox(s).adopt_outbox(OutboxPage { notices, deliveries }).await.expect("a store");
}

fn of_state(route: &str, key: &str, state: DeliveryState, ended_unix_ns: i64) -> Delivery {
    let new = NewDelivery { state, ..new(route, key, 1) };
    let ended = (state != DeliveryState::Waiting).then_some(ended_unix_ns);
    Delivery { ended_unix_ns: ended, ..Delivery::new(new) }
}

pub(super) fn what_ended_is_kept_for_a_week(subjects: &Subjects) {
    use DeliveryState::{GivenUp, Joined, Refused, Sent, Waiting};
    subjects.one(async |s| {
        let since = outbox_kept_since(5_000);
        let old =
            [Sent, Refused, GivenUp, Joined].map(|state| of_state("hook", state.name(), state, since - 1));
        let kept = [("kept", Sent, since), ("waits", Waiting, 0)];
        let kept = kept.map(|(key, state, ended)| of_state("hook", key, state, ended));
        let notices = vec![stored(1, since - 1, true), stored(2, since - 1, false), stored(3, since, true)];
        adopt(s, notices, old.into_iter().chain(kept).collect()).await;
        // Any dispatch takes the old ones along.
        assert_eq!(dispatch(s, vec![], vec![new("mail", "new", 5_000)]).await, BTreeMap::new());
        let left = all(s).await;
        assert_eq!(names(&left.deliveries), ["hook kept", "hook waits", "mail new"]);
        let left: Vec<u64> = left.notices.iter().map(|notice| notice.transition).collect();
        assert_eq!(left, [2, 3], "one that is not done is kept");
    });
}

pub(super) fn of_a_route_the_newest_messages_wait(subjects: &Subjects) {
    use DeliveryState::{GivenUp, Sent, Waiting};
    subjects.one(async |s| {
        let flood = |route: &'static str, prefix: &'static str, state, count| {
            (0..count).map(move |n| of_state(route, &format!("{prefix}{n:05}"), state, 6_000))
        };
        // Those of other routes, and those that ended, push out none that wait.
        let waiting = flood("flood", "w", Waiting, OUTBOX_MAX);
        let deliveries = [of_state("hook", "waits", Waiting, 0), of_state("hook", "sent", Sent, 6_000)];
        adopt(s, vec![], deliveries.into_iter().chain(waiting).collect()).await;
        assert_eq!(dispatch(s, vec![], vec![new("hook", "new", 6_000)]).await, BTreeMap::new());
        assert_eq!(all(s).await.deliveries.len() as u64, OUTBOX_MAX + 3);
        // Two more to the route: the two oldest are given up, and stay visible.
        let more = vec![new("flood", "x1", 7_000), new("flood", "x2", 7_000)];
        let given_up = BTreeMap::from([("flood".to_owned(), 2)]);
        assert_eq!(dispatch(s, vec![], more.clone()).await, given_up);
        assert_eq!(dispatch(s, vec![], more).await, BTreeMap::new());
        let records = outbox(s).route_records().await.expect("a store");
        let [flood_record, hook] = records.try_into().expect("two routes");
        assert_eq!((flood_record.waiting, flood_record.failed), (OUTBOX_MAX, 2));
        assert_eq!(flood_record.last_error, Some((OUTBOX_FULL.into(), 7_000)));
        assert_eq!((hook.waiting, hook.sent, hook.last_error), (2, 1, None));
        let left = all(s).await.deliveries;
        let ended: Vec<_> = left.iter().filter(|each| each.state == GivenUp).cloned().collect();
        assert_eq!(names(&ended), ["flood w00000", "flood w00001"]);
        assert!(ended.iter().all(|each| each.attempts == 0 && each.ended_unix_ns == Some(7_000)));
        // Of those that ended, the newest stay.
        adopt(s, vec![], flood("flood", "s", Sent, OUTBOX_MAX - 1).collect()).await;
        dispatch(s, vec![], vec![new("flood", "x2", 7_000)]).await;
        let left = all(s).await.deliveries;
        let ended: Vec<_> =
            left.iter().filter(|each| each.route == "flood" && each.state != Waiting).collect();
        assert_eq!((ended.len() as u64, ended[0].key.as_str()), (OUTBOX_MAX, "w00001"));
        assert_eq!(left.len() as u64, 2 * OUTBOX_MAX + 3);
    });
}

pub(super) fn the_newest_notices_are_kept(subjects: &Subjects) {
    subjects.one(async |s| {
        // Those that are done push out none that is not.
        let waiting = (0..OUTBOX_MAX).map(|n| stored(n, 900, false));
        let done = (OUTBOX_MAX..2 * OUTBOX_MAX + 3).map(|n| stored(n, 900, true));
        adopt(s, waiting.chain(done).collect(), vec![]).await;
        open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        let first = s.store.outbox().notices(1).await.expect("a store").remove(0);
        assert_eq!(first.transition, 1, "the oldest made room for that of the issue");
        assert_eq!(waiting_count(s).await, OUTBOX_MAX);
        dispatch(s, vec![first.number], vec![]).await;
        let notices = all(s).await.notices;
        let done: Vec<_> = notices.iter().filter(|notice| notice.done).collect();
        assert_eq!((done.len() as u64, waiting_count(s).await), (OUTBOX_MAX, OUTBOX_MAX - 1));
        assert_eq!(done[0].transition, OUTBOX_MAX + 4 - 1, "the oldest went, and that of the dispatch");
    });
}

async fn waiting_count(s: &Subject) -> u64 {
    waiting(s).await.len() as u64
}

pub(super) fn retention_takes_old_messages(subjects: &Subjects) {
    subjects.one(async |s| {
        open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        dispatch(s, vec![], vec![new("hook", "a", 1_004), new("hook", "b", 1_006)]).await;
        s.store.delete_before(1_005, ALL).await.expect("a store");
        assert_eq!((waiting(s).await.len(), names(&all(s).await.deliveries)), (1, vec!["hook b".to_owned()]));
        s.store.delete_before(1_007, ALL).await.expect("a store");
        assert_eq!(all(s).await, OutboxPage::default());
    });
}

pub(super) fn an_outbox_is_taken_over_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        act(s, &id, Action::Acknowledge).await;
        let first = waiting(s).await[0].number;
        dispatch(s, vec![first], vec![new("hook", "a", 1_000), new("hook", "b", 1_001)]).await;
        let b = due(s, 2_000).await.remove(1);
        let failed = attempt(1_002, DeliveryState::Waiting, 1_100, Some("503"));
        assert!(outbox(s).note_attempt(b.number, failed).await.expect("a store"));
        let before = all(s).await;
        outbox(s).adopt_outbox(before.clone()).await.expect("a store");
        assert_eq!(all(s).await, before, "all of it is there");
        let mut elsewhere = before.clone();
        for notice in &mut elsewhere.notices {
            notice.issue = "issue-elsewhere".into();
            notice.body = notice.body.replace(&id, "issue-elsewhere");
        }
        for delivery in &mut elsewhere.deliveries {
            delivery.route = "other".into();
        }
        for _ in 0..2 {
            outbox(s).adopt_outbox(elsewhere.clone()).await.expect("a store");
        }
        let after = all(s).await;
        assert_eq!((after.notices.len(), after.deliveries.len()), (4, 4));
        let of_notice = |notice: &StoredNotice| (notice.transition, notice.unix_ns, notice.done);
        assert_eq!(
            after.notices[2..].iter().map(of_notice).collect::<Vec<_>>(),
            before.notices.iter().map(of_notice).collect::<Vec<_>>()
        );
        let same = |(one, other): (&Delivery, &Delivery)| {
            let other = Delivery { number: one.number, route: one.route.clone(), ..other.clone() };
            *one == other
        };
        assert!(after.deliveries[2..].iter().zip(&before.deliveries).all(same), "{after:?}");
        // Pages join to the whole.
        let (mut notices, mut deliveries, mut pages) = (Vec::new(), Vec::new(), 0);
        loop {
            let last = |numbers: Option<i64>| numbers.unwrap_or(i64::MIN);
            let after_notice = last(notices.last().map(|notice: &StoredNotice| notice.number));
            let after_delivery = last(deliveries.last().map(|delivery: &Delivery| delivery.number));
            let page = outbox(s).outbox_page(after_notice, after_delivery, 3).await.expect("a store");
            if page == OutboxPage::default() {
                break;
            }
            notices.extend(page.notices);
            deliveries.extend(page.deliveries);
            pages += 1;
        }
        assert_eq!((pages, OutboxPage { notices, deliveries }), (2, after));
        is_sound(s).await;
    });
}
