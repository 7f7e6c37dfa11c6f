//! Files of other kinds at a location: each is there whole or not at all.

use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use thiserror::Error;

use crate::bucket;
use crate::location::Location;

/// Parts of a file that are on their way at once.
const PARTS_MAX: usize = 4;

/// A folder or a bucket failed, in its own words.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct FileError(String);

impl From<object_store::Error> for FileError {
    fn from(error: object_store::Error) -> Self {
        // Its text holds those of its causes.
        Self(error.to_string())
    }
}

/// A folder or a bucket that files are written to.
#[derive(Debug, Clone)]
pub struct Files(Arc<dyn ObjectStore>);

impl Files {
    /// Opens a location; a folder is made where there is none, of a bucket nothing is asked yet.
    ///
    /// # Errors
    /// When a folder cannot be made, or a bucket cannot be opened with the variables of its cloud's tools.
    pub fn open(location: &Location) -> Result<Self, FileError> {
        Ok(Self(match location {
            Location::Folder(folder) => {
                std::fs::create_dir_all(folder).map_err(|error| FileError(error.to_string()))?;
                Arc::new(LocalFileSystem::new_with_prefix(folder)?)
            }
            Location::Bucket { cloud, bucket, prefix } => {
                bucket::open(*cloud, bucket, prefix).map_err(|error| {
                    // What it says of recordings is of no file here.
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    FileError(cause.unwrap_or_else(|| error.to_string()))
                })?
            }
        }))
    }

    /// When the file of this name was written, in Unix milliseconds; `None` where there is none.
    ///
    /// # Errors
    /// When the location cannot be read.
    pub async fn written_unix_ms(&self, name: &str) -> Result<Option<i64>, FileError> {
        match self.0.head(&path(name)?).await {
            Ok(file) => Ok(Some(file.last_modified.timestamp_millis())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a file, which replaces one of its name once it is finished.
    ///
    /// # Errors
    /// When the location cannot be written to.
    pub async fn create(&self, name: &str) -> Result<FileWriter, FileError> {
        Ok(FileWriter(WriteMultipart::new(self.0.put_multipart(&path(name)?).await?)))
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct FileWriter(WriteMultipart);

impl FileWriter {
    /// Takes in bytes; waits while many are on their way.
    ///
    /// # Errors
    /// When bytes taken in before could not be written.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.0.wait_for_capacity(PARTS_MAX).await?;
        self.0.write(bytes);
        Ok(())
    }

    /// Ends the file: from now on it is there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn finish(self) -> Result<(), FileError> {
        self.0.finish().await?;
        Ok(())
    }

    /// Gives the file up: nothing of it stays.
    ///
    /// # Errors
    /// When what was written cannot be removed.
    pub async fn abort(self) -> Result<(), FileError> {
        self.0.abort().await?;
        Ok(())
    }
}

fn path(name: &str) -> Result<Path, FileError> {
    Ok(Path::parse(name).map_err(object_store::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a/b");
        let files = Files::open(&Location::Folder(place.clone())).expect("opens");
        let name = "runs/day=2026-11-25/runs.csv";
        assert_eq!(files.written_unix_ms(name).await.expect("read"), None);
        let mut given_up = files.create(name).await.expect("begun");
        given_up.write(b"part").await.expect("taken");
        given_up.abort().await.expect("given up");
        assert_eq!(files.written_unix_ms(name).await.expect("read"), None);
        for content in ["first", "second"] {
            let mut file = files.create(name).await.expect("begun");
            file.write(content.as_bytes()).await.expect("taken");
            file.finish().await.expect("written");
            assert!(files.written_unix_ms(name).await.expect("read").is_some());
            assert_eq!(std::fs::read_to_string(place.join(name)).expect("a file"), content);
        }
    }
}
