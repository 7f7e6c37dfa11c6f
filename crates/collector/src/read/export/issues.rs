//! The table of issues.

use queryscope_issues::Issue;

use super::table::{Cell, Column, Kind, Row, column};

pub(super) const COLUMNS: [Column; 24] = [
    column("id", Kind::Text),
    column("project", Kind::Text),
    column("service", Kind::Text),
    column("label", Kind::Text),
    column("kind", Kind::Text),
    column("state", Kind::Text),
    column("opened_at", Kind::Time),
    column("moved_at", Kind::Time),
    column("transitions", Kind::Int),
    column("change", Kind::Text),
    column("run", Kind::Text),
    column("detail", Kind::Text),
    column("environment", Kind::Text),
    column("host", Kind::Text),
    column("wall_ms_a_day", Kind::Float),
    column("severity", Kind::Float),
    column("engine_version", Kind::Text),
    column("program_version", Kind::Text),
    column("owner", Kind::Text),
    column("since_at", Kind::Time),
    column("good_at", Kind::Time),
    column("findings", Kind::Text),
    column("calm_runs", Kind::Int),
    column("call_site", Kind::Text),
];

pub(super) fn row(issue: Issue) -> Row {
    vec![
        issue.id.into(),
        issue.project.into(),
        issue.service.into(),
        issue.label.into(),
        issue.kind.name().to_owned().into(),
        issue.state.name().to_owned().into(),
        Cell::Time(issue.opened_unix_ns),
        Cell::Time(issue.moved_unix_ns),
        issue.transitions.into(),
        issue.change.into(),
        issue.run.into(),
        issue.detail.into(),
        issue.environment.into(),
        issue.host.into(),
        issue.wall_ms_a_day.into(),
        issue.severity.into(),
        issue.engine_version.into(),
        issue.program_version.into(),
        issue.owner.into(),
        issue.since_unix_ns.map_or(Cell::Empty, Cell::Time),
        issue.good_unix_ns.map_or(Cell::Empty, Cell::Time),
        issue.findings.join(",").into(),
        issue.calm_runs.into(),
        issue.call_site.into(),
    ]
}
