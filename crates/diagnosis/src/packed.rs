//! The features of a run as bytes.
//!
//! A version, a bit for each optional figure, then numbers as variable-length integers (LEB128, as Protocol
//! Buffers have them) and names with their length. Then each node: a byte that says which of eight figures
//! follow, two bytes a figure ([`Quantity`]). Rows taken are left out where they are the rows its inputs gave
//! on, as they are for most nodes. The plan is not in it but its fingerprint: a store keeps each plan of a
//! query once ([`Plan::pack`]).

use std::sync::Arc;

use queryscope_history::Quantity;
use queryscope_insights::Fingerprint;
use queryscope_protocol::{QueryId, Role};
use thiserror::Error;
use uuid::Uuid;

use crate::features::{NodeFeatures, RunFeatures, Status};
use crate::plan::{Plan, PlanNode};

/// Version of the encoding.
const VERSION: u8 = 1;
/// Nodes of a plan that is kept whole; what a larger one did is kept without its nodes.
pub const NODES_MAX: usize = 4_096;
/// Longest name that is read.
const NAME_MAX: usize = 65_536;

/// Why bytes are not features.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PackedError {
    /// They are of another version.
    #[error("features of version {0}, this is version {VERSION}")]
    Version(u8),
    /// They end too early.
    #[error("the features are cut off")]
    CutOff,
    /// A number, a name or a place is out of bounds.
    #[error("the features hold {0} that is not valid")]
    Invalid(&'static str),
    /// They end too late.
    #[error("{0} bytes follow the features")]
    Trailing(usize),
    /// The plan they belong to is another one.
    #[error("the features are of plan {0}")]
    Plan(Fingerprint),
}

const FIELDS: usize = 8;

fn figures(node: &mut NodeFeatures) -> [&mut Quantity; FIELDS] {
    [
        &mut node.busy_ns,
        &mut node.rows_out,
        &mut node.rows_scanned,
        &mut node.bytes_read,
        &mut node.waiting_ns,
        &mut node.spilled_bytes,
        &mut node.partitions,
        &mut node.imbalance_permille,
    ]
}

/// What a node takes where all its inputs' rows are known.
fn rows_given(plan: &Plan, nodes: &[NodeFeatures], place: usize) -> Quantity {
    let inputs = plan.nodes[place].inputs.iter();
    let mut given = inputs.map(|&input| nodes.get(input).and_then(|node| node.rows_out.get()));
    let sum = given.try_fold(0_u64, |sum, rows| Some(sum.saturating_add(rows?)));
    Quantity::from(sum)
}

impl RunFeatures {
    /// Packs the features. A run with more than [`NODES_MAX`] nodes is packed without them.
    pub fn pack(&self) -> Vec<u8> {
        let mut to = Writer(Vec::with_capacity(96 + 8 * self.nodes.len()));
        to.0.push(VERSION);
        to.0.extend(self.query_id.uuid().as_bytes());
        to.0.extend(self.started_unix_ns.to_be_bytes());
        to.0.push(self.status as u8);
        to.number(self.wall_ns);
        let optional = self.optional();
        let known = optional.iter().enumerate().filter(|(_, value)| value.is_some());
        to.number(known.fold(0, |bits, (at, _)| bits | 1 << at));
        optional.into_iter().flatten().for_each(|value| to.number(value));
        let names = self.names();
        let known = names.iter().enumerate().filter(|(_, name)| name.is_some());
        to.0.push(known.fold(0, |bits, (at, _)| bits | 1 << at));
        names.into_iter().flatten().for_each(|name| to.text(name));
        to.0.extend(self.plan.fingerprint.bytes());
        let nodes: &[NodeFeatures] = if self.nodes.len() > NODES_MAX { &[] } else { &self.nodes };
        to.number(nodes.len() as u64);
        for (place, node) in nodes.iter().enumerate() {
            let mut node = *node;
            let rows_in = node.rows_in;
            let figures = figures(&mut node);
            to.0.push(
                figures
                    .iter()
                    .enumerate()
                    .fold(0, |bits, (at, value)| bits | u8::from(value.get().is_some()) << at),
            );
            // The lowest bit of the next byte pair is not free, so the rows taken have a code of their own.
            let given = rows_given(&self.plan, nodes, place);
            figures
                .into_iter()
                .filter(|value| value.get().is_some())
                .for_each(|value| to.0.extend(value.code().to_be_bytes()));
            if rows_in == given {
                to.0.push(u8::MAX);
            } else {
                // A code is at most 0xd7ff: its first byte is never the one above.
                to.0.extend(rows_in.code().to_be_bytes());
            }
        }
        to.0
    }

