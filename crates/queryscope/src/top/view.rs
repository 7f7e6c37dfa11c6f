//! What `top` draws: a function of what it knows.

use std::collections::HashSet;

use queryscope_insights::MIN_RUNS;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::app::{App, Contact, Running};
use super::choice::Choice;
use super::plan_view::PlanView;
use super::rows;
use crate::read::issues::{Known, sum_line};
use crate::read::listing::Listing;
use crate::read::style::{self, PLAIN, SLOW, SOFT, STRONG};
use crate::read::text::{cut, line, name};
use crate::read::tree::tree;
use crate::read::units::{Times, duration, plural, threads, whole};
use crate::read::words::{capital, remaining};

/// Draws all of the terminal.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App, times: Times) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(3)])
            .areas(frame.area());
    if matches!(app.contact, Contact::Lost { .. }) {
        app.lost_unix_ns.get_or_insert(times.now_unix_ns);
    }
    if app.plan.is_some() {
        draw_plan(frame, app, times, [head, body, foot]);
    } else if app.shows_issues {
        draw_issues(frame, app, times, [head, body, foot]);
    } else {
        draw_rows(frame, app, times, [head, body, foot]);
    }
    if !app.has_colours {
        // Told NO_COLOR, crossterm writes a reset for each colour, which would end the modifiers, too.
        for cell in &mut frame.buffer_mut().content {
            (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
        }
    }
}

fn draw_rows(frame: &mut Frame<'_>, app: &mut App, times: Times, [head, body, foot]: [Rect; 3]) {
    lines(frame, head, &[(first_line(app), STRONG), state_line(app, times)]);
    let listing = rows::listing(app, times);
    draw_table(frame, listing, &mut app.choice, body);
    let [about, judged] = app.selected_run().map(|run| about(run, times)).unwrap_or_default();
    let keys = if app.is_filtering {
        filter_keys(app)
    } else {
        let issues = match &app.issues.known {
            Some(known) if !known.is_empty() => plural(known.len() as u64, "issue", "issues"),
            _ => "issues".to_owned(),
        };
        let opened = if app.is_grouped { "runs" } else { "plan" };
        format!("↑↓ choose  Enter {opened}  s sort  r reverse  g group  / filter  i {issues}  q quit")
    };
    lines(frame, foot, &[(about, PLAIN), judged_line(app, judged), (keys, SOFT)]);
}

/// The issues that want somebody.
fn draw_issues(frame: &mut Frame<'_>, app: &mut App, times: Times, [head, body, foot]: [Rect; 3]) {
    let first = match (&app.issues.known, &app.contact) {
        (None, Contact::Connecting) => "Connecting".into(),
        (None, _) => "Waiting for the issues".into(),
        (Some(known), _) if known.is_empty() => format!("No issue{} is open", app.source),
        (Some(known), _) => sum_line(known),
    };
    let (sort, reverse) = (app.issues.sort, app.issues.reverse);
    lines(frame, head, &[(first, STRONG), place_line(app, sort, reverse, "", times)]);
    let listing = app.issues.listing(&app.filter, times);
    draw_table(frame, listing, &mut app.issues.choice, body);
    let [about, why] = app.issues.selected().map(|known| about_issue(known, times)).unwrap_or_default();
    let keys = if app.is_filtering {
        filter_keys(app)
    } else {
        "↑↓ choose  s sort  r reverse  / filter  i running  q quit".to_owned()
    };
    lines(frame, foot, &[(about, PLAIN), (why, SOFT), (keys, SOFT)]);
}

/// Two lines on the selected issue: which it is, and why.
fn about_issue(known: &Known, times: Times) -> [String; 2] {
    let issue = &known.issue;
    let named = |text: &Option<String>| text.as_deref().map(|text| name(text).into_owned());
    let label = Some(name(&issue.label).into_owned());
    let site = [label, named(&issue.service), named(&issue.environment), named(&issue.host)];
    let site: Vec<String> = site.into_iter().flatten().chain([line(&issue.id).into_owned()]).collect();
    let since = times.at(known.since_unix_ns());
    let what = capital(&format!("{} since {since}. {}", known.what(), known.why()));
    [site.join(" · "), what.trim().to_owned()]
}

fn filter_keys(app: &App) -> String {
    format!("filter: {}▏  Enter keeps it, Esc clears it", line(&app.filter))
}

