//! What counters and properties are called, by the engines and here.
//!
//! Every engine has its own names for the same counters and properties. A [`Term`] lists them: an adapter uses the
//! first, and readers look for them in their order, so that an adapter's own name goes before an engine's.
//!
//! This is the only list. The summary of a run, findings, the detector and the live digest read it,
//! `docs/reference/counters.md` documents it, and the dashboard's `ui/src/model/run/vocabulary.ts` is generated from
//! it; tests compare both with it.

use crate::profile::Counters;

/// A counter or a property, under every name it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Term {
    /// The names, the one to use first.
    pub names: &'static [&'static str],
    /// Unit of a counter, or shape of a property.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

impl Term {
    /// The name an adapter uses.
    pub const fn name(&self) -> &'static str {
        self.names[0]
    }

    /// The value of the counter, under the first of its names that is there.
    pub fn value_in(&self, counters: &Counters<'_>) -> Option<u64> {
        self.names.iter().find_map(|name| counters.get(name))
    }
}

const fn term(names: &'static [&'static str], unit: &'static str, meaning: &'static str) -> Term {
    Term { names, unit, meaning }
}

/// Error texts of a run that a person or the program stopped. The format has no state of its own for it.
///
/// Stores keep copies of segments that say which runs were cancelled (ADR 16): with another text they need a step of
/// their format that deletes these.
pub mod cancelled {
    /// The whole text, in lower case and without punctuation at its end.
    pub const WHOLE: &[&str] = &[
        "cancelled",
        "canceled",
        "dropped",
        "interrupted",
        "query cancelled",
        "query canceled",
        "query was cancelled",
        "query was canceled",
        "aborted by user",
        "cancellederror",
    ];
    /// A part of the text, in lower case.
    pub const PARTS: &[&str] = &[
        "keyboardinterrupt",
        "operation was cancelled",
        "operation was canceled",
        "python: cancellederror",
        "asyncio.exceptions.cancellederror",
        "concurrent.futures._base.cancellederror",
        "interrupt error: interrupted",
        "canceling statement due to user request",
    ];

    /// Whether a run with this error text was cancelled, and did not fail.
    pub fn is_cancelled(error: &str) -> bool {
        let error = error.trim().trim_end_matches(['.', ':', ' ']).to_ascii_lowercase();
        WHOLE.contains(&error.as_str()) || PARTS.iter().any(|part| error.contains(part))
    }
}

/// Counters of a node, `metrics` of the format.
pub mod counters {
    use super::{Term, term};

    /// Rows a node took from its inputs.
    pub const ROWS_IN: Term =
        term(&["rows_in", "rows_received", "input_rows"], "rows", "rows taken from all inputs");
    /// Rows a node gave on.
    pub const ROWS_OUT: Term =
        term(&["rows_out", "rows_sent", "output_rows"], "rows", "rows given on, to all readers together");
    /// Rows a scan decoded before it applied its predicate.
    pub const ROWS_SCANNED: Term = term(&["rows_scanned"], "rows", "rows decoded before the predicate");
    /// Rows a sink wrote.
    pub const ROWS_WRITTEN: Term = term(&["rows_written"], "rows", "rows written");
    /// Time threads worked in a node.
    pub const BUSY: Term = term(
        &["busy_ns", "total_time_ns", "elapsed_compute", "elapsed_compute_ns"],
        "ns",
        "time threads worked in the node, summed over threads",
    );
    /// Time a node had reads or writes under way.
    pub const IO: Term =
        term(&["io_ns", "io_total_active_ns"], "ns", "time at least one read or write was under way");
    /// Longest a node held a thread at once.
    pub const LONGEST_STEP: Term =
        term(&["longest_step_ns", "max_poll_time_ns"], "ns", "the longest a thread was held at once");
    /// Bytes a scan asked for.
    pub const BYTES_READ: Term =
        term(&["bytes_read", "io_total_bytes_requested", "bytes_scanned"], "bytes", "bytes read");
    /// Bytes written.
    pub const BYTES_WRITTEN: Term = term(&["bytes_written", "io_total_bytes_sent"], "bytes", "bytes written");
    /// Bytes spilled to disk.
    pub const SPILLED_BYTES: Term =
        term(&["spilled_bytes"], "bytes", "bytes written to disk for want of memory");
    /// Rows spilled to disk.
    pub const SPILLED_ROWS: Term = term(&["spilled_rows"], "rows", "rows written to disk for want of memory");
    /// Files a scan opened.
    pub const FILES: Term = term(&["files"], "files", "files opened");
    /// Size of the files a scan opened.
    pub const FILE_BYTES: Term = term(&["file_bytes"], "bytes", "size of the files opened, whole");
    /// Row groups that files have.
    pub const ROW_GROUPS: Term = term(&["row_groups"], "row groups", "row groups of the files opened");
    /// Row groups that were skipped by statistics or bloom filters.
    pub const ROW_GROUPS_PRUNED: Term =
        term(&["row_groups_pruned"], "row groups", "row groups skipped by statistics or bloom filters");
    /// Partitions a node ran in.
    pub const PARTITIONS: Term = term(&["partitions"], "partitions", "partitions the node ran in");
    /// Rows of the largest partition.
    pub const PARTITION_ROWS_MAX: Term =
        term(&["partition_rows_max"], "rows", "rows given on by the largest partition");
    /// Working time of the busiest partition.
    pub const PARTITION_BUSY_MAX: Term =
        term(&["partition_busy_max_ns"], "ns", "working time of the busiest partition");

