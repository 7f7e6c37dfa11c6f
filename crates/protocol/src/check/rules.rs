//! Rules of single values, arrays and open objects.

use std::borrow::Cow;
use std::marker::PhantomData;

use uuid::Uuid;

use super::{Allowed, Cursor, Problem, Rule, Stop, expect};
use crate::error::Step;
use crate::format::{engine_of_events, engine_of_profile};
use crate::id::parse_hyphenated;
use crate::limits::DURATION_MS_MAX;
use crate::text::Text;

/// Makes a rule of what a cursor takes.
macro_rules! value {
    ($(#[$doc:meta])* $rule:ident: $value:ty = $allowed:literal, |$cursor:ident| $read:expr) => {
        $(#[$doc])*
        pub(crate) struct $rule;

        impl<'de> Rule<'de> for $rule {
            type Value = $value;
            const ALLOWED: Allowed = Allowed::new($allowed);

            #[inline]
            fn read($cursor: &mut Cursor<'de>) -> Result<$value, Stop> {
                $read
            }
        }
    };
}

value! {
    /// Anything at all: a member the format does not name.
    Anything: () = "a JSON value", |cursor| cursor.skip_value()
}
value! {
    /// Anything at all, as it is written.
    Raw: &'de str = "a JSON value", |cursor| {
        let before = cursor.rest();
        cursor.skip_value()?;
        Ok(&before[..before.len() - cursor.rest().len()])
    }
}
value! {
    /// An integer from 0 to 2^64 - 1.
    Unsigned: u64 = "an integer >= 0", |cursor| cursor.unsigned()
}
value! {
    /// An integer of 64 bits; -0 is none, as everywhere in `serde_json`.
    Integer: i64 = "an integer", |cursor| match cursor.number()? {
        "-0" => Err(Stop),
        number => number.parse().map_err(|_| Stop),
    }
}
value! {
    /// A number, unless it is too large to be held.
    Number: f64 = "a number", |cursor| serde_json::from_str(cursor.number()?).map_err(|_| Stop)
}
value! {
    /// A boolean.
    Boolean: bool = "true or false", |cursor| {
        let is = cursor.takes_word("true");
        if is || cursor.takes_word("false") { Ok(is) } else { Err(Stop) }
    }
}
value! {
    /// A text that is kept.
    Kept: Text<'de> = "a string", |cursor| cursor.text().map(Text::from)
}
value! {
    /// A text that is not kept.
    AnyText: () = "a string", |cursor| match cursor.peek() {
        Some(b'"') => cursor.skip_text().map(drop),
        _ => Err(Stop),
    }
}
value! {
    /// An object whose members are the sender's own.
    AnyObject: () = "an object", |cursor| match cursor.peek() {
        Some(b'{') => cursor.skip_value(),
        _ => Err(Stop),
    }
}
value! {
    /// The identity of a stream or query.
    Id: Uuid = "a UUID like 01a1faa8-1bd9-77b2-97ab-860dd7026506", |cursor| {
        parse_hyphenated(&cursor.text()?).map_err(|_| Stop)
    }
}
value! {
    /// The name of the profile's format.
    ProfileFormat: Option<Cow<'de, str>> = "<engine>-telemetry/profile@1 with an engine of a-z, 0-9 and -", |cursor| {
        let engine = match cursor.text()? {
            Cow::Borrowed(text) => engine_of_profile(text).map(|engine| engine.map(Cow::Borrowed)),
            Cow::Owned(text) => engine_of_profile(&text).map(|engine| engine.map(|e| Cow::Owned(e.into()))),
        };
        engine.map_err(|_| Stop)
    }
}
value! {
    /// The name of the format of events, and the engine in it.
    EventsEngine: Option<Cow<'de, str>> = "<engine>-telemetry/events@1 with an engine of a-z, 0-9 and -", |cursor| {
        let engine = match cursor.text()? {
            Cow::Borrowed(text) => engine_of_events(text).map(|engine| engine.map(Cow::Borrowed)),
            Cow::Owned(text) => engine_of_events(&text).map(|engine| engine.map(|e| Cow::Owned(e.into()))),
        };
        engine.map_err(|_| Stop)
    }
}
value! {
    /// A duration; how long it may be is asked of a line that is sent, not of one that was stored before.
    Millis: f64 = "a number of milliseconds from 0 to 315360000000 (10 years)", |cursor| {
        let ms = Number::read(cursor)?;
        let is_allowed = ms >= 0.0 && (ms <= DURATION_MS_MAX || !cursor.is_whole());
        is_allowed.then_some(ms).ok_or(Stop)
    }
}

