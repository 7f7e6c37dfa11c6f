//! Numbers the format bounds, checked on the way out, and on the way in where a whole profile is read.
//!
//! JSON has no NaN and no infinity: unchecked, `serde_json` writes `null` for them, which a reader refuses.

use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use serde::ser::{Error, Serializer};

/// Passes a number of milliseconds on, or refuses it by name.
pub(crate) fn check_millis<E: Error>(name: &str, ms: f64) -> Result<f64, E> {
    if ms.is_finite() && ms >= 0.0 {
        Ok(ms)
    } else {
        Err(E::custom(format_args!("{name} is {ms}, expected a number of milliseconds >= 0")))
    }
}

/// Writes a number that is left out where it is unknown.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(crate) fn finite<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) if number.is_finite() => serializer.serialize_f64(*number),
        Some(number) => Err(S::Error::custom(format_args!("expected a finite number, found {number}"))),
        None => serializer.serialize_none(),
    }
}

/// Writes a number of milliseconds under the name of its member.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn elapsed_ms<S: Serializer>(ms: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(check_millis("elapsed_ms", *ms)?)
}

/// Reads a number of milliseconds. How many it may be at most was checked when it was sent.
pub(crate) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let ms = f64::deserialize(deserializer)?;
    if ms >= 0.0 {
        Ok(ms)
    } else {
        Err(D::Error::invalid_value(Unexpected::Float(ms), &"a number of milliseconds >= 0"))
    }
}
