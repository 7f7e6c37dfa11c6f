//! All running runs at one moment.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use queryscope_store::QueryFilter;
use serde::Serialize;
use utoipa::ToSchema;

use super::filter::{Tags, matches};
use super::journal::Place;
use super::message;
use super::progress::Pulse;
use crate::read::QuerySummary;

/// The running queries and how far they are.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LiveSnapshot)]
pub(crate) struct Snapshot {
    /// The running queries, that started last first.
    running: Vec<QuerySummary>,
    /// How far those of them are that have sent a sample.
    pulses: Vec<Pulse>,
}

/// One running query, as JSON.
#[derive(Debug)]
pub(super) struct ShownQuery {
    pub(super) tags: Arc<Tags>,
    pub(super) summary: Arc<str>,
    pub(super) pulse: Option<String>,
}

/// A snapshot, ready to be sent to any reader.
#[derive(Debug)]
pub(super) struct Shown {
    place: Place,
    queries: Vec<ShownQuery>,
    /// Its message for readers without a filter.
    all: OnceLock<Bytes>,
}

impl Shown {
    pub(super) fn new(place: Place, queries: Vec<ShownQuery>) -> Self {
        Self { place, queries, all: OnceLock::new() }
    }

    /// The message `snapshot` with the queries a filter keeps.
    pub(super) fn text(&self, filter: Option<&QueryFilter>) -> Bytes {
        match filter {
            None => self.all.get_or_init(|| self.write(None)).clone(),
            filter => self.write(filter),
        }
    }

    fn write(&self, filter: Option<&QueryFilter>) -> Bytes {
        let kept =
            || self.queries.iter().filter(|query| filter.is_none_or(|filter| matches(filter, &query.tags)));
        let running = kept().map(|query| &*query.summary).collect::<Vec<_>>().join(",");
        let pulses = kept().filter_map(|query| query.pulse.as_deref()).collect::<Vec<_>>().join(",");
        let mut text = String::new();
        let data = format!(r#"{{"running":[{running}],"pulses":[{pulses}]}}"#);
        message::write(&mut text, self.place, "snapshot", &data);
        text.into()
    }
}
