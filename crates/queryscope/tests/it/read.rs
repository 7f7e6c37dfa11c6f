//! The commands that ask a service, against a real one.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Ended, Running, Service, command, queryscope};
use crate::evaluated::{START_UNIX_NS, batches_from, post, until_evaluated};

const HOUR_NS: i64 = 3_600_000_000_000;
const WEEK_NS: i64 = 7 * 24 * HOUR_NS;
/// Columns of a terminal that everything must fit.
const COLUMNS: usize = 80;
/// Columns of a wide one.
const WIDE: usize = 200;
/// Runs of each of the two labels: 60 hours, half an hour between two.
const RUNS: i64 = 120;

/// A service with two labels, of which one changed twice and one once.
struct Filled {
    service: Service,
    _folder: TempDir,
}

impl Filled {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::start(folder.path());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as i64;
        // The detector knows weekdays: the runs begin on a Wednesday, and none is of the last 24 hours.
        let weeks = (now - (RUNS / 2 + 25) * HOUR_NS - START_UNIX_NS).div_euclid(WEEK_NS);
        post(&service, &batches_from(START_UNIX_NS + weeks * WEEK_NS, RUNS));
        until_evaluated(folder.path());
        Self { service, _folder: folder }
    }

    /// Runs a command on a narrow terminal without colours.
    fn ask(&self, args: &[&str]) -> Ended {
        self.ask_on(COLUMNS, args)
    }

    fn ask_on(&self, columns: usize, args: &[&str]) -> Ended {
        let mut command = command();
        command.args(args).arg("--data").arg(&self.service.data);
        command.env("COLUMNS", columns.to_string()).env("TZ", "UTC").env_remove("NO_COLOR");
        Running::start(&mut command).wait()
    }

    /// The same, which fits.
    fn text(&self, args: &[&str]) -> String {
        let text = self.ask(args).success();
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{args:?}: {line}");
            assert!(!line.contains('\x1b'), "{args:?}: {line:?}");
        }
        text
    }

    fn json(&self, args: &[&str]) -> Value {
        let text = self.ask(&[args, &["--json"]].concat()).success();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }

    fn api(&self, path: &str) -> Value {
        self.service.get(path).json()
    }
}

#[test]
fn notes_are_listed_with_their_query_and_their_author() {
    let folder = tempfile::tempdir().expect("a folder");
    let filled = Filled { service: Service::start(folder.path()), _folder: folder };
    let none = filled.ask(&["notes"]);
    assert_eq!(none.out, "No note was written\n");
    none.failure(3);
    for (unix_ns, label, text) in
        [(1, "orders/daily", "The old join"), (2, "orders/daily", "The new\njoin"), (3, "x", "y")]
    {
        let body = json!({"service": "etl", "label": label, "text": text, "by": "Ada", "unix_ns": unix_ns});
        assert_eq!(filled.service.client().ask("/api/notes", &body).expect("an answer").status, 200);
    }
    let text = filled.text(&["notes", "orders/daily"]);
    assert!(text.contains(", orders/daily of etl, by Ada\n  The new\n  join\n\n"), "{text}");
    assert!(text.ends_with("\n  The old join\n"), "{text}");
    assert!(
        filled
            .text(&["notes", "--limit", "1"])
            .ends_with("There are more than these 1: --limit shows them\n")
    );
    assert_eq!(filled.json(&["notes"]), filled.api("/api/notes")["notes"]);
    assert_eq!(filled.ask(&["notes", "--service", ""]).out, "No note was written\n");
}

