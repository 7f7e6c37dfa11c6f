//! Attributes of OpenTelemetry.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

/// Texts of attributes are cut to this many characters.
const CHARS_MAX: usize = 1024;
/// The semantic conventions that names follow.
pub(super) const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";

/// Collects attributes; what is not known is left out.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<KeyValue>);

impl Attributes {
    pub(super) fn text(self, key: &str, text: Option<&str>) -> Self {
        self.add(key, text.map(|text| Value::StringValue(cut(text))))
    }

    pub(super) fn integer(self, key: &str, value: Option<i64>) -> Self {
        self.add(key, value.map(Value::IntValue))
    }

    pub(super) fn double(self, key: &str, value: Option<f64>) -> Self {
        self.add(key, value.map(Value::DoubleValue))
    }

    /// Nothing where there is no text.
    pub(super) fn texts<'t>(self, key: &str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let text = |text| AnyValue { value: Some(Value::StringValue(cut(text))) };
        let values: Vec<AnyValue> = texts.into_iter().map(text).collect();
        self.add(key, (!values.is_empty()).then_some(Value::ArrayValue(ArrayValue { values })))
    }

    pub(super) fn flag(self, key: &str, is_set: bool) -> Self {
        self.add(key, is_set.then_some(Value::BoolValue(true)))
    }

    fn add(mut self, key: &str, value: Option<Value>) -> Self {
        if let Some(value) = value {
            let value = Some(AnyValue { value: Some(value) });
            self.0.push(KeyValue { key: key.into(), value, ..KeyValue::default() });
        }
        self
    }

    pub(super) fn list(self) -> Vec<KeyValue> {
        self.0
    }

    pub(super) fn resource(self) -> Resource {
        Resource { attributes: self.0, ..Resource::default() }
    }
}

pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "queryscope".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    }
}

pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
