//! Which requests of the read API are measured.

/// A request to measure. `{field}` stands for that field of a stored query picked at random, `{other.field}` for
/// that of another one; `{since}` and `{until}` for half an hour before and after its start, `{week}` for a week
/// before it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// What it asks for.
    pub(crate) name: String,
    /// Its path and query.
    pub(crate) path: String,
    /// 95 of 100 are to be answered within this many milliseconds at 1,000,000 stored queries.
    pub(crate) goal_p95_ms: Option<f64>,
}

/// An endpoint that is measured under every combination of filters it takes.
struct Endpoint {
    name: &'static str,
    path: &'static str,
    goal_p95_ms: f64,
}

const LISTS: [Endpoint; 4] = [
    Endpoint { name: "list", path: "/api/queries?", goal_p95_ms: 10.0 },
    Endpoint { name: "facets", path: "/api/facets?", goal_p95_ms: 50.0 },
    Endpoint { name: "groups", path: "/api/groups?", goal_p95_ms: 50.0 },
    Endpoint { name: "groups by plan", path: "/api/groups?by=fingerprint&", goal_p95_ms: 50.0 },
];

/// Ten combinations of the common filters.
const FILTERS: [(&str, &str); 10] = [
    ("all", ""),
    ("by label", "label={label}"),
    ("by fingerprint", "fingerprint={fingerprint}"),
    ("by service", "service={service}"),
    ("by environment", "environment={environment}"),
    ("by host", "host={host}"),
    ("that failed", "status=failed"),
    ("of a week", "since={week}&until={until}"),
    ("by service, environment and status", "service={service}&environment={environment}&status=failed"),
    ("by label, host and time", "label={label}&host={host}&since={since}&until={until}"),
];

const OVERVIEWS: [Endpoint; 2] = [
    Endpoint { name: "overview of 14 days", path: "/api/overview?", goal_p95_ms: 50.0 },
    Endpoint { name: "overview of 90 days", path: "/api/overview?days=90&", goal_p95_ms: 200.0 },
];

/// The filters an overview takes.
const OVERVIEW_FILTERS: [(&str, &str); 5] = [
    ("all", ""),
    ("by service", "service={service}"),
    ("by environment", "environment={environment}"),
    ("by host", "host={host}"),
    ("by label", "label={label}"),
];

const CHANGES: Endpoint = Endpoint { name: "changes", path: "/api/changes?", goal_p95_ms: 10.0 };

/// Filters of changes.
const CHANGES_FILTERS: [(&str, &str); 9] = [
    ("all", ""),
    ("that are open", "state=open&limit=500"),
    ("that recovered", "state=recovered"),
    ("of the kind slower", "kind=slower"),
    ("by label", "label={label}"),
    ("by service", "service={service}"),
    ("by environment", "environment={environment}"),
    ("by host", "host={host}"),
    ("of a week", "since={week}&until={until}"),
];

/// Requests beside those, with their goals.
const OTHERS: [(&str, &str, Option<f64>); 28] = [
    ("one query", "/api/queries/{query_id}", Some(10.0)),
    ("list, oldest first", "/api/queries?order=oldest", Some(10.0)),
    ("list that finished", "/api/queries?status=finished", Some(10.0)),
    ("list that runs", "/api/queries?status=running", Some(10.0)),
    ("list that is unfinished", "/api/queries?status=unfinished", Some(10.0)),
    ("list by label and status", "/api/queries?label={label}&status=failed", Some(10.0)),
    ("list by label and a host of others", "/api/queries?label={label}&host={other.host}", Some(10.0)),
    (
        "list by service and an environment of others",
        "/api/queries?service={service}&environment={other.environment}",
        Some(10.0),
    ),
    ("list by plan, without label", "/api/queries?label=&fingerprint={fingerprint}", Some(10.0)),
    (
        "list that finished without environment",
        "/api/queries?service={service}&environment=&status=finished",
        Some(10.0),
    ),
    ("one change", "/api/changes/{change}", Some(10.0)),
    ("versions of a label", "/api/versions?label={label}", Some(50.0)),
    ("versions of a label and week", "/api/versions?label={label}&since={week}", Some(50.0)),
    ("list by wall time", "/api/queries?sort=wall", Some(20.0)),
    ("list by wall time, smallest first", "/api/queries?sort=wall&order=asc", Some(20.0)),
    ("list of a label by wall time", "/api/queries?sort=wall&label={label}", Some(20.0)),
    ("list over a wall time", "/api/queries?filter=wall%3E10s", Some(20.0)),
    (
        "list over a wall time, by it, of labels",
        "/api/queries?sort=wall&filter=wall%3E1s+label:*a*",
        Some(20.0),
    ),
    ("list of a label by CPU time", "/api/queries?sort=cpu&label={label}", None),
    ("list by CPU time", "/api/queries?sort=cpu", None),
    ("list by rows, that failed", "/api/queries?sort=rows&status=failed", None),
    ("list searched for a label", "/api/queries?q={label}", None),
    ("list searched for an id", "/api/queries?q={query_id}", None),
    ("list of 1,000", "/api/queries?limit=1000", None),
    ("recording", "/api/queries/{query_id}/recording", None),
    ("insights", "/api/queries/{query_id}/insights", None),
    ("progress, by the usual runs", "/api/queries/{query_id}/progress", None),
    ("comparison of two recordings", "/api/compare?run={query_id}&base={query_id}", None),
];

/// All that is measured.
pub(crate) fn all() -> Vec<Request> {
    let product = |endpoints: &[Endpoint], filters: &[(&str, &str)]| -> Vec<Request> {
        let of = |endpoint: &Endpoint| {
            let (name, path, goal_p95_ms) = (endpoint.name, endpoint.path, Some(endpoint.goal_p95_ms));
            let requests = filters.iter().map(move |(kept, filter)| Request {
                name: format!("{name} {kept}"),
                path: format!("{path}{filter}"),
                goal_p95_ms,
            });
            requests.collect::<Vec<_>>()
        };
        endpoints.iter().flat_map(of).collect()
    };
    let mut all = product(&LISTS, &FILTERS);
    all.extend(product(&OVERVIEWS, &OVERVIEW_FILTERS));
    all.extend(product(&[CHANGES], &CHANGES_FILTERS));
    all.extend(OTHERS.map(|(name, path, goal_p95_ms)| Request {
        name: name.into(),
        path: path.into(),
        goal_p95_ms,
    }));
    all
}
