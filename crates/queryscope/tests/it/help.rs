//! What the command line says of itself.

use crate::common::queryscope;

/// The help of a command, whose lines fit a terminal and whose options all say what they are for.
fn help(command: &[&str]) -> String {
    let text = queryscope(command.iter().copied().chain(["--help"])).success();
    let lines: Vec<&str> = text.lines().collect();
    for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
        assert!(line.chars().count() <= 100, "{command:?}: {line}");
        if line.trim_start().starts_with('-') {
            let (_, told) = line.trim_start().split_once("  ").unwrap_or(("", next.trim()));
            assert!(told.trim().len() > 8, "{command:?} says nothing of {line:?}\n{text}");
        }
    }
    // Without the line breaks, so that tests name phrases wherever they are wrapped.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_says_what_it_does_and_what_it_takes() {
    for (command, says) in [
        (&[][..], &["See what queries do", "Without a command it serves", "serve", "import", "--bind"][..]),
        (
            &["serve"],
            &[
                "--bind <ADDR>",
                "[default: 127.0.0.1:7766]",
                "--ingest-bind <ADDR>",
                "--data <DIR>",
                "[default: queryscope-data]",
                "--token <TOKEN>",
                "--allowed-host <NAME>",
                "--login",
                "--trusted-proxy <ADDRESS[/BITS]>",
                "--proxy-user-header <NAME>",
                "--proxy-groups-header <NAME>",
                "--config <FILE>",
                "--oidc-issuer <URL>",
                "--oidc-client-id <ID>",
                "--oidc-client-secret-file <FILE>",
                "--oidc-groups-claim <CLAIM>",
                "--oidc-role <GROUP=ROLE>",
                "--silent-after <TIME>",
                "seconds, or like 90s or 5m",
                "--keep-days <DAYS>",
                "--mcp-actions",
                "--otlp <URL>",
                "--otlp-headers <NAME=VALUE>",
                "--otlp-nodes",
                "--otlp-metrics-every <TIME>",
                "more than so many days ago",
                "[default: keep all]",
                "[env: QUERYSCOPE_SILENT_AFTER=]",
            ],
        ),
        (
            &["import"],
            &["Store events files and profiles files", "<FILE>...", "plain or gzip", "--project <PROJECT>"],
        ),
        (&["config", "check"], &["Judge a file", "<FILE>", "--without-secrets"]),
        (&["alert", "test"], &["Send a test message", "<ROUTE>", "--config <FILE>"]),
        (&["token"], &["add", "list", "revoke"]),
        (&["token", "add"], &["print it, this once", "<NAME>", "--project <PROJECT>"]),
        (&["token", "list"], &["List tokens by name"]),
        (&["token", "revoke"], &["Revoke a token", "<NAME>"]),
        (&["user"], &["add", "list", "remove", "password"]),
        (
            &["user", "add"],
            &["first line of standard input", "<NAME>", "--role <ROLE>", "--project <PROJECT>"],
        ),
        (
            &["check"],
            &[
                "Judge a data folder or a shared database",
                "--acknowledged <FILE>",
                "byte for byte",
                "--database <URL>",
            ],
        ),
        (
            &["migrate"],
            &["Move a data folder", "--from <DIR>", "--to <URL>", "--recordings <PLACE>", "run again"],
        ),
        (&["top"], &["Watch what runs now", "--url <URL>", "--service <SERVICE>"]),
        (
            &["list"],
            &["List the queries by label", "--sort <COLUMN>", "[default: time]", "--changed", "--json"],
        ),
        (&["runs"], &["List runs", "[LABEL]", "--status <STATUS>", "--since <TIME>", "like 90m, 12h or 7d"]),
        (
            &["issues"],
            &[
                "List the open issues",
                "[LABEL]",
                "--state <STATE>",
                "--kind <KIND>",
                "[default: stake]",
                "--csv",
            ],
        ),
        (&["show"], &["Show one run", "<RUN>", "at least 6 characters", "--url <URL>", "--token <TOKEN>"]),
        (&["why"], &["Say what changed", "<LABEL>", "--service <SERVICE>"]),
        (
            &["notes"],
            &["what people wrote about queries", "[LABEL]", "--service <SERVICE>", "--limit <ROWS>"],
        ),
        (&["diff"], &["Compare two runs", "<BASE>", "[RUN]", "LABEL@PLAN"]),
        (
            &["export"],
            &[
                "a folder or a bucket, a file a day",
                "<PLACE>",
                "--table <TABLE>",
                "--format <FORMAT>",
                "--filter <FILTER>",
                "--rewrite-days <DAYS>",
            ],
        ),
        (
            &["gate"],
            &[
                "--base <PLACE>",
                "--head <PLACE>",
                "--fail-on <KIND>",
                "row-groups",
                "`none` only reports",
                "--accept <LABEL>",
                "--tolerance <PERCENT>",
                "--format <FORMAT>",
                "--root <DIR>",
                "--token <TOKEN>",
            ],
        ),
        (&["mcp"], &["Model Context Protocol", "--allow-actions", "--url <URL>", "--token <TOKEN>"]),
        (&["demo"], &["two weeks of history", "--history-only", "--url <URL>", "needs --token"]),
        (
            &["deploy"],
            &[
                "Tell a service of a deploy",
                "<VERSION>",
                "--service <SERVICE>",
                "--at <TIME>",
                "--link <URL>",
            ],
        ),
        (&["completions"], &["bash", "zsh", "fish"]),
        (&["man"], &["Print the manual page"]),
    ] {
        let help = help(command);
        for part in says {
            assert!(help.contains(part), "no {part:?} in the help of {command:?}:\n{help}");
        }
    }
}