/// A text on one line, as sentences are wrapped anywhere.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn queries_and_runs_are_listed_sorted_and_written_as_csv_and_json() {
    let filled = Filled::start();
    insta::assert_snapshot!(filled.text(&["list"]));
    // The columns that a small terminal leaves out, and whole ids.
    let wide = filled.ask_on(WIDE, &["runs", "--limit", "3"]).success();
    for run in filled.api("/api/queries?limit=3").as_array().expect("a list") {
        assert!(wide.contains(run["query_id"].as_str().expect("an id")), "{wide}");
        assert!(wide.contains(run["host"].as_str().expect("a text")), "{wide}");
    }
    assert!(wide.lines().all(|line| line.chars().count() <= WIDE), "{wide}");
    let by_name = filled.text(&["list", "--sort", "query", "--reverse", "--limit", "1"]);
    assert!(by_name.contains("orders/weekly") && !by_name.contains("orders/daily"), "{by_name}");
    let list = filled.json(&["list", "--sort", "query"]);
    let labels: Vec<&str> =
        list["queries"].as_array().expect("a list").iter().filter_map(|q| q["label"].as_str()).collect();
    assert_eq!(labels, ["orders/daily", "orders/weekly"]);
    assert_eq!(list["changes"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        filled.json(&["list", "--changed", "--limit", "1"])["queries"].as_array().map(Vec::len),
        Some(1)
    );
    let csv = filled.ask(&["list", "--csv", "--sort", "query"]).success();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "label,service,usual_wall_ms,recent_wall_ms,change,runs,failed,total_wall_ms");
    assert!(lines.len() == 3 && lines[1].starts_with("orders/daily,orders-etl,"), "{csv}");
    // The figures of its change, as the dashboard shows them.
    let changes = list["changes"].as_array().expect("a list");
    let daily = changes.iter().find(|change| change["label"] == "orders/daily").expect("its change");
    let sides = ["before", "after"].map(|side| daily[side]["median_wall_ms"].as_f64().expect("a number"));
    let row: Vec<&str> = lines[1].split(',').collect();
    assert_eq!([row[2], row[3]].map(|figure| figure.parse::<f64>().ok()), sides.map(Some), "{csv}");

    let runs = filled.text(&["runs", "orders/daily", "--limit", "3"]);
    assert!(runs.starts_with("3 runs, newest first; there are more\n"), "{runs}");
    assert_eq!(runs.matches("finished").count(), 3, "{runs}");
    let newest = filled.api("/api/queries?label=orders/daily&limit=3");
    assert_eq!(filled.json(&["runs", "orders/daily", "--limit", "3"]), newest);
    let slowest = filled.json(&["runs", "--sort", "wall", "--limit", "5"]);
    let walls: Vec<f64> =
        slowest.as_array().expect("a list").iter().filter_map(|run| run["wall_ms"].as_f64()).collect();
    let mut all: Vec<f64> =
        filled.service.queries("").iter().filter_map(|run| run["wall_ms"].as_f64()).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(walls, all[..5]);
    let csv = filled.ask(&["runs", "--csv", "--limit", "250"]).success();
    assert_eq!(csv.lines().count(), 1 + 2 * RUNS as usize);
}

#[test]
fn a_change_is_told_as_the_service_tells_it() {
    let filled = Filled::start();
    let text = filled.text(&["why", "orders/daily"]);
    let said = flat(&text);
    let changes = filled.api("/api/changes?label=orders/daily");
    let changes = changes["changes"].as_array().expect("a list");
    let open = changes.iter().find(|change| change["state"] == "open").expect("an open change");
    assert!(said.contains("slower since") && said.contains("Causes"), "{text}");
    for cause in open["causes"].as_array().expect("a list") {
        let sentence = cause["sentence"].as_str().expect("a text");
        assert!(said.contains(sentence), "{sentence:?} is not in\n{text}");
    }
    assert!(said.contains("Earlier changes") && said.contains(": recovered "), "{text}");
    let diff = format!("queryscope diff {}", open["examples"]["run"].as_str().expect("an id"));
    assert!(said.contains(&diff), "{text}");
    let json = filled.json(&["why", "orders/daily"]);
    assert_eq!(json["changes"].as_array(), Some(changes));
    assert_eq!(json["queries"][0]["label"], "orders/daily");

    // Too few runs to say anything.
    let mut stream = Stream::new();
    let finished = stream.finished(Uuid::from_u128(77), "young");
    filled.service.post(&stream.batch(&[finished])).counts();
    let young = flat(&filled.text(&["why", "young"]));
    assert!(
        young.contains(
            "No change is open: 2.5 s in its last run, 1 run in 14 days. A change can be found from 8 runs on"
        ),
        "{young}"
    );
}

