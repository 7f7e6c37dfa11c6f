//! What a program sets, from Python's words to the library's.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use queryscope_client::{ConsoleTable, EventsFile, HttpExporter, ProfilesFile, Redaction};

/// Names of the parts that can be masked.
const REDACTIONS: [&str; 7] = ["literals", "paths", "errors", "call_sites", "labels", "properties", "all"];

/// A place that events go to, as Python gives it: its name, or a tuple whose first member is the name.
#[derive(FromPyObject)]
pub(crate) enum ExporterOption {
    /// `("http", url, token, timeout in seconds)`.
    Http(String, String, Option<String>, Option<f64>),
    /// `("events", path)` or `("profiles", path)`, with the bytes of a file and the files that are kept.
    File(String, String, u64, u32),
    /// `"console"`.
    Console(String),
}

/// An exporter of the library.
pub(crate) enum ExporterChoice {
    Http(HttpExporter),
    Events(EventsFile),
    Profiles(ProfilesFile),
    Console(ConsoleTable),
}

impl TryFrom<ExporterOption> for ExporterChoice {
    type Error = PyErr;

    fn try_from(option: ExporterOption) -> PyResult<Self> {
        match option {
            ExporterOption::Http(kind, url, token, timeout) if kind == "http" => {
                let mut exporter = HttpExporter::new(url);
                if let Some(token) = token {
                    exporter = exporter.token(token);
                }
                if let Some(seconds) = timeout {
                    let timeout =
                        Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
                    let invalid = || PyValueError::new_err("timeout must be a number of seconds above 0");
                    exporter = exporter.timeout(timeout.ok_or_else(invalid)?);
                }
                Ok(Self::Http(exporter))
            }
            ExporterOption::File(kind, path, bytes, files) => match kind.as_str() {
                "events" => Ok(Self::Events(EventsFile::new(path).rotate(bytes, files))),
                "profiles" => Ok(Self::Profiles(ProfilesFile::new(path).rotate(bytes, files))),
                _ => Err(unknown(&kind)),
            },
            ExporterOption::Console(kind) if kind == "console" => Ok(Self::Console(ConsoleTable::new())),
            ExporterOption::Http(kind, ..) | ExporterOption::Console(kind) => Err(unknown(&kind)),
        }
    }
}

fn unknown(kind: &str) -> PyErr {
    PyValueError::new_err(format!(
        "there is no exporter {kind:?}: http, events, profiles and console are known"
    ))
}

/// What to mask, from the names of its parts.
pub(crate) fn redaction(names: &[String]) -> PyResult<Redaction> {
    names.iter().try_fold(Redaction::none(), |redaction, name| {
        Ok(match name.as_str() {
            "literals" => redaction.literals(),
            "paths" => redaction.paths(),
            "errors" => redaction.errors(),
            "call_sites" => redaction.call_sites(),
            "labels" => redaction.labels(),
            "properties" => redaction.properties(),
            "all" => Redaction::all(),
            _ => {
                let known = REDACTIONS.join(", ");
                return Err(PyValueError::new_err(format!("redact takes {known}; there is no {name:?}")));
            }
        })
    })
}
