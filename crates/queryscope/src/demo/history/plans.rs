//! The plans: what each label's query is made of.

use queryscope_protocol::Role;
use queryscope_protocol::Role::{
    Aggregation, CrossJoin, Distinct, Function, Join, Map, Projection, Scan, Selection, SemiAntiJoin, Sink,
    Sort, TopK, Union,
};

/// A plan and what it usually counts.
#[derive(Debug)]
pub(super) struct PlanSpec {
    /// 12 hex characters, as senders make them.
    pub(super) fingerprint: &'static str,
    /// Inputs stand before the nodes that read them; the last node is the root.
    pub(super) nodes: &'static [NodeSpec],
    pub(super) warning: Option<Warning>,
}

/// A node of a plan.
#[derive(Debug)]
pub(super) struct NodeSpec {
    pub(super) kind: &'static str,
    pub(super) role: Role,
    /// Positions of the nodes it reads.
    pub(super) inputs: &'static [usize],
    /// Rows it hands on.
    pub(super) rows: u64,
    /// Its share of the query's CPU time; those of a plan add up to 1.
    pub(super) share: f64,
    /// The one property that tells it from its like: name and value.
    pub(super) property: (&'static str, &'static str),
    /// Bytes it reads from files.
    pub(super) bytes: u64,
}

/// What the plan is warned for.
#[derive(Debug)]
pub(super) struct Warning {
    pub(super) rule: &'static str,
    /// Position of the node it is about.
    pub(super) node: usize,
    pub(super) title: &'static str,
    pub(super) fix: &'static str,
}

const fn scan(table: &'static str, rows: u64, share: f64, megabytes: u64) -> NodeSpec {
    let bytes = megabytes * 1_000_000;
    NodeSpec { bytes, ..node("Scan", Scan, &[], rows, share, ("table", table)) }
}

const fn node(
    kind: &'static str,
    role: Role,
    inputs: &'static [usize],
    rows: u64,
    share: f64,
    property: (&'static str, &'static str),
) -> NodeSpec {
    NodeSpec { kind, role, inputs, rows, share, property, bytes: 0 }
}

pub(super) static INGEST: PlanSpec = PlanSpec {
    fingerprint: "5d0c1b7e42a9",
    nodes: &[
        scan("raw/events", 640_000, 0.52, 188),
        node("Filter", Selection, &[0], 611_000, 0.08, ("predicate", "event_id IS NOT NULL")),
        node("Projection", Map, &[1], 611_000, 0.17, ("expressions", "parse_json(payload), to_utc(ts)")),
        node("Partition", Sort, &[2], 611_000, 0.09, ("keys", "event_date")),
        node("FileSink", Sink, &[3], 0, 0.14, ("target", "lake/events")),
    ],
    warning: None,
};

pub(super) static REVENUE: PlanSpec = PlanSpec {
    fingerprint: "a41f09c3d7be",
    nodes: &[
        scan("lake/orders", 4_100_000, 0.27, 214),
        scan("lake/price_history", 1_900_000, 0.08, 61),
        node("Filter", Selection, &[1], 120_000, 0.04, ("predicate", "valid_until IS NULL")),
        node("HashJoin", Join, &[0, 2], 4_100_000, 0.29, ("on", "product_id")),
        scan("lake/customers", 220_000, 0.02, 12),
        node("HashJoin", Join, &[3, 4], 4_060_000, 0.14, ("on", "customer_id")),
        node("HashAggregate", Aggregation, &[5], 3_600, 0.14, ("keys", "day, region")),
        node("Sort", Sort, &[6], 3_600, 0.01, ("by", "day DESC")),
        node("ResultSink", Sink, &[7], 0, 0.01, ("target", "memory")),
    ],
    warning: None,
};

/// The filter is no longer pushed below the join, which now pairs each order with every price its product had.
pub(super) static REVENUE_EXPLODING: PlanSpec = PlanSpec {
    fingerprint: "0be8f2765c1d",
    nodes: &[
        scan("lake/orders", 4_100_000, 0.12, 214),
        scan("lake/price_history", 1_900_000, 0.04, 61),
        node("HashJoin", Join, &[0, 1], 39_400_000, 0.56, ("on", "product_id")),
        node("Filter", Selection, &[2], 4_100_000, 0.13, ("predicate", "valid_until IS NULL")),
        scan("lake/customers", 220_000, 0.01, 12),
        node("HashJoin", Join, &[3, 4], 4_060_000, 0.06, ("on", "customer_id")),
        node("HashAggregate", Aggregation, &[5], 3_600, 0.06, ("keys", "day, region")),
        node("Sort", Sort, &[6], 3_600, 0.01, ("by", "day DESC")),
        node("ResultSink", Sink, &[7], 0, 0.01, ("target", "memory")),
    ],
    warning: Some(Warning {
        rule: "exploding_join",
        node: 2,
        title: "Join puts out 9.6x its larger input: 39.4M rows",
        fix: "keep one price a product before the join: filter price_history by valid_until first",
    }),
};

