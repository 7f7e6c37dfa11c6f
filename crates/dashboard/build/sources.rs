//! What the pages are built from. `ui/scripts/sources.mjs` says the same of what it has built.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Everything that is built, below `ui/`.
pub(crate) const WATCHED: [&str; 8] = [
    "index.html",
    "package-lock.json",
    "package.json",
    "public",
    "src",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
];

/// Holds the digest of the sources that `ui/dist` was built from.
pub(crate) const STAMP: &str = "dist/sources.sha256";

/// The SHA-256 over all sources but tests, in hexadecimal: of each, ordered by path, its path, size and bytes.
pub(crate) fn digest(ui: &Path) -> Result<String> {
    let mut files = Vec::new();
    for watched in WATCHED {
        collect(&ui.join(watched), &mut files)?;
    }
    let mut named: Vec<(String, PathBuf)> = files
        .into_iter()
        .map(|file| (name_of(&file, ui), file))
        .filter(|(name, _)| !name.ends_with(".test.ts"))
        .collect();
    named.sort();
    let mut digest = Sha256::new();
    for (name, file) in named {
        let bytes = fs::read(&file).with_context(|| format!("ui/{name} cannot be read"))?;
        digest.update(format!("{name}\n{}\n", bytes.len()));
        digest.update(bytes);
    }
    let mut hexadecimal = String::new();
    for byte in digest.finalize() {
        write!(hexadecimal, "{byte:02x}")?;
    }
    Ok(hexadecimal)
}

fn name_of(file: &Path, ui: &Path) -> String {
    let relative = file.strip_prefix(ui).unwrap_or(file);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(|| format!("{} cannot be listed", path.display()))? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
