//! The part of a detector that does not follow from the last 500 runs: its open changes, with the runs before
//! them, and which runs of the window ran while a change lasted that is over. The same of some runs ago is beside it
//! ([`Saved::replay`]).
//!
//! A store keeps it beside the runs' features, as JSON that is read with every digit (`serde_json` with
//! `float_roundtrip`). [`Detector::restore`] makes the detector of both that says the same of the next run as
//! the one that was saved.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use queryscope_insights::Fingerprint;
use queryscope_protocol::QueryId;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::adjust::Adjustment;
use crate::change::{Change, State};
use crate::detector::{Base, Course, Detector, Over, Recent, Workspace};
use crate::failing::Failing;
use crate::features::RunFeatures;
use crate::growth::Growth;
use crate::layer::{Layer, Levels};
use crate::packed::PackedError;
use crate::plan::Plan;

/// The version that takes runs: what another one made of them need not be what this one makes. The last number is
/// that of what is made of runs between two releases: count it up with what changes are found, or what they say.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), ".16");
/// Begins the number of the change that runs before a base's change are shared with.
const SHARED: char = '=';
/// Digits of an id. Packed features are longer.
const ID_DIGITS: usize = 32;

/// What is saved of a [`Detector`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Saved {
    layers: Vec<SavedLayer>,
    #[serde(deserialize_with = "few")]
    failing: Vec<SavedFailing>,
    #[serde(deserialize_with = "few")]
    growth: Vec<SavedGrowth>,
    /// The first run after the last change that is over: of an earlier version, in whatever environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settled: Option<(i64, Uuid)>,
    /// The same of each environment.
    #[serde(default)]
    settled_in: Vec<(u32, (i64, Uuid))>,
    /// Runs of changes that are over.
    episodes: Vec<Uuid>,
    /// Of a base: its episodes are those above and those of the state it is the base of.
    #[serde(default, skip_serializing_if = "is_false")]
    more_episodes: bool,
    /// Plans of the runs above, packed, in hexadecimal digits.
    plans: Vec<String>,
    /// Version of the program that took the runs since the base.
    #[serde(default)]
    version: String,
    /// The state some runs ago; its plans are above.
    #[serde(default)]
    base: Option<Box<Saved>>,
    /// Of each run since, how many of the window stood behind it when it was taken.
    #[serde(default)]
    order: Vec<u16>,
    #[serde(default)]
    over: Vec<Over>,
    #[serde(default = "yes")]
    over_cut: bool,
    /// Runs of its window.
    #[serde(default)]
    runs: usize,
    #[serde(default)]
    others_until: Option<(i64, Uuid)>,
}