/// A heading and as many rows as fit, one of them chosen.
fn draw_table(frame: &mut Frame<'_>, listing: Listing<String>, choice: &mut Choice, body: Rect) {
    let drawn = listing.to_lines(Some(usize::from(body.width)));
    let is_none = listing.is_empty();
    let page = usize::from(body.height).saturating_sub(1);
    let (first, selected) = choice.shows(listing.into_entries(), page);
    let mut shown: Vec<Line<'_>> = Vec::with_capacity(page + 1);
    let mut drawn = drawn.into_iter();
    if let Some(heading) = drawn.next().filter(|_| !is_none) {
        shown.push(painted(heading));
    }
    for (place, row) in drawn.enumerate().skip(first).take(page) {
        let row = painted(row);
        // Reversed is seen without colours, too.
        let is_selected = selected == Some(place);
        shown.push(if is_selected { row.style(Style::new().add_modifier(Modifier::REVERSED)) } else { row });
    }
    frame.render_widget(Paragraph::new(shown), body);
}

/// "3 running, 11.2 threads busy; orders/daily is past its usual time", as on the dashboard.
fn first_line(app: &App) -> String {
    let Some(running) = &app.running else {
        return match app.contact {
            Contact::Connecting => "Connecting".into(),
            _ => "Waiting for the running runs".into(),
        };
    };
    let all: Vec<&Running> = running.values().collect();
    let of = &app.source;
    if all.is_empty() {
        return format!("Nothing{of} is running");
    }
    let busy: f64 = all.iter().filter_map(|running| rows::busy(running)).sum();
    // Work in the program's own code is in no counter.
    let has_own_code =
        |running: &&&Running| running.pulse.as_ref().is_some_and(|pulse| pulse.user_code.is_some());
    let least = if all.iter().any(|running| has_own_code(&running)) { "at least " } else { "" };
    let line = format!("{} running{of}, {least}{} threads busy", whole(all.len() as u64), threads(busy));
    let late: Vec<&&Running> = all.iter().filter(|running| rows::is_late(running)).collect();
    match late[..] {
        [] => line,
        [one] => {
            let label = one.run.label.as_deref().map_or("1".into(), name);
            format!("{line}; {label} is past its usual time")
        }
        _ => format!("{line}; {} are past their usual time", late.len()),
    }
}

/// Where the service is, and how the rows are chosen and sorted.
fn state_line(app: &App, times: Times) -> (String, anstyle::Style) {
    let groups = match &app.group {
        _ if app.is_grouped => " · by label".to_owned(),
        Some(label) if label.is_empty() => " · without a label".into(),
        Some(label) => format!(" · of {}", name(label)),
        None => String::new(),
    };
    place_line(app, app.sort, app.reverse, &groups, times)
}

fn place_line(app: &App, sort: &str, reverse: bool, more: &str, times: Times) -> (String, anstyle::Style) {
    if let Some(lost) = lost_line(app, times) {
        return (lost, SLOW);
    }
    let arrow = if reverse { ", reversed" } else { "" };
    let filter =
        if app.filter.is_empty() { String::new() } else { format!(" · only {:?}", line(&app.filter)) };
    (format!("{} · by {sort}{arrow}{more}{filter}", line(&app.url)), SOFT)
}

/// For how long what is shown has been old, and why. Of a service that refuses, the reason it gives comes first.
fn lost_line(app: &App, times: Times) -> Option<String> {
    let Contact::Lost { reason } = &app.contact else { return None };
    let refusal = reason.strip_prefix(&*app.url).and_then(|rest| rest.strip_prefix(" answered "));
    if let Some(refusal) = refusal {
        let why = refusal.split_once(": ").map_or(refusal, |(_, why)| why);
        return Some(format!("Refused, trying again: {why}"));
    }
    if app.running.is_none() {
        return Some(format!("No contact, trying again: {reason}"));
    }
    let lost = app.lost_unix_ns.map_or(0.0, |at| times.since_ms(at));
    Some(format!("Lost contact {} ago, trying again: {reason}", duration(whole_seconds(lost))))
}

fn whole_seconds(ms: f64) -> f64 {
    (ms / 1000.0).floor() * 1000.0
}

/// Fewer earlier runs tell no time.
const RUNS_MIN: u64 = MIN_RUNS as u64;

/// Two lines on the selected run: what it is, and how long it may take.
fn about(running: &Running, times: Times) -> [String; 2] {
    let run = &running.run;
    let named = |text: &Option<String>| text.as_deref().map(|text| name(text).into_owned());
    let label = named(&run.label).unwrap_or_else(|| "no label".into());
    let host = Some(name(&run.host).into_owned());
    let site = [Some(label), named(&run.service), named(&run.environment), host, Some(run.query_id.clone())];
    let elapsed = duration(whole_seconds(rows::elapsed_ms(running, times)));
    let left = match &running.progress {
        None => String::new(),
        Some(progress) => remaining(progress).unwrap_or_else(|| match progress.runs {
            // None are told, too, where those of its plan are not counted yet.
            0 => "too few earlier runs for a forecast".into(),
            runs @ 1..RUNS_MIN => format!("too few earlier runs ({runs}) for a forecast"),
            _ => "its earlier runs do not tell how long it takes".into(),
        }),
    };
    let left = if left.is_empty() { left } else { format!(": {left}") };
    [site.into_iter().flatten().collect::<Vec<_>>().join(" · "), format!("Runs for {elapsed}{left}")]
}

