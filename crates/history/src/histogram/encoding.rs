//! A histogram as bytes.
//!
//! The first byte is the version. Version 1 goes on with the buckets in ascending order, to the end: how far the
//! bucket's index lies after the one before (the first: its index), then its count, both as LEB128 (groups of
//! seven bits, the lowest first, all but the last with the high bit set) in as few bytes as they need. A
//! histogram has one encoding only. A bucket takes two to three bytes as a rule.

use thiserror::Error;

use super::{Bucket, Histogram, LAST_INDEX};

const VERSION: u8 = 1;

/// Bytes that are no histogram.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// They are of a version that this program does not know; a newer one wrote them.
    #[error("histogram of the unknown version {0}, expected {VERSION}")]
    Version(u8),
    /// No program wrote them as they are.
    #[error("damaged histogram at byte {0}")]
    Damaged(usize),
}

impl Histogram {
    /// Encodes it as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 3 * self.buckets.len());
        bytes.push(VERSION);
        let mut before = 0;
        for bucket in &self.buckets {
            write(&mut bytes, u64::from(bucket.index - before));
            write(&mut bytes, bucket.count);
            before = bucket.index;
        }
        bytes
    }

    /// Decodes what [`Self::encode`] of this version or an earlier one gave.
    ///
    /// # Errors
    /// When the version is unknown, or the bytes are cut off or otherwise not as they were.
    pub fn decode(bytes: &[u8]) -> Result<Self, HistogramError> {
        match bytes.first() {
            Some(&VERSION) => {}
            Some(&version) => return Err(HistogramError::Version(version)),
            None => return Err(HistogramError::Damaged(0)),
        }
        let mut at = 1;
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut total = 0_u64;
        while at < bytes.len() {
            let damaged = HistogramError::Damaged(at);
            let bucket = read_bucket(bytes, &mut at, buckets.last()).ok_or(damaged.clone())?;
            total = total.checked_add(bucket.count).ok_or(damaged)?;
            buckets.push(bucket);
        }
        Ok(Self { buckets })
    }
}

/// Reads a bucket and moves on; `None` when it is not one that may stand after the one before.
fn read_bucket(bytes: &[u8], at: &mut usize, before: Option<&Bucket>) -> Option<Bucket> {
    let distance = u32::try_from(read(bytes, at)?).ok()?;
    let index = match before {
        Some(before) => before.index.checked_add(distance).filter(|_| distance > 0)?,
        None => distance,
    };
    let count = read(bytes, at)?;
    (index <= LAST_INDEX && count > 0).then_some(Bucket { index, count })
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number and moves on; `None` when it is cut off, too large, or longer than it needs to be.
fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn version_1_is_read_for_ever() {
        let histogram: Histogram = [0.0, 1.0, 1.0, 1.5, 60_000.0].into_iter().collect();
        let bytes = [1, 0, 1, 0x81, 0x0a, 2, 32, 1, 0xd5, 7, 1];
        assert_eq!(histogram.encode(), bytes);
        assert_eq!(Histogram::decode(&bytes), Ok(histogram));
        assert_eq!(Histogram::decode(&[1]), Ok(Histogram::default()));
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let check = |bytes: &[u8], expected| assert_eq!(Histogram::decode(bytes), Err(expected), "{bytes:?}");
        check(&[], HistogramError::Damaged(0));
        check(&[2, 1, 1], HistogramError::Version(2));
        check(&[1, 5], HistogramError::Damaged(1));
        check(&[1, 5, 0x80], HistogramError::Damaged(1));
        check(&[1, 5, 0], HistogramError::Damaged(1));
        check(&[1, 5, 1, 0, 1], HistogramError::Damaged(3));
        check(&[1, 0x85, 0, 1], HistogramError::Damaged(1));
        check(&[1, 0xff, 0xff, 0xff, 0x7f, 1], HistogramError::Damaged(1));
        let most = [1, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Histogram::decode(&most).map(|all| all.count()), Ok(u64::MAX));
        check(&[&most[..], &[1, 1]].concat(), HistogramError::Damaged(12));
        check(&[&most[..11], &[2]].concat(), HistogramError::Damaged(1));
    }

    proptest! {
        #[test]
        fn decoding_gives_back_what_was_encoded(times in prop::collection::vec(0.0..1e7_f64, 0..200)) {
            let histogram: Histogram = times.into_iter().collect();
            prop_assert_eq!(Histogram::decode(&histogram.encode()), Ok(histogram));
        }

        #[test]
        fn any_bytes_are_refused_or_the_one_encoding(mut bytes in prop::collection::vec(0..20_u8, 0..12)) {
            bytes.insert(0, VERSION);
            if let Ok(histogram) = Histogram::decode(&bytes) {
                prop_assert_eq!(histogram.encode(), bytes);
            }
        }

        #[test]
        fn a_cut_is_found_or_leaves_whole_buckets(count in 1..50_usize, cut in 1..200_usize) {
            let bytes = (0..count).map(|n| n as f64).collect::<Histogram>().encode();
            let cut = cut.min(bytes.len());
            if let Ok(part) = Histogram::decode(&bytes[..cut]) {
                prop_assert_eq!(part.encode(), &bytes[..cut]);
            }
        }
    }
}
