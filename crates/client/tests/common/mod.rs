//! What the tests of processes that end or fork share.

use std::sync::Arc;

use queryscope_client::protocol::Plan;
use queryscope_client::{Query, QuerySource, Readings, installed};

struct Nothing;

impl QuerySource for Nothing {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}
}

/// Runs a query without a plan on the installed telemetry.
pub(crate) fn run_query(label: &'static str) {
    let telemetry = installed().expect("installed");
    telemetry.begin(Query::new().label(label), Arc::new(Nothing)).finish();
}
