//! The number of a line that has been read before.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::id::Seq;
use crate::text::Text;

/// Reads the `seq` of an event's line and looks no further; `None` when there is none to read.
///
/// For lines that a [`Batch`](crate::Batch) has accepted before, as recordings hold them: what comes after the
/// `seq` is not checked.
pub fn seq_of(line: &[u8]) -> Option<Seq> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    // The probe ends reading by an error of its own once it has the number.
    let _ = SeqProbe { found: &mut found }.deserialize(&mut deserializer);
    found
}

struct SeqProbe<'p> {
    found: &'p mut Option<Seq>,
}

impl<'a> DeserializeSeed<'a> for SeqProbe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for SeqProbe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'a>>()? {
            if &*key == "seq" {
                *self.found = Seq::new(map.next_value()?).ok();
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_wherever_it_is() {
        for (line, seq) in [
            (r#"{"seq":7}"#, Some(7)),
            (
                r#"{"schema":"s","profile":{"seq":3,"x":[{"seq":4}]},"seq":9223372036854775807}"#,
                Some(Seq::MAX),
            ),
            (r#"{"s\u0065q":7}"#, Some(7)),
            (r#"{"text":"\"seq\":3","seq":8, cut off"#, Some(8)),
            (r#"{"profile":{"seq":3}}"#, None),
            (r#"{"seq":0}"#, None),
            (r#"{"seq":"7"}"#, None),
            ("[7]", None),
            ("", None),
        ] {
            assert_eq!(seq_of(line.as_bytes()).map(Seq::get), seq, "{line}");
        }
    }
}
