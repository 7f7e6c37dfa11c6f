//! Answers over many runs, made and written by the threads for background work.
//!
//! The handler, the JSON, its tag and its compression run there. A short answer is handed over whole. A long one is
//! a bounded channel: at most [`WINDOW_BYTES`] of it are on their way to the socket, and more is made once the
//! socket has taken some and the pieces are dropped. Without that window hyper would buffer 400 KB for each reader
//! who does not read. Dropping the body ends the task that writes it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use queryscope_store::Foreground;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::answers::Reader;
use super::pieces::Pieces;
use super::stream::PIECE_BYTES;
use crate::app::App;
use crate::error::ApiError;
use crate::live::Cut;

/// An answer of so many bytes, as it goes over the wire, is handed over whole.
const WHOLE_BYTES: usize = PIECE_BYTES;
/// Bytes of a longer one that wait for the socket.
const WINDOW_BYTES: usize = 2 * PIECE_BYTES;
/// Pieces on their way from the threads that make them to the connection. Compressed ones are small.
const QUEUE: usize = 16;

/// Answers on the threads for background work, body and all.
pub(crate) async fn offload(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let reader = Reader::default();
    let connection = request.extensions().get::<Cut>().cloned();
    request.extensions_mut().insert(reader.clone());
    let (answered, answer) = oneshot::channel();
    let (pieces, queue) = mpsc::channel(QUEUE);
    let of_writer = reader.clone();
    let foreground = app.store.foreground();
    let work = async move {
        let (head, mut body) = next.run(request).await.into_parts();
        let (mut made, mut bytes) = (Vec::new(), 0);
        while bytes <= WHOLE_BYTES {
            match next_frame(&mut body, &foreground).await {
                Some(Ok(Ok(piece))) => {
                    bytes += piece.len();
                    made.push(piece);
                }
                Some(Ok(Err(_))) => {}
                Some(Err(_)) => return,
                None => {
                    let _ = answered.send((head, Some(made)));
                    return;
                }
            }
        }
        if answered.send((head, None)).is_ok() {
            write(made, body, &pieces, &of_writer, &foreground).await;
        }
    };
    // A reader that has gone needs no answer.
    let writer = AbortOnDropHandle::new(app.background.answers.handle().spawn(work));
    match answer.await {
        Ok((head, Some(made))) => Response::from_parts(head, Pieces::from(made).into_body()),
        Ok((head, None)) => {
            reader.begin(writer.abort_handle(), connection);
            Response::from_parts(head, Body::new(Written { queue, is_ended: false, _writer: writer }))
        }
        Err(_) => ApiError::unavailable("reading was interrupted, try again").into_response(),
    }
}

/// The next frame of an answer. Making it is background work, after which a commit that is under way goes first.
async fn next_frame(
    body: &mut Body,
    foreground: &Foreground,
) -> Option<Result<Result<Bytes, Frame<Bytes>>, axum::Error>> {
    let begun = queryscope_store::now();
    let frame = body.frame().await;
    let pause = foreground.pause_after(begun.elapsed());
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    frame.map(|frame| frame.map(Frame::into_data))
}

/// Hands over what has been made and what follows, as the reader takes it.
async fn write(
    made: Vec<Bytes>,
    mut body: Body,
    pieces: &mpsc::Sender<Option<Bytes>>,
    reader: &Reader,
    foreground: &Foreground,
) {
    let window = Arc::new(Semaphore::new(WINDOW_BYTES));
    let mut made = made.into_iter();
    loop {
        let piece = match made.next() {
            Some(piece) => piece,
            None => match next_frame(&mut body, foreground).await {
                Some(Ok(Ok(piece))) => piece,
                Some(Ok(Err(_))) => continue,
                Some(Err(_)) => return,
                None => {
                    let _ = pieces.send(None).await;
                    return;
                }
            },
        };
        let bytes = piece.len().clamp(1, WINDOW_BYTES) as u32;
        let Ok(permit) = Arc::clone(&window).acquire_many_owned(bytes).await else { return };
        reader.progress();
        if pieces.send(Some(Bytes::from_owner(InFlight { piece, _permit: permit }))).await.is_err() {
            return;
        }
    }
}

/// A piece that counts as on its way until the socket has taken it.
struct InFlight {
    piece: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for InFlight {
    fn as_ref(&self) -> &[u8] {
        &self.piece
    }
}

/// The body of a long answer.
struct Written {
    /// Its pieces; `None` ends it.
    queue: mpsc::Receiver<Option<Bytes>>,
    is_ended: bool,
    _writer: AbortOnDropHandle<()>,
}

/// The writer has gone before the end.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut off")]
struct CutOff;

impl HttpBody for Written {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        if self.is_ended {
            return Poll::Ready(None);
        }
        Poll::Ready(match ready!(self.queue.poll_recv(context)) {
            Some(Some(piece)) => Some(Ok(Frame::data(piece))),
            Some(None) => {
                self.is_ended = true;
                None
            }
            None => Some(Err(CutOff)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended
    }
}
