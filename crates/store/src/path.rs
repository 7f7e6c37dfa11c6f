//! Names of recordings.

use chrono::{DateTime, Datelike, NaiveDate};
use queryscope_protocol::QueryId;

use crate::recording::Pack;

pub(crate) const NS_PER_DAY: i64 = 86_400_000_000_000;
const SUFFIX: &str = ".jsonl.gz";
const PACK_SUFFIX: &str = ".zip";

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
pub(crate) fn day_of_path(path: &str) -> Option<i64> {
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

/// `YYYY/MM/DD/<number>.zip`, by a UTC day (since 1970-01-01); the number has 16 hexadecimal digits.
pub fn pack_path(day: i64, number: u64) -> String {
    let day = DateTime::from_timestamp_nanos(day.saturating_mul(NS_PER_DAY)).date_naive();
    format!("{:04}/{:02}/{:02}/{number:016x}{PACK_SUFFIX}", day.year(), day.month(), day.day())
}

/// The pack of a path; `None` for any other path.
pub fn pack_named_by(path: &str) -> Option<Pack> {
    let name = path.rsplit('/').next()?.strip_suffix(PACK_SUFFIX).filter(|digits| digits.len() == 16)?;
    let (day, number) = (day_of_path(path)?, u64::from_str_radix(name, 16).ok()?);
    (pack_path(day, number) == path).then_some(Pack { day, number })
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
    fn a_pack_is_named_by_its_day_and_number() {
        assert_eq!(pack_path(0, 0xbeef), "1970/01/01/000000000000beef.zip");
        for (day, number) in [(0, 0), (-1, 7), (20_000, u64::MAX)] {
            assert_eq!(pack_named_by(&pack_path(day, number)), Some(Pack { day, number }));
        }
        let other = ["", "000000000000beef.zip", "1970/01/01/beef.zip", "1970/01/01/000000000000BEEF.zip"];
        for path in other.into_iter().chain(["1970/1/01/000000000000beef.zip", "1970/01/01/000000000000beef"])
        {
            assert_eq!(pack_named_by(path), None, "{path}");
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
