//! The labels: who runs what, when, for how long, and what happens to it.

use std::time::Duration;

use super::plans::{self, PlanSpec};
use super::schedule::Schedule;

/// A query that somebody runs again and again.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) name: &'static str,
    pub(super) service: &'static str,
    pub(super) environment: &'static str,
    /// A run takes any of these.
    pub(super) hosts: &'static [&'static str],
    /// Source file, line and function that run it.
    pub(super) call_site: (&'static str, i64, &'static str),
    pub(super) schedule: Schedule,
    /// Median of the wall time when nothing else runs.
    pub(super) wall_ms: f64,
    /// Scatter of the wall time, as the sigma of a log-normal distribution.
    pub(super) sigma: f64,
    /// CPU time per wall time.
    pub(super) threads: f64,
    pub(super) plan: &'static PlanSpec,
    /// Share of runs that fail for no reason of the label's own.
    pub(super) failure_rate: f64,
    /// What they fail with.
    pub(super) failures: Option<&'static str>,
    pub(super) story: Story,
}

/// What happens to a label in the two weeks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Story {
    /// Nothing.
    Steady,
    /// Since this long before now it runs another plan and takes `factor` times as long.
    PlanChanged { before: Duration, plan: &'static PlanSpec, factor: f64 },
    /// Since this long before now every run fails.
    FailsSince { before: Duration, failure: &'static str },
}

impl Label {
    /// What its story makes of a run that began so long ago: its plan, how much longer it takes, why it fails.
    pub(super) fn story_at(&self, ago: Duration) -> (&'static PlanSpec, f64, Option<&'static str>) {
        match self.story {
            Story::PlanChanged { before, plan, factor } if ago <= before => (plan, factor, None),
            Story::FailsSince { before, failure } if ago <= before => (self.plan, 1.0, Some(failure)),
            _ => (self.plan, 1.0, None),
        }
    }
}

/// The label that got slower.
pub(super) const SLOWER: &str = "orders/daily-revenue";
/// The label that fails.
pub(super) const FAILING: &str = "billing/invoice-totals";
/// The label that got faster.
pub(super) const FASTER: &str = "orders/dedupe-customers";

const RESET: &str = "io error: connection reset by peer while reading s3://acme-lake/raw/events/part-00041.parquet\n  \
    attempt 3 of 3, 18.2 MB of 64.0 MB read";
const OUT_OF_MEMORY: &str = "out of memory: HashAggregate asked for 512.0 MiB, 38.1 MiB left of a limit of 8.0 GiB\n  \
    largest consumers: HashJoin 5.9 GiB, HashAggregate 1.9 GiB";
const CANCELLED: &str = "cancelled";
const MISSING_COLUMN: &str = "schema error: column `tax_rate` is Utf8 in billing/tax_rates/2024.parquet, expected \
    Decimal(9, 4)\n  while reading node Scan(tax_rates)\n  the file was written by tax-import 2.0.0";

const fn every(minutes: u64, after_minutes: u64) -> Schedule {
    Schedule::Every(Duration::from_mins(minutes), Duration::from_mins(after_minutes))
}

/// All labels; a service's own stand together.
pub(super) const LABELS: &[Label] = &[
    Label {
        name: "orders/ingest-events",
        service: "orders-etl",
        environment: "prod",
        hosts: &["etl-1", "etl-2"],
        call_site: ("/srv/orders-etl/jobs/ingest.py", 58, "ingest"),
        schedule: every(10, 2),
        wall_ms: 4_200.0,
        sigma: 0.22,
        threads: 2.6,
        plan: &plans::INGEST,
        failure_rate: 0.004,
        failures: Some(RESET),
        story: Story::Steady,
    },
    Label {
        name: SLOWER,
        service: "orders-etl",
        environment: "prod",
        hosts: &["etl-1"],
        call_site: ("/srv/orders-etl/jobs/revenue.py", 112, "daily_revenue"),
        schedule: every(60, 5),
        wall_ms: 38_000.0,
        sigma: 0.12,
        threads: 3.4,
        plan: &plans::REVENUE,
        failure_rate: 0.0,
        failures: None,
        story: Story::PlanChanged {
            before: Duration::from_hours(5 * 24),
            plan: &plans::REVENUE_EXPLODING,
            factor: 2.3,
        },
    },
    Label {
        name: FASTER,
        service: "orders-etl",
        environment: "prod",
        hosts: &["etl-2"],
        call_site: ("/srv/orders-etl/jobs/customers.py", 41, "dedupe"),
        schedule: every(120, 20),
        wall_ms: 21_000.0,
        sigma: 0.18,
        threads: 2.9,
        plan: &plans::DEDUPE_TWICE,
        failure_rate: 0.0,
        failures: None,
        story: Story::PlanChanged {
            before: Duration::from_hours(3 * 24),
            plan: &plans::DEDUPE,
            factor: 0.45,
        },
    },
    Label {
        name: "orders/nightly-compaction",
        service: "orders-etl",
        environment: "prod",
        hosts: &["etl-1"],
        call_site: ("/srv/orders-etl/jobs/compact.py", 23, "compact"),
        schedule: every(24 * 60, 2 * 60 + 15),
        wall_ms: 660_000.0,
        sigma: 0.1,
        threads: 3.7,
        plan: &plans::COMPACTION,
        failure_rate: 0.0,
        failures: None,
        story: Story::Steady,
    },
    Label {
        name: FAILING,
        service: "billing",
        environment: "prod",
        hosts: &["billing-1"],
        call_site: ("/srv/billing/app/invoices.py", 204, "totals"),
        schedule: every(60, 30),
        wall_ms: 9_500.0,
        sigma: 0.16,
        threads: 1.9,
        plan: &plans::INVOICES,
        failure_rate: 0.0,
        failures: None,
        story: Story::FailsSince { before: Duration::from_hours(26), failure: MISSING_COLUMN },
    },
    Label {
        name: "billing/month-to-date",
        service: "billing",
        environment: "prod",
        hosts: &["billing-1"],
        call_site: ("/srv/billing/app/reports.py", 77, "month_to_date"),
        schedule: every(240, 45),
        wall_ms: 27_000.0,
        sigma: 0.2,
        threads: 2.2,
        plan: &plans::MONTH_TO_DATE,
        failure_rate: 0.02,
        failures: Some(OUT_OF_MEMORY),
        story: Story::Steady,
    },
    Label {
        name: "billing/ledger-check",
        service: "billing",
        environment: "staging",
        hosts: &["staging-1"],
        call_site: ("/srv/billing/app/ledger.py", 31, "check"),
        schedule: every(24 * 60, 5 * 60 + 30),
        wall_ms: 95_000.0,
        sigma: 0.18,
        threads: 1.4,
        plan: &plans::LEDGER,
        failure_rate: 0.0,
        failures: None,
        story: Story::Steady,
    },
    Label {
        name: "reports/top-products",
        service: "reports-api",
        environment: "prod",
        hosts: &["api-1", "api-2", "api-3"],
        call_site: ("/srv/reports-api/views/products.py", 66, "top_products"),
        schedule: Schedule::OnDemand(48.0),
        wall_ms: 820.0,
        sigma: 0.42,
        threads: 1.6,
        plan: &plans::TOP_PRODUCTS,
        failure_rate: 0.006,
        failures: Some(CANCELLED),
        story: Story::Steady,
    },
    Label {
        name: "reports/sales-by-region",
        service: "reports-api",
        environment: "prod",
        hosts: &["api-1", "api-2", "api-3"],
        call_site: ("/srv/reports-api/views/sales.py", 119, "by_region"),
        schedule: Schedule::OnDemand(30.0),
        wall_ms: 1_450.0,
        sigma: 0.38,
        threads: 2.1,
        plan: &plans::SALES,
        failure_rate: 0.012,
        failures: Some(OUT_OF_MEMORY),
        story: Story::Steady,
    },
    Label {
        name: "reports/customer-360",
        service: "reports-api",
        environment: "staging",
        hosts: &["staging-1", "staging-2"],
        call_site: ("/srv/reports-api/views/customer.py", 88, "overview"),
        schedule: Schedule::OnDemand(9.0),
        wall_ms: 2_300.0,
        sigma: 0.35,
        threads: 1.2,
        plan: &plans::CUSTOMER_360,
        failure_rate: 0.03,
        failures: Some(CANCELLED),
        story: Story::Steady,
    },
    Label {
        name: "features/user-embeddings",
        service: "ml-features",
        environment: "prod",
        hosts: &["gpu-1"],
        call_site: ("/srv/ml-features/pipelines/embeddings.py", 147, "build"),
        schedule: every(360, 50),
        wall_ms: 270_000.0,
        sigma: 0.15,
        threads: 1.1,
        plan: &plans::EMBEDDINGS,
        failure_rate: 0.03,
        failures: Some(RESET),
        story: Story::Steady,
    },
    Label {
        name: "features/churn-training-set",
        service: "ml-features",
        environment: "dev",
        hosts: &["gpu-2"],
        call_site: ("/home/dev/churn/train.py", 19, "training_set"),
        schedule: every(24 * 60, 23 * 60),
        wall_ms: 410_000.0,
        sigma: 0.2,
        threads: 3.1,
        plan: &plans::CHURN,
        failure_rate: 0.04,
        failures: Some(OUT_OF_MEMORY),
        story: Story::Steady,
    },
];