pub(super) static DEDUPE_TWICE: PlanSpec = PlanSpec {
    fingerprint: "c7725e80f14b",
    nodes: &[
        scan("raw/customers", 2_300_000, 0.16, 140),
        node("Projection", Map, &[0], 2_300_000, 0.11, ("expressions", "lower(trim(email))")),
        node("Distinct", Distinct, &[1], 1_840_000, 0.3, ("keys", "email")),
        node("Distinct", Distinct, &[2], 1_840_000, 0.29, ("keys", "email, customer_id")),
        node("Sort", Sort, &[3], 1_840_000, 0.11, ("by", "customer_id")),
        node("FileSink", Sink, &[4], 0, 0.03, ("target", "lake/customers")),
    ],
    warning: Some(Warning {
        rule: "redundant_aggregation",
        node: 3,
        title: "The second deduplication removes no row",
        fix: "drop it: rows that differ by email differ by (email, customer_id), too",
    }),
};

pub(super) static DEDUPE: PlanSpec = PlanSpec {
    fingerprint: "91d3a6c05ef8",
    nodes: &[
        scan("raw/customers", 2_300_000, 0.3, 140),
        node("Projection", Map, &[0], 2_300_000, 0.2, ("expressions", "lower(trim(email))")),
        node("Distinct", Distinct, &[1], 1_840_000, 0.44, ("keys", "email")),
        node("Projection", Projection, &[2], 1_840_000, 0.01, ("columns", "customer_id, email, segment")),
        node("FileSink", Sink, &[3], 0, 0.05, ("target", "lake/customers")),
    ],
    warning: None,
};

pub(super) static COMPACTION: PlanSpec = PlanSpec {
    fingerprint: "38b1ee4d960a",
    nodes: &[
        scan("lake/events", 88_000_000, 0.21, 9_400),
        scan("lake/events_late", 1_200_000, 0.01, 130),
        node("Union", Union, &[0, 1], 89_200_000, 0.02, ("inputs", "2")),
        node("Distinct", Distinct, &[2], 88_900_000, 0.31, ("keys", "event_id")),
        node("Sort", Sort, &[3], 88_900_000, 0.37, ("by", "event_date, user_id")),
        node("FileSink", Sink, &[4], 0, 0.08, ("target", "lake/events_compacted")),
    ],
    warning: None,
};

pub(super) static INVOICES: PlanSpec = PlanSpec {
    fingerprint: "f60a9b5127c3",
    nodes: &[
        scan("billing/invoice_lines", 1_450_000, 0.31, 96),
        scan("billing/tax_rates", 4_800, 0.01, 1),
        node("HashJoin", Join, &[0, 1], 1_450_000, 0.24, ("on", "country, tax_class")),
        node("Projection", Map, &[2], 1_450_000, 0.15, ("expressions", "net * (1 + tax_rate)")),
        node("HashAggregate", Aggregation, &[3], 61_000, 0.27, ("keys", "invoice_id")),
        node("ResultSink", Sink, &[4], 0, 0.02, ("target", "memory")),
    ],
    warning: None,
};

pub(super) static MONTH_TO_DATE: PlanSpec = PlanSpec {
    fingerprint: "27ce40d8b3f5",
    nodes: &[
        scan("billing/invoice_lines", 9_700_000, 0.34, 640),
        node("Filter", Selection, &[0], 3_100_000, 0.09, ("predicate", "issued >= month_start(today())")),
        scan("billing/accounts", 310_000, 0.03, 22),
        node("HashJoin", Join, &[1, 2], 3_100_000, 0.25, ("on", "account_id")),
        node("HashAggregate", Aggregation, &[3], 284_000, 0.22, ("keys", "account_id, currency")),
        node("Sort", Sort, &[4], 284_000, 0.05, ("by", "total DESC")),
        node("ResultSink", Sink, &[5], 0, 0.02, ("target", "memory")),
    ],
    warning: None,
};

