use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn one(text: &str) -> Clause {
    let mut clauses = parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}")).clauses;
    assert_eq!(clauses.len(), 1, "{text}");
    clauses.remove(0)
}

fn number(field: NumberField, comparison: Comparison, value: f64) -> Test {
    Test::Number { field, comparison, value: Amount::new(value).expect("finite") }
}

fn text(field: TextField, pattern: Pattern) -> Test {
    Test::Text { field, pattern }
}

#[test]
fn each_kind_of_condition_is_read() {
    use Comparison::{AtLeast, AtMost, Equal, Less, More};
    use NumberField::{Cpu, Memory, Read, Rows, Spilled, Wall, Warnings};
    let holds = |part: &str| Pattern::Holds(part.into());
    let is = |name: &str| Pattern::Is(name.into());
    let glob = |parts: &[&str]| Pattern::Glob(parts.iter().map(ToString::to_string).collect());
    for (filter, expected) in [
        ("wall>10s", number(Wall, More, 10_000.0)),
        ("cpu>1m", number(Cpu, More, 60_000.0)),
        ("wall<=1.5h", number(Wall, AtMost, 5_400_000.0)),
        ("wall<500us", number(Wall, Less, 0.5)),
        ("wall>=0", number(Wall, AtLeast, 0.0)),
        ("rows>1M", number(Rows, More, 1e6)),
        ("rows:20k", number(Rows, Equal, 20_000.0)),
        ("read>10GB", number(Read, More, 1e10)),
        ("read<=1.5kB", number(Read, AtMost, 1_500.0)),
        ("read:4096", number(Read, Equal, 4_096.0)),
        ("spilled>0", number(Spilled, More, 0.0)),
        ("spilled=7B", number(Spilled, Equal, 7.0)),
        ("memory>=1GiB", number(Memory, AtLeast, 1_073_741_824.0)),
        ("memory<0.5MiB", number(Memory, Less, 524_288.0)),
        ("warnings=0", number(Warnings, Equal, 0.0)),
        ("error~timeout", text(TextField::Error, holds("timeout"))),
        ("error~\"no such *\"", text(TextField::Error, holds("no such *"))),
        ("label:orders/*", text(TextField::Label, glob(&["orders/", ""]))),
        ("label:*/daily", text(TextField::Label, glob(&["", "/daily"]))),
        ("label:\"a * b\"*", text(TextField::Label, glob(&["a * b", ""]))),
        ("label:orders\" daily\"", text(TextField::Label, is("orders daily"))),
        ("label:\"\"", text(TextField::Label, Pattern::Absent)),
        ("host:worker-1", text(TextField::Host, is("worker-1"))),
        ("finding:spilling", text(TextField::Finding, is("spilling"))),
        ("version:2026.11.3", text(TextField::Version, is("2026.11.3"))),
        ("engine_version=1.35", text(TextField::EngineVersion, is("1.35"))),
        ("status:failed", Test::Status(Status::Failed)),
        ("timeout", Test::Word("timeout".into())),
        ("orders/daily", Test::Word("orders/daily".into())),
        ("\"no such column: x\"", Test::Word("no such column: x".into())),
        ("01a1:x", Test::Word("01a1:x".into())),
        ("\"a \\\"b\\\" \\\\ \\n\"", Test::Word("a \"b\" \\ \\n".into())),
    ] {
        assert_eq!(one(filter), Clause { is_negated: false, test: expected.clone() }, "{filter}");
        assert_eq!(one(&format!(" -{filter} ")), Clause { is_negated: true, test: expected }, "-{filter}");
    }
    assert_eq!(parse("  ").map(|filter| filter.clauses.len()), Ok(0));
    assert_eq!(parse("a b\tc").map(|filter| filter.clauses.len()), Ok(3));
}

