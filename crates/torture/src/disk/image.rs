//! What a loss of power leaves.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand::rngs::StdRng;

use super::{Change, Disk, File, Folder, Node, SECTOR, write_at};

/// How much of what is not durable a loss of power keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing.
    All,
    /// All of it, as when only the process is killed.
    None,
    /// Any part, also of a single write.
    Some,
}

/// Files and folders, by path below the root.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub(super) folders: Vec<PathBuf>,
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

impl Disk {
    /// What is left if the power fails now.
    pub(crate) fn lose_power(&self, loss: Loss, random: &mut StdRng) -> Image {
        let mut image = Image::default();
        // A file may have two names for as long as neither is durable: its bytes are the same under both.
        let mut kept = BTreeMap::new();
        self.collect(self.live[&self.root], Path::new(""), loss, random, &mut kept, &mut image);
        image
    }

    fn collect(
        &self,
        node: usize,
        path: &Path,
        loss: Loss,
        random: &mut StdRng,
        kept: &mut BTreeMap<usize, Vec<u8>>,
        image: &mut Image,
    ) {
        match &self.nodes[node] {
            Node::File(file) => {
                let bytes = kept.entry(node).or_insert_with(|| file.left(loss, random)).clone();
                image.files.push((path.to_owned(), bytes));
            }
            Node::Folder(folder) => {
                image.folders.push(path.to_owned());
                for (name, child) in folder.left(loss, random) {
                    self.collect(child, &path.join(name), loss, random, kept, image);
                }
            }
        }
    }
}

impl File {
    fn left(&self, loss: Loss, random: &mut StdRng) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        if loss == Loss::All {
            return bytes;
        }
        for pending in &self.pending {
            match &pending.change {
                change if loss == Loss::None => change.take_effect(&mut bytes),
                Change::Resize(_) if random.random_bool(0.5) => pending.change.take_effect(&mut bytes),
                Change::Resize(_) => {}
                Change::Write { at, bytes: written } => match random.random_range(0..3) {
                    0 => {}
                    1 => write_at(&mut bytes, *at, written),
                    _ => keep_sectors(&mut bytes, *at, written, random),
                },
            }
        }
        bytes
    }
}

impl Folder {
    fn left(&self, loss: Loss, random: &mut StdRng) -> BTreeMap<String, usize> {
        let mut names = self.durable.clone();
        let kept = match loss {
            Loss::All => 0,
            Loss::None => self.pending.len(),
            Loss::Some => random.random_range(0..=self.pending.len()),
        };
        for pending in &self.pending[..kept] {
            pending.change.take_effect(&mut names);
        }
        names
    }
}

/// Writes some of the sectors that a write covers.
fn keep_sectors(bytes: &mut Vec<u8>, at: usize, written: &[u8], random: &mut StdRng) {
    let mut from = 0;
    while from < written.len() {
        let to = written.len().min(((at + from) / SECTOR + 1) * SECTOR - at);
        if random.random_bool(0.5) {
            write_at(bytes, at + from, &written[from..to]);
        }
        from = to;
    }
}

impl Image {
    /// Whether there is a file.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.files.iter().any(|(file, _)| file == path)
    }

    /// Writes it to a folder, which is emptied before.
    pub(crate) fn write(&self, root: &Path) -> io::Result<()> {
        if root.exists() {
            fs::remove_dir_all(root)?;
        }
        for folder in &self.folders {
            fs::create_dir_all(root.join(folder))?;
        }
        for (path, bytes) in &self.files {
            fs::write(root.join(path), bytes)?;
        }
        Ok(())
    }
}
