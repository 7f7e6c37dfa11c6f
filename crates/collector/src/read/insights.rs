//! `GET /api/queries/{id}/insights`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_insights::{findings, physical_fingerprint, rules_checked};
use queryscope_protocol as protocol;
use queryscope_protocol::EvidenceValue;
use queryscope_store::Status;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::asked::Asked;
use super::params::ProjectFilter;
use super::query::{QueryPath, find};
use super::stored::Stored;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// What was found in a query's plan and counters.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Insights {
    /// Id of the query.
    query_id: String,
    /// State of the query.
    status: Status,
    /// Fingerprint of the physical plan. Another join algorithm or build side has another one, where the logical plan,
    /// and so the run's `fingerprint`, is the same.
    physical_fingerprint: String,
    /// What made the findings.
    source: Source,
    /// The time since the query's start that was looked at, in milliseconds.
    elapsed_ms: f64,
    /// How many rules this service applied; 0 for a plan of more than 10,000 nodes, null where the sender's findings
    /// are given.
    checked: Option<usize>,
    /// What was found, that about the most time first; in the sender's order where it found them.
    findings: Vec<Finding>,
}

/// What made the findings of an answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FindingsSource)]
enum Source {
    /// The sender, at the end of the query.
    Sender,
    /// This service, now.
    Service,
}

/// One thing that was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "rule": "exploding_join",
    "kind": "problem",
    "level": "warn",
    "node_id": 4_294_967_300_i64,
    "node_kind": "EquiJoin",
    "cpu_share": 0.977_739,
    "blocked_share": null,
    "title": "Join puts out 800x its larger input: 12.0 M rows",
    "fix": "if keys repeat by mistake, remove the duplicates of one input first or join on the full key",
    "evidence": [{"name": "rows_out", "value": 11_996_728, "unit": "rows"}]
}))]
struct Finding {
    /// Name of the rule that found it.
    rule: String,
    /// What sort of finding it is, such as `problem`.
    kind: String,
    /// How much it matters: `warn`, or another word of the sender's or `note`.
    level: String,
    /// The physical node it is about; null when it is about the whole query.
    node_id: Option<i64>,
    /// The engine's name for that node.
    node_kind: Option<String>,
    /// The share of the query's CPU time it is about, 0 to 1; null where unknown.
    cpu_share: Option<f64>,
    /// The share of the query's wall time it is about, 0 to 1; null where unknown.
    blocked_share: Option<f64>,
    /// The finding in one line.
    title: String,
    /// What to do about it.
    fix: Option<String>,
    /// The numbers and texts it rests on.
    evidence: Vec<Evidence>,
}

/// What a finding rests on.
#[derive(Debug, Serialize, ToSchema)]
struct Evidence {
    /// What it is; the advice saves at most `saves_wall_at_most` of the run, `saves_cpu_at_most` in its nodes.
    name: String,
    /// Its value; null where it is not known.
    #[schema(value_type = Option<NumberOrText>)]
    value: Option<Value>,
    /// Unit of the value.
    unit: Option<String>,
}

/// A number or a text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = EvidenceValue)]
#[expect(dead_code, reason = "names what a value is in the document")]
enum NumberOrText {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl From<&protocol::Finding<'_>> for Finding {
    fn from(finding: &protocol::Finding<'_>) -> Self {
        Self {
            rule: finding.rule.to_string(),
            kind: finding.kind.to_string(),
            level: finding.level.to_string(),
            node_id: finding.node_id,
            node_kind: finding.node_kind.as_ref().map(ToString::to_string),
            cpu_share: finding.cpu_share,
            blocked_share: finding.blocked_share,
            title: finding.title.to_string(),
            fix: finding.fix.as_ref().map(ToString::to_string),
            evidence: finding.evidence.iter().map(Into::into).collect(),
        }
    }
}

impl From<&protocol::Evidence<'_>> for Evidence {
    fn from(evidence: &protocol::Evidence<'_>) -> Self {
        let value = match &evidence.value {
            EvidenceValue::Number(number) => Some(Value::Number(number.clone())),
            EvidenceValue::Text(text) => Some(Value::String(text.to_string())),
            EvidenceValue::Null => None,
        };
        Self { name: evidence.name.to_string(), value, unit: evidence.unit.as_ref().map(ToString::to_string) }
    }
}

/// Says what is wrong with a query.
///
/// The findings its sender sent; where it sent none, or the query still runs, those of this service's rules over its
/// plan and latest counters.
#[utoipa::path(
    get,
    path = "/api/queries/{id}/insights",
    tag = "read",
    params(QueryPath, ProjectFilter),
    responses(
        (status = 200, description = "What was found", body = Insights),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such query, or its plan has not been sent", body = ErrorBody),
        (status = 410, description = "A query is known, and its recording is missing", body = ErrorBody),
        (status = 422, description = "The profile that was sent cannot be read", body = ErrorBody),
        (status = 503, description = "Reading failed, or a recording is damaged", body = ErrorBody),
    )
)]
pub(crate) async fn insights(
    State(app): State<Arc<App>>,
    path: QueryPath,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<Insights>, ApiError> {
    let query = find(&app, &path.id, &project).await?;
    let stored = Stored::read(&app, query).await?;
    let profile = stored.profile()?;
    let (source, checked, found) = if profile.findings().is_empty() {
        let found = findings(&profile).findings.iter().map(Into::into).collect();
        (Source::Service, Some(rules_checked(&profile)), found)
    } else {
        (Source::Sender, None, profile.findings().iter().map(Into::into).collect())
    };
    Ok(Json(Insights {
        query_id: stored.query.query_id.to_string(),
        status: stored.query.status,
        physical_fingerprint: physical_fingerprint(&profile.plan).to_string(),
        source,
        elapsed_ms: profile.wall_ms,
        checked,
        findings: found,
    }))
}
