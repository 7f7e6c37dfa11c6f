//! A scan of very many small files.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::query::Query;
use crate::say::{bytes, count};
use crate::vocabulary::counters::{BYTES_READ, FILE_BYTES, FILES};
use crate::vocabulary::properties::FILES as FILES_PROPERTY;

/// Fewer files than this are opened in no time.
const FILES_LEAST: u64 = 100;
/// Opening a file takes about as long as reading this much.
const FILE_SIZE: u64 = 1 << 20;
/// The same for what is read of a file where its size is unknown: some columns of it.
const READ_SIZE: u64 = 64 << 10;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for step in query.plan.steps.iter().filter(|step| step.role() == Role::Scan) {
        let files = step.counter(&FILES).or_else(|| step.properties.number(&FILES_PROPERTY)).unwrap_or(0);
        if files < FILES_LEAST {
            continue;
        }
        let whole = step.counter(&FILE_BYTES).map(|all| (all / files, FILE_SIZE, "size"));
        // How much a running scan will have read is not known; nor is it where nothing was counted.
        let read = step.counter(&BYTES_READ).filter(|&all| all > 0 && !step.runs());
        let read = read.map(|all| (all / files, READ_SIZE, "read"));
        let Some((mean, limit, of)) = whole.or(read) else { continue };
        if mean >= limit {
            continue;
        }
        let each = if of == "size" { "each" } else { "read of each" };
        let title = format!("{} files are scanned, {} {each}", count(files), bytes(mean));
        let finding = about(query, step, "small_files", title)
            .fix("merge the files into fewer of 100 MiB to 1 GiB, or write fewer at their source")
            .number("files", files, "files")
            .number("mean_bytes", mean, "bytes");
        found.push(finding.done());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn scan(counters: Value) -> Vec<Value> {
        vec![node(1, "Scan", "scan", &[], json!({"num_sources": 100}), counters)]
    }

    #[test]
    fn many_files_of_few_bytes() {
        let plan = scan(json!({"files": 12_000, "file_bytes": 240_000_000, "busy_ns": 900}));
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "files",
                  "unit": "files",
                  "value": 12000
                },
                {
                  "name": "mean_bytes",
                  "unit": "bytes",
                  "value": 20000
                }
              ],
              "fix": "merge the files into fewer of 100 MiB to 1 GiB, or write fewer at their source",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Scan",
              "rule": "small_files",
              "title": "12.0 k files are scanned, 19.5 KiB each"
            }
            "#);
    }

    #[test]
    fn few_or_large_files_are_fine() {
        let files = |files: u64, bytes: u64| check(&scan(json!({"files": files, "file_bytes": bytes})));
        assert!(files(99, 99).is_empty());
        assert!(!files(100, 99).is_empty());
        assert!(!files(100, (100 << 20) - 1).is_empty());
        assert!(files(100, 100 << 20).is_empty());
    }

    #[test]
    fn what_is_read_of_each_counts_where_sizes_are_unknown() {
        let read = |bytes: u64| check(&scan(json!({"bytes_read": bytes})));
        assert_eq!(read(1000), ["note small_files #1: 100 files are scanned, 10 B read of each"]);
        assert!(read(100 << 16).is_empty());
        assert!(read(0).is_empty(), "nothing was counted");
    }
}
