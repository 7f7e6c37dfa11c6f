//! The PostgreSQL that is installed, and as whom to run it.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where Debian keeps each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The users that root runs it as: the first that exists.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// A program of PostgreSQL as a command of the user it runs as.
pub(crate) fn program(name: &str) -> Command {
    let path = folder().join(name);
    match user() {
        None => Command::new(path),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.arg(format!("--reuid={}", user.uid)).arg(format!("--regid={}", user.gid));
            command.arg("--clear-groups").arg(path);
            command
        }
    }
}

/// Gives a folder or a file to the user it runs as.
pub(crate) fn give(path: &Path) {
    if let Some(user) = user() {
        chown(path, Some(user.uid), Some(user.gid)).expect("its own");
    }
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
        versions.retain(|bin| bin.join("initdb").exists());
        versions.sort_by_key(|bin| version(bin));
        let on_path = || {
            let paths = std::env::var_os("PATH")?;
            std::env::split_paths(&paths).find(|folder| folder.join("initdb").exists())
        };
        versions.pop().or_else(on_path).expect("PostgreSQL is installed: run make test-packages")
    })
}

fn version(bin: &Path) -> u32 {
    let name = bin.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or(0)
}

struct User {
    uid: u32,
    gid: u32,
}

/// The user to run it as; `None` for the user of this process.
fn user() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").expect("accounts");
    let user = USERS.iter().find_map(|name| {
        let account = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = account.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    });
    Some(user.expect("a user who is not root"))
}
