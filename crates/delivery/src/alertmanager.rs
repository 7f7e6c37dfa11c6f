//! Alertmanager, by `POST /api/v2/alerts`.
//!
//! An alert is one issue: its labels stay the same while the issue lives, so that Alertmanager knows it again. It holds
//! alerts in memory and ends those it does not hear of: open issues are sent anew every [`REFRESH_EVERY`]. Alertmanager
//! groups, silences and repeats by its own rules.

use std::collections::BTreeMap;
use std::time::Duration;

use queryscope_issues::{Issue, State};
use serde_json::{Value, json};

use crate::config::Config;
use crate::message::Message;
use crate::webhook::time;

/// How often open issues are sent anew.
pub const REFRESH_EVERY: Duration = Duration::from_mins(5);
/// An alert that is not sent anew ends so long after it was sent.
const LASTS: Duration = Duration::from_hours(1);

/// The labels of the alert of an issue; empty ones are left out, as Alertmanager does.
pub fn labels(config: &Config, issue: &Issue) -> BTreeMap<&'static str, String> {
    let kind: String = issue
        .kind
        .name()
        .split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect::<Vec<_>>()
        .concat();
    let owner = config.owner_of(issue).unwrap_or_default();
    let all = [
        ("alertname", format!("Query{kind}")),
        ("issue", issue.id.clone()),
        ("kind", issue.kind.name().to_owned()),
        ("project", issue.project.clone()),
        ("service", issue.service.clone().unwrap_or_default()),
        ("query", issue.label.clone()),
        ("owner", owner.to_owned()),
        ("severity", "warning".to_owned()),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Whether the alert of an issue is to be active.
pub(crate) fn is_active(issue: &Issue) -> bool {
    matches!(issue.state, State::Open | State::Acknowledged | State::Regressed)
}

/// The alert of an issue as it is now. One that is not active has ended.
pub(crate) fn alert(
    config: &Config,
    issue: &Issue,
    summary: &str,
    account: &[String],
    unix_ns: i64,
) -> Value {
    let ends_unix_ns = if is_active(issue) {
        unix_ns.saturating_add(i64::try_from(LASTS.as_nanos()).unwrap_or(i64::MAX))
    } else {
        issue.moved_unix_ns.min(unix_ns)
    };
    let mut annotations =
        BTreeMap::from([("summary", summary.to_owned()), ("state", issue.state.name().to_owned())]);
    let named = [
        ("description", (!account.is_empty()).then(|| account.join("\n"))),
        ("environment", issue.environment.clone()),
        ("host", issue.host.clone()),
        ("detail", issue.detail.clone()),
    ];
    annotations.extend(named.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let mut alert = json!({
        "labels": labels(config, issue),
        "annotations": annotations,
        "startsAt": time(issue.opened_unix_ns.min(ends_unix_ns)),
        "endsAt": time(ends_unix_ns),
    });
    if let Some(link) = config.issue_link(&issue.id) {
        alert["generatorURL"] = link.into();
    }
    alert
}

/// An alert that tests a route; it ends soon.
pub(crate) fn test(message: &Message, unix_ns: i64) -> Value {
    json!({
        "labels": {"alertname": "QueryscopeTest", "route": message.route, "severity": "info"},
        "annotations": {"summary": message.sentence},
        "startsAt": time(unix_ns),
        "endsAt": time(unix_ns.saturating_add(60_000_000_000)),
    })
}
