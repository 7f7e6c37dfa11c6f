//! The data folder: what lies where, and who may use it.
//!
//! ```text
//! queryscope-data/
//!   queryscope.db   the embedded store (with -wal and -shm beside it while it is open)
//!   recordings/     YYYY/MM/DD/<query_id>.jsonl.gz
//!   recordings.at   where recordings lie instead, if the service was told another place
//!   quarantine/     what a repair took out, if there was one
//!   token           the token made at the first start; readable only by its owner
//!   lock            locked by the service, or by an import while none runs
//!   recordings.lock locked by whoever writes, deletes or copies recordings
//!   address         where the service answers, while it runs
//! ```

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use queryscope_collector::new_token;
use queryscope_recordings::Location;
use queryscope_store::FileIdentity;

/// The project of the token made at the first start.
pub(crate) const DEFAULT_PROJECT: &str = "default";

/// How long a service may take for a round of recordings before it lets them be copied.
const ROUND_WAIT: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
pub(crate) struct DataFolder(PathBuf);

/// Says that nobody else writes to the folder; given back when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    identity: FileIdentity,
}

impl Lock {
    fn of(file: File, path: &Path) -> Result<Self> {
        let identity = FileIdentity::of(path).with_context(|| format!("{} is gone", path.display()))?;
        Ok(Self { _file: file, identity })
    }

    /// Which file is locked: another one under its name, another process may lock.
    pub(crate) fn identity(&self) -> &FileIdentity {
        &self.identity
    }
}