/// Several, one or none: earlier versions had one at most.
fn few<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Few<T> {
        Several(Vec<T>),
        One(T),
    }
    Ok(match Option::<Few<T>>::deserialize(from)? {
        Some(Few::Several(several)) => several,
        Some(Few::One(one)) => vec![one],
        None => Vec::new(),
    })
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedLayer {
    change: Change,
    since: (i64, Uuid),
    environment: u32,
    host: Option<u32>,
    by_rows: bool,
    /// Runs by id where they are in the window, else packed, in hexadecimal digits. Of a base, the number of the change
    /// now whose runs they are.
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

/// Packs states.
struct Packer {
    window: HashSet<QueryId>,
    plans: BTreeMap<[u8; 6], String>,
}

impl Packer {
    fn runs(&mut self, runs: &[RunFeatures]) -> Vec<String> {
        let pack_one = |run: &RunFeatures| {
            // Those of the window are kept beside this.
            if self.window.contains(&run.query_id) {
                return run.query_id.uuid().as_simple().to_string();
            }
            self.plans.entry(run.plan.fingerprint.bytes()).or_insert_with(|| hex(&run.plan.pack()));
            hex(&run.pack())
        };
        runs.iter().map(pack_one).collect()
    }

    /// Packs a state; a base beside the state it is the base of.
    fn state(&mut self, state: &Base, now: Option<&Base>) -> Saved {
        let mut shared = |before: &Arc<Vec<RunFeatures>>| {
            let now = now.into_iter().flat_map(befores);
            match now.enumerate().find(|(_, other)| Arc::ptr_eq(before, other)) {
                Some((place, _)) => vec![format!("{SHARED}{place}")],
                None => self.runs(before),
            }
        };
        let layers = state.courses.values().flat_map(|course| &course.layers).map(|layer| SavedLayer {
            change: layer.change.clone(),
            since: saved_place(layer.since),
            environment: layer.environment,
            host: layer.host,
            by_rows: layer.by_rows,
            before: shared(&layer.before),
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
        let growth = state.courses.values().flat_map(|course| &course.growth).map(|growth| SavedGrowth {
            change: growth.change.clone(),
            environment: growth.environment,
            before: shared(&growth.before),
            runs: growth.runs,
        });
        let growth = growth.collect();
        let failing = state.courses.values().flat_map(|course| &course.failing).map(|failing| SavedFailing {
            change: failing.change.clone(),
            since: saved_place(failing.since),
            environment: failing.environment,
            before: failing.before,
            after: failing.after,
            until_failed: failing.until_failed,
            evidence: failing.evidence,
        });
        let known: HashSet<QueryId> = now.into_iter().flat_map(|now| &now.episodes).copied().collect();
        let more_episodes = !known.is_empty()
            && state.episodes.iter().filter(|id| known.contains(*id)).count() == known.len();
        let settled = state.courses.iter().filter_map(|(environment, course)| {
            course.settled.map(|settled| (*environment, saved_place(settled)))
        });
        let episodes = state.episodes.iter().filter(|id| !more_episodes || !known.contains(*id));
        Saved {
            layers,
            failing: failing.collect(),
            growth,
            settled_in: settled.collect(),
            episodes: episodes.map(|id| id.uuid()).collect(),
            more_episodes,
            over: state.over.clone(),
            over_cut: state.over_cut,
            runs: state.runs,
            ..Saved::default()
        }
    }
}

/// The runs before each change.
fn befores(state: &Base) -> impl Iterator<Item = &Arc<Vec<RunFeatures>>> {
    let courses = || state.courses.values();
    let layers = courses().flat_map(|course| &course.layers).map(|layer| &layer.before);
    layers.chain(courses().flat_map(|course| &course.growth).map(|growth| &growth.before))
}

/// Unpacks states.
struct Unpacker<'w> {
    window: &'w HashMap<QueryId, RunFeatures>,
    plans: BTreeMap<[u8; 6], Arc<Plan>>,
}

impl<'w> Unpacker<'w> {
    fn new(saved: &Saved, window: &'w HashMap<QueryId, RunFeatures>) -> Result<Self, PackedError> {
        let mut plans: BTreeMap<[u8; 6], Arc<Plan>> = BTreeMap::new();
        for packed in &saved.plans {
            let plan = Plan::unpack(&bytes(packed)?)?;
            plans.insert(plan.fingerprint.bytes(), Arc::new(plan));
        }
        Ok(Self { window, plans })
    }

    fn runs(&self, runs: &[String], now: Option<&Base>) -> Result<Arc<Vec<RunFeatures>>, PackedError> {
        if let [only] = runs
            && let Some(place) = only.strip_prefix(SHARED)
        {
            let place = place.parse::<usize>().ok();
            let shared = place.and_then(|place| befores(now?).nth(place));
            return shared.cloned().ok_or(PackedError::Invalid("the place of a change"));
        }
        let one = |packed: &String| {
            if packed.len() == ID_DIGITS {
                let id = QueryId::new(Uuid::try_parse(packed).map_err(|_| PackedError::Invalid("an id"))?);
                return Ok(self.window.get(&id).cloned());
            }
            let packed = bytes(packed)?;
            let fingerprint: Fingerprint = RunFeatures::plan_of(&packed)?;
            let plan = self.plans.get(&fingerprint.bytes()).ok_or(PackedError::Plan(fingerprint))?;
            RunFeatures::unpack(&packed, plan).map(Some)
        };
        let read: Result<Vec<RunFeatures>, PackedError> =
            runs.iter().filter_map(|run| one(run).transpose()).collect();
        read.map(Arc::new)
    }

    fn state(&self, saved: &Saved, now: Option<&Base>) -> Result<Base, PackedError> {
        let mut courses: BTreeMap<u32, Course> = BTreeMap::new();
        for layer in &saved.layers {
            courses.entry(layer.environment).or_default().layers.push(Layer {
                since: place(layer.since),
                environment: layer.environment,
                host: layer.host,
                by_rows: layer.by_rows,
                before: self.runs(&layer.before, now)?,
                before_failed: layer.before_failed,
                runs: layer.runs,
                failed: layer.failed,
                extra_wall_ms: layer.extra_wall_ms,
                extra_cpu_ms: layer.extra_cpu_ms,
                levels: layer.levels,
                peak: layer.peak,
                adjustment: layer.adjustment.clone(),
                evidence: layer.evidence,
                quiet_since: layer.quiet_since.map(place),
                next_refresh: layer.next_refresh,
                change: layer.change.clone(),
            });
        }
        for course in courses.values_mut() {
            // Of an earlier version it may wait under one of another environment.
            if let Some(last) = course.layers.last_mut() {
                last.change.state = State::Open;
            }
        }
        for growth in &saved.growth {
            let before = self.runs(&growth.before, now)?;
            let (environment, runs) = (growth.environment, growth.runs);
            courses.entry(environment).or_default().growth =
                Some(Growth { change: growth.change.clone(), environment, before, runs });
        }
        for failing in &saved.failing {
            courses.entry(failing.environment).or_default().failing = Some(Failing {
                since: place(failing.since),
                environment: failing.environment,
                before: failing.before,
                after: failing.after,
                until_failed: failing.until_failed,
                evidence: failing.evidence,
                change: failing.change.clone(),
            });
        }
        for (environment, settled) in &saved.settled_in {
            courses.entry(*environment).or_default().settled = Some(place(*settled));
        }
        let more = now.filter(|_| saved.more_episodes).into_iter().flat_map(|now| &now.episodes).copied();
        Ok(Base {
            courses,
            episodes: saved.episodes.iter().map(|id| QueryId::new(*id)).chain(more).collect(),
            over: saved.over.clone(),
            over_cut: saved.over_cut,
            runs: saved.runs,
        })
    }
}

impl Detector {
    /// What does not follow from the last runs.
    pub fn save(&self) -> Saved {
        let window = self.series.entries.iter().map(|entry| entry.point.query_id).collect();
        let mut packer = Packer { window, plans: BTreeMap::new() };
        let (state, recent) = (self.state(), &self.recent);
        let base = recent.base.as_deref().map(|base| Box::new(packer.state(base, Some(&state))));
        Saved {
            base,
            order: recent.order.clone(),
            others_until: recent.others_until.map(saved_place),
            version: if recent.unknown { String::new() } else { VERSION.to_owned() },
            ..packer.state(&state, None)
        }
        .with_plans(packer)
    }

    /// The detector that was saved, from what was saved and the last runs of the query, in any order.
    ///
    /// # Errors
    /// What in the saved runs cannot be read.
    pub fn restore(saved: Saved, runs: impl IntoIterator<Item = RunFeatures>) -> Result<Self, PackedError> {
        let window: HashMap<QueryId, RunFeatures> = runs.into_iter().map(|run| (run.query_id, run)).collect();
        let unpacker = Unpacker::new(&saved, &window)?;
        let state = unpacker.state(&saved, None)?;
        let base = if saved.is_own() {
            saved.base.as_deref().map(|base| unpacker.state(base, Some(&state))).transpose()?
        } else {
            None
        };
        let mut detector = Self::at(state, window.into_values().collect());
        if let Some(settled) = saved.settled {
            for entry in &detector.series.entries {
                let course = detector.courses.entry(entry.point.environment).or_default();
                course.settled.get_or_insert(place(settled));
            }
        }
        detector.recent.others_until = if saved.is_own() {
            saved.others_until.map(place)
        } else {
            detector.series.entries.back().map(|entry| entry.point.place())
        };
        if let Some(base) = base {
            detector.recent.base = Some(Box::new(base));
            detector.recent.order = saved.order;
        }
        Ok(detector)
    }

    /// A detector in a state, with the runs of its window.
    fn at(state: Base, mut runs: Vec<RunFeatures>) -> Self {
        let Base { courses, episodes, over, over_cut, .. } = state;
        let recent = Recent { over, over_cut, ..Recent::default() };
        let mut detector = Self { courses, recent, ..Self::default() };
        runs.sort_unstable_by_key(|run| (run.started_unix_ns, run.query_id));
        for run in runs {
            detector.series.add(run);
        }
        let episodes: HashSet<QueryId> = episodes.into_iter().collect();
        for entry in &mut detector.series.entries {
            entry.episode = episodes.contains(&entry.point.query_id);
        }
        detector
    }
}

/// What the runs of a query say anew.
#[derive(Debug)]
pub struct Replayed {
    /// The state after the last of them.
    pub saved: Saved,
    /// Changes that moved, as they were last told, and those that are open, by id.
    pub changes: BTreeMap<String, Change>,
}

impl Saved {
    fn with_plans(mut self, packer: Packer) -> Self {
        self.plans = packer.plans.into_values().collect();
        self
    }

    /// Whether this version took its last runs: no other can say what they are to say.
    pub fn is_own(&self) -> bool {
        self.version == VERSION
    }

    /// Whether the features of a run were made by this version for certain.
    pub fn is_of_own(&self, started_unix_ns: i64, query_id: QueryId) -> bool {
        self.is_own() && self.others_until.is_none_or(|until| place(until) < (started_unix_ns, query_id))
    }

    /// Changes that last, by id: open ones, and those that wait under a later one.
    pub fn lasting(&self) -> impl Iterator<Item = &Change> {
        let layers = self.layers.iter().map(|layer| &layer.change);
        let failing = self.failing.iter().map(|failing| &failing.change);
        layers.chain(failing).chain(self.growth.iter().map(|growth| &growth.change))
    }

    /// Changes that are over or superseded, by id, with the time they were over or confirmed; the last ones.
    pub fn over(&self) -> impl Iterator<Item = (&str, i64)> {
        self.over.iter().map(|over| (over.id.as_str(), over.unix_ns))
    }

    /// Whether these are all there ever were.
    pub fn knows_all_over(&self) -> bool {
        !self.over_cut
    }

    /// Takes the last runs again, from the state before them. `runs` are all whose features are
    /// [kept](Detector::keeps). `None` where another version took some of them, or some are gone.
    ///
    /// # Errors
    /// When these are not the runs that were taken, or something cannot be read.
    pub fn replay(
        &self,
        mut runs: Vec<RunFeatures>,
        workspace: &mut Workspace,
    ) -> Result<Option<Replayed>, PackedError> {
        let Some(base) = self.base.as_deref().filter(|_| self.is_own()) else { return Ok(None) };
        if base.runs + self.order.len() != runs.len() {
            return Ok(None);
        }
        let window: HashMap<QueryId, RunFeatures> =
            runs.iter().map(|run| (run.query_id, run.clone())).collect();
        let unpacker = Unpacker::new(self, &window)?;
        let now = unpacker.state(self, None)?;
        let base = unpacker.state(base, Some(&now))?;
        runs.sort_unstable_by_key(|run| (run.started_unix_ns, run.query_id));
        let mut since = Vec::with_capacity(self.order.len());
        for &behind in self.order.iter().rev() {
            let place = runs.len().checked_sub(1 + usize::from(behind));
            since.push(runs.remove(place.ok_or(PackedError::Invalid("the place of a run"))?));
        }
        let mut detector = Self::replaying(base, runs);
        detector.recent.others_until = self.others_until.map(place);
        let mut changes = BTreeMap::new();
        for run in since.into_iter().rev() {
            for transition in detector.observe(run, workspace) {
                changes.insert(transition.change().id.clone(), transition.change().clone());
            }
        }
        changes.extend(detector.open().map(|change| (change.id.clone(), change.clone())));
        Ok(Some(Replayed { saved: detector.save(), changes }))
    }

    fn replaying(base: Base, runs: Vec<RunFeatures>) -> Detector {
        let mut detector = Detector::at(base.clone(), runs);
        detector.recent.base = Some(Box::new(base));
        detector
    }
}
