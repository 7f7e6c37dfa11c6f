//! What deliveries are counted into.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use queryscope_store::{DeliveryState, RouteRecord};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempts {
    route: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRoute {
    route: String,
}

/// Counters of messages of issues.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeliveryMetrics {
    attempts: Family<Attempts, Counter>,
    waiting: Family<OfRoute, Gauge>,
    dropped: Counter,
}

impl DeliveryMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "delivery_attempts",
            "Attempts to deliver messages of issues, by route and outcome",
            self.attempts.clone(),
        );
        registry.register(
            "deliveries_waiting",
            "Messages of issues that wait to be delivered, by route",
            self.waiting.clone(),
        );
        registry.register(
            "notices_dropped",
            "Transitions of issues that nobody was told of: too old, or damaged",
            self.dropped.clone(),
        );
    }

    /// Counts an attempt by what its delivery is now.
    pub(crate) fn noted(&self, route: &str, state: DeliveryState) {
        let outcome = match state {
            DeliveryState::Waiting => "failed",
            other => other.name(),
        };
        self.attempts.get_or_create(&Attempts { route: route.to_owned(), outcome }).inc();
    }

    /// Counts messages that were given up without an attempt.
    pub(super) fn given_up(&self, route: &str, messages: u64) {
        let outcome = DeliveryState::GivenUp.name();
        self.attempts.get_or_create(&Attempts { route: route.to_owned(), outcome }).inc_by(messages);
    }

    pub(super) fn dropped(&self) {
        self.dropped.inc();
    }

    /// Takes over how many wait.
    pub(crate) fn set_waiting(&self, records: &[RouteRecord]) {
        self.waiting.clear();
        for RouteRecord { route, waiting, .. } in records {
            let gauge = self.waiting.get_or_create(&OfRoute { route: route.clone() });
            gauge.set(i64::try_from(*waiting).unwrap_or(i64::MAX));
        }
    }
}