    /// All of them.
    pub const ALL: &[Term] = &[
        ROWS_IN,
        ROWS_OUT,
        ROWS_SCANNED,
        ROWS_WRITTEN,
        BUSY,
        IO,
        LONGEST_STEP,
        BYTES_READ,
        BYTES_WRITTEN,
        SPILLED_BYTES,
        SPILLED_ROWS,
        FILES,
        FILE_BYTES,
        ROW_GROUPS,
        ROW_GROUPS_PRUNED,
        PARTITIONS,
        PARTITION_ROWS_MAX,
        PARTITION_BUSY_MAX,
    ];
}

/// Counters of a query as a whole, `query_metrics` of the format.
pub mod query_counters {
    use super::{Term, term};

    /// Time the query had reads or writes under way.
    pub const IO: Term =
        term(&["io_ns", "io_total_active_ns"], "ns", "time at least one read or write was under way");
    /// Threads the query could use.
    pub const THREADS: Term = term(&["threads", "num_threads"], "threads", "threads the query could use");
    /// CPU time of the whole process while the query ran.
    pub const PROCESS_CPU: Term = term(
        &["process_cpu_ns"],
        "ns",
        "CPU time the whole process used while the query ran, other work of the process included",
    );
    /// Queries of the process that ran at a time.
    pub const PROCESS_QUERIES: Term = term(
        &["process_queries"],
        "queries",
        "the most queries of the process that ran at a time meanwhile, this one included",
    );
    /// Time in functions of the program that the query called.
    pub const USER_CODE: Term = term(
        &["user_code_ns"],
        "ns",
        "time in which at least one function of the program that the query calls was under way, waiting included",
    );
    /// Bytes the query read, where no node says so.
    pub const BYTES_READ: Term = term(&["bytes_read"], "bytes", "bytes read");
    /// Bytes the query spilled to disk, where no node says so.
    pub const SPILLED_BYTES: Term =
        term(&["spilled_bytes"], "bytes", "bytes written to disk for want of memory, at least so many");

    /// Most memory the query used at a time.
    pub const PEAK_MEMORY: Term = term(
        &["peak_memory_bytes", "peak_mem_used", "peak_rss_bytes"],
        "bytes",
        "the most memory the query used at a time",
    );

    /// All of them.
    pub const ALL: &[Term] =
        &[IO, THREADS, PROCESS_CPU, PROCESS_QUERIES, USER_CODE, BYTES_READ, SPILLED_BYTES, PEAK_MEMORY];
}

/// Properties of a node.
pub mod properties {
    use super::{Term, term};

