//! The `queryscope` binary, and its commands that judge and copy.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

/// A built `queryscope`.
#[derive(Debug, Clone)]
pub(crate) struct Binary(PathBuf);

/// What a sound folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) queries: u64,
    pub(crate) events: u64,
    pub(crate) acknowledged: u64,
}

/// What a check found.
#[derive(Debug)]
pub(crate) enum Verdict {
    Sound(Held),
    /// What it said.
    Unsound(String),
}

impl Binary {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let path = path.canonicalize().with_context(|| format!("{} is not built", path.display()))?;
        Ok(Self(path))
    }

    /// `queryscope` under another command, which takes no setting from this process' environment.
    pub(crate) fn command_under<S: AsRef<OsStr>>(&self, under: &[S]) -> Command {
        let mut command = match under.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.0);
                command
            }
            None => Command::new(&self.0),
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("QUERYSCOPE_") || name == "TELEMETRY_TOKEN" {
                command.env_remove(name.as_ref());
            }
        }
        // What is sealed at once is there to be hit.
        command.env("QUERYSCOPE_SEAL_WITHIN", "1ms");
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Output> {
        Ok(self.command_under::<&str>(&[]).args(args).output()?)
    }

    /// Judges a folder against files of what was acknowledged.
    pub(crate) fn judge(
        &self,
        data: &Path,
        acknowledged: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Verdict> {
        let mut args: Vec<OsString> = vec!["check".into(), "--data".into(), data.into()];
        for log in acknowledged {
            args.extend(["--acknowledged".into(), log.into()]);
        }
        let output = self.run(&args)?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let said = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
            return Ok(Verdict::Unsound(said));
        }
        ensure!(said.trim_end().ends_with(": sound"), "check says neither sound nor unsound: {said}");
        let count = |what: &str| {
            let before = said.split(what).next().and_then(|text| text.rsplit([' ', '\n']).next());
            before.and_then(|number| number.parse().ok()).with_context(|| format!("no {what} in: {said}"))
        };
        Ok(Verdict::Sound(Held {
            queries: count(" queries")?,
            events: count(" events")?,
            acknowledged: count(" acknowledged events")?,
        }))
    }

    /// As [`Binary::judge`], of a folder that must be sound.
    pub(crate) fn check(&self, data: &Path, acknowledged: impl IntoIterator<Item = PathBuf>) -> Result<Held> {
        match self.judge(data, acknowledged)? {
            Verdict::Sound(held) => Ok(held),
            Verdict::Unsound(said) => anyhow::bail!("{} is not sound:\n{said}", data.display()),
        }
    }
}
