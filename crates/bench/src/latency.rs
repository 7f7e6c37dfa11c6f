//! Latencies of a run, every one of them kept.

use std::time::Duration;

use serde::Serialize;

/// Durations of single requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies(Vec<Duration>);

/// Percentiles of a run in milliseconds; all 0 when nothing was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "a name ends with its unit")]
pub(crate) struct Percentiles {
    /// Half of the requests took at most this.
    pub(crate) p50_ms: f64,
    /// Nine of ten took at most this.
    pub(crate) p90_ms: f64,
    /// 95 of 100 took at most this.
    pub(crate) p95_ms: f64,
    /// 99 of 100 took at most this.
    pub(crate) p99_ms: f64,
    /// The slowest one.
    pub(crate) max_ms: f64,
}

impl Latencies {
    /// Adds one.
    pub(crate) fn push(&mut self, latency: Duration) {
        self.0.push(latency);
    }

    /// Adds those of another connection.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Percentiles by nearest rank: always a latency that was measured.
    pub(crate) fn percentiles(mut self) -> Percentiles {
        self.0.sort_unstable();
        let at = |share: f64| {
            let rank = (self.0.len() as f64 * share).ceil() as usize;
            let latency = self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default();
            latency.as_secs_f64() * 1e3
        };
        Percentiles { p50_ms: at(0.5), p90_ms: at(0.9), p95_ms: at(0.95), p99_ms: at(0.99), max_ms: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentiles(ms: impl Iterator<Item = u64>) -> Percentiles {
        let mut latencies = Latencies::default();
        ms.for_each(|ms| latencies.push(Duration::from_millis(ms)));
        latencies.percentiles()
    }

    #[test]
    fn ranks_are_those_of_the_sorted_latencies() {
        let expected = Percentiles { p50_ms: 50.0, p90_ms: 90.0, p95_ms: 95.0, p99_ms: 99.0, max_ms: 100.0 };
        assert_eq!(percentiles((1..=100).rev()), expected);
        let of_one = percentiles(std::iter::once(7));
        assert_eq!(of_one, Percentiles { p50_ms: 7.0, p90_ms: 7.0, p95_ms: 7.0, p99_ms: 7.0, max_ms: 7.0 });
        assert_eq!(percentiles(std::iter::empty()), Percentiles::default());
    }
}
