//! Events files: any number of batches one after the other.

use std::path::Path;

use anyhow::{Result, bail};
use queryscope_protocol::{Event, EventKind};

use crate::lines::{LastLine, Lines};

/// A batch is handed on once it has this many bytes.
const BATCH_BYTES: usize = 2 << 20;

/// A part of a file that is a batch of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileBatch {
    /// The process event, then events.
    pub(crate) text: Vec<u8>,
    /// Line of the file of each line of the text, counted from 1.
    pub(crate) lines: Vec<u64>,
}

/// Reads a file batch by batch.
pub(crate) struct EventsFile {
    lines: Lines,
    process: Option<(String, u64)>,
    /// Why the file cannot be read on, told after the batch before it.
    failed: Option<anyhow::Error>,
}

impl FileBatch {
    /// What comes before a line of the text, counted from 0.
    pub(crate) fn before(mut self, line: usize) -> Self {
        let end: usize = self.text.split_inclusive(|byte| *byte == b'\n').take(line).map(<[u8]>::len).sum();
        self.text.truncate(end);
        self.lines.truncate(line);
        self
    }
}

impl EventsFile {
    pub(crate) fn new(lines: Lines) -> Self {
        Self { lines, process: None, failed: None }
    }

    /// Opens a file, plain or gzip.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Lines::open(path).map(Self::new)
    }

    /// Whether the file ended in the middle of a line, which was left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.lines.is_cut()
    }

    /// The next batch.
    ///
    /// # Errors
    /// When the file cannot be read, a line is too long for any batch, or there is no process event before
    /// the first event. What comes before that is given first.
    pub(crate) fn next_batch(&mut self) -> Result<Option<FileBatch>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut batch = None;
        match self.fill(&mut batch) {
            Err(error) if batch.is_some() => self.failed = Some(error),
            filled => filled?,
        }
        Ok(batch)
    }

    fn fill(&mut self, batch: &mut Option<FileBatch>) -> Result<()> {
        while let Some(line) = self.next_line()? {
            if let Some(id) = process_of(&line) {
                let goes_on = self.process.as_ref().and_then(|(known, _)| process_of(known)) == Some(id);
                if goes_on {
                    continue;
                }
                self.process = Some((line, self.lines.number()));
                if batch.is_some() {
                    return Ok(());
                }
                continue;
            }
            let Some((process, process_line)) = &self.process else {
                bail!(
                    "line {}: expected a process event before the first event, or a profile",
                    self.lines.number()
                );
            };
            let batch_now = batch.get_or_insert_with(|| FileBatch {
                text: format!("{process}\n").into_bytes(),
                lines: vec![*process_line],
            });
            batch_now.text.extend_from_slice(line.as_bytes());
            batch_now.text.push(b'\n');
            batch_now.lines.push(self.lines.number());
            if batch_now.text.len() >= BATCH_BYTES {
                return Ok(());
            }
        }
        Ok(())
    }

    fn next_line(&mut self) -> Result<Option<String>> {
        // Before the first process event nothing is left out.
        let last = match self.process {
            Some(_) => LastLine::LeftOutUnless(|text| Event::read_stored(text).is_ok()),
            None => LastLine::Kept,
        };
        self.lines.next(last)
    }
}

/// The stream of a process event; `None` for any other line.
fn process_of(line: &str) -> Option<queryscope_protocol::StreamId> {
    if !line.contains("process") {
        return None;
    }
    match Event::read_stored(line).ok()?.kind {
        EventKind::Process(process) => Some(process.id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::{CompressionLvl, Compressor};

    use super::*;

    const STREAMS: [&str; 2] =
        ["210de94c-dce3-44f0-9cd3-2604c74dbeea", "c618f894-96d2-4c5f-aeaf-4c96e2e905b4"];

    fn process(stream: usize) -> String {
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":1,"type":"process","id":"{}","host":"h"}}"#,
            STREAMS[stream]
        )
    }

    fn event(seq: u64) -> String {
        format!(r#"{{"schema":"engine-telemetry/events@1","seq":{seq},"type":"note"}}"#)
    }

    /// The lines of a batch, and where they stood in the file.
    type Lines = (Vec<String>, Vec<u64>);

    /// The batches of a file with this content, as their texts' lines and where these stood; whether it was cut.
    fn read(content: &[u8]) -> Result<(Vec<Lines>, bool)> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("events");
        std::fs::write(&path, content)?;
        let mut file = EventsFile::open(&path)?;
        let mut batches = Vec::new();
        while let Some(batch) = file.next_batch()? {
            let text = String::from_utf8(batch.text)?;
            batches.push((text.lines().map(Into::into).collect(), batch.lines));
        }
        Ok((batches, file.is_cut()))
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut compressor = Compressor::new(CompressionLvl::default());
        let mut member = vec![0; compressor.gzip_compress_bound(text.len())];
        let bytes = compressor.gzip_compress(text.as_bytes(), &mut member).expect("large enough");
        member.truncate(bytes);
        member
    }

    #[test]
    fn a_batch_a_stream() {
        let lines = [process(0), event(2), process(0), event(3), process(1), event(2)];
        let (batches, cut) = read(lines.join("\n").as_bytes()).expect("readable");
        assert_eq!(
            batches,
            [(vec![process(0), event(2), event(3)], vec![1, 2, 4]), (vec![process(1), event(2)], vec![5, 6])]
        );
        assert!(!cut);
    }

    #[test]
    fn gzip_members_are_one_file() {
        let members =
            [gzip(&(process(0) + "\n")), gzip(&(event(2) + "\n")), gzip(&(event(3) + "\n"))].concat();
        let (batches, cut) = read(&members).expect("readable");
        assert_eq!(batches, [(vec![process(0), event(2), event(3)], vec![1, 2, 3])]);
        assert!(!cut);
        let error = read(&members[..members.len() - 3]).expect_err("cut off");
        assert!(error.to_string().contains("its gzip ends before its end"), "{error}");
    }

    #[test]
    fn a_cut_last_line_is_left_out() {
        let text = [process(0), event(2), event(3)].join("\n");
        let (batches, cut) = read(&text.as_bytes()[..text.len() - 4]).expect("readable");
        assert_eq!(batches, [(vec![process(0), event(2)], vec![1, 2])]);
        assert!(cut);
    }

    #[test]
    fn what_comes_before_an_unreadable_line_is_given_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("events");
        let text = [process(0).as_bytes(), event(2).as_bytes(), b"\xff", event(3).as_bytes()].join(&b'\n');
        std::fs::write(&path, text).expect("written");
        let mut file = EventsFile::open(&path).expect("there");
        assert_eq!(file.next_batch().expect("readable").expect("a batch").lines, [1, 2]);
        let error = file.next_batch().expect_err("no text");
        assert_eq!(error.to_string(), "line 3 is not UTF-8");
    }

    #[test]
    fn a_batch_can_end_before_a_line() {
        let lines = [process(0), event(2), event(3)];
        let batch = || FileBatch { text: lines.join("\n").into_bytes(), lines: vec![1, 2, 7] };
        let before = batch().before(2);
        assert_eq!(
            before,
            FileBatch { text: (lines[..2].join("\n") + "\n").into_bytes(), lines: vec![1, 2] }
        );
        assert_eq!(batch().before(3), batch());
    }

    #[test]
    fn what_can_not_be_a_batch_is_named() {
        let error = read(event(2).as_bytes()).expect_err("no process event");
        assert!(error.to_string().starts_with("line 1: expected a process event"), "{error}");
        let error = read(b"\xff\xfe\n").expect_err("no text");
        assert!(error.to_string().contains("not UTF-8"), "{error}");
    }
}
