//! Answers that may be long, in pieces: what grows in one is copied again and again and takes twice its memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use queryscope_store::breathe;
use serde::Serialize;

use crate::error::ApiError;

const PIECE_BYTES: usize = 64 << 10;

/// A body, all of it, in the pieces it was made in.
#[derive(Debug, Default)]
pub(crate) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    /// Waits for a body.
    pub(crate) async fn of(body: Body) -> Result<Self, axum::Error> {
        body.into_data_stream().try_collect().await.map(Self)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.0.iter()
    }

    pub(crate) fn into_body(self) -> Body {
        Body::new(self)
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.iter().map(|piece| piece.len() as u64).sum())
    }
}

/// An answer in JSON that may be long.
#[derive(Debug)]
pub(crate) struct LongJson<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for LongJson<T> {
    fn into_response(self) -> Response {
        let mut writer = Writer::default();
        if let Err(error) = serde_json::to_writer(&mut writer, &self.0) {
            tracing::error!(error = &error as &dyn std::error::Error, "an answer can not be written");
            return ApiError::unavailable("the answer could not be written").into_response();
        }
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ([kind], writer.finish().into_body()).into_response()
    }
}

/// Begins a piece where one is full.
#[derive(Debug, Default)]
struct Writer {
    full: VecDeque<Bytes>,
    last: Vec<u8>,
}

impl Writer {
    fn finish(mut self) -> Pieces {
        self.last.shrink_to_fit();
        self.full.push_back(self.last.into());
        Pieces(self.full)
    }
}

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == self.last.capacity() {
            breathe();
            let full = replace(&mut self.last, Vec::with_capacity(PIECE_BYTES));
            self.full.extend((!full.is_empty()).then(|| full.into()));
        }
        let taken = bytes.len().min(self.last.capacity() - self.last.len());
        self.last.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        // A number or a comma at a time: nearly all fit.
        if bytes.len() <= self.last.capacity() - self.last.len() {
            self.last.extend_from_slice(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            let taken = self.write(bytes)?;
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concat(pieces: &Pieces) -> Vec<u8> {
        pieces.iter().flatten().copied().collect()
    }

    #[tokio::test]
    async fn a_long_answer_comes_in_pieces() {
        let value: Vec<usize> = (0..PIECE_BYTES).collect();
        let text = serde_json::to_vec(&value).expect("JSON");
        let response = LongJson(&value).into_response();
        assert_eq!(response.body().size_hint().exact(), Some(text.len() as u64));
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        let pieces = Pieces::of(response.into_body()).await.expect("no error");
        assert_eq!(pieces.iter().map(Bytes::len).max(), Some(PIECE_BYTES));
        assert!(concat(&pieces) == text);
        let again = Pieces::of(pieces.into_body()).await.expect("no error");
        assert!(concat(&again) == text);
    }

    #[tokio::test]
    async fn a_short_answer_is_one_piece() {
        let response = LongJson([1, 2]).into_response();
        let pieces = Pieces::of(response.into_body()).await.expect("no error");
        assert_eq!(pieces.0, ["[1,2]"]);
    }
}
