//! What all tests use: the binary, HTTP, and events to send.

pub(crate) mod binary;
pub(crate) mod database;
pub(crate) mod events;
pub(crate) mod logins;
pub(crate) mod service;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

pub(crate) use binary::{Ended, Running, command, queryscope};
pub(crate) use service::Service;

/// How long anything a test waits for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Looks again and again until there is what a test waits for.
///
/// # Panics
/// When it does not come.
pub(crate) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, look)
}

/// As [`wait_for`], with a bound of its own.
pub(crate) fn wait_within<T>(within: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < within, "waited {within:?} in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A client of a service that was started as a process alone.
pub(crate) fn client_of(running: &Running) -> queryscope_torture::Client {
    let out = running.out();
    let url = out.lines().find_map(|line| line.trim().strip_prefix("dashboard ")).expect("its address");
    queryscope_torture::Client::new(url.trim())
}

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// How many files and folders are under a folder, which need not be there.
pub(crate) fn below(folder: &Path) -> (usize, usize) {
    let (mut files, mut folders) = (0, 0);
    // What is deleted meanwhile is passed over.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let (more_files, more_folders) = below(&path);
            (files, folders) = (files + more_files, folders + more_folders + 1);
        } else {
            files += 1;
        }
    }
    (files, folders)
}

/// Copies a folder; a database that is packed is unpacked.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else if path.ends_with("queryscope.db.gz") {
            let mut packed = GzDecoder::new(fs::File::open(path).expect("a file"));
            let mut database = fs::File::create(to.with_extension("")).expect("a file");
            std::io::copy(&mut packed, &mut database).expect("gzip");
        } else {
            fs::copy(&path, to).expect("copied");
        }
    }
}
