//! The runs of one query, with what is known to have changed in them.

use std::sync::Arc;

use queryscope_diagnosis::{CauseKind, RunFeatures, Status};
use queryscope_protocol::{QueryId, Role};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use uuid::Builder;

use crate::model::{Engine, Model, Node};
use crate::schedule::{START_UNIX_NS, Surroundings, normal, starts};

/// Randomness that is the same on every platform.
pub(crate) type Random = Xoshiro256PlusPlus;

/// What makes runs differ though nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Noise {
    /// A lognormal time, and now and then one slow run (a).
    Plain,
    /// Slower, or more rows, on Saturdays and Sundays (a2).
    Weekends,
    /// Hosts of different speed (a2).
    Hosts,
    /// A part of the runs finds cold caches (a2).
    Cold,
    /// Stretches of slow runs that end (a2).
    Bursts,
    /// The input grows a little every day (a3).
    Growing,
    /// A new plan that changes nothing (a4).
    Decoy,
    /// Times with heavy tails: Student's t with three degrees of freedom.
    Tails,
    /// Two modes, which runs fall into at random.
    Modes,
    /// Neighbours are alike.
    Correlated,
    /// The level wanders by some percent in days.
    Drift,
    /// A smooth cycle of a day.
    Daily,
    /// Hours in which all is slow, however many runs they hold.
    Spells,
    /// Two of weekends, hosts, caches and bursts at once.
    Mixed,
    /// As plain, and the profile lacks all nodes, and some of host, CPU time and versions.
    Bare,
}

impl Noise {
    /// Noise of other families than those the limits of the detector were chosen with, of 3 to 200 runs a day.
    pub const OTHERS: [Self; 7] =
        [Self::Tails, Self::Modes, Self::Correlated, Self::Drift, Self::Daily, Self::Spells, Self::Mixed];
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// b: a scan reads more rows.
    MoreRows,
    /// c: a predicate no longer reaches the scan.
    LostPredicate,
    /// d: another join algorithm or build side.
    OtherJoin,
    /// e: fewer threads.
    FewerThreads,
    /// e: a processor quota.
    Quota,
    /// f: slow reads.
    SlowDisk,
    /// g: one large partition.
    Skew,
    /// h: memory is short.
    Spill,
    /// i: a version of the engine with a slower node.
    EngineVersion,
    /// j: one slow host.
    SlowHost,
    /// k: faster.
    Faster,
    /// l: failures.
    Failures,
    /// A function of the program was added.
    UserCode,
    /// Planning takes longer.
    Planning,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::MoreRows,
        Self::LostPredicate,
        Self::OtherJoin,
        Self::FewerThreads,
        Self::Quota,
        Self::SlowDisk,
        Self::Skew,
        Self::Spill,
        Self::EngineVersion,
        Self::SlowHost,
        Self::Faster,
        Self::Failures,
        Self::UserCode,
        Self::Planning,
    ];

    /// Whether runs take longer by it.
    pub fn is_slower(self) -> bool {
        !matches!(self, Self::Faster | Self::Failures)
    }

    /// The cause that should be named first; `None` where several are right.
    pub fn cause(self) -> Option<CauseKind> {
        Some(match self {
            Self::MoreRows => CauseKind::MoreRows,
            Self::LostPredicate | Self::OtherJoin => CauseKind::PlanChange,
            Self::FewerThreads => CauseKind::FewerThreads,
            Self::Quota => CauseKind::StarvedCpu,
            Self::SlowDisk => CauseKind::Waiting,
            Self::Skew => CauseKind::Skew,
            Self::Spill => CauseKind::Spilling,
            Self::EngineVersion => CauseKind::EngineVersion,
            Self::SlowHost => CauseKind::Host,
            Self::Faster => return None,
            Self::Failures => CauseKind::Failures,
            Self::UserCode => CauseKind::UserCode,
            Self::Planning => CauseKind::Planning,
        })
    }
}