#[test]
fn issues_are_listed_by_state_kind_and_label() {
    let filled = Filled::start();
    let issues = filled.api("/api/issues");
    let all = issues["issues"].as_array().expect("a list");
    let [first, second] = &all[..] else { panic!("{issues}") };
    let text = filled.text(&["issues"]);
    assert!(text.starts_with("2 issues, ") && text.contains("of wall time a day at stake"), "{text}");
    for issue in all {
        assert!(text.contains(issue["label"].as_str().expect("a text")), "{text}");
    }
    assert!(text.contains("x slower") && text.contains("Not explained"), "{text}");
    let json = filled.json(&["issues", "--sort", "query"]);
    let labels: Vec<&str> =
        json["issues"].as_array().expect("a list").iter().filter_map(|i| i["label"].as_str()).collect();
    assert_eq!(labels, ["orders/daily", "orders/weekly"]);
    assert_eq!(json["changes"].as_array().map(Vec::len), Some(2));
    let csv = filled.ask(&["issues", "--csv", "--limit", "1"]).success();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "wall_ms_a_day,label,kind,cause,state,since_unix_ns,service,environment,host,id");
    assert!(lines.len() == 2 && lines[1].ends_with(first["id"].as_str().expect("an id")), "{csv}");

    let id = second["id"].as_str().expect("an id");
    let resolve = filled.service.client().ask(&format!("/api/issues/{id}/resolve"), &serde_json::json!({}));
    assert_eq!(resolve.expect("an answer").status, 200);
    let ids = |args: &[&str]| {
        let json = filled.json(&[&["issues"], args].concat());
        let issues = json["issues"].as_array().expect("a list").clone();
        issues.iter().map(|issue| issue["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), [first["id"].as_str().expect("an id")]);
    assert_eq!(ids(&["--state", "resolved"]), [id]);
    assert_eq!(ids(&["--all"]).len(), 2);
    assert_eq!(ids(&["--state", "open,resolved", "--kind", "slower", "--service", "orders-etl"]).len(), 2);
    let label = second["label"].as_str().expect("a text");
    assert_eq!(filled.ask(&["issues", label]).failure(3), "");
    assert_eq!(filled.ask(&["issues", "--all", "--kind", "failing"]).failure(3), "");
    let wrong = filled.ask(&["issues", "--state", "closed"]).failure(2);
    assert!(wrong.contains("possible values: open, acknowledged, muted"), "{wrong}");
    assert!(filled.ask(&["issues", "--state", "open", "--all"]).failure(2).contains("cannot be used with"));
}

#[test]
fn a_run_is_shown_and_compared_and_the_account_sums() {
    let filled = Filled::start();
    let newest = &filled.api("/api/queries?label=orders/daily&limit=1")[0];
    let id = newest["query_id"].as_str().expect("an id");
    let text = filled.text(&["show", id]);
    for part in
        ["orders/daily", "Finished in ", "Its query is ", "Plan\n", "share", "rows out", "Findings\n", id]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let part = id.rsplit('-').next().expect("a part");
    // The runs of a label differ in other digits of their ids.
    let ambiguous = filled.ask(&["show", part]).failure(1);
    assert!(ambiguous.contains("several runs have"), "{ambiguous}");
    assert_eq!(filled.text(&["show", &id[4..]]), text, "a part of an id will do");
    let json = filled.json(&["show", id]);
    assert_eq!(&json["run"], newest);
    let nodes = json["nodes"].as_array().expect("nodes");
    let shares: f64 = nodes.iter().filter_map(|node| node["share"].as_f64()).sum();
    assert!(!nodes.is_empty() && (shares - 1.0).abs() < 1e-9, "{shares} of {json}");

    let diff = filled.text(&["diff", id]);
    assert!(flat(&diff).contains("a typical one of "), "{diff}");
    let compared = filled.json(&["diff", id]);
    let account = &compared["account"];
    let sum: i64 =
        account["parts"].as_array().expect("parts").iter().filter_map(|part| part["ns"].as_i64()).sum();
    let ns = |name: &str| account[name].as_i64().expect("a number");
    assert_eq!((sum, ns("run_wall_ns") - ns("base_wall_ns")), (ns("difference_ns"), sum));
    let base = compared["base"]["query_id"].as_str().expect("an id");
    let named = filled.text(&["diff", base, id]);
    assert!(named.contains("Before ") && flat(&named).contains("the run that was chosen"), "{named}");
}

#[test]
fn plans_are_named_by_letter_or_fingerprint() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut stream = Stream::new();
    let finished = stream.finished(Uuid::from_u128(9), "with@sign");
    service.post(&stream.batch(&[finished])).counts();
    let data = folder.path().to_string_lossy().into_owned();
    let diff = |base: &str, run: &str| queryscope(["diff", base, run, "--data", &data]);
    let same = diff("with@sign@A", "with@sign@4df7").success();
    assert!(same.contains("2.5 s instead of 2.5 s (1.0x). That is about the same."), "{same}");
    let unknown = diff("with@sign@A", "with@sign@B").failure(3);
    assert!(unknown.contains("has no plan \"B\": it has A (4df7bbc342f4)"), "{unknown}");
}

#[test]
fn exit_codes_and_errors_say_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let data = folder.path().to_string_lossy().into_owned();
    let ask = |args: &[&str]| queryscope(args.iter().copied().chain(["--data", &data]));
    let missing = Uuid::from_u128(1).to_string();
    for (args, says) in [
        (&["list"][..], ""),
        (&["runs"], ""),
        (&["show", &missing], "there is no query"),
        (&["show", "abcdef12"], "no run has abcdef12 in its id"),
        (&["why", "none"], "no run of \"none\" is stored"),
        (&["diff", "none@A"], "no run of \"none\" with a plan has finished"),
    ] {
        let error = ask(args).failure(3);
        assert!(error.contains(says), "{args:?}: {error}");
    }
    for (args, says) in [
        (&["list", "--sort", "name"][..], "possible values: query, service, usual"),
        (&["list", "--json", "--csv"], "cannot be used with"),
        (&["runs", "--limit", "0"], "--limit"),
        (&["show"], "<RUN>"),
    ] {
        let error = ask(args).failure(2);
        assert!(error.contains(says), "{args:?}: {error}");
    }
    for (args, says) in [
        (&["show", "x"][..], "is no id of a run"),
        (&["list", "--url", "localhost"], "expected one like http://127.0.0.1:7766"),
        (&["list", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1 cannot be reached: "),
        (&["list", "--token", " "], "the token is empty"),
    ] {
        let error = ask(args).failure(1);
        assert!(error.contains(says), "{args:?}: {error}");
    }
    assert!(ask(&["list"]).failure(3).is_empty(), "an empty list is no error");
    let elsewhere = queryscope(["list", "--url", &service.url, "--token", "any"]).status.code();
    assert_eq!(elsewhere, Some(3));
    service.stop();
    let stopped = ask(&["list"]).failure(1);
    assert!(stopped.contains("no service runs on") && stopped.contains("--url"), "{stopped}");
}

#[test]
fn what_a_terminal_would_act_upon_is_shown_and_not_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut stream = Stream::new();
    let id = Uuid::from_u128(0xabc);
    let evil = r"evil\u001b[2J\u009b31m\u202ename";
    let finished = stream
        .finished(id, evil)
        .replace(r#""result_rows":3"#, r#""failed":"boom\u001b]0;title\u0007\nline two""#);
    service.post(&stream.batch(&[finished])).counts();
    let data = folder.path().to_string_lossy().into_owned();
    let id = id.to_string();
    let outputs: BTreeMap<&str, String> = [
        ("list", &["list"][..]),
        ("list csv", &["list", "--csv"]),
        ("list json", &["list", "--json"]),
        ("runs", &["runs"]),
        ("runs json", &["runs", "--json"]),
        ("show", &["show", &id]),
        ("show json", &["show", &id, "--json"]),
        ("why", &["why", "evil\u{1b}[2J\u{9b}31m\u{202e}name"]),
    ]
    .map(|(name, args)| (name, queryscope(args.iter().copied().chain(["--data", &data])).success()))
    .into();
    for (name, output) in &outputs {
        let is_harmless = |c: char| c == '\n' || !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c);
        assert!(output.chars().all(is_harmless), "{name}: {output:?}");
        assert!(output.contains("evil"), "{name}: {output}");
    }
    assert!(outputs["runs"].contains("evil␛[2J"), "{}", outputs["runs"]);
    assert!(outputs["show"].contains("boom␛]0;title␇\n  line two"), "{}", outputs["show"]);
    let runs: Value = serde_json::from_str(&outputs["runs json"]).expect("JSON");
    assert_eq!(runs[0]["label"], "evil\u{1b}[2J\u{9b}31m\u{202e}name", "JSON keeps the value");
    let error = queryscope(["why", "no\u{1b}[2Jne", "--data", &data]).failure(3);
    assert!(!error.contains('\x1b'), "{error:?}");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut stream = Stream::new();
    let finished = stream.finished(Uuid::from_u128(5), "one");
    service.post(&stream.batch(&[finished])).counts();
    let printed = |variables: &[(&str, &str)]| {
        let mut command = command();
        command.env_remove("NO_COLOR").args(["runs", "--data"]).arg(folder.path());
        command.envs(variables.iter().copied());
        Running::start(&mut command).wait().success()
    };
    assert!(!printed(&[]).contains('\x1b'), "a file gets none");
    assert!(printed(&[("CLICOLOR_FORCE", "1")]).contains('\x1b'));
    assert!(!printed(&[("CLICOLOR_FORCE", "0"), ("NO_COLOR", "1")]).contains('\x1b'));
}
