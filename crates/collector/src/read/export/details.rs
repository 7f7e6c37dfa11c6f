//! The tables of nodes and findings: read from the recordings of runs that do not run.

use queryscope_insights::{OutlineNode, findings, outline};
use queryscope_protocol::{Finding, Profile};
use queryscope_store::Query;

use super::table::{Cell, Column, Kind, Row, column};

/// What each row says of its run.
const RUN: [Column; 5] = [
    column("query_id", Kind::Text),
    column("project", Kind::Text),
    column("service", Kind::Text),
    column("label", Kind::Text),
    column("started_at", Kind::Time),
];

pub(super) const NODES: [Column; 24] = [
    RUN[0],
    RUN[1],
    RUN[2],
    RUN[3],
    RUN[4],
    column("physical_plan", Kind::Text),
    column("node_id", Kind::Int),
    column("parent_id", Kind::Int),
    column("position", Kind::Int),
    column("kind", Kind::Text),
    column("role", Kind::Text),
    column("table", Kind::Text),
    column("predicate", Kind::Text),
    column("how", Kind::Text),
    column("user_code", Kind::Text),
    column("busy_ms", Kind::Float),
    column("waiting_ms", Kind::Float),
    column("rows_in", Kind::Int),
    column("rows_out", Kind::Int),
    column("rows_scanned", Kind::Int),
    column("bytes_read", Kind::Int),
    column("spilled_bytes", Kind::Int),
    column("partitions", Kind::Int),
    column("imbalance", Kind::Float),
];

pub(super) const FINDINGS: [Column; 14] = [
    RUN[0],
    RUN[1],
    RUN[2],
    RUN[3],
    RUN[4],
    column("is_of_sender", Kind::Bool),
    column("rule", Kind::Text),
    column("kind", Kind::Text),
    column("level", Kind::Text),
    column("node_id", Kind::Int),
    column("cpu_share", Kind::Float),
    column("blocked_share", Kind::Float),
    column("title", Kind::Text),
    column("fix", Kind::Text),
];

fn run(query: &Query) -> Row {
    vec![
        query.query_id.to_string().into(),
        query.project.clone().into(),
        query.service.clone().into(),
        query.label.clone().into(),
        Cell::Time(query.started_unix_ns),
    ]
}

/// The nodes of the physical plan of a run, each after its inputs.
pub(super) fn nodes(query: &Query, profile: &Profile<'_>) -> Vec<Row> {
    let outline = outline(profile);
    let mut parents = vec![None; outline.nodes.len()];
    for node in &outline.nodes {
        for input in &node.inputs {
            parents[*input] = Some(node.id);
        }
    }
    let fingerprint = outline.fingerprint.to_string();
    let row = |(position, (node, parent)): (usize, (&OutlineNode, Option<u64>))| {
        let counters = &node.counters;
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
        let mut row = run(query);
        let cells: [Cell; NODES.len() - RUN.len()] = [
            fingerprint.clone().into(),
            node.id.into(),
            parent.into(),
            (position as u64).into(),
            node.kind.clone().into(),
            node.role.as_str().to_owned().into(),
            node.table.clone().into(),
            node.predicate.clone().into(),
            node.how.clone().into(),
            node.user_code.clone().into(),
            ms(counters.busy_ns).into(),
            ms(counters.waiting_ns).into(),
            counters.rows_in.into(),
            counters.rows_out.into(),
            counters.rows_scanned.into(),
            counters.bytes_read.into(),
            counters.spilled_bytes.into(),
            counters.partitions.into(),
            counters.imbalance_permille.map(|permille| permille as f64 / 1e3).into(),
        ];
        row.extend(cells);
        row
    };
    outline.nodes.iter().zip(parents).enumerate().map(row).collect()
}

/// The findings of a run: those its sender sent, else those of the rules of this service.
pub(super) fn found(query: &Query, profile: &Profile<'_>) -> Vec<Row> {
    let row = |finding: &Finding<'_>, is_of_sender: bool| {
        let mut row = run(query);
        let cells: [Cell; FINDINGS.len() - RUN.len()] = [
            is_of_sender.into(),
            finding.rule.to_string().into(),
            finding.kind.to_string().into(),
            finding.level.to_string().into(),
            finding.node_id.into(),
            finding.cpu_share.into(),
            finding.blocked_share.into(),
            finding.title.to_string().into(),
            finding.fix.as_ref().map(ToString::to_string).into(),
        ];
        row.extend(cells);
        row
    };
    match profile.findings() {
        [] => findings(profile).findings.iter().map(|finding| row(finding, false)).collect(),
        sent => sent.iter().map(|finding| row(finding, true)).collect(),
    }
}
