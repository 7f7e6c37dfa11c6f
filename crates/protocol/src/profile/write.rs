//! Writes a profile, its members in the order senders use.

use serde::ser::{Error, Serialize, SerializeMap, Serializer};

use super::Profile;
use crate::format::{TELEMETRY_VERSION_SUFFIX, VERSION_SUFFIX, brand, profile_format};
use crate::number::check_millis;

impl Serialize for Profile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let engine = brand(self.engine.as_deref()).map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", &profile_format(self.engine.as_deref()))?;
        if let Some(version) = &self.engine_version {
            map.serialize_entry(&format!("{engine}{VERSION_SUFFIX}"), version)?;
        }
        if let Some(version) = &self.engine_telemetry_version {
            map.serialize_entry(&format!("{engine}{TELEMETRY_VERSION_SUFFIX}"), version)?;
        }
        map.serialize_entry("query_id", &self.query_id)?;
        map.serialize_entry("label", &self.label)?;
        map.serialize_entry("fingerprint", &self.fingerprint)?;
        known(&mut map, "started_unix_ns", self.started_unix_ns.as_ref())?;
        map.serialize_entry("wall_ms", &check_millis("wall_ms", self.wall_ms)?)?;
        map.serialize_entry("planning_ms", &self.planning_ms)?;
        map.serialize_entry("telemetry_ms", &self.telemetry_ms)?;
        let cpu_ms = self.cpu_ms.map(|ms| check_millis("cpu_ms", ms)).transpose()?;
        known(&mut map, "cpu_ms", cpu_ms.as_ref())?;
        map.serialize_entry("result_rows", &self.result_rows)?;
        map.serialize_entry("call_site", &self.call_site)?;
        map.serialize_entry("failed", &self.failed)?;
        map.serialize_entry("redacted", &self.redacted)?;
        known(&mut map, "diagnostics", self.diagnostics.as_ref())?;
        map.serialize_entry("plan", &self.plan)?;
        known(&mut map, "query_metrics", self.query_metrics.as_ref())?;
        known(&mut map, "insights", self.insights.as_ref())?;
        known(&mut map, "trace_id", self.trace_id.as_ref())?;
        known(&mut map, "span_id", self.span_id.as_ref())?;
        map.end()
    }
}

/// Writes a member that may be absent but not null.
fn known<M: SerializeMap, T: Serialize>(map: &mut M, name: &str, value: Option<&T>) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}
