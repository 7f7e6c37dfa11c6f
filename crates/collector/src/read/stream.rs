//! Answers of many entries, written as their reader takes them.
//!
//! The entries are held packed ([`Packed`]); a piece of JSON is made when the socket has room for it. What waits
//! for a slow reader is a piece, not the answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame};
use queryscope_store::Packed;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answers::{Answers, Reader};
use crate::error::ApiError;

/// Bytes of JSON that are made at once.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Appends an entry as JSON.
pub(crate) type Write<T> = Box<dyn Fn(T, &mut Vec<u8>) + Send + Sync>;

/// JSON around entries, and how one of them is written.
pub(crate) struct Shape<T> {
    /// What stands before the first entry.
    pub(crate) head: Vec<u8>,
    /// What stands after the last one.
    pub(crate) tail: &'static [u8],
    /// Appends an entry as JSON.
    pub(crate) write: Write<T>,
}

/// Appends a value as JSON.
pub(crate) fn write_json(value: &impl Serialize, to: &mut Vec<u8>) {
    if let Err(error) = serde_json::to_writer(to, value) {
        // A buffer takes whatever is written, and answers hold no maps.
        tracing::error!(error = &error as &dyn std::error::Error, "an entry cannot be written");
    }
}

/// The answer of these entries. One that does not fit a piece counts against the memory of answers until it is read.
///
/// # Errors
/// 503 when other answers take all the memory there is for them, and their readers go on reading.
pub(crate) async fn answer<T: Serialize + DeserializeOwned + Send + 'static>(
    answers: &Answers,
    reader: &Reader,
    entries: Packed<T>,
    shape: Shape<T>,
) -> Result<Response, ApiError> {
    let mut stream =
        Stream { entries, shape, offset: 0, is_begun: false, is_ended: false, share: None, first: None };
    let first = stream.piece();
    let body = if stream.is_ended {
        Body::from(first)
    } else {
        stream.share = Some(answers.hold(reader, stream.entries.bytes().len() + 3 * PIECE_BYTES).await?);
        stream.first = Some(first);
        Body::new(stream)
    };
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(([kind], body).into_response())
}

struct Stream<T> {
    entries: Packed<T>,
    shape: Shape<T>,
    offset: usize,
    is_begun: bool,
    is_ended: bool,
    share: Option<crate::ingest::Share>,
    /// A piece that has been made.
    first: Option<Bytes>,
}

// Nothing of it is pinned.
impl<T> Unpin for Stream<T> {}

impl<T: Serialize + DeserializeOwned> Stream<T> {
    fn piece(&mut self) -> Bytes {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        if self.offset == 0 {
            piece.append(&mut self.shape.head);
        }
        while piece.len() < PIECE_BYTES && !self.is_ended {
            if let Some((entry, next)) = self.entries.read(self.offset) {
                if std::mem::replace(&mut self.is_begun, true) {
                    piece.push(b',');
                }
                (self.shape.write)(entry, &mut piece);
                self.offset = next;
            } else {
                piece.extend_from_slice(self.shape.tail);
                self.is_ended = true;
            }
        }
        piece.into()
    }
}

impl<T: Serialize + DeserializeOwned> HttpBody for Stream<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.first.take() {
            Some(first) => first,
            None if self.is_ended => return Poll::Ready(None),
            None => self.piece(),
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended && self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use queryscope_history::Group;

    use super::*;

    fn group(key: String) -> Group<'static> {
        Group {
            key: key.into(),
            runs: 3,
            failed: 1,
            cancelled: 0,
            unfinished: 0,
            last_started_unix_ns: 7,
            total_wall_ms: 1.5,
            usual_wall_ms: None,
            rules: vec![],
            recent_wall_ms: vec![0.5; 20],
        }
    }

    async fn answered(groups: u32) -> (Response, Answers) {
        let answers = Answers::new(1 << 20, 1);
        let entries: Packed<Group<'static>> = (0..groups).map(|n| group(n.to_string())).collect();
        let shape = Shape {
            head: b"[".to_vec(),
            tail: b"]",
            write: Box::new(|group: Group<'static>, to| {
                write_json(&group.recent_wall_ms.len().max(group.key.len()), to);
            }),
        };
        let response = answer(&answers, &Reader::default(), entries, shape).await.expect("room");
        (response, answers)
    }

    #[tokio::test]
    async fn a_short_answer_has_a_length_and_is_held_by_nobody() {
        for (groups, expected) in [(0, "[]"), (1, "[20]"), (3, "[20,20,20]")] {
            let (response, answers) = answered(groups).await;
            assert_eq!(response.body().size_hint().exact(), Some(expected.len() as u64));
            assert_eq!(answers.held_bytes(), 0);
            assert_eq!(response.into_body().collect().await.expect("no error").to_bytes(), expected);
        }
    }

    #[tokio::test]
    async fn a_long_answer_comes_in_pieces_and_is_held_until_it_is_gone() {
        let (response, answers) = answered(100_000).await;
        assert!(answers.held_bytes() > 3 * PIECE_BYTES);
        let mut body = response.into_body();
        let (mut text, mut pieces) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let piece = frame.expect("no error").into_data().expect("data");
            assert!(piece.len() < PIECE_BYTES + 8);
            text.extend_from_slice(&piece);
            pieces += 1;
        }
        let numbers: Vec<u32> = serde_json::from_slice(&text).expect("JSON");
        assert_eq!((numbers.len(), pieces), (100_000, text.len().div_ceil(PIECE_BYTES)));
        drop(body);
        assert_eq!(answers.held_bytes(), 0);
    }
}
