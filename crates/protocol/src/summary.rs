//! The part of a profile that a run's summary needs.

use crate::text::Text;

/// What a summary shows of a profile, read without building the rest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProfileSummary<'a> {
    /// Identity of the run as the profile says it: a text that is the event's `query_id`, in lines that are sent.
    pub query_id: Text<'a>,
    /// Version of the engine.
    pub engine_version: Option<Text<'a>>,
    /// Name the program gave the query.
    pub label: Option<Text<'a>>,
    /// Hash of the plan.
    pub fingerprint: Option<Text<'a>>,
    /// When the query started, in Unix nanoseconds.
    pub started_unix_ns: Option<i64>,
    /// Time since the start, in milliseconds; at least 0.
    pub wall_ms: f64,
    /// CPU time over all threads, in milliseconds; at least 0.
    pub cpu_ms: Option<f64>,
    /// Rows of the result.
    pub result_rows: Option<i64>,
    /// Bytes read, as the nodes say together, or the query as a whole; at most 2^63 - 1.
    pub bytes_read: Option<i64>,
    /// Bytes written to disk for want of memory, as the nodes say together, or the query as a whole; at most 2^63 - 1.
    pub spilled_bytes: Option<i64>,
    /// The most memory the query used at a time, in bytes; at most 2^63 - 1.
    pub peak_memory_bytes: Option<i64>,
    /// The engine's error text when the query failed.
    pub failed: Option<Text<'a>>,
    pub(crate) warnings: Vec<Text<'a>>,
}

impl ProfileSummary<'_> {
    /// The rules of the findings that warn, one entry a finding, in the profile's order.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().map(|rule| &**rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{self, Depth};
    use crate::error::BatchErrorKind;

    const SMALLEST: &str = r#"{"schema":"x-telemetry/profile@1","query_id":"q","wall_ms":1,"plan":{"physical":[],"logical":[]}}"#;

    fn read(profile: &str) -> Result<ProfileSummary<'_>, BatchErrorKind> {
        check::read::<check::Profile>(profile, Depth::Whole)
    }

    #[test]
    fn the_smallest_profile() {
        let summary = read(SMALLEST).expect("all required members");
        assert_eq!((summary.wall_ms, summary.label, summary.cpu_ms), (1.0, None, None));
    }

    #[test]
    fn every_required_member_is_missed_by_name() {
        for (member, text) in [
            ("schema", r#""schema":"x-telemetry/profile@1","#),
            ("query_id", r#""query_id":"q","#),
            ("wall_ms", r#""wall_ms":1,"#),
            ("plan", r#","plan":{"physical":[],"logical":[]}"#),
            ("physical", r#""physical":[],"#),
            ("logical", r#","logical":[]"#),
        ] {
            let profile = SMALLEST.replace(text, "");
            assert_ne!(profile, SMALLEST);
            let error = read(&profile).expect_err(member).to_string();
            assert!(error.ends_with(&format!("{member} is missing")), "{error}");
        }
    }

    #[test]
    fn wrong_types_and_values_are_refused() {
        for (from, to) in [
            (r#""wall_ms":1"#, r#""wall_ms":-1"#),
            (r#""wall_ms":1"#, r#""wall_ms":"1""#),
            (r#""wall_ms":1"#, r#""wall_ms":1,"cpu_ms":-0.5"#),
            (r#""wall_ms":1"#, r#""wall_ms":1,"label":5"#),
            ("profile@1", "profile@2"),
            (r#""physical":[]"#, r#""physical":{}"#),
        ] {
            let profile = SMALLEST.replace(from, to);
            assert!(read(&profile).is_err(), "{profile}");
        }
    }

    #[test]
    fn findings_that_warn_are_named() {
        let profile = SMALLEST.replace(
            r#""wall_ms":1"#,
            r#""wall_ms":1,"insights":{"schema":"i","findings":[
                {"rule":"a","kind":"k","level":"warn","node_id":1,"title":"t"},
                {"rule":"b","kind":"k","level":"info","node_id":null,"title":"t"},
                {"rule":"a","kind":"k","level":"warn","node_id":2,"title":"t"}]}"#,
        );
        assert_eq!(read(&profile).expect("a profile").warnings().collect::<Vec<_>>(), ["a", "a"]);
    }

    #[test]
    fn a_duration_is_ten_years_at_most() {
        for member in ["wall_ms", "cpu_ms"] {
            let profile = |ms: &str| match member {
                "wall_ms" => SMALLEST.replace(r#""wall_ms":1"#, &format!(r#""wall_ms":{ms}"#)),
                _ => SMALLEST.replace(r#""wall_ms":1"#, &format!(r#""wall_ms":1,"cpu_ms":{ms}"#)),
            };
            let most = profile("315360000000");
            assert!(read(&most).is_ok(), "{most}");
            let more = profile("315360000001");
            let error = read(&more).expect_err(&more).to_string();
            assert!(error.contains(member) && error.ends_with("got 315360000001"), "{error}");
            let stored = check::read::<check::Profile>(&more, Depth::Summary);
            assert!(stored.is_ok(), "an earlier version may have stored it");
        }
    }
}
