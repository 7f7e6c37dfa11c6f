//! Names of recordings.

use chrono::{DateTime, Datelike, NaiveDate};
use queryscope_protocol::QueryId;

const NS_PER_DAY: i64 = 86_400_000_000_000;
const SUFFIX: &str = ".jsonl.gz";

/// `YYYY/MM/DD/<query_id>.jsonl.gz`, by the UTC day of the start.
pub fn recording_path(query_id: QueryId, started_unix_ns: i64) -> String {
    let day = DateTime::from_timestamp_nanos(started_unix_ns).date_naive();
    format!("{:04}/{:02}/{:02}/{query_id}{SUFFIX}", day.year(), day.month(), day.day())
}

/// `YYYY/MM/DD/<query_id>-<version>.jsonl.gz` of the path without a version; the version has 16 hexadecimal digits.
pub fn versioned_path(path: &str, version: u64) -> String {
    let stem = path.strip_suffix(SUFFIX).unwrap_or(path);
    format!("{stem}-{version:016x}{SUFFIX}")
}

/// The UTC day (since 1970-01-01) a recording's path lies under.
pub fn day_of_path(path: &str) -> Option<i64> {
    let mut parts = path.split('/');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    Some(date.signed_duration_since(NaiveDate::default()).num_days())
}

/// The path of a recording sealed under a UTC day, or of a version of it.
pub fn sealed_path(query_id: QueryId, day: i64, version: Option<u64>) -> String {
    let path = recording_path(query_id, day.saturating_mul(NS_PER_DAY));
    match version {
        None => path,
        Some(version) => versioned_path(&path, version),
    }
}

/// The query a recording's path or file name is of, and its version where it has one; `None` for any other name.
pub fn named_by(path: &str) -> Option<(QueryId, Option<u64>)> {
    let name = path.rsplit('/').next()?.strip_suffix(SUFFIX)?;
    let (id, version) = match name.split_at_checked(36) {
        Some((id, "")) => (id, None),
        Some((id, version)) => {
            let digits = version.strip_prefix('-').filter(|digits| digits.len() == 16)?;
            (id, Some(u64::from_str_radix(digits, 16).ok()?))
        }
        None => return None,
    };
    Some((id.parse().ok()?, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn id() -> QueryId {
        ID.parse().expect("a UUID")
    }

    #[test]
    fn a_recording_lies_under_the_day_of_the_start() {
        let path = |ns| recording_path(id(), ns);
        assert_eq!(path(1_795_206_683_609_778_763), format!("2026/11/20/{ID}.jsonl.gz"));
        assert_eq!(path(0), format!("1970/01/01/{ID}.jsonl.gz"));
        assert_eq!(path(-1), format!("1969/12/31/{ID}.jsonl.gz"));
    }

    #[test]
    fn a_name_says_query_and_version() {
        let plain = recording_path(id(), 0);
        assert_eq!(named_by(&plain), Some((id(), None)));
        for version in [0, 0xbeef, u64::MAX] {
            assert_eq!(named_by(&versioned_path(&plain, version)), Some((id(), Some(version))));
        }
        assert_eq!(versioned_path(&plain, 0xbeef), format!("1970/01/01/{ID}-000000000000beef.jsonl.gz"));
    }

    #[test]
    fn a_path_is_kept_as_its_day_and_version() {
        for ns in [0, -1, 1_795_206_683_609_778_763] {
            let plain = recording_path(id(), ns);
            for path in [versioned_path(&plain, 7), plain] {
                let (id, version) = named_by(&path).expect("a recording");
                assert_eq!(day_of_path(&path).map(|day| sealed_path(id, day, version)), Some(path));
            }
        }
    }

    #[test]
    fn other_names_say_nothing() {
        for name in ["", "notes.txt", ".jsonl.gz", "a/b/é.jsonl.gz"] {
            assert_eq!(named_by(name), None, "{name}");
        }
        for rest in [".jsonl", "-1.jsonl.gz", "-00000000000000zz.jsonl.gz", ".0000000000000000.jsonl.gz"] {
            assert_eq!(named_by(&format!("{ID}{rest}")), None, "{rest}");
        }
    }
}
