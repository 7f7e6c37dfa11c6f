//! Reads a profile. Its version members carry the brand of the engine in their names, so the names are known
//! only once the format name has been read, wherever it stands.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Profile;
use crate::format::{
    NEUTRAL_ENGINE, TELEMETRY_VERSION_SUFFIX, VERSION_SUFFIX, engine_of_profile, version_of,
};
use crate::number::millis;
use crate::text::Text;

impl<'de: 'a, 'a> Deserialize<'de> for Profile<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProfileVisitor)
    }
}

struct ProfileVisitor;

impl<'de> Visitor<'de> for ProfileVisitor {
    type Value = Profile<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Profile<'de>, A::Error> {
        let mut from = Members { map };
        let mut schema: Option<Text<'de>> = None;
        let mut versions: Vec<(Text<'de>, &'de str)> = Vec::new();
        let mut query_id = None;
        let mut wall_ms: Option<Millis> = None;
        let mut cpu_ms: Option<Option<Millis>> = None;
        let mut plan = None;
        let mut label = None;
        let mut fingerprint = None;
        let mut started_unix_ns = None;
        let mut planning_ms = None;
        let mut telemetry_ms = None;
        let mut query_metrics = None;
        let mut result_rows = None;
        let mut call_site = None;
        let mut failed = None;
        let mut redacted = None;
        let mut diagnostics = None;
        let mut insights = None;
        let mut trace_id = None;
        let mut span_id = None;
        while let Some(name) = from.map.next_key::<Text<'de>>()? {
            match &*name {
                "schema" => from.take("schema", &mut schema)?,
                "query_id" => from.take("query_id", &mut query_id)?,
                "wall_ms" => from.take("wall_ms", &mut wall_ms)?,
                "cpu_ms" => from.take("cpu_ms", &mut cpu_ms)?,
                "plan" => from.take("plan", &mut plan)?,
                "label" => from.take("label", &mut label)?,
                "fingerprint" => from.take("fingerprint", &mut fingerprint)?,
                "started_unix_ns" => from.take("started_unix_ns", &mut started_unix_ns)?,
                "planning_ms" => from.take("planning_ms", &mut planning_ms)?,
                "telemetry_ms" => from.take("telemetry_ms", &mut telemetry_ms)?,
                "query_metrics" => from.take("query_metrics", &mut query_metrics)?,
                "result_rows" => from.take("result_rows", &mut result_rows)?,
                "call_site" => from.take("call_site", &mut call_site)?,
                "failed" => from.take("failed", &mut failed)?,
                "redacted" => from.take("redacted", &mut redacted)?,
                "diagnostics" => from.take("diagnostics", &mut diagnostics)?,
                "insights" => from.take("insights", &mut insights)?,
                "trace_id" => from.take("trace_id", &mut trace_id)?,
                "span_id" => from.take("span_id", &mut span_id)?,
                other if other.ends_with(VERSION_SUFFIX) => {
                    versions.push((name, from.map.next_value::<&RawValue>()?.get()))
                }
                _ => {
                    from.map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let schema = schema.ok_or_else(|| A::Error::missing_field("schema"))?;
        let engine = engine_of_profile(&schema).map_err(A::Error::custom)?;
        let version = |suffix| {
            let mut brands = engine.into_iter().chain([NEUTRAL_ENGINE]);
            brands.find_map(|brand| version_of(Some(brand), suffix, &versions))
        };
        Ok(Profile {
            engine_version: version(VERSION_SUFFIX),
            engine_telemetry_version: version(TELEMETRY_VERSION_SUFFIX),
            engine: engine.map(|engine| Cow::Owned(engine.to_owned())),
            query_id: query_id.ok_or_else(|| A::Error::missing_field("query_id"))?,
            wall_ms: wall_ms.ok_or_else(|| A::Error::missing_field("wall_ms"))?.0,
            cpu_ms: cpu_ms.flatten().map(|Millis(ms)| ms),
            plan: plan.ok_or_else(|| A::Error::missing_field("plan"))?,
            label: label.flatten(),
            fingerprint: fingerprint.flatten(),
            started_unix_ns: started_unix_ns.flatten(),
            planning_ms: planning_ms.flatten(),
            telemetry_ms: telemetry_ms.flatten(),
            query_metrics: query_metrics.flatten(),
            result_rows: result_rows.flatten(),
            call_site: call_site.flatten(),
            failed: failed.flatten(),
            redacted: redacted.flatten(),
            diagnostics: diagnostics.flatten(),
            insights: insights.flatten(),
            trace_id: trace_id.flatten(),
            span_id: span_id.flatten(),
        })
    }
}

struct Members<A> {
    map: A,
}

impl<'de, A: MapAccess<'de>> Members<A> {
    fn take<T: Deserialize<'de>>(
        &mut self,
        name: &'static str,
        slot: &mut Option<T>,
    ) -> Result<(), A::Error> {
        if slot.is_some() {
            return Err(A::Error::duplicate_field(name));
        }
        *slot = Some(self.map.next_value()?);
        Ok(())
    }
}

#[derive(Deserialize)]
struct Millis(#[serde(deserialize_with = "millis")] f64);
