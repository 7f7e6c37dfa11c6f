// Written by `make schemas` from crates/protocol/src/vocabulary.rs. Of several names, the first found counts.

/** Counters of a node. */
export const COUNTERS = {
  rows_in: ["rows_in", "rows_received", "input_rows"],
  rows_out: ["rows_out", "rows_sent", "output_rows"],
  rows_scanned: ["rows_scanned"],
  rows_written: ["rows_written"],
  busy_ns: ["busy_ns", "total_time_ns", "elapsed_compute", "elapsed_compute_ns"],
  io_ns: ["io_ns", "io_total_active_ns"],
  longest_step_ns: ["longest_step_ns", "max_poll_time_ns"],
  bytes_read: ["bytes_read", "io_total_bytes_requested", "bytes_scanned"],
  bytes_written: ["bytes_written", "io_total_bytes_sent"],
  spilled_bytes: ["spilled_bytes"],
  spilled_rows: ["spilled_rows"],
  files: ["files"],
  file_bytes: ["file_bytes"],
  row_groups: ["row_groups"],
  row_groups_pruned: ["row_groups_pruned"],
  partitions: ["partitions"],
  partition_rows_max: ["partition_rows_max"],
  partition_busy_max_ns: ["partition_busy_max_ns"],
} as const;

/** Counters of a query as a whole. */
export const QUERY_COUNTERS = {
  io_ns: ["io_ns", "io_total_active_ns"],
  threads: ["threads", "num_threads"],
  process_cpu_ns: ["process_cpu_ns"],
  process_queries: ["process_queries"],
  user_code_ns: ["user_code_ns"],
  bytes_read: ["bytes_read"],
  spilled_bytes: ["spilled_bytes"],
  peak_memory_bytes: ["peak_memory_bytes", "peak_mem_used", "peak_rss_bytes"],
} as const;

/** Properties of a node. */
export const PROPERTIES = {
  table: ["table", "first_source"],
  files: ["files", "num_sources"],
  format: ["format", "scan_type", "file_format"],
  projection: ["projection", "projected_file_columns"],
  table_columns: ["table_columns", "file_columns", "schema_names"],
  predicate: ["predicate", "fused_predicate"],
  keys: ["keys", "left_keys", "right_keys", "left_on", "right_on", "left_by", "right_by", "key_per_input", "subset"],
  order: ["order", "sort_columns", "by_exprs"],
  expressions: [
    "expressions",
    "exprs",
    "selectors",
    "aggregates",
    "aggs",
    "aggs_per_input",
    "fused_agg_inputs_per_input",
  ],
  columns: ["columns"],
  how: ["how", "join_type"],
  mode: ["mode"],
  limit: ["limit", "fetch", "len", "length", "slice", "pre_slice"],
  destination: ["destination", "dest", "target"],
  suffix: ["suffix"],
  user_code: ["user_code", "name"],
} as const;

/** Error texts of a run that was cancelled: the whole text, or a part of it. */
export const CANCELLED = {
  whole: [
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
  ],
  parts: [
    "keyboardinterrupt",
    "operation was cancelled",
    "operation was canceled",
    "python: cancellederror",
    "asyncio.exceptions.cancellederror",
    "concurrent.futures._base.cancellederror",
    "interrupt error: interrupted",
    "canceling statement due to user request",
  ],
} as const;
