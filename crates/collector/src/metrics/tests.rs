use std::collections::BTreeSet;

use queryscope_store::{DeliveryState, RouteRecord};

use super::*;

const PAGE: &str = include_str!("../../../../docs/reference/metrics.md");

/// The figures by name, as a scraper sees them, and their types.
fn served() -> BTreeSet<(String, String)> {
    let delivery = DeliveryMetrics::default();
    let ended = EndedCounts::default();
    let metrics = Metrics::new(CommitMetrics::default(), &Gauges::default(), &delivery, &ended);
    // A family appears with its first member.
    delivery.noted("all", DeliveryState::Sent);
    delivery.set_waiting(&[RouteRecord::default()]);
    metrics.answered("/v1/health", StatusCode::OK, queryscope_store::now());
    metrics.refused(&ApiError::invalid("no batch"));
    metrics.recordings_failed("read");
    let moment = Moment { issues: Some(Vec::new()), ..Moment::default() };
    let text = metrics.text(&moment).expect("text");
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .map(|(name, kind)| {
            (if kind == "counter" { format!("{name}_total") } else { name.into() }, kind.into())
        })
        .collect()
}

/// The figures of the page: rows that begin with a name in code.
fn documented() -> BTreeSet<(String, String)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `queryscope_"));
    let cells = rows.filter_map(|row| {
        let (name, rest) = row.split_once("` | ")?;
        let name = name.split_once('{').map_or(name, |(name, _)| name);
        Some((format!("queryscope_{name}"), rest.split_once(" | ")?.0.to_owned()))
    });
    cells.filter(|(_, kind)| ["counter", "gauge", "histogram"].contains(&kind.as_str())).collect()
}

#[test]
fn the_page_of_metrics_names_every_figure_with_its_type() {
    assert_eq!(documented(), served());
}
