use super::*;

const WHOLE: &str = r#"
base_url = "https://queryscope.example.com/"
group_wait = "30s"
allow_private = ["10.0.0.0/8", "alertmanager.internal"]

[receivers.hook]
type = "webhook"
url = "https://hooks.example.com/in"
secret = "key"

[receivers."orders channel"]
type = "slack"
url = "https://hooks.slack.com/services/T/B/X"

[receivers.pager]
type = "alertmanager"
url = "http://alertmanager.internal:9093"

[receivers.mail]
type = "email"
host = "smtp.example.com"
user = "queryscope"
password = "p"
from = "queryscope <queryscope@example.com>"
to = ["ada@example.com"]

[[routes]]
name = "all"
receiver = "hook"

[[routes]]
name = "orders"
receiver = "orders channel"
projects = ["default"]
services = ["etl"]
labels = ["orders/**"]
kinds = ["slower", "data_grew"]
owners = ["orders"]

[[owners]]
label = "**"
owner = "data"

[[owners]]
label = "orders/*"
owner = "orders"

[cost]
per_core_hour = 0.05
currency = "EUR"
"#;

fn problems(text: &str) -> Vec<String> {
    let problems = Config::parse(text, Secrets::Read).expect_err("it is wrong");
    problems.into_iter().map(|Problem { line, column, cause }| format!("{line}:{column}: {cause}")).collect()
}

/// The mistakes of the whole file where one text of it is another.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert_eq!(WHOLE.matches(from).count(), 1, "{from}");
    problems(&WHOLE.replace(from, to))
}

#[test]
fn a_whole_file_is_read() {
    let config = Config::parse(WHOLE, Secrets::Read).expect("a file");
    assert_eq!((config.group_wait, config.receivers.len()), (Duration::from_secs(30), 4));
    let names: Vec<&str> = config.routes.iter().map(|route| route.name.as_str()).collect();
    assert_eq!(names, ["all", "orders"]);
    assert_eq!(config.receiver(&config.routes[1]).type_name(), "slack");
    assert_eq!(config.routes[1].kinds, [Kind::Slower, Kind::DataGrew]);
    assert_eq!(
        config.issue_link("issue-1").as_deref(),
        Some("https://queryscope.example.com/issues/issue-1")
    );
    assert_eq!(config.home_link().as_deref(), Some("https://queryscope.example.com/"));
    assert_eq!(config.price, Some(Price { per_core_hour: 0.05, currency: "EUR".into() }));
    assert!(!format!("{config:?}").contains("services/T"), "secrets are not shown");
    let empty = Config::parse("", Secrets::Read).expect("a file");
    assert_eq!((empty.group_wait, empty.home_link(), empty.source()), (GROUP_WAIT, None, "urn:queryscope"));
    assert_eq!(empty.price, None);
}

