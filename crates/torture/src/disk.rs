//! A model of a file system that keeps live and durable bytes apart.
//!
//! What has been written is live at once and durable after a sync of its file; a name (made, moved, deleted) is
//! live at once and durable after a sync of its folder. A loss of power keeps all that is durable. Of the rest it
//! keeps of each file any of the writes, whole or in part ([`SECTOR`] by sector), in any order; and of each folder
//! the changes up to any of them, as journals do. That is harsher than the file systems in use: with ext4 or XFS
//! a sync of a new file makes its name durable, too. A name that is durable before the bytes of its file, as after
//! a rename without a sync, is part of it.

mod image;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::trace::Call;
pub(crate) use image::{Image, Loss};

/// The piece of a write that a disk keeps whole or not at all.
const SECTOR: usize = 512;

/// A file system under one root, by absolute paths.
#[derive(Debug)]
pub(crate) struct Disk {
    root: String,
    nodes: Vec<Node>,
    /// Where the live names lead.
    live: BTreeMap<String, usize>,
    /// Ends of names that are kept out of it: what the service makes anew at each start.
    ignored: &'static [&'static str],
    pub(crate) stats: Stats,
}

/// What was seen.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Stats {
    pub(crate) writes: u64,
    pub(crate) names: u64,
    pub(crate) syncs: u64,
}

#[derive(Debug)]
enum Node {
    File(File),
    Folder(Folder),
}

#[derive(Debug, Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<Pending<Change>>,
}

#[derive(Debug, Default)]
struct Folder {
    durable: BTreeMap<String, usize>,
    pending: Vec<Pending<Naming>>,
}

/// A change that is not durable, and the line of the trace on which it ended.
#[derive(Debug)]
struct Pending<T> {
    ended: usize,
    change: T,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Resize(usize),
}

#[derive(Debug)]
enum Naming {
    Add(String, usize),
    Remove(String),
    /// Within the folder.
    Move(String, String),
}