/// How much slower it became.
pub type Factor = f64;

/// A change of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// What changed.
    pub kind: Kind,
    /// By how much.
    pub factor: Factor,
    /// Whether a harmless new plan came half a day to three days before it.
    pub decoy: bool,
}

/// What history to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Source of all that is random in it.
    pub seed: u64,
    /// The noise.
    pub noise: Noise,
    /// The change; none in a history of noise.
    pub change: Option<Change>,
    /// Whether the query is new: few runs, all of one day, before the change.
    pub young: bool,
}

/// The runs of one query.
#[derive(Debug, Clone)]
pub struct History {
    /// What it was made from.
    pub spec: Spec,
    /// Ended runs in the order of time.
    pub runs: Vec<RunFeatures>,
    /// How many of them came before the change; all where there is none.
    pub changed_at: usize,
    /// Whether each run has the change (of one host, not all after it have).
    pub slow: Vec<bool>,
    /// Whether each run is of a burst of slow runs, which is noise.
    pub burst: Vec<bool>,
}

/// Makes a history.
pub fn generate(spec: Spec) -> History {
    generate_over(spec, moments)
}

/// Makes a history of so many days, in which the change, if any, comes after the first eighth and before the last.
pub fn generate_month(spec: Spec, days: f64) -> History {
    generate_over(spec, |spec, runs_a_day, random| {
        let starts = starts(days, runs_a_day, random);
        if spec.change.is_none() {
            let count = starts.len();
            return (starts, count);
        }
        let at = START_UNIX_NS + (days * random.random_range(0.125..0.875) * 86_400e9) as i64;
        let place = starts.partition_point(|&start| start < at);
        (starts, place)
    })
}

