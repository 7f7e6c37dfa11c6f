//! Profiles files: the profile of a query that has ended on each line, as the client's `ProfilesFile` writes them.
//!
//! A profile is stored as what its query would have sent at its end. It says nothing of its process: the service and
//! environment are none, the host is `unknown`. Its stream has the id of the query, so that the same profile is always
//! the same event, whichever file it stands in.

use anyhow::{Context, Result, anyhow, bail};
use queryscope_protocol::{QueryId, engine_of_profile, events_format};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::events_file::FileBatch;
use crate::lines::{LastLine, Lines};

/// What the schema of a profile of any version holds.
const PROFILE: &str = "-telemetry/profile@";

/// Reads a file profile by profile.
pub(crate) struct ProfilesFile {
    lines: Lines,
    count: u64,
}

/// A profile as a batch of its own.
#[derive(Debug)]
pub(crate) struct ProfileBatch {
    pub(crate) query: QueryId,
    pub(crate) batch: FileBatch,
}

/// What tells a profile from anything else.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
    query_id: Option<String>,
}

impl ProfilesFile {
    /// Whether a file that begins with this line is one of profiles.
    pub(crate) fn is_begun_by(line: &str) -> bool {
        let head: Option<Head> = serde_json::from_str(line).ok();
        head.and_then(|head| head.schema).is_some_and(|schema| schema.contains(PROFILE))
    }

    pub(crate) fn new(lines: Lines) -> Self {
        Self { lines, count: 0 }
    }

    /// Whether the file ended in the middle of a line, which was left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.lines.is_cut()
    }

    /// The next profile.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no profile of a query.
    pub(crate) fn next_profile(&mut self) -> Result<Option<ProfileBatch>> {
        loop {
            let last = match self.count {
                0 => LastLine::Kept,
                _ => LastLine::LeftOutUnless(|text| serde_json::from_str::<&RawValue>(text).is_ok()),
            };
            let Some(line) = self.lines.next(last)? else { return Ok(None) };
            if line.trim().is_empty() {
                continue;
            }
            self.count += 1;
            let number = self.lines.number();
            return batch(line.trim(), number).map(Some).with_context(|| format!("line {number}"));
        }
    }
}

/// The batch of a process that sent this profile and nothing else.
fn batch(profile: &str, line: u64) -> Result<ProfileBatch> {
    let head: Head = serde_json::from_str(profile).map_err(|error| {
        anyhow!("it is not a profile as a JSON object, from column {} on", error.column())
    })?;
    let Some(schema) = head.schema else { bail!("it has no schema: expected a profile") };
    let events = events_format(engine_of_profile(&schema)?);
    let id = head.query_id.context("its query_id is missing")?;
    let query: QueryId = id.parse().map_err(|error| anyhow!("query_id: {error}"))?;
    let process =
        format!(r#"{{"schema":"{events}","seq":1,"type":"process","id":"{query}","host":"unknown"}}"#);
    let finished =
        format!(r#"{{"schema":"{events}","seq":2,"type":"query.finished","query_id":"{query}","profile":"#);
    let text = format!("{process}\n{finished}{profile}}}\n");
    Ok(ProfileBatch { query, batch: FileBatch { text: text.into_bytes(), lines: vec![line; 2] } })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn profile(schema: &str, query: &str) -> String {
        format!(
            r#"{{"schema":"{schema}","query_id":"{query}","wall_ms":1,"plan":{{"physical":[],"logical":[]}}}}"#
        )
    }

    /// The lines of the file that profiles were read from, whether it was cut, and what kept it from being read on.
    fn read(content: &[u8]) -> (Vec<u64>, bool, Option<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profiles.jsonl");
        std::fs::write(&path, content).expect("written");
        let mut file = ProfilesFile::new(Lines::open(&path).expect("there"));
        let mut lines = Vec::new();
        loop {
            match file.next_profile() {
                Ok(Some(each)) => lines.push(each.batch.lines[1]),
                Ok(None) => return (lines, file.is_cut(), None),
                Err(error) => return (lines, file.is_cut(), Some(format!("{error:#}"))),
            }
        }
    }

    #[test]
    fn a_profile_is_a_batch_of_its_own() {
        let profile = profile("polars-telemetry/profile@1", QUERY);
        let ProfileBatch { query, batch } = batch(&profile, 7).expect("a profile");
        assert_eq!(query.to_string(), QUERY);
        assert_eq!(batch.lines, [7, 7]);
        let read = queryscope_protocol::Batch::open(&batch.text).expect("a batch");
        assert_eq!(read.process.id.to_string(), QUERY);
        let events: Vec<_> = read.events.map(|event| event.expect("an event")).collect();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].engine.as_deref(), Some("polars"));
        assert!(events[0].line.ends_with(&format!(r#""profile":{profile}}}"#)), "{}", events[0].line);
    }

    #[test]
    fn blank_lines_are_passed_over_and_a_cut_last_line_is_left_out() {
        let one = profile("engine-telemetry/profile@1", QUERY);
        assert_eq!(read(format!("\n{one}\n\n{one}").as_bytes()), (vec![2, 4], false, None));
        assert_eq!(read(format!("{one}\n{}", &one[..40]).as_bytes()), (vec![1], true, None));
    }

    #[test]
    fn what_is_no_profile_is_named_with_line_and_cause() {
        let one = profile("engine-telemetry/profile@1", QUERY);
        for (second, says) in [
            ("hello".into(), "line 2: it is not a profile as a JSON object, from column 1 on"),
            ("[1]".into(), "line 2: it is not a profile as a JSON object, from column"),
            ("{}".into(), "line 2: it has no schema: expected a profile"),
            (
                profile("engine-telemetry/profile@2", QUERY),
                "line 2: unknown format \"engine-telemetry/profile@2\"",
            ),
            (
                profile("engine-telemetry/events@1", QUERY),
                "line 2: unknown format \"engine-telemetry/events@1\"",
            ),
            (profile("engine-telemetry/profile@1", "7"), "line 2: query_id: \"7\" is not a UUID"),
            (one.replace("query_id", "query"), "line 2: its query_id is missing"),
        ] {
            let (lines, _, error) = read(format!("{one}\n{second}\n").as_bytes());
            let error = error.unwrap_or_else(|| panic!("{second} was read"));
            assert_eq!(lines, [1]);
            assert!(error.starts_with(says), "{error}");
        }
        let (_, _, error) = read(&[one.as_bytes(), b"\n\xff\n"].concat());
        assert_eq!(error.as_deref(), Some("line 2 is not UTF-8"));
    }

    #[test]
    fn files_of_profiles_are_told_by_their_first_line() {
        assert!(
            ProfilesFile::is_begun_by(&profile("duckdb-telemetry/profile@2", QUERY)),
            "a later version is named"
        );
        for other in ["", "hello", "[]", r#"{"schema":"engine-telemetry/events@1"}"#] {
            assert!(!ProfilesFile::is_begun_by(other), "{other}");
        }
    }
}