impl Disk {
    /// What is below a root, all of it durable.
    pub(crate) fn load(root: &Path, ignored: &'static [&'static str]) -> Result<Self> {
        let path = root.to_str().context("a path that is no text")?.to_owned();
        let mut disk =
            Self { root: path, nodes: Vec::new(), live: BTreeMap::new(), ignored, stats: Stats::default() };
        disk.add(root)?;
        Ok(disk)
    }

    fn add(&mut self, path: &Path) -> Result<usize> {
        let node = self.nodes.len();
        self.live.insert(path.to_string_lossy().into_owned(), node);
        if path.is_dir() {
            self.nodes.push(Node::Folder(Folder::default()));
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if self.ignored.iter().any(|end| name.ends_with(end)) {
                    continue;
                }
                let child = self.add(&entry.path())?;
                if let Node::Folder(folder) = &mut self.nodes[node] {
                    folder.durable.insert(name, child);
                }
            }
        } else {
            self.nodes.push(Node::File(File { durable: fs::read(path)?, pending: Vec::new() }));
        }
        Ok(node)
    }

    /// Whether a call says anything of this file system.
    pub(crate) fn is_concerned(&self, call: &Call) -> bool {
        let inside = |path: &str| {
            path.strip_prefix(&self.root).is_some_and(|rest| rest.starts_with('/') || rest.is_empty())
                && !self.ignored.iter().any(|end| path.ends_with(end))
        };
        (0..3).any(|at| call.path(at).is_some_and(|path| inside(&path))) || call.file().is_some_and(inside)
    }

    /// Takes over what a call did. A call that never ended may have done all of it.
    pub(crate) fn apply(&mut self, call: &Call) -> Result<()> {
        if !self.is_concerned(call) || (call.result.is_none() && call.ended.is_some()) || call.injected {
            return Ok(());
        }
        let text = |at: usize| call.path(at).with_context(|| format!("no path in {call:?}"));
        match call.name.as_str() {
            "openat" => self.open(call, &text(1)?, &call.arguments[2].plain),
            "open" => self.open(call, &text(0)?, &call.arguments[1].plain),
            "write" => self.write(call, None),
            "pwrite64" => self.write(call, Some(call.number(3).context("no offset")?)),
            "ftruncate" => {
                let bytes = call.number(1).context("no length")? as usize;
                self.change(call, Change::Resize(bytes))
            }
            "fsync" | "fdatasync" => {
                self.sync(call);
                Ok(())
            }
            "mkdir" => self.make(call, text(0)?, Node::Folder(Folder::default())),
            "mkdirat" => self.make(call, text(1)?, Node::Folder(Folder::default())),
            "rename" => self.rename(call, &text(0)?, text(1)?),
            "renameat" | "renameat2" => self.rename(call, &text(1)?, text(3)?),
            "unlink" | "rmdir" => self.remove(call, &text(0)?),
            "unlinkat" => self.remove(call, &text(1)?),
            "close" | "lseek" => Ok(()),
            other => bail!("the model does not know {other}: {call:?}"),
        }
    }

    fn open(&mut self, call: &Call, path: &str, flags: &str) -> Result<()> {
        let path = path.trim_end_matches('/');
        if let Some(node) = self.live.get(path).copied() {
            if flags.contains("O_TRUNC") {
                self.change_node(call, node, Change::Resize(0))?;
            }
            return Ok(());
        }
        ensure!(flags.contains("O_CREAT"), "opened and never made: {path}");
        self.make(call, path.to_owned(), Node::File(File::default()))
    }

    fn make(&mut self, call: &Call, path: String, node: Node) -> Result<()> {
        let id = self.nodes.len();
        self.nodes.push(node);
        let (folder, name) = parts(&path)?;
        self.name(call, folder, Naming::Add(name.to_owned(), id))?;
        self.live.insert(path, id);
        Ok(())
    }

    fn rename(&mut self, call: &Call, from: &str, to: String) -> Result<()> {
        let node = self.live.remove(from).with_context(|| format!("renamed and never made: {from}"))?;
        let ((from_folder, from_name), (to_folder, to_name)) = (parts(from)?, parts(&to)?);
        ensure!(from_folder == to_folder, "the model moves names within a folder");
        self.name(call, from_folder, Naming::Move(from_name.to_owned(), to_name.to_owned()))?;
        self.live.insert(to, node);
        Ok(())
    }

    fn remove(&mut self, call: &Call, path: &str) -> Result<()> {
        self.live.remove(path).with_context(|| format!("deleted and never made: {path}"))?;
        let (folder, name) = parts(path)?;
        self.name(call, folder, Naming::Remove(name.to_owned()))
    }

    fn write(&mut self, call: &Call, at: Option<u64>) -> Result<()> {
        let argument = &call.arguments[1];
        ensure!(!argument.cut, "the trace has cut what was written");
        // One that never ended may have written all.
        let written = call.result.map_or(argument.bytes.len(), |bytes| bytes as usize);
        let Some(node) = self.node_of(call) else { return Ok(()) };
        let at = match at {
            Some(at) => at as usize,
            None => self.length(node)?,
        };
        self.stats.writes += 1;
        self.change_node(call, node, Change::Write { at, bytes: argument.bytes[..written].to_vec() })
    }

    fn change(&mut self, call: &Call, change: Change) -> Result<()> {
        match self.node_of(call) {
            Some(node) => self.change_node(call, node, change),
            None => Ok(()),
        }
    }

    fn change_node(&mut self, call: &Call, node: usize, change: Change) -> Result<()> {
        let Node::File(file) = &mut self.nodes[node] else { bail!("written to a folder: {call:?}") };
        file.pending.push(Pending { ended: call.ended.unwrap_or(usize::MAX), change });
        Ok(())
    }

    fn name(&mut self, call: &Call, folder: &str, change: Naming) -> Result<()> {
        self.stats.names += 1;
        let node = *self.live.get(folder).with_context(|| format!("no folder {folder}"))?;
        let Node::Folder(folder) = &mut self.nodes[node] else { bail!("no folder: {folder}") };
        folder.pending.push(Pending { ended: call.ended.unwrap_or(usize::MAX), change });
        Ok(())
    }

    /// Makes durable what had ended when the sync began, once it has ended well.
    fn sync(&mut self, call: &Call) {
        self.stats.syncs += 1;
        match self.node_of(call).filter(|_| call.ended.is_some()).map(|node| &mut self.nodes[node]) {
            Some(Node::File(file)) => {
                for change in synced(&mut file.pending, call.begun) {
                    change.take_effect(&mut file.durable);
                }
            }
            Some(Node::Folder(folder)) => {
                for change in synced(&mut folder.pending, call.begun) {
                    change.take_effect(&mut folder.durable);
                }
            }
            None => {}
        }
    }

    /// What the descriptor of a call is open on; `None` when its name is gone.
    fn node_of(&self, call: &Call) -> Option<usize> {
        self.live.get(call.file()?.trim_end_matches('/')).copied()
    }

    /// The live length of a file: writes without an offset go to its end.
    fn length(&self, node: usize) -> Result<usize> {
        let Node::File(file) = &self.nodes[node] else { bail!("a folder has no length") };
        Ok(file.pending.iter().fold(file.durable.len(), |length, pending| match &pending.change {
            Change::Write { at, bytes } => length.max(at + bytes.len()),
            Change::Resize(bytes) => *bytes,
        }))
    }

    /// Changes that a loss of power could undo.
    pub(crate) fn pending(&self) -> usize {
        let pending = |node: &Node| match node {
            Node::File(file) => file.pending.len(),
            Node::Folder(folder) => folder.pending.len(),
        };
        self.nodes.iter().map(pending).sum()
    }

    /// The bytes of files that are durable: what a test may look into.
    #[cfg(test)]
    fn durable(&self, path: &str) -> Option<&[u8]> {
        match &self.nodes[*self.live.get(path)?] {
            Node::File(file) => Some(&file.durable),
            Node::Folder(_) => None,
        }
    }
}

impl Change {
    fn take_effect(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes: written } => write_at(bytes, *at, written),
            Self::Resize(length) => bytes.resize(*length, 0),
        }
    }
}

impl Naming {
    fn take_effect(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Add(name, node) => {
                names.insert(name.clone(), *node);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Move(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
        }
    }
}

/// Takes the changes that had ended before a line.
fn synced<T>(pending: &mut Vec<Pending<T>>, begun: usize) -> impl Iterator<Item = T> {
    let (synced, left) = std::mem::take(pending).into_iter().partition(|pending| pending.ended < begun);
    *pending = left;
    Vec::into_iter(synced).map(|pending| pending.change)
}

fn write_at(bytes: &mut Vec<u8>, at: usize, written: &[u8]) {
    if bytes.len() < at + written.len() {
        bytes.resize(at + written.len(), 0);
    }
    bytes[at..at + written.len()].copy_from_slice(written);
}

fn parts(path: &str) -> io::Result<(&str, &str)> {
    path.rsplit_once('/').ok_or_else(|| io::Error::other(format!("not absolute: {path}")))
}

#[cfg(test)]
mod tests;
