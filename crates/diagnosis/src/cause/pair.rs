//! What the difference of two runs is made of: the same account as that of many runs, with one on each side.

use std::sync::Arc;

use super::account::{Part, account};
use super::dimension::carries;
use super::median_plan::Medians;
use crate::change::{Cause, CauseKind, Dimension, Figure, NodeRef};
use crate::features::{RunFeatures, Status};
use crate::plan::Matching;

/// Longest time that is told apart, a year: sums of a few stay within an `i64`.
const NS_MAX: i64 = 365 * 86_400 * 1_000_000_000;
/// Smaller parts of the longer wall time are not told apart: figures of nodes are rounded by as much.
const TOLD_PART: i64 = 500;

/// What a difference in wall time is made of, in whole nanoseconds: the parts sum to it exactly.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Account {
    /// Wall time of the base.
    pub base_wall_ns: i64,
    /// Wall time of the run.
    pub run_wall_ns: i64,
    /// The run's minus the base's.
    pub difference_ns: i64,
    /// Its parts: those that go the way of the difference first, the largest of each way first.
    pub parts: Vec<AccountPart>,
}

/// A part of a difference.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AccountPart {
    /// What it is put down to.
    pub cause: CauseKind,
    /// How much, in nanoseconds; negative where it made the run faster. What happened at a node because of another
    /// host or version has 0: its time is counted at that dimension.
    pub ns: i64,
    /// Where it is.
    pub node: Option<NodeRef>,
    /// The dimension it is.
    pub dimension: Option<Dimension>,
    /// The figures it rests on.
    pub evidence: Vec<Figure>,
    /// It in words; empty for what is not explained.
    pub sentence: String,
}

impl Account {
    /// Accounts for the difference of two runs. `causes` are those of the change that lies between them, if any: what
    /// it puts down to a host or a version, the account does as well where the two runs differ in that.
    pub fn of(base: &RunFeatures, run: &RunFeatures, causes: &[Cause]) -> Self {
        let sides = [base, run].map(|run| Medians::of(Arc::clone(&run.plan), &[run]));
        let matching = Matching::new(&base.plan, &run.plan);
        let [base_wall_ns, run_wall_ns] = [base, run].map(|run| bounded(run.wall_ns as f64));
        let difference_ns = run_wall_ns - base_wall_ns;
        let same_way = |cause: &&Cause| cause.wall_ms * difference_ns as f64 > 0.0;
        let lies_between = |cause: &&Cause| {
            cause.dimension.as_ref().is_some_and(|dimension| differ_in(dimension, base, run))
        };
        let dimensions: Vec<&Cause> = causes.iter().filter(lies_between).filter(same_way).collect();
        // Of all runs that moved to a host, the dimension says where they ran before.
        let is_alone = |dimension: &Dimension| dimension.name == "host" && dimension.before.is_none();
        let one_host = dimensions.iter().any(|cause| cause.dimension.as_ref().is_some_and(is_alone));
        // A run that did not finish did a part of the work: what it lacks of another is no cause.
        let are_whole = [base, run].iter().all(|run| run.status == Status::Finished);
        let told = if are_whole { account(&sides[0], &sides[1], &matching, one_host) } else { Vec::new() };
        let mut parts: Vec<AccountPart> = told.into_iter().map(AccountPart::from).collect();
        carry(&mut parts, &dimensions, difference_ns);
        settle(&mut parts, difference_ns, base_wall_ns.max(run_wall_ns) / TOLD_PART);
        Self { base_wall_ns, run_wall_ns, difference_ns, parts }
    }
}

impl From<Part> for AccountPart {
    fn from(part: Part) -> Self {
        let Part { cause, wall_ns, node, evidence, sentence } = part;
        Self { cause, ns: bounded(wall_ns), node, dimension: None, evidence, sentence }
    }
}

/// Whether a run has what came with a dimension, and the base something else. A host that changed alone is the same
/// before: there the host of the run decides.
fn differ_in(dimension: &Dimension, base: &RunFeatures, run: &RunFeatures) -> bool {
    let of = |run: &RunFeatures| match dimension.name.as_str() {
        "host" => run.host.clone(),
        "engine_version" => run.engine_version.clone(),
        "program_version" => run.program_version.clone(),
        _ => None,
    };
    let has = |value: Option<Arc<str>>| value.as_deref() == dimension.after.as_deref();
    dimension.after.is_some() && has(of(run)) && (dimension.before.is_none() || !has(of(base)))
}

fn bounded(ns: f64) -> i64 {
    if ns.is_nan() { 0 } else { (ns.round() as i64).clamp(-NS_MAX, NS_MAX) }
}

/// Gives the parts that a host or versions can have made to them, in equal shares.
fn carry(parts: &mut Vec<AccountPart>, dimensions: &[&Cause], difference_ns: i64) {
    let made = |part: &AccountPart| {
        part.ns.signum() == difference_ns.signum()
            && dimensions.iter().any(|dimension| carries(dimension.cause, part.cause, &part.evidence))
    };
    let sum: i64 = parts.iter().filter(|part| made(part)).map(|part| part.ns).sum();
    let count = dimensions.len() as i64;
    if sum == 0 || count == 0 {
        return;
    }
    parts.retain(|part| !(made(part) && part.cause == CauseKind::Unexplained));
    for part in parts.iter_mut() {
        if made(part) {
            part.ns = 0;
        }
    }
    parts.extend(dimensions.iter().enumerate().map(|(at, dimension)| AccountPart {
        cause: dimension.cause,
        ns: if at == 0 { sum - sum / count * (count - 1) } else { sum / count },
        node: dimension.node.clone(),
        dimension: dimension.dimension.clone(),
        evidence: dimension.evidence.clone(),
        sentence: dimension.sentence.clone(),
    }));
}

/// Makes the parts sum to the difference, and puts those of its way first, the largest first. Those of less than
/// `least_ns` join the largest.
fn settle(parts: &mut Vec<AccountPart>, difference_ns: i64, least_ns: i64) {
    parts.retain(|part| part.ns.abs() > least_ns || part.ns == 0 && !part.sentence.is_empty());
    let rest = difference_ns - parts.iter().map(|part| part.ns).sum::<i64>();
    let largest = parts.iter_mut().max_by_key(|part| part.ns.abs());
    match largest.filter(|largest| largest.ns != 0) {
        Some(largest) if rest.abs() <= largest.ns.abs() / 4 => largest.ns += rest,
        _ if rest == 0 => {}
        _ => parts.push(AccountPart {
            cause: CauseKind::Unexplained,
            ns: rest,
            node: None,
            dimension: None,
            evidence: Vec::new(),
            sentence: String::new(),
        }),
    }
    let way = difference_ns.signum();
    parts.sort_by_key(|part| (part.ns.signum() == -way, std::cmp::Reverse(part.ns.abs())));
}