#[test]
fn each_mistake_is_named_with_its_place() {
    let same = |found: Vec<String>, expected: &str| assert_eq!(found, [expected]);
    same(
        changed("receiver = \"hook\"", "receiver = \"hok\""),
        "29:12: there is no receiver \"hok\": expected one of \"hook\", \"mail\", \"orders channel\", \"pager\"",
    );
    same(
        changed("\"data_grew\"", "\"fast\""),
        &format!(
            "37:20: \"fast\" is no kind of issue: expected one of {}",
            Kind::ALL.map(Kind::name).join(", ")
        ),
    );
    same(
        changed("owners = [\"orders\"]", "owners = [\"oders\"]"),
        "38:11: no rule names the owner \"oders\": expected one of \"data\", \"orders\"",
    );
    same(
        changed("type = \"webhook\"", "type = \"hook\""),
        "7:8: \"hook\" is no type of a receiver: expected webhook, slack, alertmanager or email",
    );
    same(changed("secret = \"key\"", "to = [\"a@b\"]"), "9:6: a receiver of the type webhook has no to");
    same(
        changed("group_wait = \"30s\"", "group_wait = \"1h\""),
        "3:14: \"1h\": expected a time from 0s to 10m, like 30s",
    );
    same(
        changed("\"10.0.0.0/8\"", "\"10.0.0/8\""),
        "4:18: \"10.0.0/8\" is no address, network or host: expected one like 10.0.0.7, 10.0.0.0/8 or hooks.internal",
    );
    let not_public = "is not a public address: name it in allow_private where messages may go there";
    same(
        changed("https://hooks.example.com/in", "http://169.254.169.254/in"),
        &format!("8:7: 169.254.169.254 {not_public}"),
    );
    same(changed("https://hooks.example.com/in", "http://[::1]:80/"), &format!("8:7: ::1 {not_public}"));
    // However an address is written.
    same(changed("https://hooks.example.com/in", "http://0x7f.1/"), &format!("8:7: 127.0.0.1 {not_public}"));
    same(
        changed("https://hooks.example.com/in", "file:///etc/passwd"),
        "8:7: it must begin with http:// or https:// and a host",
    );
    same(changed("name = \"orders\"", "name = \"all\""), "32:8: another route is named \"all\", too");
    same(
        changed("labels = [\"orders/**\"]", "labels = [\"[a\"]").drain(..1).collect(),
        "36:11: \"[a\" is no pattern: unclosed character class; missing ']'",
    );
    same(changed("password = \"p\"", "tls = \"none\""), "19:1: user and password are given together");
    same(
        changed("password = \"p\"", "password = \"p\"\ntls = \"none\""),
        "19:1: a password is not sent without TLS: tls must be starttls or tls",
    );
    same(
        changed("to = [\"ada@example.com\"]", "to = []"),
        "25:6: the list is empty: expected mailboxes, like [\"ada@example.com\"]",
    );
    same(
        changed("to = [\"ada@example.com\"]\n", ""),
        "19:1: a receiver of the type email needs host, from and to",
    );
    let no_host = "is no host: expected one like smtp.example.com or 198.51.100.7";
    for host in ["", "smtp example.com", "mail:25", "10.0.0"] {
        same(changed("smtp.example.com", host), &format!("21:8: {host:?} {no_host}"));
    }
    same(changed("smtp.example.com", "192.168.1.1"), &format!("21:8: 192.168.1.1 {not_public}"));
    same(changed("smtp.example.com", "::1"), &format!("21:8: ::1 {not_public}"));
    same(
        changed("user = \"queryscope\"", "user = \"queryscope\"\nport = 0"),
        "23:8: 0 is no port: expected 1 to 65535",
    );
    same(changed("label = \"**\"\n", ""), "40:1: a rule of owners needs one of label and path");
    for price in ["0", "-1", "0.0", "nan", "inf"] {
        let shown = price.parse::<f64>().expect("a number");
        let says = format!("49:17: {shown} is no price: expected a number above 0");
        same(changed("per_core_hour = 0.05", &format!("per_core_hour = {price}")), &says);
    }
    for currency in ["", "US dollars", "a long currency"] {
        let says = format!("50:12: {currency:?} is no currency: expected 1 to 10 characters, like EUR");
        same(changed("\"EUR\"", &format!("{currency:?}")), &says);
    }
    same(changed("currency = \"EUR\"\n", ""), "48:1: the cost needs a currency");
    same(changed("per_core_hour = 0.05\n", ""), "48:1: the cost needs a price per_core_hour");
    let a_text = changed("per_core_hour = 0.05", "per_core_hour = \"5\"").concat();
    assert!(a_text.starts_with("49:17: invalid type: string \"5\""), "{a_text}");
}

#[test]
fn lists_that_keep_nothing_are_refused() {
    for (list, column, says) in [
        ("projects = []", 12, "the list is empty: leave it out to keep all"),
        ("services = []", 12, "the list is empty: leave it out to keep all"),
        ("labels = []", 10, "the list is empty: leave it out to keep all"),
        ("kinds = []", 9, "the list is empty: leave it out to keep all but data_grew"),
        ("owners = []", 10, "the list is empty: leave it out to keep all"),
        ("projects = [\"\"]", 13, "it is empty: expected a name"),
        ("services = [\"a\", \"\"]", 18, "it is empty: expected a name"),
        ("labels = [\"\"]", 11, "it is empty: expected a pattern, like orders/**"),
        ("kinds = [\"\"]", 10, "\"\" is no kind of issue: expected one of"),
        ("owners = [\"\"]", 11, "no rule names the owner \"\": the file names none"),
        // Its only item is named alone.
        ("kinds = [5]", 10, "invalid type: integer `5`, expected a string"),
    ] {
        let text = format!(
            "[receivers.x]\ntype = \"slack\"\nurl = \"https://x\"\n[[routes]]\nname = \"a\"\nreceiver = \"x\"\n{list}\n"
        );
        let found = problems(&text);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("7:{column}: {says}")),
            "{list}: {found:?}"
        );
    }
    assert_eq!(
        changed("label = \"orders/*\"", "label = \"\""),
        ["45:9: it is empty: expected a pattern, like orders/**"]
    );
}

#[test]
fn mistakes_are_told_in_words_of_files() {
    let same = |found: Vec<String>, expected: &str| assert_eq!(found, [expected]);
    same(
        changed("kinds = [\"slower\", \"data_grew\"]", "kinds = \"slower\""),
        "37:9: invalid type: string \"slower\", expected a list, like [\"slower\"]",
    );
    same(
        changed("user = \"queryscope\"", "user = \"queryscope\"\nport = 70000"),
        "23:8: invalid value: integer `70000`, expected a number from 0 to 65535",
    );
    same(
        changed("per_core_hour = 0.05", "per_core_hour = \"f64, expected f64\""),
        "49:17: invalid type: string \"f64, expected f64\", expected a number",
    );
    same(changed("name = \"all\"", "name = [\"all\"]"), "28:8: invalid type: a list, expected a string");
    same(problems("receivers = [1]\n"), "1:13: invalid type: a list, expected a table");
    same(changed("name = \"all\"", "name = \"all\"\nname = \"b\""), "29:1: the key name is given twice");
    same(problems("[receivers.x]\ntype = \"slack\"\n[receivers.x]\n"), "3:12: the key x is given twice");
}