fn generate_over(spec: Spec, moments: impl Fn(Spec, f64, &mut Random) -> (Vec<i64>, usize)) -> History {
    let random = &mut Random::seed_from_u64(spec.seed);
    let mut model = Model::random(random);
    if let Some(change) = spec.change {
        fit_for(change.kind, &mut model, random);
    }
    let most: f64 = if Noise::OTHERS.contains(&spec.noise) { 2.301 } else { 1.778 };
    let runs_a_day = 10_f64.powf(random.random_range(0.477..most));
    let mut around = Surroundings::random(spec.noise, runs_a_day, random);
    let (starts, changed_at) = moments(spec, runs_a_day, random);
    let mut after = model.clone();
    if let Some(change) = spec.change {
        if change.kind == Kind::SlowHost && around.hosts.len() < 2 {
            around.hosts = vec![1.0; random.random_range(2..=3)];
        }
        apply(change, &mut after, random);
    }
    let slow_host = around.hosts.len() - 1;
    let decoy_at = spec.change.filter(|change| change.decoy).map(|_| {
        let moment = starts.get(changed_at).copied().unwrap_or(i64::MAX);
        moment - (random.random_range(0.5..3.0) * 86_400e9) as i64
    });
    let decoy_at = if spec.noise == Noise::Decoy {
        Some(START_UNIX_NS + (random.random_range(3.0..14.0) * 86_400e9) as i64)
    } else {
        decoy_at
    };
    let decoy = random.random_range(0..3);
    let plans =
        [[model.plan(), with_decoy(&model, decoy).plan()], [after.plan(), with_decoy(&after, decoy).plan()]];
    // Of a source of its own: the times are those of the plain history.
    let lacks: [bool; 4] = std::array::from_fn(|at| {
        spec.noise == Noise::Bare
            && (at == 0 || Random::seed_from_u64(spec.seed ^ (at as u64) << 56).random_bool(0.5))
    });
    let mut history = History { spec, runs: Vec::new(), changed_at, slow: Vec::new(), burst: Vec::new() };
    for (place, &start) in starts.iter().enumerate() {
        let moment = around.next(start, random);
        let changed = place >= changed_at
            && spec.change.is_none_or(|change| change.kind != Kind::SlowHost || moment.host == slow_host);
        let now = spec.change.filter(|_| changed);
        let model = if now.is_some() { &after } else { &model };
        let plan = &plans[usize::from(now.is_some())][usize::from(decoy_at.is_some_and(|at| start >= at))];
        let ideal = model.ideal(moment.rows);
        let mut speed = moment.speed;
        if let Some(Change { kind: Kind::SlowHost, factor, .. }) = now {
            speed *= factor;
        }
        let node_noise = around.deviation * 0.5;
        let busy: Vec<f64> = ideal
            .busy
            .iter()
            .map(|busy| busy * speed.powf(0.9) * (node_noise * normal(random)).exp())
            .collect();
        let even: Vec<f64> = busy.iter().map(|_| 1.0 + 0.1 * random.random_range(0.0..1.0)).collect();
        let wait_noise = moment.waits * (0.3 * normal(random)).exp() * speed.powf(0.5);
        let waits: Vec<f64> = ideal.waits.iter().map(|wait| wait * wait_noise).collect();
        let worked = busy.iter().sum::<f64>() / ideal.busy.iter().sum::<f64>().max(1.0);
        let planning = model.planning_ns
            * (0.15 * normal(random)).exp()
            * if now.is_some_and(|c| c.kind == Kind::SlowHost) { speed } else { 1.0 };
        let wall = planning
            + (ideal.work_wall * worked + ideal.wait_wall * wait_noise + model.uncounted_ns)
                * (speed.powf(0.1) * (0.3 * around.deviation * normal(random)).exp());
        let mut bytes = [0; 10];
        random.fill(&mut bytes);
        let id = Builder::from_unix_timestamp_millis((start / 1_000_000) as u64, &bytes).into_uuid();
        let mut run = RunFeatures::new(QueryId::new(id), start, wall as u64);
        run.planning_ns = Some(planning as u64);
        let total: f64 = busy.iter().sum();
        let cpu = if model.cpu_is_busy {
            total
        } else {
            total * 0.96 / model.starved * (0.01 * normal(random)).exp()
        };
        run.cpu_ns = Some(cpu as u64);
        let waited = waits.iter().copied().fold(0.0, f64::max);
        run.waiting_ns = Some(waited as u64);
        run.threads_available = Some(model.threads.round() as u64);
        run.engine_version = Some(model.engine_version.into());
        run.host = Some(Arc::from(format!("worker-{}", moment.host + 1)));
        run.environment = Some("prod".into());
        run.plan = Arc::clone(plan);
        run.nodes = model.figures(&ideal, &busy, &waits, &even);
        run.sum_up();
        strip(&mut run, lacks);
        let failures = match now {
            Some(Change { kind: Kind::Failures, factor, .. }) => (factor / 3.0).min(1.0),
            _ => around.failures,
        };
        if random.random_bool(failures) {
            run.status = Status::Failed;
            run.wall_ns = (run.wall_ns as f64 * random.random_range(0.05..1.0)) as u64;
        } else if random.random_bool(around.cancelled) {
            run.status = Status::Cancelled;
        }
        history.runs.push(run);
        history.slow.push(now.is_some());
        history.burst.push(moment.burst);
    }
    history
}

/// Takes out of a profile what an engine may not say: nodes, with the rows; host; CPU time; versions.
fn strip(run: &mut RunFeatures, [nodes, host, cpu, versions]: [bool; 4]) {
    if nodes {
        run.nodes = Box::default();
        run.rows_read = None;
        run.waiting_ns = None;
        run.spilled_bytes = None;
        run.plan = Arc::default();
    }
    run.host = run.host.take().filter(|_| !host);
    run.cpu_ns = run.cpu_ns.filter(|_| !cpu);
    run.engine_version = run.engine_version.take().filter(|_| !versions);
}