    /// The fingerprint of the plan that packed features need.
    pub fn plan_of(packed: &[u8]) -> Result<Fingerprint, PackedError> {
        Self::head(&mut Reader(packed)).map(|(_, plan)| plan)
    }

    /// Reads packed features of a run of a plan.
    pub fn unpack(packed: &[u8], plan: &Arc<Plan>) -> Result<Self, PackedError> {
        let mut from = Reader(packed);
        let (mut run, fingerprint) = Self::head(&mut from)?;
        if fingerprint != plan.fingerprint {
            return Err(PackedError::Plan(fingerprint));
        }
        let count = from.number()?;
        if count != 0 && count != plan.nodes.len() as u64 {
            return Err(PackedError::Invalid("a number of nodes"));
        }
        let mut nodes: Vec<NodeFeatures> = Vec::with_capacity(count as usize);
        for place in 0..count as usize {
            let bits = from.byte()?;
            let mut node = NodeFeatures::default();
            for (at, value) in figures(&mut node).into_iter().enumerate() {
                if bits >> at & 1 == 1 {
                    *value = from.quantity()?;
                }
            }
            node.rows_in = if from.0.first() == Some(&u8::MAX) {
                from.byte()?;
                rows_given(plan, &nodes, place)
            } else {
                from.quantity()?
            };
            nodes.push(node);
        }
        if !from.0.is_empty() {
            return Err(PackedError::Trailing(from.0.len()));
        }
        run.plan = Arc::clone(plan);
        run.nodes = nodes.into();
        Ok(run)
    }

    fn head(from: &mut Reader<'_>) -> Result<(Self, Fingerprint), PackedError> {
        match from.byte()? {
            VERSION => {}
            other => return Err(PackedError::Version(other)),
        }
        let query_id = QueryId::new(Uuid::from_bytes(from.array()?));
        let started_unix_ns = i64::from_be_bytes(from.array()?);
        let status = match from.byte()? {
            0 => Status::Finished,
            1 => Status::Failed,
            2 => Status::Cancelled,
            _ => return Err(PackedError::Invalid("a status")),
        };
        let wall_ns = from.number()?;
        let mut run = Self { status, ..Self::new(query_id, started_unix_ns, wall_ns) };
        let bits = from.number()?;
        for (at, value) in run.optional_mut().into_iter().enumerate() {
            if bits >> at & 1 == 1 {
                *value = Some(from.number()?);
            }
        }
        let bits = from.byte()?;
        for (at, name) in run.names_mut().into_iter().enumerate() {
            if bits >> at & 1 == 1 {
                *name = Some(from.text()?.into());
            }
        }
        Ok((run, Fingerprint::from_bytes(from.array()?)))
    }

    fn optional(&self) -> [Option<u64>; 13] {
        let mut copy = Self { nodes: Box::default(), ..self.clone() };
        copy.optional_mut().map(|value| *value)
    }

    fn optional_mut(&mut self) -> [&mut Option<u64>; 13] {
        [
            &mut self.cpu_ns,
            &mut self.planning_ns,
            &mut self.waiting_ns,
            &mut self.uncounted_ns,
            &mut self.threads_used_permille,
            &mut self.threads_available,
            &mut self.rows_read,
            &mut self.rows_out,
            &mut self.bytes_read,
            &mut self.spilled_bytes,
            &mut self.peak_memory_bytes,
            &mut self.user_code_ns,
            &mut self.process_cpu_ns,
        ]
    }

