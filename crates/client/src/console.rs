//! The queries that have ended as a table on standard error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use queryscope_protocol::Profile;

use crate::exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};

/// Characters of a label that are shown.
const LABEL_CHARS: usize = 32;
const HEADER: &str =
    "label                            engine      outcome        time       CPU         rows  found";

/// Whether this process has printed the header: each engine of a process has telemetry of its own.
static HAS_HEADER: AtomicBool = AtomicBool::new(false);

/// Prints a line for each query that has ended to standard error, below a header: for a person who tries things out.
///
/// ```text
/// label                            engine      outcome        time       CPU         rows  found
/// nightly/orders                   polars      finished     225 ms    4.10 s      300,000  Sort spills
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ConsoleTable;

impl ConsoleTable {
    /// Prints to standard error.
    pub fn new() -> Self {
        Self
    }
}

impl Exporter for ConsoleTable {
    fn open(&self, _: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(ConsoleDelivery))
    }
}

struct ConsoleDelivery;

impl Delivery for ConsoleDelivery {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        for profile in batch.finished_profiles() {
            let Ok(profile) = serde_json::from_str::<Profile<'_>>(profile) else { continue };
            if !HAS_HEADER.swap(true, Ordering::Relaxed) {
                eprintln!("{HEADER}");
            }
            eprintln!("{}", row(&profile));
        }
        Answer::Delivered
    }
}

fn row(profile: &Profile<'_>) -> String {
    let label = profile.label.as_deref().unwrap_or(&profile.query_id);
    let outcome = match profile.failed.as_deref() {
        None => "finished",
        Some("cancelled") => "cancelled",
        Some(_) => "failed",
    };
    let cpu = profile.cpu_ms.map(duration).unwrap_or_default();
    let rows = profile.result_rows.map(|rows| grouped(&rows.to_string())).unwrap_or_default();
    let found: Vec<&str> = profile.findings().iter().map(|finding| &*finding.title).collect();
    let line = format!(
        "{:<LABEL_CHARS$} {:<11} {outcome:<9} {:>9} {cpu:>9} {rows:>12}  {}",
        shortened(label),
        profile.engine.as_deref().unwrap_or_default(),
        duration(profile.wall_ms),
        found.join("; "),
    );
    // A label or a title may hold whatever a terminal acts upon.
    line.trim_end().chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// The end of a label tells it from others: its beginning is cut.
fn shortened(label: &str) -> String {
    let chars = label.chars().count();
    if chars <= LABEL_CHARS {
        return label.to_owned();
    }
    format!("…{}", label.chars().skip(chars - (LABEL_CHARS - 1)).collect::<String>())
}

/// A duration in three digits: `12.3 ms`, `4.56 s`, `7 min 8 s`.
fn duration(ms: f64) -> String {
    if ms >= 60_000.0 {
        let seconds = (ms / 1000.0).round();
        return format!("{} min {} s", (seconds / 60.0).floor(), seconds % 60.0);
    }
    let (value, unit) = if ms >= 1000.0 { (ms / 1000.0, "s") } else { (ms, "ms") };
    let decimals = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.decimals$} {unit}")
}

/// A whole number with a comma before every three digits.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let mut text = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(members: &str) -> String {
        let profile = format!(
            r#"{{"schema":"polars-telemetry/profile@1","query_id":"01a1faa8-1bd9-77b2-97ab-860dd7026506",{members},
            "plan":{{"physical":[],"logical":[]}}}}"#
        );
        row(&serde_json::from_str(&profile).expect("a profile"))
    }

    #[test]
    fn a_row_stands_below_its_header() {
        let finding = r#"{"rule":"r","kind":"k","level":"warn","node_id":1,"title":"Late","evidence":[]}"#;
        let row = row_of(&format!(
            r#""label":"nightly/orders","wall_ms":225.4,"cpu_ms":4100,"result_rows":300000,
            "insights":{{"schema":"insights@1","findings":[{finding},{finding}]}}"#
        ));
        let [header, nightly] = [
            "label                            engine      outcome        time       CPU         rows  found",
            "nightly/orders                   polars      finished     225 ms    4.10 s      300,000  Late; Late",
        ];
        assert_eq!((HEADER, row.as_str()), (header, nightly));
    }

    #[test]
    fn what_is_not_known_is_left_empty() {
        let row = row_of(r#""wall_ms":0.5,"failed":"no such column""#);
        assert_eq!(row, "…aa8-1bd9-77b2-97ab-860dd7026506 polars      failed      0.50 ms");
        assert!(row_of(r#""wall_ms":1,"failed":"cancelled""#).contains(" cancelled "));
        assert!(row_of(r#""wall_ms":1,"label":"a\nb\u001b[2J""#).starts_with("a b [2J "));
    }

    #[test]
    fn numbers_are_said_in_few_digits() {
        let said = [0.5, 12.34, 225.4, 4560.0, 59_999.0, 428_000.0].map(duration);
        assert_eq!(said, ["0.50 ms", "12.3 ms", "225 ms", "4.56 s", "60.0 s", "7 min 8 s"]);
        assert_eq!(["0", "999", "1000", "-1234567"].map(grouped), ["0", "999", "1,000", "-1,234,567"]);
    }
}