#[test]
fn a_mistake_says_where_it_is_and_what_is_allowed() {
    for (filter, position, reason) in [
        ("wall>10", 6, "\"10\" is not a duration such as 500ms, 10s, 2m, 1.5h or 1d"),
        ("a wall>x", 8, "\"x\" is not a duration such as 500ms, 10s, 2m, 1.5h or 1d"),
        ("ä rows>1GB", 8, "\"1GB\" is not a number such as 100, 20k, 1M or 2.5G"),
        ("read>5G", 6, "\"5G\" is not a number of bytes such as 4096, 500kB, 64MiB or 1.5GB"),
        ("wall~x", 5, "wall is a number: it takes >, >=, <, <= or ="),
        ("label>x", 6, "label is a text: it takes \":\" or \"~\""),
        ("status>x", 7, "status takes \":\""),
        ("status:done", 8, "\"done\" is no status: running, finished, failed, unfinished are"),
        ("label:", 7, "a value must follow label; \"\" stands for none"),
        ("wall> 5s", 6, "a value must follow wall"),
        ("error~\"\"", 7, "a text must follow \"~\""),
        ("x \"abc", 3, "this quote is not closed"),
        ("a - b", 4, "a condition or a word must follow \"-\""),
        ("\"\"", 1, "a word must not be empty"),
    ] {
        let expected = Err(Mistake { position, reason: reason.into() });
        assert_eq!(parse(filter), expected, "{filter}");
    }
    let unknown = parse("wall>1s color:red").expect_err("no field");
    assert_eq!(unknown.position, 9);
    for part in FIELDS.into_iter().chain(["\"color\"", "quotes"]) {
        assert!(unknown.reason.contains(part), "{part}: {unknown}");
    }
    assert_eq!(parse(&"a ".repeat(CLAUSES_MAX + 1)).expect_err("too many").position, 2 * CLAUSES_MAX + 1);
    assert_eq!(parse(&"a".repeat(TEXT_CHARS_MAX + 1)).expect_err("too long").position, TEXT_CHARS_MAX + 1);
}

#[test]
fn every_field_is_listed() {
    let numbers = NumberField::ALL.map(NumberField::name);
    let texts = TextField::ALL.map(TextField::name);
    let all: Vec<&str> = numbers.into_iter().chain(["status"]).chain(texts).collect();
    assert_eq!(all, FIELDS);
}

#[test]
fn globs_match_whole_texts() {
    let glob = |pattern: &str| one(&format!("label:{pattern}")).test;
    for (pattern, text, expected) in [
        ("a*", "a", true),
        ("a*", "abc", true),
        ("a*", "ba", false),
        ("*a", "bba", true),
        ("*a", "ab", false),
        ("a*a", "a", false),
        ("a*a", "aa", true),
        ("*b*", "abc", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "acb", false),
        ("*", "", true),
        ("A*", "abc", false),
    ] {
        let Test::Text { pattern: of, .. } = glob(pattern) else { panic!("a text") };
        assert_eq!(of.matches(Some(text)), expected, "{pattern} {text}");
        assert!(!of.matches(None));
        assert!(!expected || text.to_lowercase().contains(&of.needle()));
    }
}

#[test]
fn what_an_index_serves_is_moved_to_its_field() {
    let filter = |text: &str| {
        let mut filter = QueryFilter { host: Some("set".into()), ..QueryFilter::default() };
        parse(text).expect(text).add_to(&mut filter);
        filter
    };
    let moved = filter("label:x status:failed version:\"\" plan:p word");
    assert!(moved.expression.is_empty());
    assert_eq!((moved.label, moved.status), (Some(Is::Value("x".into())), Some(Status::Failed)));
    assert_eq!((moved.program_version, moved.search.as_deref()), (Some(Is::Absent), Some("word")));
    for left in ["host:h", "-label:x", "label:x*", "label~x", "wall>1s", "error:x", "finding:x", "-word"] {
        assert_eq!(filter(left).expression, parse(left).expect(left), "{left}");
    }
    assert_eq!(filter("label:a label:b one two").expression, parse("label:b two").expect("valid"));
}

/// Any condition that can be written.
fn any_clause() -> impl Strategy<Value = Clause> {
    let text = || "[ a-cA-C*\"\\\\:~>-]{1,4}";
    let pattern = prop_oneof![
        Just(Pattern::Absent),
        text().prop_map(Pattern::Is),
        text().prop_map(Pattern::Holds),
        prop::collection::vec("[a-c *\"]{0,2}", 2..4).prop_map(Pattern::Glob),
    ];
    let number = (select(&NumberField::ALL[..]), select(&Comparison::ALL[..]), 0.0..1e9_f64);
    let test = prop_oneof![
        number.prop_map(|(field, comparison, value)| self::number(field, comparison, value)),
        (select(&TextField::ALL[..]), pattern).prop_map(|(field, pattern)| self::text(field, pattern)),
        select(&Status::ALL[..]).prop_map(Test::Status),
        text().prop_map(Test::Word),
    ];
    (any::<bool>(), test).prop_map(|(is_negated, test)| Clause { is_negated, test })
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(clauses in prop::collection::vec(any_clause(), 0..6)) {
        let expression = Expression { clauses };
        prop_assert_eq!(parse(&expression.to_string()), Ok(expression));
    }

    #[test]
    fn of_any_text_there_is_a_filter_or_a_place(text in "[a-z\"\\\\*:~<>=0-9 .äΣ-]{0,40}") {
        match parse(&text) {
            Ok(expression) => prop_assert_eq!(parse(&expression.to_string()), Ok(expression)),
            Err(mistake) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&mistake.position));
                prop_assert!(!mistake.reason.is_empty());
            }
        }
    }
}
