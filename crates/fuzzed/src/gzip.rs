//! A body in gzip on its way through the service.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;

use axum::body::Body;
use axum::http::{Request, header};
use flate2::bufread::MultiGzDecoder;
use queryscope_protocol::{Batch, QueryId, Seq};

use crate::members::Members;
use crate::service::{Answer, Service, TOKEN};

/// Queries of a batch whose recordings are read back.
const READ_BACK_MAX: usize = 8;

thread_local! {
    static SERVICE: RefCell<Option<Service>> = const { RefCell::new(None) };
}

/// Posts a body in gzip, as it is or made of these bytes.
///
/// # Panics
/// When the answer is not that to the same text sent plain, or what was accepted is not stored byte for byte.
pub fn gzip(bytes: &[u8]) {
    let body = if bytes.starts_with(b"\x1f\x8b") { bytes.to_vec() } else { Members::of(bytes).joined() };
    SERVICE.with_borrow_mut(|kept| {
        let service = kept.take().unwrap_or_else(Service::for_senders);
        let answer = post(&service, body.clone(), true);
        let text = inflated(&body);
        match answer.status.as_u16() {
            202 => {
                let text = text.expect("what is accepted is gzip");
                check_stored(&service, &text, &answer);
                let again = counts(&post(&service, text, false));
                let first = counts(&answer);
                assert_eq!(again, (0, first.0 + first.1), "all of it is known when it comes again");
                // What has been stored would have a say in what comes next.
                return;
            }
            400 => {
                answer.check_error();
                let expected = text.map(|text| post(&service, text, false));
                if let Some(plain) = expected {
                    assert_eq!((plain.status, &plain.body), (answer.status, &answer.body));
                }
            }
            413 => answer.check_error(),
            _ => panic!("{answer:?}"),
        }
        *kept = Some(service);
    });
}

fn post(service: &Service, body: Vec<u8>, gzip: bool) -> Answer {
    let request = Request::post("/v1/events").header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
    let request = if gzip { request.header(header::CONTENT_ENCODING, "gzip") } else { request };
    service.ask(request.body(Body::from(body)).expect("a request"))
}

fn inflated(body: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(body).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Accepted and duplicate events.
fn counts(answer: &Answer) -> (u64, u64) {
    let counts: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    let count = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("{name} of {answer:?}"));
    (count("accepted"), count("duplicates"))
}

fn check_stored(service: &Service, text: &[u8], answer: &Answer) {
    let batch = Batch::open(text).expect("what is accepted is a batch");
    let mut seen: HashSet<Seq> = HashSet::new();
    let mut repeats = 0;
    let mut queries: BTreeMap<QueryId, BTreeMap<Seq, &str>> = BTreeMap::new();
    for event in batch.events {
        let event = event.expect("what is accepted has no bad line");
        if !seen.insert(event.seq) {
            repeats += 1;
        } else if let Some(id) = event.kind.query_id() {
            queries.entry(id).or_default().insert(event.seq, event.line);
        }
    }
    assert_eq!(counts(answer), (seen.len() as u64, repeats));
    for (id, events) in queries.into_iter().take(READ_BACK_MAX) {
        let lines = service.recorded(id).expect("stored");
        let expected: Vec<&str> = [batch.process_line].into_iter().chain(events.into_values()).collect();
        assert_eq!(lines, expected);
    }
}
