//! JSON objects whose members nobody but their writer knows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON object kept as it was sent: the `properties` of a node, the `diagnostics` of a profile.
#[derive(Clone)]
pub struct Object<'a>(Cow<'a, RawValue>);

impl Object<'_> {
    /// Writes a value as JSON.
    ///
    /// # Errors
    /// When the value is written as something other than an object, or cannot be written.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let raw = serde_json::value::to_raw_value(value)?;
        if is_object(&raw) {
            Ok(Self(Cow::Owned(raw)))
        } else {
            Err(ser::Error::custom(format_args!("expected a JSON object, found {}", raw.get())))
        }
    }

    /// The object's JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }
}

/// Equal when the texts are, white space and order of members included.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if is_object(raw) {
            Ok(Self(Cow::Borrowed(raw)))
        } else {
            Err(D::Error::invalid_type(Unexpected::Other("another value"), &"a JSON object"))
        }
    }
}

/// A raw value starts with its first character, never with white space.
fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_text_as_it_was() {
        let text = r#"{ "b":1, "a":[null] }"#;
        let object: Object<'_> = serde_json::from_str(text).expect("an object");
        assert_eq!(object.as_json(), text);
        assert_eq!(serde_json::to_string(&object).expect("JSON"), text);
    }

    #[test]
    fn takes_objects_alone() {
        for text in ["null", "[]", "1", r#""{""#] {
            assert!(serde_json::from_str::<Object<'_>>(text).is_err(), "{text}");
        }
        assert!(Object::of(&[1]).is_err());
        assert_eq!(
            Object::of(&std::collections::BTreeMap::from([("a", 1)])).expect("an object").as_json(),
            r#"{"a":1}"#
        );
    }
}
