//! Where readers of the live streams say they are.

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use queryscope_store::testsuite::{batch, facts, query_id};

use crate::service::Service;

/// Pieces of a stream without an end that are read: how it begins, and its first message.
const PIECES: usize = 2;
/// Queries: one that runs, one that has finished, one that there is not.
const RUNS: u64 = 1;
const FINISHED: u64 = 2;
const UNKNOWN: u64 = 3;

thread_local! {
    static SERVICE: Service = filled();
}

/// Comes back with a `Last-Event-ID`; the first byte says to which stream.
///
/// # Panics
/// When the answer is no stream of server-sent events, or leaves out events of a query that has finished.
pub fn live(bytes: &[u8]) {
    let Some((which, id)) = bytes.split_first() else { return };
    let Ok(id) = HeaderValue::from_bytes(id) else { return };
    let query = [None, Some(RUNS), Some(FINISHED), Some(UNKNOWN)][usize::from(*which) % 4];
    let path = query.map_or("/api/live".into(), |query| format!("/api/live/{}", query_id(query)));
    let request = Request::get(path).header(header::HOST, "localhost").header("last-event-id", &id);
    let request = request.body(Body::empty()).expect("a request");
    SERVICE.with(|service| {
        let pieces = if query == Some(FINISHED) { usize::MAX } else { PIECES };
        let answer = service.ask_begin(request, pieces);
        match (answer.status.as_u16(), query) {
            (200, _) => {
                let text = str::from_utf8(&answer.body).expect("text");
                check_stream(text);
                if query == Some(FINISHED) {
                    check_events(service, text);
                }
            }
            (204, Some(FINISHED)) => assert!(answer.body.is_empty()),
            (404, Some(UNKNOWN)) => answer.check_error(),
            _ => panic!("{answer:?}"),
        }
    });
}

fn check_stream(text: &str) {
    let fields = ["id: ", "event: ", "data: ", "retry: ", ": "];
    for line in text.lines().filter(|line| !line.is_empty()) {
        assert!(fields.iter().any(|field| line.starts_with(field)), "{line}");
    }
    assert!(text.ends_with("\n\n"), "a message that is cut off");
}

/// What is told are the last events of the recording, in its order, as many as are missing where the reader came from:
/// in the end it has all.
fn check_events(service: &Service, text: &str) {
    let messages = text.split("\n\n").filter(|message| message.contains("event: events\n"));
    let told: Vec<&str> =
        messages.flat_map(str::lines).filter_map(|line| line.strip_prefix("data: ")).collect();
    let recorded = service.recorded(query_id(FINISHED)).expect("stored");
    assert!(told.len() <= recorded.len());
    assert_eq!(told, recorded[recorded.len() - told.len()..]);
    assert!(text.contains("event: finished\n"), "{text}");
    let events = recorded.len() - 1;
    let end = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().expect("an id");
    assert!(end.contains(&format!("-{events}-")), "{end} is not behind {events} events");
}

fn filled() -> Service {
    let service = Service::start();
    for sent in [
        batch(1).progress(RUNS, [2, 3, 4]).progress(FINISHED, [5, 7]),
        batch(1).progress(FINISHED, [6, 8]).finished(FINISHED, 9, facts("done")),
    ] {
        service.wait(async { service.store.commit(sent.build()).await }).expect("stored");
    }
    service
}