pub(super) static LEDGER: PlanSpec = PlanSpec {
    fingerprint: "84f7d1a02e6c",
    nodes: &[
        scan("billing/ledger", 12_600_000, 0.38, 810),
        scan("billing/payments", 5_200_000, 0.16, 290),
        node("AntiJoin", SemiAntiJoin, &[0, 1], 140, 0.41, ("on", "payment_id")),
        node("Sort", Sort, &[2], 140, 0.01, ("by", "booked")),
        node("ResultSink", Sink, &[3], 0, 0.04, ("target", "memory")),
    ],
    warning: None,
};

pub(super) static TOP_PRODUCTS: PlanSpec = PlanSpec {
    fingerprint: "e19b6f3c80d4",
    nodes: &[
        scan("lake/orders", 520_000, 0.46, 27),
        node("Filter", Selection, &[0], 198_000, 0.08, ("predicate", "day >= today() - 7")),
        node("HashAggregate", Aggregation, &[1], 8_900, 0.33, ("keys", "product_id")),
        node("TopK", TopK, &[2], 50, 0.1, ("by", "sum(amount) DESC")),
        node("ResultSink", Sink, &[3], 0, 0.03, ("target", "memory")),
    ],
    warning: None,
};

pub(super) static SALES: PlanSpec = PlanSpec {
    fingerprint: "6a02c85fb97e",
    nodes: &[
        scan("lake/orders", 1_300_000, 0.36, 68),
        scan("lake/regions", 240, 0.01, 1),
        node("HashJoin", Join, &[0, 1], 1_300_000, 0.26, ("on", "region_id")),
        node("HashAggregate", Aggregation, &[2], 1_680, 0.33, ("keys", "region, week")),
        node("Sort", Sort, &[3], 1_680, 0.01, ("by", "region, week")),
        node("ResultSink", Sink, &[4], 0, 0.03, ("target", "memory")),
    ],
    warning: None,
};

pub(super) static CUSTOMER_360: PlanSpec = PlanSpec {
    fingerprint: "d3580e7a1cb9",
    nodes: &[
        scan("lake/customers", 1_100, 0.03, 12),
        scan("lake/campaigns", 1_900, 0.02, 2),
        node("NestedLoopJoin", CrossJoin, &[0, 1], 2_090_000, 0.58, ("on", "nothing")),
        node("Filter", Selection, &[2], 9_400, 0.21, ("predicate", "matches(segment, target)")),
        node("HashAggregate", Aggregation, &[3], 1_100, 0.13, ("keys", "customer_id")),
        node("ResultSink", Sink, &[4], 0, 0.03, ("target", "memory")),
    ],
    warning: Some(Warning {
        rule: "cross_join",
        node: 2,
        title: "Every customer is paired with every campaign",
        fix: "join on the segment, and let the condition filter what is left",
    }),
};

pub(super) static EMBEDDINGS: PlanSpec = PlanSpec {
    fingerprint: "4fb2d609e83a",
    nodes: &[
        scan("lake/events_compacted", 21_000_000, 0.11, 2_200),
        node("HashAggregate", Aggregation, &[0], 410_000, 0.18, ("keys", "user_id")),
        node("Function", Function, &[1], 410_000, 0.63, ("name", "embed_sessions (python)")),
        node("Projection", Projection, &[2], 410_000, 0.01, ("columns", "user_id, embedding")),
        node("FileSink", Sink, &[3], 0, 0.07, ("target", "features/user_embeddings")),
    ],
    warning: Some(Warning {
        rule: "python_udf",
        node: 2,
        title: "A Python function runs once a row",
        fix: "hand it whole batches, or express it in the engine's own functions",
    }),
};

pub(super) static CHURN: PlanSpec = PlanSpec {
    fingerprint: "b86d17f4a02c",
    nodes: &[
        scan("lake/events_compacted", 46_000_000, 0.24, 4_800),
        node("Filter", Selection, &[0], 17_500_000, 0.06, ("predicate", "event_date >= today() - 180")),
        scan("features/user_embeddings", 410_000, 0.05, 630),
        node("HashJoin", Join, &[1, 2], 17_500_000, 0.29, ("on", "user_id")),
        node("Window", Aggregation, &[3], 17_500_000, 0.22, ("keys", "user_id, week")),
        node("Distinct", Distinct, &[4], 2_900_000, 0.08, ("keys", "user_id, week")),
        node("FileSink", Sink, &[5], 0, 0.06, ("target", "churn/train.parquet")),
    ],
    warning: None,
};
