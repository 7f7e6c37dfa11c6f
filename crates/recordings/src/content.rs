//! The bytes of a sealed recording, piece by piece.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt};
use queryscope_store::{Slice, carry};

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

/// Opens an object, or as much of a slice of it as is there; the first piece of one that is no file has been read.
///
/// # Errors
/// [`RecordingError::Gone`] where there is no such object.
pub(crate) async fn open(
    objects: &Arc<dyn ObjectStore>,
    location: Path,
    slice: Option<Slice>,
) -> Result<Content, RecordingError> {
    let offset = slice.map_or(0, |slice| slice.offset);
    let end = slice.map(|slice| slice.offset.saturating_add(slice.bytes));
    let found = match objects.get_opts(&location, piece(offset, end, None)).await {
        Err(error) if slice.is_some() && !matches!(error, object_store::Error::NotFound { .. }) => {
            // A range that begins behind the end is refused.
            if objects.head(&location).await?.size > offset {
                return Err(error.into());
            }
            return Ok(Content { size: Some(0), bytes: stream::empty().boxed() });
        }
        found => found?,
    };
    let end = end.map_or(found.meta.size, |end| end.min(found.meta.size));
    let version = found.meta.e_tag.clone();
    let bytes = match found.payload {
        GetResultPayload::File(file, _) => read_file(file, offset, end - offset),
        GetResultPayload::Stream(_) => {
            let first = found.bytes().await?;
            let read = offset + first.len() as u64;
            let object = Object { objects: Arc::clone(objects), location, version, read, end };
            stream::once(async { Ok(first) }).chain(object.rest()).boxed()
        }
    };
    Ok(Content { size: Some(end - offset), bytes })
}

fn piece(from: u64, end: Option<u64>, version: Option<String>) -> GetOptions {
    let until = from.saturating_add(PIECE_BYTES).min(end.unwrap_or(u64::MAX));
    GetOptions { range: Some((from..until).into()), if_match: version, ..GetOptions::default() }
}

/// An object of which a part has been read.
struct Object {
    objects: Arc<dyn ObjectStore>,
    location: Path,
    version: Option<String>,
    /// Up to where it has been read.
    read: u64,
    /// Up to where it is to be read.
    end: u64,
}

impl Object {
    fn rest(self) -> BoxStream<'static, Result<Bytes, RecordingError>> {
        stream::try_unfold(self, |mut object| async {
            if object.read >= object.end {
                return Ok(None);
            }
            let options = piece(object.read, Some(object.end), object.version.clone());
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

/// Reads so many bytes of an open file; it stays readable when another takes its place.
fn read_file(file: File, offset: u64, bytes: u64) -> BoxStream<'static, Result<Bytes, RecordingError>> {
    // Where the file has to be set first.
    let from = (offset > 0).then_some(SeekFrom::Start(offset));
    stream::try_unfold((file, from, bytes), |(file, from, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(carry(move || {
            let mut piece = Vec::with_capacity(left.min(READ_BYTES) as usize);
            if let Some(from) = from {
                (&file).seek(from)?;
            }
            (&file).take(left.min(READ_BYTES)).read_to_end(&mut piece)?;
            Ok::<_, std::io::Error>((file, piece))
        }));
        let (file, piece) = read.await.map_err(std::io::Error::from)??;
        if piece.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let left = left - piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, None, left))))
    })
    .boxed()
}