impl DataFolder {
    /// Opens a folder, which is made if there is none, durably.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let absolute = std::path::absolute(path)?;
        let missing = absolute.ancestors().take_while(|folder| !folder.exists()).count();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("the data folder {} cannot be made", path.display()))?;
        // What is synced inside it is lost all the same if its own name is.
        for folder in absolute.ancestors().skip(1).take(missing.max(1)) {
            match File::open(folder).and_then(|folder| folder.sync_all()) {
                // It may belong to another user.
                Err(_) if missing == 0 => {}
                synced => synced.with_context(|| format!("{} cannot be synced", folder.display()))?,
            }
        }
        let path = path.canonicalize().with_context(|| format!("{} cannot be opened", path.display()))?;
        Ok(Self(path))
    }

    /// Opens a folder a service has used.
    pub(crate) fn existing(path: &Path) -> Result<Self> {
        let folder = Self(path.to_owned());
        if !folder.database().is_file() {
            bail!(
                "{} is no data folder of queryscope: start the service once, or name another with --data",
                path.display()
            );
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("queryscope.db")
    }

    pub(crate) fn recordings(&self) -> PathBuf {
        self.0.join("recordings")
    }

    /// Where a repair puts what is damaged.
    pub(crate) fn quarantine(&self) -> PathBuf {
        self.0.join("quarantine")
    }

    /// Where recordings lie: in the folder, unless the service was told another place.
    pub(crate) fn location(&self) -> Result<Location> {
        let path = self.location_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().with_context(|| path.display().to_string()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Location::Folder(self.recordings())),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    /// Keeps recordings at another place from now on, which every command reads here.
    ///
    /// # Errors
    /// When there are recordings elsewhere: they would not be found any more.
    pub(crate) fn keep_recordings_at(&self, location: &Location) -> Result<()> {
        let location = match location {
            Location::Folder(folder) => Location::Folder(std::path::absolute(folder)?),
            bucket @ Location::Bucket { .. } => bucket.clone(),
        };
        let now = self.location()?;
        if now == location {
            return Ok(());
        }
        let told = self.location_file().exists();
        let empty = std::fs::read_dir(self.recordings()).map_or(true, |mut entries| entries.next().is_none());
        if told || !empty {
            bail!(
                "the recordings of {} lie in {now}: copy them to {location} with their names, then write that into {}",
                self.0.display(),
                self.location_file().display()
            );
        }
        write_private(&self.location_file(), &location.to_string())
            .with_context(|| format!("{} cannot be written", self.location_file().display()))
    }

    fn location_file(&self) -> PathBuf {
        self.0.join("recordings.at")
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.0.join("token")
    }

    fn address_file(&self) -> PathBuf {
        self.0.join("address")
    }

    /// Takes the folder for this process; `None` while another has it.
    pub(crate) fn lock(&self) -> Result<Option<Lock>> {
        let path = self.0.join("lock");
        let file = File::create(&path).with_context(|| format!("{} cannot be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                // Left by a service that was killed: nobody answers there any more.
                self.remove_address();
                Ok(Some(Lock::of(file, &path)?))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).context(format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// Whether a service or an import has the folder now.
    pub(crate) fn is_in_use(&self) -> bool {
        File::open(self.0.join("lock"))
            .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    pub(crate) fn recordings_lock(&self) -> PathBuf {
        self.0.join("recordings.lock")
    }

    /// Keeps the recordings as they are until the lock is given back.
    pub(crate) fn hold_recordings(&self) -> Result<Lock> {
        let path = self.recordings_lock();
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("{} cannot be opened", path.display()))?;
        let begun = queryscope_store::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Lock::of(file, &path),
                Err(TryLockError::WouldBlock) if begun.elapsed() < ROUND_WAIT => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => {
                    return Err(error).context(format!("{} cannot be locked", path.display()));
                }
            }
        }
    }

    /// The token of the default project, and whether it was made just now.
    pub(crate) fn token(&self) -> Result<(String, bool)> {
        let path = self.token_file();
        match std::fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => Ok((text.trim().to_owned(), false)),
            Ok(_) => bail!("{} is empty: delete it to have a new token made", path.display()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = new_token();
                write_private(&path, &token)
                    .with_context(|| format!("{} cannot be written", path.display()))?;
                Ok((token, true))
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    /// Says where the service answers.
    pub(crate) fn write_address(&self, url: &str) -> Result<()> {
        std::fs::write(self.address_file(), url).context("the address cannot be noted in the data folder")
    }

    /// Where the service that has the folder answers.
    pub(crate) fn address(&self) -> Result<String> {
        std::fs::read_to_string(self.address_file())
            .context("the data folder is in use, but not by a service that runs")
    }

    /// Where the service answers that runs on a folder.
    ///
    /// # Errors
    /// When none does.
    pub(crate) fn running_service(path: &Path) -> Result<String> {
        let folder = Self(path.to_owned());
        if !folder.is_in_use() {
            bail!(
                "no service runs on {}: start one with queryscope serve, or name the folder of another with --data, \
                 or the address of one elsewhere with --url",
                path.display()
            );
        }
        folder.address()
    }

    /// Takes the note of the address away.
    pub(crate) fn remove_address(&self) {
        // Without a service the folder is not locked, and nobody reads it.
        let _ = std::fs::remove_file(self.address_file());
    }
}

/// Writes a file whole or not at all, readable only by its owner.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("part");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::create(&folder.path().join("a/b")).expect("made");
        let (token, made) = data.token().expect("a token");
        assert!(made && token.starts_with("qs_") && token.len() == 35, "{token}");
        assert_eq!(data.token().expect("the same"), (token, false));
        let mode = std::fs::metadata(data.token_file()).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn recordings_stay_where_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::create(folder.path()).expect("made");
        let own = Location::Folder(data.recordings());
        assert_eq!(data.location().expect("the folder's own"), own);
        std::fs::create_dir_all(data.recordings().join("1970")).expect("made");
        let bucket: Location = "s3://b/p".parse().expect("a bucket");
        let error = data.keep_recordings_at(&bucket).expect_err("some are in the folder");
        assert!(error.to_string().contains("copy them to s3://b/p"), "{error}");
        data.keep_recordings_at(&own).expect("as it is");
        std::fs::remove_dir_all(data.recordings()).expect("removed");
        for _ in ["told", "told again"] {
            data.keep_recordings_at(&bucket).expect("none are elsewhere");
            assert_eq!(data.location().expect("kept"), bucket);
        }
        assert!(data.keep_recordings_at(&own).is_err(), "they may lie in the bucket");
    }

    #[test]
    fn one_process_has_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::create(folder.path()).expect("made");
        let lock = data.lock().expect("possible").expect("free");
        assert!(data.lock().expect("possible").is_none());
        drop(lock);
        assert!(data.lock().expect("possible").is_some());
    }

    #[test]
    fn who_has_the_folder_says_itself_where_it_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::create(folder.path()).expect("made");
        data.write_address("http://127.0.0.1:1").expect("noted");
        let _lock = data.lock().expect("possible").expect("free");
        assert!(data.address().is_err(), "the note of one that was killed is gone");
    }

    #[test]
    fn what_is_no_data_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = DataFolder::existing(folder.path()).expect_err("empty");
        assert!(error.to_string().contains("--data"), "{error}");
    }
}
