//! The part of a detector that does not follow from the last 500 runs: its open changes, with the runs before
//! them, and which runs of the window ran while a change lasted that is over.
//!
//! A store keeps it beside the runs' features, as JSON that is read with every digit (`serde_json` with
//! `float_roundtrip`). [`Detector::restore`] makes the detector of both that says the same of the next run as
//! the one that was saved.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use queryscope_insights::Fingerprint;
use queryscope_protocol::QueryId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::adjust::Adjustment;
use crate::change::Change;
use crate::detector::Detector;
use crate::failing::Failing;
use crate::features::RunFeatures;
use crate::growth::Growth;
use crate::layer::{Layer, Levels};
use crate::packed::PackedError;
use crate::plan::Plan;

/// What is saved of a [`Detector`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Saved {
    layers: Vec<SavedLayer>,
    failing: Option<SavedFailing>,
    growth: Option<SavedGrowth>,
    settled: Option<(i64, Uuid)>,
    /// Runs of changes that are over.
    episodes: Vec<Uuid>,
    /// Plans of the runs below, packed, in hexadecimal digits.
    plans: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedLayer {
    change: Change,
    since: (i64, Uuid),
    environment: u32,
    host: Option<u32>,
    by_rows: bool,
    before: Vec<String>,
    before_failed: u64,
    runs: u64,
    failed: u64,
    extra_wall_ms: f64,
    extra_cpu_ms: f64,
    levels: Levels,
    peak: f64,
    adjustment: Adjustment,
    evidence: f64,
    quiet_since: Option<(i64, Uuid)>,
    next_refresh: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedFailing {
    change: Change,
    since: (i64, Uuid),
    environment: u32,
    before: (u64, u64),
    after: (u64, u64),
    until_failed: u64,
    evidence: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedGrowth {
    change: Change,
    environment: u32,
    before: Vec<String>,
    runs: u64,
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn bytes(hex: &str) -> Result<Vec<u8>, PackedError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(PackedError::Invalid("a digit"));
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Ok((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => Err(PackedError::CutOff),
        })
        .collect()
}

fn saved_place((at, id): (i64, QueryId)) -> (i64, Uuid) {
    (at, id.uuid())
}

fn place((at, id): (i64, Uuid)) -> (i64, QueryId) {
    (at, QueryId::new(id))
}

impl Detector {
    /// What does not follow from the last runs.
    pub fn save(&self) -> Saved {
        let mut plans: BTreeMap<[u8; 6], String> = BTreeMap::new();
        let mut pack = |runs: &[RunFeatures]| -> Vec<String> {
            let pack_one = |run: &RunFeatures| {
                plans.entry(run.plan.fingerprint.bytes()).or_insert_with(|| hex(&run.plan.pack()));
                hex(&run.pack())
            };
            runs.iter().map(pack_one).collect()
        };
        let layers = self.layers.iter().map(|layer| SavedLayer {
            change: layer.change.clone(),
            since: saved_place(layer.since),
            environment: layer.environment,
            host: layer.host,
            by_rows: layer.by_rows,
            before: pack(&layer.before),
            before_failed: layer.before_failed,
            runs: layer.runs,
            failed: layer.failed,
            extra_wall_ms: layer.extra_wall_ms,
            extra_cpu_ms: layer.extra_cpu_ms,
            levels: layer.levels,
            peak: layer.peak,
            adjustment: layer.adjustment.clone(),
            evidence: layer.evidence,
            quiet_since: layer.quiet_since.map(saved_place),
            next_refresh: layer.next_refresh,
        });
        let layers = layers.collect();
        let growth = self.growth.as_ref().map(|growth| SavedGrowth {
            change: growth.change.clone(),
            environment: growth.environment,
            before: pack(&growth.before),
            runs: growth.runs,
        });
        let failing = self.failing.as_ref().map(|failing| SavedFailing {
            change: failing.change.clone(),
            since: saved_place(failing.since),
            environment: failing.environment,
            before: failing.before,
            after: failing.after,
            until_failed: failing.until_failed,
            evidence: failing.evidence,
        });
        let episodes = self.series.entries.iter().filter(|entry| entry.episode);
        let episodes = episodes.map(|entry| entry.point.query_id.uuid()).collect();
        let settled = self.settled.map(saved_place);
        Saved { layers, failing, growth, settled, episodes, plans: plans.into_values().collect() }
    }

    /// The detector that was saved, from what was saved and the last runs of the query, in any order.
    ///
    /// # Errors
    /// What in the saved runs cannot be read.
    pub fn restore(saved: Saved, runs: impl IntoIterator<Item = RunFeatures>) -> Result<Self, PackedError> {
        let mut plans: BTreeMap<[u8; 6], Arc<Plan>> = BTreeMap::new();
        for packed in &saved.plans {
            let plan = Plan::unpack(&bytes(packed)?)?;
            plans.insert(plan.fingerprint.bytes(), Arc::new(plan));
        }
        let unpack = |runs: &[String]| -> Result<Vec<RunFeatures>, PackedError> {
            let one = |packed: &String| {
                let packed = bytes(packed)?;
                let fingerprint: Fingerprint = RunFeatures::plan_of(&packed)?;
                let plan = plans.get(&fingerprint.bytes()).ok_or(PackedError::Plan(fingerprint))?;
                RunFeatures::unpack(&packed, plan)
            };
            runs.iter().map(one).collect()
        };
        let mut detector = Self { settled: saved.settled.map(place), ..Self::default() };
        for layer in saved.layers {
            detector.layers.push(Layer {
                since: place(layer.since),
                environment: layer.environment,
                host: layer.host,
                by_rows: layer.by_rows,
                before: unpack(&layer.before)?,
                before_failed: layer.before_failed,
                runs: layer.runs,
                failed: layer.failed,
                extra_wall_ms: layer.extra_wall_ms,
                extra_cpu_ms: layer.extra_cpu_ms,
                levels: layer.levels,
                peak: layer.peak,
                adjustment: layer.adjustment,
                evidence: layer.evidence,
                quiet_since: layer.quiet_since.map(place),
                next_refresh: layer.next_refresh,
                change: layer.change,
            });
        }
        if let Some(growth) = saved.growth {
            let before = unpack(&growth.before)?;
            let (environment, runs) = (growth.environment, growth.runs);
            detector.growth = Some(Growth { change: growth.change, environment, before, runs });
        }
        detector.failing = saved.failing.map(|failing| Failing {
            since: place(failing.since),
            environment: failing.environment,
            before: failing.before,
            after: failing.after,
            until_failed: failing.until_failed,
            evidence: failing.evidence,
            change: failing.change,
        });
        for run in runs {
            detector.series.add(run);
        }
        let episodes: HashSet<Uuid> = saved.episodes.into_iter().collect();
        for entry in &mut detector.series.entries {
            entry.episode = episodes.contains(&entry.point.query_id.uuid());
        }
        Ok(detector)
    }
}
