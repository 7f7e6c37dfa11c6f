//! The bytes of a sealed recording, piece by piece.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{GetOptions, GetResultPayload, ObjectStore};
use queryscope_store::carry;

use crate::error::RecordingError;

/// Bytes of a file that are read at once.
const READ_BYTES: u64 = 256 << 10;
/// Bytes of an object that one request asks for: no connection stays open for a reader that is slow.
const PIECE_BYTES: u64 = 4 << 20;

/// Bytes of a recording: gzip members whose content is JSON Lines, the process event first.
pub struct Content {
    /// How many bytes there are, where that is known before they are read.
    pub size: Option<u64>,
    /// The bytes in pieces; nothing follows an error.
    pub bytes: BoxStream<'static, Result<Bytes, RecordingError>>,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Opens an object; the first piece of one that is no file has been read.
pub(crate) async fn open(objects: &Arc<dyn ObjectStore>, location: Path) -> Result<Content, RecordingError> {
    let found = objects.get_opts(&location, piece(0, None)).await?;
    let size = found.meta.size;
    let version = found.meta.e_tag.clone();
    let bytes = match found.payload {
        GetResultPayload::File(file, _) => read_file(file, size),
        GetResultPayload::Stream(_) => {
            let first = found.bytes().await?;
            let object =
                Object { objects: Arc::clone(objects), location, version, read: first.len() as u64, size };
            stream::once(async { Ok(first) }).chain(object.rest()).boxed()
        }
    };
    Ok(Content { size: Some(size), bytes })
}

fn piece(from: u64, version: Option<String>) -> GetOptions {
    GetOptions { range: Some((from..from + PIECE_BYTES).into()), if_match: version, ..GetOptions::default() }
}

/// An object of which a part has been read.
struct Object {
    objects: Arc<dyn ObjectStore>,
    location: Path,
    version: Option<String>,
    read: u64,
    size: u64,
}

impl Object {
    fn rest(self) -> BoxStream<'static, Result<Bytes, RecordingError>> {
        stream::try_unfold(self, |mut object| async {
            if object.read >= object.size {
                return Ok(None);
            }
            let options = piece(object.read, object.version.clone());
            let bytes = object.objects.get_opts(&object.location, options).await?.bytes().await?;
            if bytes.is_empty() {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            object.read += bytes.len() as u64;
            Ok(Some((bytes, object)))
        })
        .boxed()
    }
}

/// Reads an open file to its end; it stays readable when another takes its place.
fn read_file(file: File, size: u64) -> BoxStream<'static, Result<Bytes, RecordingError>> {
    stream::try_unfold((file, size), |(file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(carry(move || {
            let mut piece = Vec::with_capacity(left.min(READ_BYTES) as usize);
            (&file).take(left.min(READ_BYTES)).read_to_end(&mut piece)?;
            Ok::<_, std::io::Error>((file, piece))
        }));
        let (file, piece) = read.await.map_err(std::io::Error::from)??;
        if piece.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let left = left - piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, left))))
    })
    .boxed()
}