#[test]
fn what_is_no_file_of_this_kind_is_refused_with_its_place() {
    let one = |text: &str| {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{found:?}");
        found.concat()
    };
    assert!(one("a = ").starts_with("1:5: "), "{}", one("a = "));
    let unknown = one("base_url = \"https://x\"\nrouts = []\n");
    assert!(unknown.starts_with("2:1: unknown field `routs`, expected one of `base_url`"), "{unknown}");
    let kind = one("[[owners]]\nowner = 5\nlabel = \"x\"\n");
    assert!(kind.starts_with("2:9: ") && kind.contains("expected a string"), "{kind}");
    let place = one("[receivers.x]\ntype = \"slack\"\nurl = { evn = \"X\" }\n");
    assert_eq!(place, r#"3:7: expected a text, { env = "NAME" } or { file = "PATH" }"#);
    let secret = one("[receivers.x]\ntype = \"slack\"\nurl = { env = \"QUERYSCOPE_NOT_SET\" }\n");
    assert_eq!(secret, "3:7: the environment variable QUERYSCOPE_NOT_SET is not set, or not UTF-8");
    let several = problems("base_url = \"x\"\n[receivers.\"\"]\ntype = \"slack\"\n");
    assert_eq!(several.len(), 3, "{several:?}");
}

#[test]
fn what_has_no_place_hides_no_other_mistake_and_makes_none() {
    let text = WHOLE
        .replace("group_wait = \"30s\"", "group_wait = \"1h\"\ntypo = { a = [1,\n 2] }")
        .replace("secret = \"key\"", "secrte = \"key\"\nurl2 = 5")
        // A receiver that cannot be read is still named by a route.
        .replace("type = \"slack\"\nurl = \"https://hooks.slack.com/services/T/B/X\"", "type = 5\nurl = 6")
        .replace("host = \"smtp.example.com\"", "host = 7")
        .replace("name = \"all\"", "name = 8")
        .replace("projects = [\"default\"]", "projects = [\"default\", 9]")
        .replace("kinds = [\"slower\", \"data_grew\"]", "kinds = [\"slower\", 10, \"fast\"]")
        .replace("label = \"**\"", "lable = \"**\"");
    let found = problems(&text);
    let begins = [
        "3:14: \"1h\": expected a time",
        "4:1: unknown field `typo`",
        "11:1: unknown field `secrte`",
        "12:1: unknown field `url2`",
        "15:8: invalid type: integer `5`",
        "16:7: expected a text, {",
        "24:8: invalid type: integer `7`",
        "31:8: invalid type: integer `8`",
        "37:24: invalid type: integer `9`",
        "40:20: invalid type: integer `10`",
        "40:24: \"fast\" is no kind of issue",
        "43:1: a rule of owners needs one of label and path",
        "44:1: unknown field `lable`",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found}: {begin}");
    }
    let several = problems("a = \nb = 1 2\n[receivers.x\nc = 3\n");
    assert!(
        several.len() >= 3 && several[0].starts_with("1:5: ") && several[1].starts_with("2:"),
        "{several:?}"
    );
}

#[test]
fn what_is_missing_hides_no_other_mistake() {
    let text = r#"
[receivers.x]
url = "http://10.0.0.9/"

[receivers.hook]
url = 5
secret = { env = "A", file = "b" }

[receivers.mail]
type = "email"
tls = "none of these"
user = "ada"
port = 0
to = ["a", "b"]

[[routes]]
name = "q!"
kinds = ["z"]

[[routes]]
receiver = "nobody"

[[owners]]
label = "**"
path = "x"
owner = "data"

[[owners]]
label = "orders/*"
"#;
    let begins = [
        "2:1: a receiver needs a type",
        "5:1: a receiver needs a type",
        "6:7: expected a text, {",
        "9:1: a receiver of the type email needs host, from and to",
        "9:1: user and password are given together",
        "11:7: \"none of these\": expected starttls",
        "13:8: 0 is no port",
        "14:7: \"a\" is no mailbox",
        "14:12: \"b\" is no mailbox",
        "16:1: a route needs a receiver",
        "17:8: \"q!\" is no name",
        "18:10: \"z\" is no kind",
        "20:1: a route needs a name",
        "21:12: there is no receiver \"nobody\"",
        "23:1: a rule of owners needs one of label and path",
        "28:1: a rule of owners needs an owner",
    ];
    let found = problems(text);
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found}: {begin}");
    }
    let none = problems("receivers = { x = 5 }\n");
    assert_eq!(none, ["1:19: invalid type: integer `5`, expected a table"]);
}

