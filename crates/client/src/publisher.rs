//! Turns what happened into events, and gives them to the outboxes.

use std::sync::Arc;

use queryscope_protocol::{BatchWriter, Profile, QueryId, Sample, Seq, WriteError};

use crate::outbox::{Entry, Outbox};
use crate::problems::{Problem, Problems};
use crate::redaction::Redaction;

use std::time::Instant;

/// Numbers the events of a stream and writes each once for all exporters that get the same.
pub(crate) struct Publisher {
    /// A batch with the process event alone.
    opened: BatchWriter,
    next_seq: u64,
    groups: Vec<Group>,
    problems: Arc<Problems>,
}

/// The outboxes for which the same is masked.
struct Group {
    redaction: Redaction,
    outboxes: Vec<Arc<Outbox>>,
}

impl Publisher {
    /// `opened` holds the process event.
    pub(crate) fn new(
        opened: BatchWriter,
        outboxes: impl IntoIterator<Item = (Redaction, Arc<Outbox>)>,
        problems: Arc<Problems>,
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (redaction, outbox) in outboxes {
            match groups.iter_mut().find(|group| group.redaction == redaction) {
                Some(group) => group.outboxes.push(outbox),
                None => groups.push(Group { redaction, outboxes: vec![outbox] }),
            }
        }
        // The process event has the first number.
        Self { opened, next_seq: 2, groups, problems }
    }

    pub(crate) fn started(&mut self, id: QueryId, profile: &Profile<'_>, now: Instant) {
        self.publish(now, false, |batch, seq, redaction| batch.started(seq, id, &redaction.profile(profile)));
    }

    pub(crate) fn progress(&mut self, id: QueryId, sample: &Sample<'_>, now: Instant) {
        self.publish(now, true, |batch, seq, redaction| batch.progress(seq, id, &redaction.sample(sample)));
    }

    pub(crate) fn finished(&mut self, id: QueryId, profile: &Profile<'_>, now: Instant) {
        self.publish(now, false, |batch, seq, redaction| {
            batch.finished(seq, id, &redaction.profile(profile))
        });
    }

    fn publish(
        &mut self,
        now: Instant,
        is_sample: bool,
        write: impl Fn(&mut BatchWriter, Seq, Redaction) -> Result<(), WriteError>,
    ) {
        let Ok(seq) = Seq::new(self.next_seq) else { return };
        self.next_seq += 1;
        for group in &self.groups {
            let mut batch = self.opened.clone();
            let written = write(&mut batch, seq, group.redaction);
            if let Err(error) = written {
                let cause = &error.source;
                self.problems.warn(Problem::Unwritable, format_args!("{error}: {cause}"));
                for outbox in &group.outboxes {
                    outbox.count_unwritable();
                }
                continue;
            }
            let line = batch.into_bytes();
            let line: Arc<[u8]> = Arc::from(&line[self.opened.batch_bytes()..line.len() - 1]);
            for outbox in &group.outboxes {
                let entry = Entry { seq, line: Arc::clone(&line), is_sample, made: now };
                if outbox.push(entry) {
                    self.problems.warn(Problem::Overflow, "events are dropped because too many wait");
                }
            }
        }
    }
}