/// So many lowercase hex characters.
pub(crate) struct HexText<const DIGITS: usize>;

impl<'de, const DIGITS: usize> Rule<'de> for HexText<DIGITS> {
    type Value = ();
    const ALLOWED: Allowed = Allowed::new(match DIGITS {
        16 => "16 lowercase hex characters",
        32 => "32 lowercase hex characters",
        _ => panic!("the format has no such id"),
    });

    fn read(cursor: &mut Cursor<'de>) -> Result<(), Stop> {
        let text = cursor.text()?;
        let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == DIGITS && text.bytes().all(is_hex)).then_some(()).ok_or(Stop)
    }
}

/// A value, or null for none.
pub(crate) struct Optional<R>(PhantomData<R>);

impl<'de, R: Rule<'de>> Rule<'de> for Optional<R> {
    type Value = Option<R::Value>;
    const ALLOWED: Allowed = Allowed { or_null: true, ..R::ALLOWED };

    fn read(cursor: &mut Cursor<'de>) -> Result<Self::Value, Stop> {
        if cursor.takes_word("null") { Ok(None) } else { R::read(cursor).map(Some) }
    }
}

/// An array whose items follow one rule. Items of which nothing is kept take no memory.
pub(crate) struct Items<R>(PhantomData<R>);

impl<'de, R: Rule<'de>> Rule<'de> for Items<R> {
    type Value = Vec<R::Value>;
    const ALLOWED: Allowed = Allowed::new("an array");

    fn read(cursor: &mut Cursor<'de>) -> Result<Self::Value, Stop> {
        let mut kept = Vec::new();
        items::<R>(cursor, |item| kept.push(item))?;
        Ok(kept)
    }
}

/// Reads an array whose items follow one rule, and gives each to a function.
#[inline]
pub(crate) fn items<'de, R: Rule<'de>>(
    cursor: &mut Cursor<'de>,
    mut take: impl FnMut(R::Value),
) -> Result<(), Stop> {
    if !cursor.takes(b'[') {
        return Err(Stop);
    }
    let mut at = 0;
    let mut goes_on = !cursor.takes(b']');
    while goes_on {
        take(expect::<R>(cursor).inspect_err(|_| cursor.step(Step::Item(at)))?);
        at += 1;
        goes_on = cursor.goes_on(b']')?;
    }
    Ok(())
}

/// An object whose names are decimal numbers of 64 bits, and whose values follow one rule.
pub(crate) struct DecimalMap<R>(PhantomData<R>);

impl<'de, R: Rule<'de>> Rule<'de> for DecimalMap<R> {
    type Value = ();
    const ALLOWED: Allowed = Allowed::new("an object of node id to counters");

    fn read(cursor: &mut Cursor<'de>) -> Result<(), Stop> {
        if !cursor.takes(b'{') {
            return Err(Stop);
        }
        let mut goes_on = !cursor.takes(b'}');
        while goes_on {
            let name = cursor.name()?;
            if cursor.is_whole() && node_id(&name).is_none() {
                let (name, allowed) = (name.into_owned(), "a node id in decimal digits");
                return Err(cursor.stop(Problem::Misnamed { name, allowed }));
            }
            expect::<R>(cursor).inspect_err(|_| cursor.step(Step::member(&name)))?;
            goes_on = cursor.goes_on(b'}')?;
        }
        Ok(())
    }
}

/// The id of a node as the name of a member: digits alone.
pub(crate) fn node_id(name: &str) -> Option<u64> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}
