//! The report as SARIF 2.1.0, which hosts of code show beside the line that runs a query.

use queryscope_insights::portable::Direction;
use serde_json::{Value, json};

use super::report::{CallSite, Cause, Entry, Report, Told};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const GUIDE: &str = "https://github.com/queryscope/queryscope/blob/main/docs/guides/ci.md";

pub(super) fn document(report: &Report) -> Value {
    let results: Vec<Value> = report
        .queries
        .iter()
        .flat_map(|entry| entry.differences.iter().map(move |told| (entry, told)))
        .filter(|(_, told)| told.direction != Direction::Better)
        .map(|(entry, told)| result(entry, told))
        .collect();
    let rules: Vec<Value> = Cause::ALL.iter().map(|cause| rule(*cause)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "queryscope gate",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": GUIDE,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(cause: Cause) -> Value {
    use queryscope_insights::portable::DifferenceKind as Kind;
    let says = match cause {
        Cause::Differs(Kind::Predicate) => "A predicate no longer reaches a scan",
        Cause::Differs(Kind::Projection) => "A scan reads more columns",
        Cause::Differs(Kind::Join) => "A join compares no keys any more",
        Cause::Differs(Kind::Rows) => "A node gives more rows",
        Cause::Differs(Kind::Bytes) => "A scan reads more bytes",
        Cause::Differs(Kind::RowGroups) => "A scan reads more row groups",
        Cause::Differs(Kind::Files) => "A scan reads more files",
        Cause::Differs(Kind::Spill) => "A query spills to disk",
        Cause::Differs(Kind::Finding) => "A query has a new finding",
        Cause::Differs(Kind::Plan) => "The plan of a query changed",
        Cause::Failure => "A query fails that did not",
        Cause::Repeats => "A query runs more often",
        Cause::New => "A query is new",
        Cause::Removed => "A query is run no more",
    };
    json!({"id": cause.as_str(), "shortDescription": {"text": says}, "helpUri": GUIDE})
}

fn result(entry: &Entry, told: &Told) -> Value {
    let fails = told.fails && !entry.accepted;
    let level = match (fails, told.direction) {
        (true, _) => "error",
        (_, Direction::Worse) => "warning",
        _ => "note",
    };
    let rule = Cause::ALL.iter().position(|cause| *cause == told.kind);
    let mut location = json!({
        "logicalLocations": [{"fullyQualifiedName": entry.query, "kind": "function"}],
    });
    if let Some(site) = &entry.call_site {
        location["physicalLocation"] = physical(site);
    }
    json!({
        "ruleId": told.kind.as_str(),
        "ruleIndex": rule,
        "level": level,
        "message": {"text": format!("{}: {}", entry.query, told.text)},
        "locations": [location],
        // Stays the same while the line moves.
        "partialFingerprints": {"queryscopeGate/v1": format!("{}/{}", entry.query, told.kind.as_str())},
    })
}

fn physical(site: &CallSite) -> Value {
    let is_relative = !site.file.starts_with('/') && !site.file.contains(':');
    let mut artifact = json!({"uri": uri(&site.file, is_relative)});
    if is_relative {
        artifact["uriBaseId"] = json!("%SRCROOT%");
    }
    json!({"artifactLocation": artifact, "region": {"startLine": site.line.max(1)}})
}

/// A path as an address: a relative one, or one of a file of this machine.
fn uri(path: &str, is_relative: bool) -> String {
    let parts: Vec<String> = path.split('/').map(encoded).collect();
    let path = parts.join("/");
    match (is_relative, path.starts_with('/')) {
        (true, _) => path,
        (_, true) => format!("file://{path}"),
        _ => format!("file:///{path}"),
    }
}

fn encoded(part: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(part, KEPT).to_string()
}