#[test]
fn a_file_of_nothing_but_mistakes_is_read_to_a_bound() {
    let lines: Vec<String> = (0..500).map(|n| format!("key{n} = {n}\n")).collect();
    assert_eq!(problems(&lines.concat()).len(), 100);
}

#[test]
fn no_mistake_shows_a_secret() {
    for value in [
        "55512345678",
        "-55512345678",
        "5551234567855512345678",
        "555123.45678",
        "true",
        "2026-11-25",
        "[\"hunter2\"]",
        "{ hunter2 = \"env\" }",
        "{ env = 55512345678 }",
        "{ file = [\"hunter2\"] }",
        "{ env = { hunter2 = \"x\" } }",
        "{ env = \"A\", env = \"hunter2\" }",
        "\"hunter2",
        "hunter2",
        "\"hunter2\\q\"",
        "\"hunter2\" \"x\"",
    ] {
        for field in ["url", "secret", "authorization", "password"] {
            let url = if field == "url" { "" } else { "url = \"https://hooks.example.com\"\n" };
            let found = problems(&format!("[receivers.x]\ntype = \"webhook\"\n{field} = {value}\n{url}"));
            let found = found.concat();
            assert!(found.starts_with("3:") && !found.contains("hunter2"), "{field} = {value}: {found}");
            assert!(!found.contains("555") && !found.contains("2026"), "{field} = {value}: {found}");
        }
    }
}

#[test]
fn without_secrets_the_rest_is_judged() {
    let text = "[receivers.x]\ntype = \"slack\"\nurl = { env = \"QUERYSCOPE_NOT_SET\" }\n";
    Config::parse(text, Secrets::Ignore).expect("a file");
    let both = text.replace("\" }", "\", file = \"y\" }");
    assert!(Config::parse(&both, Secrets::Ignore).is_err());
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("queryscope.toml");
    let error = Config::load(&path, Secrets::Read).expect_err("missing").to_string();
    assert!(error.contains("queryscope.toml: cannot be read"), "{error}");
    std::fs::write(&path, "group_wait = \"x\"\nbase_url = \"y\"\n").expect("written");
    let error = Config::load(&path, Secrets::Read).expect_err("wrong").to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert!(
        lines[0].contains("queryscope.toml:1:14: ") && lines[1].contains("queryscope.toml:2:12: "),
        "{error}"
    );
    std::fs::write(&path, [0xff]).expect("written");
    assert!(Config::load(&path, Secrets::Read).expect_err("bytes").to_string().ends_with("it is not UTF-8"));
}

#[test]
fn two_receivers_of_one_address_are_refused() {
    let twice = changed("https://hooks.slack.com/services/T/B/X", "https://hooks.example.com/in");
    let same = "11:12: the receiver \"hook\" has the same url";
    assert_eq!(twice, [same]);
    let otherwise = "https://HOOKS.example.com:443/x/../in#top";
    assert_eq!(changed("https://hooks.slack.com/services/T/B/X", otherwise), [same]);
    // What is in the file is judged without secrets, too; what is not in it is not the same as another.
    let text = WHOLE.replace("https://hooks.slack.com/services/T/B/X", otherwise);
    let found = Config::parse(&text, Secrets::Ignore).expect_err("the same");
    assert_eq!(found.len(), 1, "{found:?}");
    let elsewhere = WHOLE
        .replace("\"https://hooks.slack.com/services/T/B/X\"", "{ env = \"A\" }")
        .replace("\"https://hooks.example.com/in\"", "{ env = \"B\" }");
    Config::parse(&elsewhere, Secrets::Ignore).expect("a file");
}

#[test]
fn a_base_url_holds_no_password() {
    let found = changed("https://queryscope.example.com/", "https://ada:secret@queryscope.example.com/");
    assert_eq!(found, ["2:12: it must hold no user and no password"]);
}

#[test]
fn all_mistakes_of_a_route_are_named() {
    let text = WHOLE
        .replace("receiver = \"orders channel\"", "receiver = \"nobody\"")
        .replace("\"orders/**\"", "\"orders/[\"")
        .replace("\"data_grew\"", "\"grown\"")
        .replace("owners = [\"orders\"]", "owners = [\"nobody\"]");
    assert_eq!(problems(&text).len(), 4, "{:?}", problems(&text));
}

#[test]
fn a_file_without_an_end_is_not_read() {
    let endless = Config::load(Path::new("/dev/zero"), Secrets::Read).expect_err("it has no end");
    assert!(endless.to_string().contains("larger than"), "{endless}");
}
