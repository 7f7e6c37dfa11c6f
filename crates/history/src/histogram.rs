//! Quantiles of many wall times in few bytes, at a known error.
//!
//! A bucket is what doubles of one exponent and equal first six bits of the mantissa have in common: 64 buckets
//! from each power of two to the next, each wide as 1/64 of its power. A time is known by its bucket, whose
//! middle is off by at most [`Histogram::RELATIVE_ERROR`] = 1/128 (0.78 %) of any time in it. Finding the bucket
//! is a shift of the number's bits: exact, the same on every machine, and with no bounds to agree on, so that
//! any two histograms can be merged. (The logarithm of DDSketch, Masson, Rim and Lee, VLDB 2019, needs 35
//! buckets for 1 %, and differs in the last digit between machines.)
//!
//! Range: every finite time of at least 0. Those below [`Histogram::LEAST_MS`] (about a nanosecond) share one
//! bucket and are given as 0.
//!
//! Beside bounds for quantiles, counts are exact, what was added can be removed again, and the order of
//! additions, removals and merges does not show.

mod encoding;

use std::cmp::Ordering;

use crate::quantile::{Quartiles, between, quarter};

pub use encoding::HistogramError;

/// Bits of a double below those that name its bucket.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - 6;
/// What the bits of [`Histogram::LEAST_MS`] say above those.
const BASE: u32 = (Histogram::LEAST_MS.to_bits() >> SHIFT) as u32;

/// A histogram of wall times in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Ascending, each index once, no count 0.
    buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    /// 0 for times that are given as 0, then the number of the bucket from [`Histogram::LEAST_MS`] on.
    index: u32,
    count: u64,
}

impl Histogram {
    /// How far a quantile may be off, as a part of the exact one.
    pub const RELATIVE_ERROR: f64 = 1.0 / 128.0;
    /// Times below are given as 0: 2^-20 milliseconds.
    pub const LEAST_MS: f64 = 1.0 / (1 << 20) as f64;

    /// How many times it holds.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, bucket| sum.saturating_add(bucket.count))
    }

    /// Whether it holds no time.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Adds a time in milliseconds; `false`, and nothing is added, for what is no time: a number that is
    /// negative or not finite.
    pub fn add(&mut self, wall_ms: f64) -> bool {
        let Some(index) = index_of(wall_ms) else { return false };
        match self.find(index) {
            Ok(at) => self.buckets[at].count = self.buckets[at].count.saturating_add(1),
            Err(at) => self.buckets.insert(at, Bucket { index, count: 1 }),
        }
        true
    }

    /// Takes out a time that was added; `false`, and nothing is taken, when its bucket is empty.
    pub fn remove(&mut self, wall_ms: f64) -> bool {
        let Some(Ok(at)) = index_of(wall_ms).map(|index| self.find(index)) else { return false };
        self.buckets[at].count -= 1;
        if self.buckets[at].count == 0 {
            self.buckets.remove(at);
        }
        true
    }

    /// Adds all times of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let mut merged = Vec::with_capacity(self.buckets.len() + other.buckets.len());
        self.walk(other, |index, own, others| {
            merged.push(Bucket { index, count: own.saturating_add(others) });
        });
        self.buckets = merged;
    }

    /// The median, of the definition of [`median`](crate::median), within [`Self::RELATIVE_ERROR`].
    pub fn median(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| quarter(count, 2, |rank| self.value_at(rank)))
    }

    /// Median and quartiles, of the definition of [`quartiles`](crate::quartiles), within
    /// [`Self::RELATIVE_ERROR`].
    pub fn quartiles(&self) -> Option<Quartiles> {
        Quartiles::of(self.count(), |rank| self.value_at(rank))
    }

    /// The quantile of type 7 (see [`quartiles`](crate::quartiles)) for a part of the times, 0.95 for instance,
    /// within [`Self::RELATIVE_ERROR`]. A part outside 0 to 1 is taken for the nearer end.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let last = self.count().checked_sub(1)?;
        let place = last as f64 * part.clamp(0.0, 1.0);
        let below = (place.floor() as u64).min(last);
        let above = (below + 1).min(last);
        Some(between(self.value_at(below), self.value_at(above), place.fract()))
    }

    /// Calls with the counts of both histograms, by ascending bucket of either.
    pub(crate) fn side_by_side(&self, other: &Self, mut both: impl FnMut(u64, u64)) {
        self.walk(other, |_, own, others| both(own, others));
    }

    fn walk(&self, other: &Self, mut both: impl FnMut(u32, u64, u64)) {
        let (mut own, mut others) = (self.buckets.iter().peekable(), other.buckets.iter().peekable());
        loop {
            let order = match (own.peek(), others.peek()) {
                (Some(a), Some(b)) => a.index.cmp(&b.index),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return,
            };
            let a = own.next_if(|_| order.is_le());
            let b = others.next_if(|_| order.is_ge());
            let count = |bucket: Option<&Bucket>| bucket.map_or(0, |bucket| bucket.count);
            if let Some(bucket) = a.or(b) {
                both(bucket.index, count(a), count(b));
            }
        }
    }

    fn find(&self, index: u32) -> Result<usize, usize> {
        self.buckets.binary_search_by_key(&index, |bucket| bucket.index)
    }

    /// The time at an index in ascending order, as its bucket gives it.
    fn value_at(&self, rank: u64) -> f64 {
        let mut seen = 0_u64;
        let holds = |bucket: &&Bucket| {
            seen = seen.saturating_add(bucket.count);
            rank < seen
        };
        let bucket = self.buckets.iter().find(holds).or(self.buckets.last());
        bucket.map_or(0.0, |bucket| value_of(bucket.index))
    }
}

impl Extend<f64> for Histogram {
    /// Adds times in milliseconds, passing over what is none.
    fn extend<I: IntoIterator<Item = f64>>(&mut self, times_ms: I) {
        for wall_ms in times_ms {
            self.add(wall_ms);
        }
    }
}

impl FromIterator<f64> for Histogram {
    fn from_iter<I: IntoIterator<Item = f64>>(times_ms: I) -> Self {
        let mut histogram = Self::default();
        histogram.extend(times_ms);
        histogram
    }
}

/// The bucket of a time; `None` for what is no time.
fn index_of(wall_ms: f64) -> Option<u32> {
    if !wall_ms.is_finite() || wall_ms < 0.0 {
        return None;
    }
    if wall_ms < Histogram::LEAST_MS {
        return Some(0);
    }
    Some((wall_ms.to_bits() >> SHIFT) as u32 - BASE + 1)
}

/// The largest bucket there is.
const LAST_INDEX: u32 = (f64::MAX.to_bits() >> SHIFT) as u32 - BASE + 1;

/// The middle of a bucket.
fn value_of(index: u32) -> f64 {
    match index {
        0 => 0.0,
        index => f64::from_bits((u64::from(index - 1 + BASE) << SHIFT) | (1 << (SHIFT - 1))),
    }
}

#[cfg(test)]
mod tests;