    fn names(&self) -> [Option<&str>; 5] {
        [&self.engine_version, &self.program_version, &self.host, &self.environment, &self.logical]
            .map(|name| name.as_deref())
    }

    fn names_mut(&mut self) -> [&mut Option<Arc<str>>; 5] {
        [
            &mut self.engine_version,
            &mut self.program_version,
            &mut self.host,
            &mut self.environment,
            &mut self.logical,
        ]
    }
}

impl Plan {
    /// Packs the plan.
    pub fn pack(&self) -> Vec<u8> {
        let mut to = Writer(vec![VERSION]);
        to.0.extend(self.fingerprint.bytes());
        to.number(self.nodes.len() as u64);
        for node in &self.nodes {
            to.number(node.id);
            to.text(&node.kind);
            to.text(node.role.as_str());
            to.number(node.inputs.len() as u64);
            node.inputs.iter().for_each(|&input| to.number(input as u64));
            to.0.extend(node.own_shape.to_be_bytes());
            to.0.extend(node.shape.to_be_bytes());
            to.number(node.columns.map_or(0, |columns| u64::from(columns) + 1));
            for text in [&node.table, &node.predicate, &node.how, &node.user_code] {
                to.0.push(u8::from(text.is_some()));
                if let Some(text) = text {
                    to.text(text);
                }
            }
        }
        to.0
    }

    /// Reads a packed plan.
    pub fn unpack(packed: &[u8]) -> Result<Self, PackedError> {
        let mut from = Reader(packed);
        match from.byte()? {
            VERSION => {}
            other => return Err(PackedError::Version(other)),
        }
        let fingerprint = Fingerprint::from_bytes(from.array()?);
        let count = from.number()?;
        let mut nodes = Vec::new();
        for place in 0..count {
            let (id, kind, role) = (from.number()?, from.text()?.to_owned(), from.text()?);
            let role = Role::ALL.iter().copied().find(|each| each.as_str() == role).unwrap_or_default();
            let mut inputs = Vec::new();
            for _ in 0..from.number()? {
                let input = from.number()?;
                if input >= place {
                    return Err(PackedError::Invalid("an input"));
                }
                inputs.push(input as usize);
            }
            let (own_shape, shape) = (u64::from_be_bytes(from.array()?), u64::from_be_bytes(from.array()?));
            let columns = from.number()?.checked_sub(1).map(u32::try_from).transpose();
            let columns = columns.map_err(|_| PackedError::Invalid("a number of columns"))?;
            let mut text = || -> Result<Option<String>, PackedError> {
                Ok(if from.byte()? == 1 { Some(from.text()?.to_owned()) } else { None })
            };
            let (table, predicate, how, user_code) = (text()?, text()?, text()?, text()?);
            nodes.push(PlanNode {
                id,
                kind,
                role,
                inputs,
                own_shape,
                shape,
                table,
                predicate,
                columns,
                how,
                user_code,
            });
        }
        if from.0.is_empty() {
            Ok(Self { fingerprint, nodes: nodes.into() })
        } else {
            Err(PackedError::Trailing(from.0.len()))
        }
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], PackedError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(PackedError::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, PackedError> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PackedError> {
        self.take(N).map(|bytes| std::array::from_fn(|at| bytes[at]))
    }

    fn number(&mut self) -> Result<u64, PackedError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let digits = u64::from(byte & 0x7f);
            if shift == 63 && digits > 1 {
                break;
            }
            value |= digits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(PackedError::Invalid("a number"))
    }

    fn quantity(&mut self) -> Result<Quantity, PackedError> {
        self.array().map(|bytes| Quantity::from_code(u16::from_be_bytes(bytes)))
    }

    fn text(&mut self) -> Result<&'b str, PackedError> {
        let length = usize::try_from(self.number()?).ok().filter(|&length| length <= NAME_MAX);
        let bytes = self.take(length.ok_or(PackedError::Invalid("a length"))?)?;
        std::str::from_utf8(bytes).map_err(|_| PackedError::Invalid("a name"))
    }
}
