//! Why a line is refused, in the words of JSON: senders are not written in Rust alone.

/// Characters that are shown of a value of the sender's.
const SHOWN_CHARS: usize = 80;

/// What serde expects, by the name it has in Rust and the one it has in JSON.
const EXPECTED: [(&str, &str); 3] =
    [("u64", "a whole number >= 0"), ("i64", "a whole number"), ("f64", "a number")];
/// What a derived reader of an object expects: this and the name of its type.
const OBJECT: &str = "struct ";

/// An error of one line as a sentence: its column matters, its line is always 1.
pub(crate) fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{} at column {}", in_words(what), error.column()),
        None => in_words(&text),
    }
}

/// Turns `invalid type: map, expected f64` into `expected a number, found an object`.
fn in_words(what: &str) -> String {
    let pair = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|begin| what.strip_prefix(begin)?.rsplit_once(", expected "));
    let Some((found, expected)) = pair else { return what.to_owned() };
    let named = EXPECTED.iter().find(|(rust, _)| *rust == expected).map(|(_, name)| *name);
    let expected = match named {
        Some(name) => name,
        None if expected.starts_with(OBJECT) => "a JSON object",
        None => expected,
    };
    format!("expected {expected}, found {}", value(found))
}

/// A value as serde tells of it: its type in Rust, and the value itself where that is short.
fn value(found: &str) -> String {
    let shown = |value: &str| {
        let cut: String = value.chars().take(SHOWN_CHARS).collect();
        if cut.len() < value.len() { cut + "…" } else { cut }
    };
    for numeric in ["integer `", "floating point `", "boolean `"] {
        if let Some(value) = found.strip_prefix(numeric) {
            return shown(value.trim_end_matches('`'));
        }
    }
    match found {
        "map" => "an object".into(),
        "sequence" => "an array".into(),
        "string" | "byte array" => "a string".into(),
        _ => match found.strip_prefix("string ") {
            Some(text) => format!("the string {}", shown(text)),
            None => shown(found),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Line {
        #[serde(rename = "seq")]
        _seq: u64,
        #[serde(rename = "wall_ms")]
        _wall_ms: f64,
        #[serde(rename = "started")]
        _started: Option<i64>,
        #[serde(rename = "inner")]
        _inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[serde(rename = "done")]
        _done: bool,
    }

    fn why(line: &str) -> String {
        sentence(&serde_json::from_str::<Line>(line).expect_err(line))
    }

    #[test]
    fn the_words_are_those_of_json() {
        for (line, reason) in [
            (r#"{"seq":"7"}"#, r#"expected a whole number >= 0, found the string "7" at column 10"#),
            (r#"{"seq":-1}"#, "expected a whole number >= 0, found -1 at column 9"),
            (r#"{"seq":1.5}"#, "expected a whole number >= 0, found 1.5 at column 10"),
            (r#"{"seq":null}"#, "expected a whole number >= 0, found null at column 11"),
            (r#"{"seq":1,"wall_ms":{"#, "expected a number, found an object at column 19"),
            (r#"{"seq":1,"wall_ms":["#, "expected a number, found an array at column 19"),
            (r#"{"seq":1,"started":true"#, "expected a whole number, found true at column 23"),
            (r#"{"inner":{"done":1}}"#, "expected a boolean, found 1 at column 18"),
            (r#"{"inner":7}"#, "expected a JSON object, found 7 at column 10"),
            (r#"{"seq":1}"#, "missing field `wall_ms` at column 9"),
            ("{", "EOF while parsing an object at column 1"),
        ] {
            assert_eq!(why(line), reason, "{line}");
        }
    }

    #[test]
    fn a_text_of_the_senders_is_shown_in_part_and_not_understood() {
        let long = why(&format!(r#"{{"seq":"{}"}}"#, "x".repeat(10_000)));
        assert!(long.len() < 200 && long.starts_with("expected a whole number >= 0, found"), "{long}");
        let odd = why(r#"{"seq":"a, expected f64"}"#);
        assert_eq!(odd, r#"expected a whole number >= 0, found the string "a, expected f64" at column 24"#);
    }
}
