//! What reaches the scans of a table, and what they count.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use queryscope_protocol::Role;
use serde_json::Value;

use crate::graph::{Graph, Step};
use crate::table::table_name;
use crate::vocabulary::counters::{BYTES_READ, ROW_GROUPS, ROW_GROUPS_PRUNED, ROWS_OUT, ROWS_SCANNED};
use crate::vocabulary::properties::{FILES, FORMAT, PREDICATE, PROJECTION, TABLE};
use crate::words::{Words, stable_name};

/// Columns a scan reads, where the engine's readers refer to them by their place.
const COLUMNS_READ: &str = "columns_read";
/// Conditions a scan may use to leave out files and row groups, and that a filter above it checks again.
const PARTIAL_PREDICATE: &str = "partial_predicate";

/// The scans of one table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) scans: usize,
    /// Scans that no predicate reaches.
    pub(super) unfiltered: usize,
    /// Columns that the predicates name.
    pub(super) filtered_on: BTreeSet<String>,
    /// Scans that read all columns.
    pub(super) reads_all: usize,
    /// Columns that the others read.
    pub(super) columns: BTreeSet<String>,
    /// Figures of all scans together; `None` where one of them is unknown or depends on the machine.
    pub(super) rows: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) row_groups: Option<u64>,
    pub(super) files: Option<u64>,
}

/// The scans of a plan by table.
pub(super) fn tables(
    graph: &Graph<'_>,
    engine: Option<&str>,
    unsteady: &HashSet<u64>,
) -> BTreeMap<String, Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    for step in graph.steps.iter().filter(|step| step.role() == Role::Scan) {
        let name = match step.properties.text(&TABLE) {
            Some(table) => table_name(table),
            None => step.node.kind.to_string(),
        };
        let table = tables.entry(name).or_default();
        table.add_predicate(step);
        table.add_columns(step, engine);
        let is_steady = !unsteady.contains(&step.node.id);
        let counted = |value: Option<u64>| value.filter(|_| is_steady);
        // How rows of a table of DuckDB lie in row groups depends on the threads that wrote it.
        let has_groups = engine != Some("duckdb") || step.properties.get(&FORMAT).is_some();
        let scanned = step.counter(&ROWS_SCANNED).filter(|_| has_groups);
        let groups = step
            .counter(&ROW_GROUPS)
            .filter(|_| has_groups)
            .map(|all| all.saturating_sub(step.counter(&ROW_GROUPS_PRUNED).unwrap_or(0)));
        let is_first = table.scans == 0;
        let add = |sum: &mut Option<u64>, value: Option<u64>| {
            *sum =
                if is_first { value } else { sum.zip(value).map(|(sum, value)| sum.saturating_add(value)) };
        };
        add(&mut table.rows, counted(scanned.or_else(|| step.counter(&ROWS_OUT))));
        add(&mut table.bytes, counted(step.counter(&BYTES_READ)));
        add(&mut table.row_groups, counted(groups));
        add(&mut table.files, step.properties.number(&FILES));
        table.scans += 1;
    }
    tables
}

impl Table {
    fn add_predicate(&mut self, step: &Step<'_>) {
        let properties = &step.properties;
        let partial = properties.iter().filter(|(name, _)| *name == PARTIAL_PREDICATE);
        let partial = partial.flat_map(|(_, value)| texts(value));
        let words = Words::of(properties.texts(&PREDICATE).into_iter().chain(partial));
        if words == Words::default() {
            self.unfiltered += 1;
        }
        self.filtered_on.extend(words.columns.iter().map(|name| stable_name(name).into_owned()));
    }

    fn add_columns(&mut self, step: &Step<'_>, engine: Option<&str>) {
        let read = step.properties.iter().find(|(name, _)| *name == COLUMNS_READ);
        let names = step.properties.names(&PROJECTION).or_else(|| read.map(|(_, value)| texts(value)));
        match names {
            Some(names) => self.columns.extend(names.into_iter().map(|name| stable_name(name).into_owned())),
            // DuckDB says nothing where it reads no column.
            None if engine == Some("duckdb") => {}
            None => self.reads_all += 1,
        }
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