fn moments(spec: Spec, runs_a_day: f64, random: &mut Random) -> (Vec<i64>, usize) {
    if spec.young {
        let before = random.random_range(8..40_usize);
        let gap = random.random_range(20e9..600e9);
        let first = START_UNIX_NS + (random.random_range(0.0..4.0) * 86_400e9) as i64;
        let starts = (0..before + 40).map(|n| first + (n as f64 * gap) as i64).collect();
        return (starts, if spec.change.is_some() { before } else { before + 40 });
    }
    let days = random.random_range(13.0..17.0);
    let after =
        if spec.change.is_some() { random.random_range(1.0..5.0_f64).max(35.0 / runs_a_day) } else { 14.0 };
    let starts = starts(days + after, runs_a_day, random);
    if spec.change.is_none() {
        let count = starts.len();
        return (starts, count);
    }
    let at = START_UNIX_NS + (days * 86_400e9) as i64;
    let place = starts.partition_point(|&start| start < at);
    (starts, place)
}

/// A harmless difference of the plan.
fn with_decoy(model: &Model, decoy: usize) -> Model {
    let mut model = model.clone();
    match decoy {
        0 => {
            let scan = model.nodes.iter_mut().find(|node| node.role == Role::Scan);
            if let Some(scan) = scan {
                scan.columns += 1;
            }
        }
        1 => {
            let at = model.nodes.iter().position(|node| node.role == Role::Aggregation);
            if let Some(at) = at {
                model.nodes[at].salt = 7;
            }
        }
        _ => {
            let top = model.nodes.len() - 1;
            model.nodes.push(Node { price: 0.01, ..Node::of("Coalesce", Role::Engine, &[top]) });
        }
    }
    model
}

/// Makes a query one to which the change can happen.
fn fit_for(kind: Kind, model: &mut Model, random: &mut Random) {
    match kind {
        Kind::OtherJoin => {
            while !model.nodes.iter().any(|node| node.role == Role::Join) {
                *model = Model::random(random);
            }
        }
        Kind::FewerThreads => model.threads = model.threads.max(8.0),
        Kind::Skew => {
            while model.engine != Engine::DataFusion {
                *model = Model::random(random);
            }
        }
        Kind::LostPredicate => {
            let scan = dearest(model, Role::Scan);
            model.nodes[scan].predicate = Some(random.random_range(0.02..0.2));
        }
        _ => {}
    }
}

/// The node of a role that works most.
fn dearest(model: &Model, role: Role) -> usize {
    let ideal = model.ideal(1.0);
    let of_role = (0..model.nodes.len()).filter(|&here| model.nodes[here].role == role);
    of_role.max_by(|&a, &b| ideal.busy[a].total_cmp(&ideal.busy[b])).unwrap_or(0)
}

/// Applies a change with the strength that makes the run slower by its factor.
fn apply(change: Change, model: &mut Model, random: &mut Random) {
    let before = model.ideal(1.0).wall(model);
    let base = model.clone();
    let choice: u32 = random.random_range(0..1000);
    let (mut low, mut high): (f64, f64) = (0.0, 1e6);
    // The strength that is needed lies between; each step halves the logarithm of what is left.
    for _ in 0..80 {
        let middle =
            if low == 0.0 { if high > 1.0 { high.sqrt() } else { high / 2.0 } } else { (low * high).sqrt() };
        let middle = if (middle - high).abs() < 1e-9 { f64::midpoint(low, high) } else { middle };
        let mut changed = base.clone();
        strengthen(change.kind, middle, choice, &base, &mut changed);
        let wall = changed.ideal(1.0).wall(&changed);
        let enough = if change.kind == Kind::Faster {
            wall <= before / change.factor
        } else {
            wall >= before * change.factor
        };
        if enough {
            high = middle
        } else {
            low = middle
        }
        *model = changed;
    }
    let mut changed = base.clone();
    strengthen(change.kind, high, choice, &base, &mut changed);
    *model = changed;
}