#[test]
fn every_setting_of_the_service_has_a_variable_and_secrets_are_not_shown() {
    let help = help(&["serve"]);
    let options = help.split(" --").skip(1).filter_map(|option| option.split_once(" <"));
    let options: Vec<_> = options.filter(|(name, _)| !name.contains(' ')).collect();
    assert!(options.len() >= 9, "{options:?}");
    for (name, of_option) in options {
        let variable = format!("[env: QUERYSCOPE_{}", name.replace('-', "_").to_uppercase());
        assert!(of_option.contains(&variable), "--{name}:\n{help}");
    }
    assert!(help.contains("[env: QUERYSCOPE_TOKEN]"), "its value is hidden:\n{help}");
}

#[test]
fn the_page_of_commands_names_every_command_option_and_variable() {
    const PAGE: &str = include_str!("../../../../docs/reference/cli.md");
    let commands = [
        &["serve"][..],
        &["top"],
        &["list"],
        &["runs"],
        &["issues"],
        &["show"],
        &["why"],
        &["notes"],
        &["diff"],
        &["export"],
        &["gate"],
        &["mcp"],
        &["import"],
        &["config"],
        &["config", "check"],
        &["alert"],
        &["alert", "test"],
        &["deploy"],
        &["token"],
        &["token", "add"],
        &["token", "list"],
        &["token", "revoke"],
        &["user"],
        &["user", "add"],
        &["user", "list"],
        &["user", "remove"],
        &["user", "password"],
        &["check"],
        &["backup"],
        &["migrate"],
        &["demo"],
        &["completions"],
        &["man"],
        &["help"],
    ];
    let listed = queryscope(["--help"]).success();
    let listed =
        listed.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed =
        listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let listed: Vec<&str> = listed.collect();
    assert!(listed.len() > 8 && listed.iter().all(|name| commands.contains(&&[*name][..])), "{listed:?}");
    for command in commands {
        let name = command.join(" ");
        assert!(PAGE.contains(&format!("`{name}")), "the command {name}");
        let help = if command == ["help"] { String::new() } else { help(command) };
        let words = help.split([' ', ',', '[', ']', '(', ')', '`', '?', '=']);
        let names = words.filter_map(|word| {
            word.strip_prefix("--").map(|_| word).or(word.strip_prefix("QUERYSCOPE_").map(|_| word))
        });
        for name in names.filter(|name| *name != "--help" && name.len() > 2) {
            assert!(
                PAGE.contains(&format!("`{name}")) || PAGE.contains(&format!("[{name} ")),
                "{name} of {command:?}"
            );
        }
    }
}

#[test]
fn the_version_is_printed() {
    assert_eq!(queryscope(["--version"]).success(), format!("queryscope {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_is_refused_with_what_is_known() {
    let error = queryscope(["improt"]).failure(2);
    assert!(error.contains("improt") && error.contains("import"), "{error}");
}

#[test]
fn completions_and_the_manual_page_name_every_command() {
    let bash = queryscope(["completions", "bash"]).success();
    assert!(bash.contains("complete -F _queryscope") && bash.contains("--silent-after"), "{bash}");
    for (shell, begin) in [("zsh", "#compdef queryscope"), ("fish", "#")] {
        assert!(queryscope(["completions", shell]).success().starts_with(begin), "{shell}");
    }
    let man = queryscope(["man"]).success();
    assert!(man.contains(".TH queryscope 1"), "{man}");
    for command in ["serve", "import", "token", "check", "migrate", "demo", "completions", "man"] {
        assert!(bash.contains(&format!("queryscope,{command})")), "{command}");
        assert!(man.contains(&format!("queryscope\\-{command}(1)")), "{command}:\n{man}");
    }
}
