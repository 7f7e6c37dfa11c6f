//! Issues in sentences.

use std::collections::{BTreeMap, BTreeSet};

use queryscope_issues::{Direction, Issue, Kind, Notice, State, Transition, duration};

use crate::facts::{Account, Facts};

/// Characters of a comment in a sentence.
const COMMENT_CHARS_MAX: usize = 500;

/// A transition in a sentence.
pub(crate) fn sentence(notice: &Notice, account: &Account, facts: &Facts) -> String {
    let Notice { issue, transition } = notice;
    let again = if transition.to == State::Regressed { " again" } else { "" };
    match notice.direction() {
        Direction::Alarm => {
            let alarm = alarm(issue, account, &format!("{again}{}", facts.words()));
            match transition.from {
                Some(State::Muted) => format!("{alarm}; it was muted: {}", transition.reason),
                // The detail of findings says which are new.
                Some(State::Acknowledged) if issue.kind != Kind::NewFinding => {
                    format!("{alarm}; {}", transition.reason)
                }
                _ => alarm,
            }
        }
        // Why it is over says more than that it is: the run may have failed.
        Direction::Over if issue.kind == Kind::Late => format!("{}: {}", issue.label, transition.reason),
        Direction::Over => {
            let is_over = format!("{} is over", issue.kind.noun());
            if transition.reason.starts_with(&is_over) {
                return format!("{}: {}", issue.label, transition.reason);
            }
            format!("{}: {is_over}: {}", issue.label, transition.reason)
        }
        Direction::Moved => {
            let by = transition.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            let state = if issue.state == State::Open { "open again" } else { issue.state.name() };
            let why = reason(transition);
            let comment = transition.comment.as_deref().map(|comment| format!(": {}", said(comment)));
            let comment = comment.unwrap_or_default();
            format!("{}: {} is {state}{by}{why}{comment}", issue.label, issue.kind.noun())
        }
    }
}

/// Why it moved, behind the words for its state, which it does not repeat: " until it is 3 times worse", ": why".
fn reason(transition: &Transition) -> String {
    let Transition { reason, to, .. } = transition;
    match reason.strip_prefix(to.name()) {
        Some(rest) if rest.is_empty() || rest.starts_with(" until ") => rest.to_owned(),
        _ if reason == "reopened" => String::new(),
        _ => format!(": {reason}"),
    }
}

/// A comment in one line.
fn said(comment: &str) -> String {
    cut(&comment.split_whitespace().collect::<Vec<_>>().join(" "), COMMENT_CHARS_MAX)
}

/// What is wrong with the query of an issue, in a sentence.
pub(crate) fn standing(issue: &Issue, account: &Account) -> String {
    let facts = Facts::of_change(issue, account);
    alarm(issue, account, &facts.words())
}

/// Several transitions of one direction in a sentence.
pub(crate) fn group<'n>(
    notices: impl Iterator<Item = &'n Notice>,
    direction: Direction,
    facts: &Facts,
) -> String {
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    let (mut count, mut were_muted) = (0, true);
    for notice in notices {
        were_muted &= notice.transition.from == Some(State::Muted);
        *kinds.entry(notice.issue.kind).or_default() += 1;
        labels.insert(&notice.issue.label);
        count += 1;
    }
    // A query may have an issue of each kind.
    let subjects = if labels.len() == count { "queries" } else { "issues" };
    // A late run may have failed, or fallen silent.
    let is_better = kinds.keys().all(|kind| !matches!(kind, Kind::Late | Kind::Missing));
    match direction {
        Direction::Alarm => {
            let parts: Vec<String> =
                kinds.iter().map(|(kind, count)| format!("{count} {}", adjective(*kind))).collect();
            let what = match kinds.first_key_value() {
                Some((kind, _)) if kinds.len() == 1 => format!(" {}", adjective(*kind)),
                _ => format!(": {}", parts.join(", ")),
            };
            let muted = if were_muted { "; they were muted" } else { "" };
            format!("{count} {subjects}{what}{}{muted}", facts.words())
        }
        Direction::Over if is_better => {
            format!("{count} {subjects} that got worse{} are as before", facts.words())
        }
        Direction::Over => format!("{count} issues{} were resolved", facts.words()),
        Direction::Moved => format!("{count} issues were moved"),
    }
}

/// What is wrong with the query of an issue; `since` follows what happens to it.
fn alarm(issue: &Issue, account: &Account, since: &str) -> String {
    let label = &issue.label;
    match issue.kind {
        Kind::Slower | Kind::DataGrew => {
            let times = format!(" takes {} as long", times(issue.severity));
            let walls = account
                .wall_ms
                .map(|(before, after)| format!(" ({} instead of {})", duration(after), duration(before)));
            let why = if issue.kind == Kind::DataGrew { ", as its data grew" } else { "" };
            format!("{label}{times}{}{why}{since}", walls.unwrap_or_default())
        }
        Kind::Failing => format!("{label}: {:.0} % of its runs fail{since}", issue.severity * 100.0),
        Kind::NewFinding => {
            let detail = issue.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
            format!("{label} warns of {}{since}{detail}", issue.findings_in_words())
        }
        kind => {
            let detail = issue.detail.as_ref().map(|detail| format!(": {detail}"));
            format!("{label} is {}{since}{}", adjective(kind), detail.unwrap_or_default())
        }
    }
}

/// What queries of an issue are.
fn adjective(kind: Kind) -> String {
    match kind {
        Kind::Slower => "slower".into(),
        Kind::DataGrew => "slower with more data".into(),
        Kind::NewFinding => "with new findings".into(),
        kind => kind.name().replace('_', " "),
    }
}

fn times(factor: f64) -> String {
    if factor >= 9.95 { format!("{factor:.0} times") } else { format!("{factor:.1} times") }
}

/// A text of at most so many characters; one that is cut ends with `…`.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// An error with what caused it.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!((cut("täglich", 7), cut("täglich", 6)), ("täglich".into(), "tägli…".into()));
        assert_eq!((cut("a bc", 3), cut("ab", 1), cut("", 0)), ("a…".into(), "…".into(), String::new()));
    }

    #[test]
    fn factors_are_said_as_people_say_them() {
        assert_eq!([1.52, 9.94, 12.4].map(times), ["1.5 times", "9.9 times", "12 times"]);
    }
}
