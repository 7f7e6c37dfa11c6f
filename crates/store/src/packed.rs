//! Entries of a long answer, packed while a reader takes its time.
//!
//! The whole overview of 100,000 labels over 90 days is 588 MB as JSON: as many numbers for a label whose runs are
//! few as for one whose runs are many. Packed, an entry is about 60 bytes and 10 to 20 for each slice and day in
//! which something ran. So an answer is held packed, and turned into JSON a piece at a time as its reader takes it.
//!
//! The format is [postcard](https://postcard.jamesmunns.com), in memory alone.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of the length of a text at most.
const LENGTH_BYTES_MAX: usize = 10;

/// An entry packed while its name, its first field, is empty: that is looked up later than the rest is computed.
pub fn pack(entry: &impl Serialize) -> Box<[u8]> {
    // Memory is the only thing this can run out of.
    postcard::to_stdvec(entry).unwrap_or_default().into()
}

/// Packed entries in the order of the answer.
#[derive(Debug, Clone)]
pub struct Packed<T> {
    bytes: Vec<u8>,
    entries: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), entries: 0, of: PhantomData }
    }
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    /// Joins entries that [`pack`] packed and their names. The memory grows by a quarter at a time, so that little
    /// of it is reserved in vain, and each entry is freed as it is taken over.
    pub fn join(entries: impl IntoIterator<Item = (Arc<str>, Box<[u8]>)>) -> Self {
        let mut joined = Self::default();
        for (name, packed) in entries {
            joined.push(&name, &packed);
        }
        joined.bytes.shrink_to_fit();
        joined
    }

    fn push(&mut self, name: &str, packed: &[u8]) {
        let missing = (name.len() + packed.len() + LENGTH_BYTES_MAX).saturating_sub(self.spare());
        if missing > 0 {
            self.bytes.reserve_exact(missing.max(self.bytes.len() / 4));
        }
        // The name takes the place of the empty one, which is a byte: its length.
        self.add(name);
        self.bytes.extend_from_slice(packed.get(1..).unwrap_or_default());
        self.entries += 1;
    }

    fn add(&mut self, value: &(impl Serialize + ?Sized)) {
        self.bytes = postcard::to_extend(value, std::mem::take(&mut self.bytes)).unwrap_or_default();
    }

    fn spare(&self) -> usize {
        self.bytes.capacity() - self.bytes.len()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Bytes of memory they take.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Unpacks the entry at an offset, and the offset of the next one; `None` at the end.
    pub fn read(&self, offset: usize) -> Option<(T, usize)> {
        let bytes = self.bytes.get(offset..).filter(|bytes| !bytes.is_empty())?;
        let (entry, rest) = postcard::take_from_bytes::<T>(bytes).ok()?;
        Some((entry, self.bytes.len() - rest.len()))
    }

    /// All entries, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        let mut offset = 0;
        std::iter::from_fn(move || {
            let (entry, next) = self.read(offset)?;
            offset = next;
            Some(entry)
        })
    }
}

impl<T: Serialize + DeserializeOwned> FromIterator<T> for Packed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut packed = Self::default();
        for entry in entries {
            packed.add(&entry);
            packed.entries += 1;
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use queryscope_history::{Day, LabelOverview, Median, Verdict};

    use super::*;

    fn entry(label: &'static str, runs: u32) -> LabelOverview<'static> {
        let mut bins = vec![Median::default(); 360];
        let mut days = vec![Day::default(); 91];
        for at in 0..runs as usize {
            bins[at * 7] = Some(at as f64 + 0.25).into();
            days[at * 2] = Day {
                runs: 1,
                failed: u32::from(at == 1),
                median_wall_ms: Some(9.5).into(),
                ..Day::default()
            };
        }
        LabelOverview {
            label: label.into(),
            service: (runs > 1).then(|| "etl".into()),
            services: 1,
            runs: runs.into(),
            failed: 1,
            cancelled: 1,
            unfinished: 1,
            total_wall_ms: 0.1,
            usual_wall_ms: None,
            usual_band_ms: Some([1.5, 2.5]),
            recent_wall_ms: Some(7.0),
            recent_spread_ms: Some([1.5, 9.0]).filter(|_| runs > 4),
            ratio: None,
            judged: runs > 1,
            verdict: Some(Verdict::Faster).filter(|_| runs > 1),
            recent_runs: 3,
            recent_failed: 0,
            failed_before: 2,
            rules: vec!["scan".into()],
            new_rules: vec![],
            plan_changed_unix_ns: Some(-7),
            bins,
            days,
            change: None,
        }
    }

    #[test]
    fn entries_come_back_as_they_were() {
        let entries = [entry("a", 0), entry("b", 5), entry("", 1)];
        let packed: Packed<LabelOverview<'static>> = entries.iter().cloned().collect();
        assert_eq!((packed.len(), packed.is_empty()), (3, false));
        assert_eq!(packed.iter().collect::<Vec<_>>(), entries);
        let unnamed = entries.iter().map(|named| LabelOverview { label: "".into(), ..named.clone() });
        let joined =
            entries.iter().zip(unnamed).map(|(named, entry)| (named.label.as_ref().into(), pack(&entry)));
        assert_eq!(Packed::<LabelOverview<'static>>::join(joined).bytes(), packed.bytes());
        assert!(Packed::<LabelOverview<'static>>::default().read(0).is_none());
    }

    #[test]
    fn an_entry_of_few_runs_is_small() {
        let packed: Packed<LabelOverview<'static>> = [entry("orders/daily", 3)].into_iter().collect();
        assert!(packed.bytes().len() < 160, "{}", packed.bytes().len());
    }
}
