//! A body in the pieces it was made in: joined, it would be copied and take twice its memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use futures_util::TryStreamExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// A body, all of it, in the pieces it was made in.
#[derive(Debug, Default)]
pub(crate) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    /// Waits for a body.
    pub(crate) async fn read(body: Body) -> Result<Self, axum::Error> {
        body.into_data_stream().try_collect().await.map(Self)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.0.iter()
    }

    pub(crate) fn into_body(self) -> Body {
        Body::new(self)
    }
}

impl From<Vec<Bytes>> for Pieces {
    fn from(pieces: Vec<Bytes>) -> Self {
        Self(pieces.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_comes_again_in_its_pieces() {
        let pieces = Pieces::from(vec![Bytes::from("[1,"), Bytes::from("2]")]);
        let body = pieces.into_body();
        assert_eq!(body.size_hint().exact(), Some(5));
        let again = Pieces::read(body).await.expect("no error");
        assert_eq!(again.iter().collect::<Vec<_>>(), ["[1,", "2]"]);
    }
}
