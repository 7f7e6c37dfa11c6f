use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

/// Whether a text is one JSON value, by the cursor and by `serde_json`.
fn both(text: &str) -> (bool, bool) {
    let own = read::<Anything>(text, Depth::Whole);
    (own.is_ok(), serde_json::from_str::<IgnoredAny>(text).is_ok())
}

#[test]
fn json_is_what_serde_json_takes_for_it() {
    for text in [
        "",
        " ",
        "null",
        " null\t\r\n",
        "nul",
        "nulll",
        "true",
        "false",
        "True",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "-1",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E+5",
        "1e-",
        "1e",
        "1.e3",
        "+1",
        "1e999",
        "0x1",
        "NaN",
        "Infinity",
        "\"",
        "\"\"",
        "\"a",
        "\"\\\"",
        "\"\\\\\"",
        "\"\\/\\b\\f\\n\\r\\t\"",
        "\"\\u00e4\"",
        "\"\\u00g4\"",
        "\"\\u00\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\",
        "\"\t\"",
        "\"\u{1f}\"",
        "\"\u{7f}\"",
        "\"äöü€𝄞\"",
        "\"12345678\"",
        "\"1234567\u{1}\"",
        "\"12345678",
        "{}",
        "{",
        "}",
        "{ }",
        "{\"a\":1}",
        "{\"a\" : 1 , \"b\":[]}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "[",
        "]",
        "[]",
        "[ ]",
        "[1]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[[],[{}],{\"a\":[{}]}]",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "1 2",
        "{} {}",
        "[]]",
    ] {
        let (own, other) = both(text);
        assert_eq!(own, other, "{text:?}");
    }
}

#[test]
fn depth_is_no_matter() {
    let deep = format!("{}{}", "[{\"a\":".repeat(50_000), "1");
    assert_eq!(read::<Anything>(&deep, Depth::Whole), Err(BatchErrorKind::CutOff));
    assert_eq!(read::<Anything>(&(deep + &"}]".repeat(50_000)), Depth::Whole), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_judged_alike(text in "[\\[\\]{}:,\"\\\\/ 0-9a-fnrtuE.+\\-\t\u{1}ä]{0,24}") {
        let (own, other) = both(&text);
        prop_assert_eq!(own, other, "{:?}", text);
    }

    #[test]
    fn any_damage_is_judged_alike(at: prop::sample::Index, put in "[\\[\\]{}:,\"\\\\ 0-9enu.\\-]{0,2}") {
        let sound = r#"{"a":[1,-2.5e+3,{"b":"x\n\u00e4 long enough for eight","c":null}],"d":true,"e":{"f":[[],{}]}}"#;
        let at = at.index(sound.len());
        for end in [at, at + 1] {
            let text = format!("{}{put}{}", &sound[..at], &sound[end..]);
            let (own, other) = both(&text);
            prop_assert_eq!(own, other, "{:?}", text);
        }
    }

    #[test]
    fn numbers_are_those_of_serde_json(text in "-?[0-9]{0,21}(\\.[0-9]{1,4})?(e-?[0-9]{1,3})?") {
        let unsigned = read::<Unsigned>(&text, Depth::Whole).ok();
        prop_assert_eq!(unsigned, serde_json::from_str::<u64>(&text).ok());
        let items = read::<Items<Unsigned>>(&format!("[{text},{text}]"), Depth::Whole).ok();
        prop_assert_eq!(items, unsigned.map(|number| vec![number; 2]));
        prop_assert_eq!(read::<Integer>(&text, Depth::Whole).ok(), serde_json::from_str::<i64>(&text).ok());
        let number = read::<Number>(&text, Depth::Whole).ok().map(f64::to_bits);
        prop_assert_eq!(number, serde_json::from_str::<f64>(&text).ok().map(f64::to_bits));
    }

    #[test]
    fn texts_are_those_of_serde_json(text in "\\PC{0,40}") {
        let json = serde_json::to_string(&text).expect("JSON");
        let read = read::<Kept>(&json, Depth::Whole).expect("a text");
        prop_assert_eq!(&*read, text.as_str());
    }
}
