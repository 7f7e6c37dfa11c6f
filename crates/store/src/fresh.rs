//! What of a batch its stream has not sent before.

use std::borrow::Cow;

use queryscope_protocol::{QueryId, Seq};

use crate::batch::{QueryPart, Report, StreamBatch};
use crate::chunk::{ChunkError, Packer, lines_of, unpack};
use crate::seen::SeqRange;

/// What of the events of a query is new; at least one is.
#[derive(Debug)]
pub struct FreshPart<'p> {
    /// The query.
    pub query_id: QueryId,
    /// How many events.
    pub events: usize,
    /// Number of the first.
    pub first: Seq,
    /// Number of the last.
    pub last: Seq,
    /// Their lines, ascending, as one gzip member.
    pub gzip: Cow<'p, [u8]>,
    /// What they say about the query.
    pub report: Cow<'p, Report>,
}

impl QueryPart {
    /// What of it lies in ranges that had not been seen (ascending, disjoint); packed anew where that is not all of it.
    ///
    /// # Errors
    /// When its chunk is damaged and must be packed anew.
    pub fn fresh(
        &self,
        unseen: &[SeqRange],
        packer: &mut Packer,
    ) -> Result<Option<FreshPart<'_>>, ChunkError> {
        let seqs: Vec<Seq> = self.seqs.iter().copied().filter(|seq| holds(unseen, *seq)).collect();
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return Ok(None) };
        let (gzip, report) = if seqs.len() == self.seqs.len() {
            (Cow::Borrowed(self.gzip.as_slice()), Cow::Borrowed(&self.report))
        } else {
            let lines = unpack(&self.gzip)?;
            let numbered = lines_of(&lines).zip(&self.seqs);
            let fresh = numbered.filter(|(_, seq)| seqs.binary_search(seq).is_ok()).map(|(line, _)| line);
            let mut report = self.report.clone();
            report.keep(&seqs);
            (Cow::Owned(packer.pack(fresh)), Cow::Owned(report))
        };
        let (query_id, events, first, last) = (self.query_id, seqs.len(), *first, *last);
        Ok(Some(FreshPart { query_id, events, first, last, gzip, report }))
    }
}

impl StreamBatch {
    /// Numbers of all its events, ascending.
    pub fn seqs(&self) -> Vec<Seq> {
        let mut seqs: Vec<Seq> =
            self.parts.iter().flat_map(|part| &part.seqs).chain(&self.loose).copied().collect();
        seqs.sort_unstable();
        seqs
    }
}

fn holds(ranges: &[SeqRange], seq: Seq) -> bool {
    let at = ranges.partition_point(|range| range.last < seq.get());
    ranges.get(at).is_some_and(|range| range.first <= seq.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(seqs: &[u64]) -> QueryPart {
        let lines: Vec<String> = seqs.iter().map(u64::to_string).collect();
        QueryPart {
            query_id: "e0000000-0000-4000-8000-000000000001".parse().expect("an id"),
            seqs: seqs.iter().map(|seq| Seq::new(*seq).expect("a seq")).collect(),
            gzip: Packer::new().pack(lines.iter().map(String::as_bytes)),
            report: Report::default(),
        }
    }

    /// The lines that are new, and the numbers of the first and the last.
    fn fresh(seqs: &[u64], unseen: &[(u64, u64)]) -> Option<(String, u64, u64)> {
        let unseen: Vec<SeqRange> = unseen.iter().map(|&(first, last)| SeqRange { first, last }).collect();
        let part = part(seqs);
        let fresh = part.fresh(&unseen, &mut Packer::new()).expect("sound")?;
        let lines = String::from_utf8(unpack(&fresh.gzip).expect("sound")).expect("text");
        assert_eq!(lines.lines().count(), fresh.events);
        assert_eq!(matches!(fresh.gzip, Cow::Borrowed(_)), fresh.events == seqs.len(), "packed once");
        Some((lines.replace('\n', " "), fresh.first.get(), fresh.last.get()))
    }

    #[test]
    fn what_has_not_been_seen_is_kept() {
        assert_eq!(fresh(&[2, 3, 5], &[(1, 9)]), Some(("2 3 5 ".into(), 2, 5)));
        assert_eq!(fresh(&[2, 3, 5, 8], &[(3, 3), (5, 7)]), Some(("3 5 ".into(), 3, 5)));
        assert_eq!(fresh(&[2, 3], &[(4, 9)]), None);
    }

    #[test]
    fn a_damaged_chunk_is_noticed_when_it_is_packed_anew() {
        let damaged = QueryPart { gzip: b"x".to_vec(), ..part(&[2, 3]) };
        let from = |first| [SeqRange { first, last: 3 }];
        assert!(damaged.fresh(&from(2), &mut Packer::new()).is_ok_and(|part| part.is_some()));
        assert!(damaged.fresh(&from(3), &mut Packer::new()).is_err());
    }
}
