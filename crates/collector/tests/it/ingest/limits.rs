//! 413: 8 MiB as sent, 64 MiB decompressed, to the byte.

use std::convert::Infallible;
use std::io::{Read, Write};

use axum::body::Body;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::app::{Answer, TestApp, post, with_header};
use crate::events::{batch, done, event, process, query};
use crate::socket::patiently;

const BODY_BYTES_MAX: usize = 8 << 20;
const BATCH_BYTES_MAX: usize = 64 << 20;

fn check_too_large(answer: &Answer, says: &str) {
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.error().contains(says), "{answer:?}");
}

fn check_accepted(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.json()), (202, json!({"accepted": 1, "duplicates": 0})));
}

/// A batch of so many bytes: its one event is followed by blanks.
fn batch_of(bytes: usize) -> Vec<u8> {
    let mut text = batch(1, [event(2, "x", json!({}))]).into_bytes();
    text.pop();
    text.resize(bytes, b' ');
    text
}

/// As [`batch_of`], as gzip, without ever holding the text.
fn gzip_of(bytes: usize) -> Vec<u8> {
    let head = format!("{}\n{}", process(1), event(2, "x", json!({})));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(head.as_bytes()).expect("memory");
    let mut blanks = std::io::repeat(b' ').take((bytes - head.len()) as u64);
    std::io::copy(&mut blanks, &mut encoder).expect("memory");
    encoder.finish().expect("memory")
}

/// A body that does not say how long it is.
fn without_length(body: &[u8]) -> Body {
    let pieces: Vec<_> = body.chunks(1 << 20).map(|piece| Ok::<_, Infallible>(piece.to_vec())).collect();
    Body::from_stream(futures_util::stream::iter(pieces))
}

#[tokio::test]
async fn a_body_of_8_mib_is_taken_and_one_byte_more_is_not() {
    let app = TestApp::new().await;
    let over = batch_of(BODY_BYTES_MAX + 1);
    check_too_large(&app.post(over.clone()).await, "8 MiB");
    check_too_large(&app.post(without_length(&over)).await, "8 MiB");
    check_accepted(&app.post(batch_of(BODY_BYTES_MAX)).await);
    let again = app.post(without_length(&batch_of(BODY_BYTES_MAX))).await;
    assert_eq!(again.json()["duplicates"], 1, "{again:?}");
}

#[tokio::test]
async fn an_announced_length_is_refused_before_any_byte_of_the_body() {
    let app = TestApp::new().await;
    let silent = || Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, Infallible>>());
    let announced = (BODY_BYTES_MAX + 1).to_string();
    let request = with_header(post(silent()), "content-length", &announced);
    check_too_large(&patiently("413", app.send(request)).await, "8 MiB");
}

#[tokio::test]
async fn a_batch_of_64_mib_is_taken_and_one_byte_more_is_not() {
    let app = TestApp::new().await;
    check_too_large(&app.post_gzip(gzip_of(BATCH_BYTES_MAX + 1)).await, "64 MiB");
    check_accepted(&app.post_gzip(gzip_of(BATCH_BYTES_MAX)).await);
}

#[tokio::test]
async fn a_bomb_is_measured_and_not_asked_how_large_it_is() {
    let app = TestApp::new().await;
    let mut bomb = gzip_of(BATCH_BYTES_MAX + 1);
    let footer = bomb.len() - 4;
    bomb[footer..].copy_from_slice(&1000_u32.to_le_bytes());
    check_too_large(&app.post_gzip(bomb).await, "64 MiB");
}

#[tokio::test]
async fn members_are_measured_together() {
    let app = TestApp::new().await;
    let half = gzip_of(BATCH_BYTES_MAX / 2);
    check_too_large(&app.post_gzip([&half[..], &half, &half].concat()).await, "64 MiB");
}

#[tokio::test]
async fn a_batch_that_was_too_large_can_be_split() {
    let app = TestApp::new().await;
    let filler = "x".repeat(BODY_BYTES_MAX / 2);
    let half = |seq, n| event(seq, "query.note", json!({"query_id": query(n), "note": filler}));
    check_too_large(&app.post(batch(1, [half(2, 1), half(3, 1)])).await, "split");
    app.store(batch(1, [half(2, 1)])).await;
    app.store(batch(1, [half(3, 1)])).await;
    app.store(batch(1, [done(4, 1)])).await;
    assert_eq!(app.recorded(1).await, [process(1), half(2, 1), half(3, 1), done(4, 1)]);
}
