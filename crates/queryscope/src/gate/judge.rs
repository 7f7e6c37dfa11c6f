//! Compares the runs of two suites, label by label.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use queryscope_insights::portable::{Direction, differences};
use queryscope_protocol::{Event, Profile};

use super::pairs::{Run, pair};
use super::read::Suite;
use super::report::{CallSite, Cause, Entry, Report, Rules, State, Told};

/// What labels of fixtures begin with that several tests share: how often they run depends on the number of workers.
const FIXTURE: &str = "fixture ";

/// Runs of one query, those of the base and those of the head.
type Sides<'s> = [Vec<Run<'s>>; 2];

pub(super) fn judge(base: &Suite, head: &Suite, rules: &Rules, root: &Path) -> Result<Report> {
    let mut queries: BTreeMap<String, Sides<'_>> = BTreeMap::new();
    for (side, suite) in [base, head].into_iter().enumerate() {
        for line in &suite.runs {
            let profile = profile(line)?;
            queries.entry(name(&profile, root)).or_default()[side].push(Run::new(profile));
        }
    }
    let mut entries = Vec::new();
    let mut unchanged = 0;
    for (name, mut sides) in queries {
        for runs in &mut sides {
            runs.sort_by_key(|run| run.profile.started_unix_ns);
        }
        let [base, head] = &sides;
        let pairs = pair(base, head);
        unchanged += pairs.same;
        for (there, here) in pairs.changed {
            let told = told(&base[there], &head[here], rules);
            if told.is_empty() {
                unchanged += 1;
            } else {
                entries.push(entry(&name, &head[here].profile, State::Changed, told, root));
            }
        }
        let is_shared = name.starts_with(FIXTURE);
        if !is_shared && let Some(last) = head.last().filter(|_| pairs.more + pairs.fewer > 0) {
            let direction = if pairs.more > pairs.fewer { Direction::Worse } else { Direction::Better };
            let fails = direction == Direction::Worse && rules.fail_on.contains(&Cause::Repeats);
            let text = format!("it is run {} instead of {}", times(head.len()), times(base.len()));
            let told = Told { kind: Cause::Repeats, direction, fails, text };
            entries.push(entry(&name, &last.profile, State::Changed, vec![told], root));
        }
        let alone = |state, cause, direction, text: &str, run: &Run<'_>| {
            let fails = rules.fail_on.contains(&cause);
            let told = Told { kind: cause, direction, fails, text: text.into() };
            entry(&name, &run.profile, state, vec![told], root)
        };
        let new = pairs.new.iter().map(|&here| {
            alone(State::New, Cause::New, Direction::Other, "the base does not run it", &head[here])
        });
        entries.extend(new);
        let removed = pairs.removed.iter().map(|&there| {
            alone(State::Removed, Cause::Removed, Direction::Other, "the head does not run it", &base[there])
        });
        entries.extend(removed);
    }
    for entry in &mut entries {
        let would_fail = entry.differences.iter().any(|told| told.fails);
        entry.accepted = would_fail && rules.accept.iter().any(|pattern| matches(pattern, &entry.query));
        entry.fails = would_fail && !entry.accepted;
    }
    // Runs that begin at once may have been read in another order.
    entries.sort_by(|a, b| {
        let texts =
            |entry: &Entry| entry.differences.iter().map(|told| told.text.clone()).collect::<Vec<_>>();
        (&a.query, a.state as u8, texts(a)).cmp(&(&b.query, b.state as u8, texts(b)))
    });
    Ok(Report::new(base.count(), head.count(), unchanged, entries))
}

fn profile(line: &str) -> Result<Profile<'_>> {
    let event = Event::read_stored(line)?;
    let read = event.profile().with_context(|| "the profile of a query cannot be read")?;
    read.context("the end of a query has no profile")
}

/// What runs of one query have in common: the label, else where the program runs them.
fn name(profile: &Profile<'_>, root: &Path) -> String {
    match (&profile.label, site(profile, root)) {
        (Some(label), _) => label.to_string(),
        (None, Some(site)) => format!("{} in {}", site.function, site.file),
        (None, None) => format!("a query of {}", profile.engine.as_deref().unwrap_or("an engine")),
    }
}

fn site(profile: &Profile<'_>, root: &Path) -> Option<CallSite> {
    let site = profile.call_site.as_ref()?;
    let path = Path::new(&*site.filepath);
    let file = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    Some(CallSite { file, line: site.lineno, function: site.function.to_string() })
}

fn told(base: &Run<'_>, head: &Run<'_>, rules: &Rules) -> Vec<Told> {
    let fails = |cause| rules.fail_on.contains(&cause);
    match (base.profile.failed.is_some(), head.profile.failed.is_some()) {
        // What a query that failed had done by then depends on when it failed.
        (true, true) => return Vec::new(),
        (false, true) => {
            let cause = Cause::Failure;
            let text = "it fails, and did not".into();
            return vec![Told { kind: cause, direction: Direction::Worse, fails: fails(cause), text }];
        }
        (true, false) => {
            let text = "it finishes, and failed before".into();
            return vec![Told { kind: Cause::Failure, direction: Direction::Better, fails: false, text }];
        }
        (false, false) => {}
    }
    let found = differences(&base.portable, &head.portable, rules.tolerance);
    let told = found.into_iter().map(|each| {
        let cause = Cause::Differs(each.kind);
        // A plan that changed is neither: whoever names it wants to know.
        let counts =
            each.direction == Direction::Worse || (cause == PLAN && each.direction == Direction::Other);
        Told { kind: cause, direction: each.direction, fails: counts && fails(cause), text: each.text }
    });
    told.collect()
}

fn times(number: usize) -> String {
    if number == 1 { "once".into() } else { format!("{number} times") }
}

const PLAN: Cause = Cause::Differs(queryscope_insights::portable::DifferenceKind::Plan);

fn entry(query: &str, profile: &Profile<'_>, state: State, differences: Vec<Told>, root: &Path) -> Entry {
    Entry {
        query: query.to_owned(),
        engine: profile.engine.as_deref().map(str::to_owned),
        call_site: site(profile, root),
        state,
        fails: false,
        accepted: false,
        differences,
    }
}

/// Whether a text has the form of a pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("tests/a.py::t", "tests/a.py::t", true),
            ("tests/a.py::t", "tests/a.py::test", false),
            ("tests/*", "tests/a.py::t", true),
            ("*::t", "tests/a.py::t", true),
            ("tests/*::t*", "tests/a.py::t[1]", true),
            ("*a*b", "ab", true),
            ("ab*b", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