fn strengthen(kind: Kind, strength: f64, choice: u32, base: &Model, model: &mut Model) {
    let more = 1.0 + strength;
    match kind {
        Kind::MoreRows => {
            let scan = dearest(base, Role::Scan);
            model.nodes[scan].table_rows *= more;
        }
        Kind::LostPredicate => {
            // The filter comes back as a node of its own above the scan.
            let scan = dearest(base, Role::Scan);
            let passes = model.nodes[scan].predicate.take().unwrap_or(0.1);
            let price = base.nodes[scan].price * strength;
            model.nodes[scan].price *= 1.0 + 0.3 * strength;
            model
                .nodes
                .insert(scan + 1, Node { passes, price, ..Node::of("Filter", Role::Selection, &[scan]) });
            for place in scan + 2..model.nodes.len() {
                for input in &mut model.nodes[place].inputs {
                    *input += usize::from(*input >= scan);
                }
            }
        }
        Kind::OtherJoin => {
            let join = dearest(base, Role::Join);
            model.nodes[join].price *= more;
            if choice.is_multiple_of(2) {
                model.nodes[join].inputs.reverse();
            } else {
                model.nodes[join].kind = "SortMergeJoinExec";
                let input = model.nodes[join].inputs[0];
                let price = base.nodes[join].price * strength * 0.5;
                model.nodes.insert(join, Node { price, ..Node::of("SortExec", Role::Sort, &[input]) });
                for place in join + 1..model.nodes.len() {
                    for at in &mut model.nodes[place].inputs {
                        *at += usize::from(*at >= join);
                    }
                }
                model.nodes[join + 1].inputs[0] = join;
            }
        }
        Kind::FewerThreads => {
            // Beyond one thread nothing gets slower: the rest is worse use of it.
            let threads = (base.threads / more).round().max(1.0);
            model.threads = threads;
            model.efficiency = (base.threads * base.efficiency / more / threads).clamp(1e-3, 1.0);
            if threads <= 1.0 {
                model.starved = (more / base.threads / base.efficiency).max(1.0);
            }
        }
        Kind::Quota => {
            model.starved = more;
            model.cpu_is_busy = base.cpu_is_busy && choice.is_multiple_of(2);
        }
        Kind::SlowDisk => model.wait_a_byte *= more,
        Kind::Skew => {
            let node = model.nodes.iter().position(|node| node.kind == "RepartitionExec").unwrap_or(0);
            model.nodes[node].imbalance = (base.threads * 0.9).max(1.9);
            model.skew_wait = strength * 1e6;
        }
        Kind::Spill => {
            let node = dearest(base, Role::Aggregation);
            model.nodes[node].price *= more;
            model.nodes[node].spilled_a_row = 16.0;
        }
        Kind::EngineVersion => {
            model.engine_version =
                if base.engine == Engine::Polars { "polars 2.2.0" } else { "datafusion 55.2.0" };
            let roles = [Role::Aggregation, Role::Scan, Role::Join];
            let role = roles[choice as usize % 3];
            let node = dearest(base, role);
            model.nodes[node].price *= more;
        }
        Kind::SlowHost | Kind::Failures => {}
        Kind::Faster => {
            model.planning_ns /= more;
            if choice.is_multiple_of(3) {
                model.nodes.iter_mut().for_each(|node| node.table_rows /= more);
                return;
            }
            model.wait_a_byte /= more;
            model.nodes.iter_mut().for_each(|node| node.price /= more);
            if choice % 3 == 2 {
                model.nodes[0].salt = 5;
            }
        }
        Kind::UserCode => {
            let last = model.nodes.len() - 2;
            model.nodes[last].user_code = true;
            if base.engine == Engine::Polars {
                model.uncounted_ns = strength * 1e6;
            } else {
                model.nodes[last].price += strength * 100.0;
            }
        }
        Kind::Planning => model.planning_ns *= more,
    }
}