fn judged_line(app: &App, text: String) -> (String, anstyle::Style) {
    let is_late = app.selected_run().is_some_and(rows::is_late);
    (text, if is_late { SLOW } else { SOFT })
}

fn draw_plan(frame: &mut Frame<'_>, app: &mut App, times: Times, [head, body, foot]: [Rect; 3]) {
    let running = app.plan.as_ref().and_then(|plan| app.running.as_ref()?.get(&plan.run));
    let state = app.plan.as_ref().map(|plan| plan_state(plan, running, times)).unwrap_or_default();
    let contact_lost = lost_line(app, times);
    let Some(plan) = &mut app.plan else { return };
    let label = plan.summary.label.as_deref().map_or("no label".into(), name).into_owned();
    lines(frame, head, &[(format!("{label}  {}", plan.run), STRONG), (state, PLAIN)]);
    let columns = usize::from(body.width);
    let drawn = if plan.rows().is_empty() {
        let wait = if plan.ended.is_some() { "No plan of it was sent." } else { "Waiting for its plan" };
        vec![vec![(wait.to_owned(), SOFT)]]
    } else {
        tree(plan.rows(), &HashSet::new(), Some(columns))
    };
    let page = usize::from(body.height).saturating_sub(1);
    let first = plan.shows(drawn.len() - 1, page);
    let mut drawn = drawn.into_iter().map(painted);
    let heading = drawn.next();
    let shown: Vec<Line<'_>> = heading.into_iter().chain(drawn.skip(first).take(page)).collect();
    frame.render_widget(Paragraph::new(shown), body);
    let plan_lost =
        plan.lost.as_ref().map(|reason| format!("Its events cannot be read, trying again: {reason}"));
    let lost = contact_lost.or(plan_lost).filter(|_| plan.ended.is_none()).unwrap_or_default();
    let nodes = plan.rows().iter().filter(|row| !row.is_repeated);
    let (all, ended) =
        nodes.fold((0_u64, 0_u64), |(all, ended), row| (all + 1, ended + u64::from(row.done == Some(true))));
    // Of some engines no node ever tells that it ended.
    let progress = if ended == 0 || plan.ended.is_some() {
        String::new()
    } else {
        format!("{ended} of {all} nodes ended")
    };
    lines(frame, foot, &[(progress, SOFT), (lost, SLOW), ("↑↓ scroll  Esc back".into(), SOFT)]);
}

/// How the run stands whose plan is open.
fn plan_state(plan: &PlanView, running: Option<&Running>, times: Times) -> String {
    if let Some(run) = &plan.ended {
        let time = duration(run.wall_ms);
        return match run.status.as_str() {
            "finished" => format!("Finished in {time}."),
            "failed" => {
                let reason = run.failed.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
                format!("Failed after {time}: {}", line(reason))
            }
            "unfinished" => "Unfinished: lost contact, whether it finished is not known.".into(),
            other => capital(&line(other)),
        };
    }
    running.map(|running| about(running, times)[1].clone()).unwrap_or_default()
}

/// Lines of text, each cut to the width of its place.
fn lines(frame: &mut Frame<'_>, area: Rect, texts: &[(String, anstyle::Style)]) {
    let columns = usize::from(area.width);
    let lines: Vec<Line<'_>> =
        texts.iter().map(|(text, style)| painted(vec![(cut(text, columns).into_owned(), *style)])).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn painted(line: style::Line) -> Line<'static> {
    Line::from(
        line.into_iter().map(|(text, style)| Span::styled(text, painted_style(style))).collect::<Vec<_>>(),
    )
}

fn painted_style(style: anstyle::Style) -> Style {
    let mut painted = Style::new();
    let effects = style.get_effects();
    if effects.contains(anstyle::Effects::BOLD) {
        painted = painted.add_modifier(Modifier::BOLD);
    }
    if effects.contains(anstyle::Effects::DIMMED) {
        painted = painted.add_modifier(Modifier::DIM);
    }
    match style.get_fg_color() {
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Red)) => painted.fg(Color::Red),
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Yellow)) => painted.fg(Color::Yellow),
        Some(anstyle::Color::Ansi(anstyle::AnsiColor::Green)) => painted.fg(Color::Green),
        _ => painted,
    }
}

#[cfg(test)]
mod tests;
