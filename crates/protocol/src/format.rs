//! Format names and the engine brand they carry.
//!
//! `<engine>-telemetry/events@1` names the batch format for the engine `<engine>`; `engine` itself is the
//! neutral word and the one queryscope writes by default.

use std::ops::Deref;

use thiserror::Error;

use crate::text::Text;

/// The neutral name of the batch format.
pub const EVENTS_FORMAT: &str = "engine-telemetry/events@1";
/// The neutral name of the profile format.
pub const PROFILE_FORMAT: &str = "engine-telemetry/profile@1";

const EVENTS_SUFFIX: &str = "-telemetry/events@1";
const PROFILE_SUFFIX: &str = "-telemetry/profile@1";
/// The brand of the neutral form.
pub(crate) const NEUTRAL_ENGINE: &str = "engine";
/// What follows the brand in the name of the member that holds the engine's version.
pub(crate) const VERSION_SUFFIX: &str = "_version";
/// What follows the brand in the name of the member that holds the version of its telemetry library.
pub(crate) const TELEMETRY_VERSION_SUFFIX: &str = "_telemetry_version";

/// A format name that is not one this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown format {found:?}, expected <engine>{expected} with an engine of a-z, 0-9 and -")]
pub struct FormatError {
    found: String,
    expected: &'static str,
}

/// The engine an events format name carries; `None` for the neutral form.
///
/// # Errors
/// When the name is not `<engine>-telemetry/events@1` with an engine of the form `[a-z][a-z0-9-]*`.
pub fn engine_of_events(schema: &str) -> Result<Option<&str>, FormatError> {
    engine(schema, EVENTS_SUFFIX)
}

/// The engine a profile format name carries; `None` for the neutral form.
///
/// # Errors
/// When the name is not `<engine>-telemetry/profile@1` with an engine of the form `[a-z][a-z0-9-]*`.
pub fn engine_of_profile(schema: &str) -> Result<Option<&str>, FormatError> {
    engine(schema, PROFILE_SUFFIX)
}

/// The events format name of an engine; the neutral one for `None`.
pub fn events_format(engine: Option<&str>) -> String {
    format!("{}{EVENTS_SUFFIX}", engine.unwrap_or(NEUTRAL_ENGINE))
}

/// The profile format name of an engine; the neutral one for `None`.
pub fn profile_format(engine: Option<&str>) -> String {
    format!("{}{PROFILE_SUFFIX}", engine.unwrap_or(NEUTRAL_ENGINE))
}

/// The brand that member names of an engine's documents carry.
///
/// # Errors
/// When the engine is not of the form `[a-z][a-z0-9-]*`.
pub(crate) fn brand(engine: Option<&str>) -> Result<&str, FormatError> {
    let brand = engine.unwrap_or(NEUTRAL_ENGINE);
    if is_brand(brand) {
        Ok(brand)
    } else {
        let found = events_format(engine).chars().take(80).collect();
        Err(FormatError { found, expected: EVENTS_SUFFIX })
    }
}

/// The version that members of these names and texts in JSON give a brand (the neutral one without it); one that is no
/// text says nothing. Members of another brand than the document's are unknown members and may hold anything.
pub(crate) fn version_of<'de>(
    brand: Option<&str>,
    suffix: &str,
    members: &[(impl Deref<Target = str>, &'de str)],
) -> Option<Text<'de>> {
    let brand = brand.unwrap_or(NEUTRAL_ENGINE);
    let (_, json) = members.iter().find(|(name, _)| name.strip_suffix(suffix) == Some(brand))?;
    serde_json::from_str(json).ok()
}

fn engine<'a>(schema: &'a str, suffix: &'static str) -> Result<Option<&'a str>, FormatError> {
    schema
        .strip_suffix(suffix)
        .filter(|engine| is_brand(engine))
        .map(|engine| (engine != NEUTRAL_ENGINE).then_some(engine))
        .ok_or_else(|| FormatError { found: schema.chars().take(80).collect(), expected: suffix })
}

fn is_brand(engine: &str) -> bool {
    engine.starts_with(|c: char| c.is_ascii_lowercase())
        && engine.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_brand() {
        assert_eq!(engine_of_events(EVENTS_FORMAT), Ok(None));
        assert_eq!(engine_of_profile(PROFILE_FORMAT), Ok(None));
        assert_eq!(engine_of_events("polars-telemetry/events@1"), Ok(Some("polars")));
        assert_eq!(engine_of_events("data-fusion2-telemetry/events@1"), Ok(Some("data-fusion2")));
        assert_eq!(events_format(Some("polars")), "polars-telemetry/events@1");
        assert_eq!(events_format(None), EVENTS_FORMAT);
        assert_eq!(profile_format(Some("polars")), "polars-telemetry/profile@1");
        assert_eq!(profile_format(None), PROFILE_FORMAT);
    }

    #[test]
    fn refuses_other_versions_formats_and_brands() {
        for schema in [
            "engine-telemetry/events@2",
            "engine-telemetry/events",
            "engine-telemetry/profile@1",
            "-telemetry/events@1",
            "Polars-telemetry/events@1",
            "2x-telemetry/events@1",
            "a b-telemetry/events@1",
            "",
        ] {
            assert!(engine_of_events(schema).is_err(), "{schema:?}");
        }
    }

    #[test]
    fn an_error_quotes_no_more_than_a_line() {
        let error = engine_of_events(&"x".repeat(10_000)).expect_err("not a format");
        assert!(error.to_string().len() < 200, "{error}");
    }
}