    /// The table or first file a scan reads.
    pub const TABLE: Term =
        term(&["table", "first_source"], "string", "table, or path of the first file, that a scan reads");
    /// How many files a scan reads.
    pub const FILES: Term = term(&["files", "num_sources"], "integer", "how many files a scan reads");
    /// Format of the files.
    pub const FORMAT: Term = term(
        &["format", "scan_type", "file_format"],
        "string",
        "format of the files a scan reads or a sink writes",
    );
    /// Columns a scan reads.
    pub const PROJECTION: Term =
        term(&["projection", "projected_file_columns"], "array of names", "columns a scan reads; null: all");
    /// Columns a table has.
    pub const TABLE_COLUMNS: Term =
        term(&["table_columns", "file_columns", "schema_names"], "array of names", "columns the table has");
    /// Condition rows must meet.
    pub const PREDICATE: Term = term(
        &["predicate", "fused_predicate"],
        "expression or array",
        "condition that rows must meet: of a filter, of a join beside its keys, pushed into a scan",
    );
    /// Keys of a join or a grouping.
    pub const KEYS: Term = term(
        &[
            "keys",
            "left_keys",
            "right_keys",
            "left_on",
            "right_on",
            "left_by",
            "right_by",
            "key_per_input",
            "subset",
        ],
        "array of expressions",
        "what a join, a grouping or the removal of duplicates compares",
    );
    /// What a sort orders by.
    pub const ORDER: Term = term(
        &["order", "sort_columns", "by_exprs"],
        "array of expressions, or of objects with `expr`",
        "what a sort or top-k orders by",
    );
    /// Expressions a node computes.
    pub const EXPRESSIONS: Term = term(
        &[
            "expressions",
            "exprs",
            "selectors",
            "aggregates",
            "aggs",
            "aggs_per_input",
            "fused_agg_inputs_per_input",
        ],
        "array of expressions",
        "what a map, a projection, an aggregation or a function computes",
    );
    /// Columns a projection keeps.
    pub const COLUMNS: Term = term(&["columns"], "array of names", "columns a projection keeps");
    /// Sort of a join.
    pub const HOW: Term =
        term(&["how", "join_type"], "string", "inner, left, right, full, semi or anti, in any case");
    /// At most so many rows.
    pub const LIMIT: Term = term(
        &["limit", "fetch", "len", "length", "slice", "pre_slice"],
        "integer, or array of offset and integer",
        "at most so many rows are kept",
    );
    /// Where a sink writes to.
    pub const DESTINATION: Term =
        term(&["destination", "dest", "target"], "string or object", "where a sink writes to");
    /// Step of an aggregation.
    pub const MODE: Term =
        term(&["mode"], "string", "of an aggregation in two steps: `partial` for the first, else anything");
    /// Suffix a join adds to columns of its right input whose names are taken.
    pub const SUFFIX: Term =
        term(&["suffix"], "string", "what a join adds to names of its right input that are taken");
    /// Code of the user that is called.
    pub const USER_CODE: Term = term(
        &["user_code", "name"],
        "string",
        "the function of the program that the node calls; `name` counts where it says `udf`",
    );

    /// All of them.
    pub const ALL: &[Term] = &[
        TABLE,
        FILES,
        FORMAT,
        PROJECTION,
        TABLE_COLUMNS,
        PREDICATE,
        KEYS,
        ORDER,
        EXPRESSIONS,
        COLUMNS,
        HOW,
        MODE,
        LIMIT,
        DESTINATION,
        SUFFIX,
        USER_CODE,
    ];
}

#[cfg(test)]
mod tests {
    use super::cancelled::is_cancelled;

    #[test]
    fn a_run_that_was_stopped_did_not_fail() {
        let stopped = [
            "cancelled",
            " Cancelled. ",
            "python: KeyboardInterrupt:.",
            "CancelledError",
            "python: CancelledError:.",
            "asyncio.exceptions.CancelledError: ",
            "concurrent.futures._base.CancelledError",
            "InterruptException: INTERRUPT Error: Interrupted!",
            "INTERRUPT Error: Interrupted!",
            "canceling statement due to user request",
            "ERROR: canceling statement due to user request",
            "query was canceled",
            "Query was cancelled.",
            "aborted by user",
        ];
        assert_eq!(stopped.iter().find(|error| !is_cancelled(error)), None);
    }

    #[test]
    fn an_error_that_speaks_of_cancelling_is_a_failure() {
        let failed = [
            "column cancelled_at not found",
            "order was cancelled is not a status",
            "canceling statement due to statement timeout",
            "cannot import name 'CancelledError'",
            "the table was dropped",
            "SIGTERM",
            "SystemExit: 1",
            "",
        ];
        assert_eq!(failed.iter().find(|error| is_cancelled(error)), None);
    }
}
