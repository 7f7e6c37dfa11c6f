use axum::http::HeaderMap;
use queryscope_store::StreamProcess;
use uuid::Uuid;

use super::*;

fn id(n: usize) -> StreamId {
    StreamId::new(Uuid::from_u128(n as u128))
}

/// A batch of the n-th process.
fn heard(n: usize, at_unix_ns: i64) -> Heard {
    let mut heard = Heard::of_project("default".into(), at_unix_ns);
    heard.learn_process(&StreamProcess {
        id: id(n),
        service: Some(format!("service-{n}")),
        environment: None,
        program_version: None,
        host: "h".into(),
        line: String::new(),
    });
    heard
}

/// A batch of the first process that says so many events were dropped.
fn telling(dropped: Option<u64>) -> Heard {
    Heard { dropped, ..heard(1, 0) }
}

fn accept(senders: &Senders, heard: Heard) -> u64 {
    senders.note(heard, Ok(&Committed::default()))
}

fn all(senders: &Senders) -> Listed {
    senders.list(usize::MAX, |_| true)
}

fn only(senders: &Senders) -> Sender {
    let mut listed = all(senders).senders;
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed.remove(0).2
}

#[test]
fn those_heard_longest_ago_are_forgotten_when_others_come() {
    let senders = Senders::new(0);
    for n in 0..SENDERS_MAX {
        accept(&senders, heard(n, n as i64));
    }
    // The first is heard again, so others leave before it; nobody leaves for one that is known.
    accept(&senders, heard(0, 0));
    assert_eq!(all(&senders).known, SENDERS_MAX);
    accept(&senders, heard(SENDERS_MAX, 0));
    let listed = all(&senders);
    assert_eq!(listed.known, SENDERS_MAX - LEAVING + 1);
    let ids: Vec<_> = listed.senders.iter().map(|(_, identity, _)| identity.clone()).collect();
    let of = |n| Identity::Stream(id(n));
    assert_eq!(ids[..3], [of(SENDERS_MAX), of(0), of(SENDERS_MAX - 1)]);
    assert_eq!(ids.last(), Some(&of(LEAVING + 1)));
    for n in SENDERS_MAX..3 * SENDERS_MAX {
        accept(&senders, heard(n, 0));
        assert!(senders.heard.lock().senders.len() <= SENDERS_MAX);
    }
}

#[test]
fn batches_events_and_refusals_are_counted() {
    let senders = Senders::new(0);
    let committed = Committed { accepted: 3, duplicates: 1, ..Committed::default() };
    senders.note(heard(1, 5), Ok(&committed));
    senders.note(heard(1, 6), Ok(&committed));
    let error = ApiError::invalid("x".repeat(400)).at_line(Some(2));
    senders.note(heard(1, 7), Err(&error));
    let sender = only(&senders);
    assert_eq!((sender.batches, sender.events, sender.duplicates, sender.refused), (2, 6, 2, 1));
    assert_eq!((sender.first_unix_ns, sender.last_unix_ns), (5, 7));
    let reason = format!("line 2: {}", "x".repeat(REASON_CHARS_MAX - 8));
    assert_eq!(sender.refusal, Some(Refusal { unix_ns: 7, status: 400, reason }));
    assert_eq!(sender.named.and_then(|named| named.service).as_deref(), Some("service-1"));
}

#[test]
fn what_was_dropped_only_grows_and_is_told_as_what_came_to_it() {
    let senders = Senders::new(0);
    assert_eq!(accept(&senders, telling(None)), 0);
    assert_eq!(only(&senders).dropped, None);
    for (told, more) in [(Some(4), 4), (Some(9), 5), (Some(7), 0), (None, 0), (Some(10), 1)] {
        assert_eq!(accept(&senders, telling(told)), more, "{told:?}");
    }
    assert_eq!(only(&senders).dropped, Some(10));
    let unknown = Senders::new(0);
    let nameless = Heard { dropped: Some(3), ..Heard::of_project("default".into(), 0) };
    assert_eq!(unknown.note(nameless, Err(&ApiError::invalid("no"))), 0);
    assert_eq!(only(&unknown).dropped, None, "it may be of several processes");
}

#[test]
fn the_delay_is_the_smallest_of_the_last_batches() {
    let senders = Senders::new(0);
    let at = |delay_ns: i64| Heard { newest_unix_ns: Some(100 - delay_ns), ..heard(1, 100) };
    accept(&senders, heard(1, 100));
    assert_eq!(only(&senders).delay_ns(), None, "no batch told a time");
    for (delay_ns, smallest) in [(7, 7), (-3, -3), (9, -3)] {
        accept(&senders, at(delay_ns));
        assert_eq!(only(&senders).delay_ns(), Some(smallest));
    }
    // A batch that was refused says nothing, one without a time takes no place.
    senders.note(at(-50), Err(&ApiError::invalid("no")));
    accept(&senders, heard(1, 100));
    for _ in 0..DELAYS - 2 {
        accept(&senders, at(20));
    }
    assert_eq!(only(&senders).delay_ns(), Some(-3));
    accept(&senders, at(20));
    assert_eq!(only(&senders).delay_ns(), Some(9));
    accept(&senders, Heard { newest_unix_ns: Some(i64::MIN), ..heard(1, i64::MAX) });
    assert_eq!(only(&senders).delay_ns(), Some(20));
}

#[test]
fn senders_of_a_project_are_listed_up_to_a_number() {
    let senders = Senders::new(0);
    for (n, project) in ["a", "b", "a", "a"].into_iter().enumerate() {
        accept(&senders, Heard { project: project.into(), ..heard(n, 0) });
    }
    let listed = senders.list(2, |project| project == "a");
    let ids: Vec<_> = listed.senders.into_iter().map(|(_, identity, _)| identity).collect();
    assert_eq!((listed.known, ids), (3, vec![Identity::Stream(id(3)), Identity::Stream(id(2))]));
}

#[test]
fn a_stream_of_two_projects_is_two_senders() {
    let senders = Senders::new(0);
    accept(&senders, heard(1, 0));
    accept(&senders, Heard { project: "other".into(), ..heard(1, 0) });
    let agent = |name: &'static str| {
        let headers = HeaderMap::from_iter([(
            axum::http::header::USER_AGENT,
            axum::http::HeaderValue::from_static(name),
        )]);
        Heard::of_headers("default".into(), 0, &headers)
    };
    for name in ["x/1", "x/2", "x/1"] {
        senders.note(agent(name), Err(&ApiError::invalid("no")));
    }
    assert_eq!(all(&senders).known, 4);
}
