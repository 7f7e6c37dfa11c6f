//! What the rounds showed: the median of each figure.

use serde::Serialize;

use crate::ingest;
use crate::live;
use crate::report::{Row, median};

/// Each figure with its value in every round, in the order in which they were first measured.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    figures: Vec<Figure>,
    /// What makes them worthless; empty after a good run.
    pub(crate) faults: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Figure {
    what: String,
    unit: &'static str,
    rounds: Vec<f64>,
}

impl Figures {
    pub(super) fn add_workload(&mut self, name: &str, measured: &ingest::Measured) {
        let (latency, requests) = (measured.account.latency, measured.account.requests.max(1) as f64);
        let cpu_us = |cpu_s: Option<f64>| cpu_s.map(|cpu_s| cpu_s * 1e6 / requests);
        self.add(name, "requests", "/s", Some(measured.requests_per_s));
        self.add(name, "decoded", "MB/s", Some(measured.mb_per_s));
        self.add(name, "p50", "ms", Some(latency.p50_ms));
        self.add(name, "p99", "ms", Some(latency.p99_ms));
        self.add(name, "CPU of collectors", "us a request", cpu_us(measured.collector_cpu_s));
        self.add(name, "CPU of PostgreSQL", "us a request", cpu_us(measured.database_cpu_s));
        self.add(name, "memory of a collector", "MB", measured.memory_peak_mb);
        self.add(name, "generator", "cores", Some(measured.generator_cores));
        self.fault(name, measured.account.faults());
    }

    pub(super) fn add_live(&mut self, name: &str, measured: &live::Measured) {
        self.add(name, "commit to socket, p50", "ms", Some(measured.after_commit.p50_ms));
        self.add(name, "commit to socket, p99", "ms", Some(measured.after_commit.p99_ms));
        self.add(name, "post to socket, p50", "ms", Some(measured.after_post.p50_ms));
        self.add(name, "post to socket, p99", "ms", Some(measured.after_post.p99_ms));
        self.fault(name, measured.faults());
    }

    /// The table.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |figure: &Figure| {
            Row::new(figure.what.clone(), median(figure.rounds.iter().copied()), figure.unit)
        };
        self.figures.iter().map(row).collect()
    }

    fn add(&mut self, name: &str, what: &str, unit: &'static str, value: Option<f64>) {
        let Some(value) = value else { return };
        let what = format!("{name}: {what}");
        match self.figures.iter_mut().find(|figure| figure.what == what && figure.unit == unit) {
            Some(figure) => figure.rounds.push(value),
            None => self.figures.push(Figure { what, unit, rounds: vec![value] }),
        }
    }

    fn fault(&mut self, of: &str, faults: Vec<String>) {
        self.faults.extend(faults.into_iter().map(|fault| format!("{of}: {fault}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_round_counts() {
        let mut figures = Figures::default();
        for (what, value) in [("p50", 9.0), ("p99", 7.0), ("p50", 1.0), ("p50", 2.0), ("p99", 8.0)] {
            figures.add("W1, embedded", what, "ms", Some(value));
        }
        figures.add("W1, embedded", "CPU of PostgreSQL", "us a request", None);
        let rows: Vec<(String, f64)> =
            figures.rows().into_iter().map(|row| (row.what, row.measured)).collect();
        assert_eq!(rows, [("W1, embedded: p50".into(), 2.0), ("W1, embedded: p99".into(), 7.5)]);
    }
}
