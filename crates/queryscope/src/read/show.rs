//! `queryscope show`: where the time of one run went.

use anyhow::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Change, Evidence, Finding, Insights, Progress, Run};
use super::args::ShowArgs;
use super::events::{self, RunEvents};
use super::listing::pairs;
use super::plan::{self, PlanRow};
use super::screen::{Reader, Screen, print, print_json};
use super::service::{Service, segment};
use super::style::{FAIL, PLAIN, SLOW, STRONG, heading, joined, painted, painted_line};
use super::text::{block, line, name};
use super::tree::tree;
use super::units::{UNKNOWN, bytes, count, duration, ratio, share, threads};
use super::words::{
    Usual, before_and_after, capital, first_cause, how_much, is_cancelled, node_name, place, remaining,
    usual_by,
};
use super::{Found, run_name};

/// Lines of an error text.
const ERROR_LINES_MAX: usize = 40;

/// What the service knows of a run, beside its summary.
struct Known {
    insights: Result<Value>,
    progress: Option<Progress>,
    change: Option<Change>,
    events: Result<RunEvents>,
}

pub(crate) async fn run(args: &ShowArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let answer = ask(&service, &args.run).await?;
    if args.format.json {
        print_json(&answer.into_json())?;
    } else {
        let Parts { head, plan, findings } = answer.parts(screen);
        print(&format!("{head}{plan}{findings}"))?;
    }
    Ok(Found::Something)
}

/// What the service says of a run.
pub(crate) struct Answer {
    /// The run as the service gives it.
    summary: Value,
    /// Its progress as the service gives it.
    progress: Option<Value>,
    pub(crate) run: Run,
    known: Known,
    rows: Option<Vec<PlanRow>>,
}

/// What is printed of a run, in this order.
pub(crate) struct Parts {
    /// Its state, figures and error.
    pub(crate) head: String,
    pub(crate) plan: String,
    pub(crate) findings: String,
}

/// Asks for a run by its id or a part of it.
///
/// # Errors
/// `NotFound` where there is none.
pub(crate) async fn ask(service: &Service, run: &str) -> Result<Answer> {
    let id = run_name::id_of(service, run).await?;
    let path = format!("/api/queries/{}", segment(&id));
    let summary: Value = service.get(&path, &[]).await?;
    let (paths_insights, paths_progress) = (format!("{path}/insights"), format!("{path}/progress"));
    let (insights, progress, events) = tokio::join!(
        service.get::<Value>(&paths_insights, &[]),
        service.get::<Value>(&paths_progress, &[]),
        events::read(service, &id)
    );
    // Where it cannot be told how long earlier runs took, nothing is said of it.
    let told = progress.as_ref().ok().and_then(|told| Progress::deserialize(told).ok());
    let known = Known { insights, change: change(service, told.as_ref()).await, progress: told, events };
    let rows = known.events.as_ref().ok().and_then(RunEvents::profile).map(|profile| plan::rows(&profile));
    let run = Run::deserialize(&summary)?;
    Ok(Answer { summary, progress: progress.ok(), run, known, rows })
}

impl Answer {
    fn into_json(self) -> Value {
        let rows = self.rows.as_deref();
        let nodes: Option<Vec<Value>> =
            rows.map(|rows| rows.iter().filter(|row| !row.is_repeated).map(node_json).collect());
        json!({
            "run": self.summary,
            "insights": self.known.insights.ok(),
            "progress": self.progress,
            "nodes": nodes,
        })
    }

    /// What is printed.
    pub(crate) fn parts(&self, screen: Screen) -> Parts {
        parts(&self.run, &self.known, self.rows.as_deref(), screen)
    }

    /// The plan with so many nodes at most, those that worked most; empty where all of them are no more.
    pub(crate) fn busiest_nodes(&self, nodes: usize, screen: Screen) -> String {
        let rows: Vec<&PlanRow> = self.rows.iter().flatten().filter(|row| !row.is_repeated).collect();
        if rows.len() <= nodes {
            return String::new();
        }
        let mut busy: Vec<(usize, u64)> =
            rows.iter().enumerate().map(|(place, row)| (place, row.busy_ns.unwrap_or(0))).collect();
        busy.sort_by_key(|&(_, busy_ns)| std::cmp::Reverse(busy_ns));
        let mut places: Vec<usize> = busy.iter().take(nodes).map(|&(place, _)| place).collect();
        places.sort_unstable();
        // Without the nodes between them, branches would lie.
        let kept: Vec<PlanRow> =
            places.iter().map(|&place| PlanRow { branches: String::new(), ..rows[place].clone() }).collect();
        let left_out = rows.len() - kept.len();
        let plan = plan_text(Some(&kept), None, &self.findings(), screen);
        let line = format!("{left_out} nodes that worked less are left out; the others are not joined.");
        format!("{plan}{}", screen.paragraph(&line, "  "))
    }

    fn findings(&self) -> Vec<Finding> {
        let insights = self.known.insights.as_ref().ok().cloned();
        let insights: Option<Insights> = insights.and_then(|insights| serde_json::from_value(insights).ok());
        insights.map(|insights| insights.findings).unwrap_or_default()
    }

    /// The line of the program that ran it, with the whole path: "/srv/etl/daily.py:112 in main".
    pub(crate) fn call_site(&self) -> Option<String> {
        call_site(self.known.events.as_ref().ok()?)
    }
}

/// The line of the program that ran a run, where its profile has it and can be read.
pub(crate) async fn call_site_of(service: &Service, id: &str) -> Option<String> {
    call_site(&events::read(service, id).await.ok()?)
}

fn call_site(events: &RunEvents) -> Option<String> {
    let profile = events.profile()?;
    let site = profile.call_site.as_ref()?;
    Some(format!("{}:{} in {}", line(&site.filepath), site.lineno, line(&site.function)))
}

async fn change(service: &Service, progress: Option<&Progress>) -> Option<Change> {
    let id = progress?.change.as_deref()?;
    service.get(&format!("/api/changes/{}", segment(id)), &[]).await.ok()
}

fn node_json(row: &PlanRow) -> Value {
    json!({
        "id": row.id,
        "kind": row.kind,
        "role": row.role.as_str(),
        "inputs": row.inputs,
        "words": row.words,
        "share": row.share,
        "busy_ns": row.busy_ns,
        "rows_in": row.rows_in,
        "rows_out": row.rows_out,
        "bytes_read": row.bytes_read,
        "done": row.done,
    })
}

fn parts(run: &Run, known: &Known, rows: Option<&[PlanRow]>, screen: Screen) -> Parts {
    let label = run.label.as_deref().map_or("no label".into(), name);
    let mut text = format!("{}\n", painted(&label, STRONG));
    let style = match run.status.as_str() {
        "failed" if !is_cancelled(run.failed.as_deref()) => FAIL,
        "unfinished" => SLOW,
        _ => PLAIN,
    };
    text += &screen.painted(&state_line(run, known, screen), "", style);
    if let Some(change) = &known.change {
        text += &screen.paragraph(&change_note(change, screen), "");
    }
    if run.status == "running"
        && let Some(words) = known.progress.as_ref().and_then(remaining)
    {
        let is_forecast = known.progress.as_ref().is_some_and(|progress| progress.remaining_ms.is_some());
        let words = if is_forecast { format!("Probably {words}") } else { capital(&words) };
        text += &screen.paragraph(&format!("{words}."), "");
    }
    text += "\n";
    text += &pairs(&figures(run, known, screen));
    if let Some(error) = run.failed.as_deref() {
        text += &heading(if is_cancelled(Some(error)) { "Cancelled" } else { "Error" });
        let lines = block(error);
        for line in lines.iter().take(ERROR_LINES_MAX) {
            text += &screen.paragraph(line, "  ");
        }
        if let Some(rest) = rest_of_error(error, lines.len(), screen.reader) {
            text += &screen.soft(&rest, "  ");
        }
    }
    let insights =
        known.insights.as_ref().map(|insights| serde_json::from_value::<Insights>(insights.clone()));
    let findings: &[Finding] = match &insights {
        Ok(Ok(insights)) => &insights.findings,
        _ => &[],
    };
    let plan = plan_text(rows, known.events.as_ref().err(), findings, screen);
    let mut found = heading("Findings");
    match &insights {
        Ok(Ok(insights)) if insights.findings.is_empty() => {
            found += &screen.paragraph(&no_finding(run, insights.checked), "  ");
        }
        Ok(Ok(insights)) => {
            for finding in &insights.findings {
                found += &finding_text(finding, screen);
            }
        }
        Ok(Err(error)) => found += &screen.paragraph(&format!("Findings could not be read: {error}."), "  "),
        Err(error) => found += &screen.paragraph(&format!("Findings could not be read: {error:#}."), "  "),
    }
    Parts { head: text, plan, findings: found }
}

/// "Finished in 94 s, 2.3x its usual time (41 s, n = 37)."
fn state_line(run: &Run, known: &Known, screen: Screen) -> String {
    let progress = known.progress.as_ref();
    let so_far = || {
        let told = progress.and_then(|progress| progress.elapsed_ms);
        told.unwrap_or_else(|| screen.times.since_ms(run.started_unix_ns))
    };
    let elapsed_ms = run.wall_ms.unwrap_or_else(so_far);
    let time = duration(elapsed_ms);
    let by_progress = || {
        let progress = progress?;
        Some(Usual { wall_ms: progress.usual_wall_ms?, runs: progress.runs, is_since_faster: false })
    };
    let usual = known.change.as_ref().and_then(usual_by).or_else(by_progress);
    let compared = match usual.filter(|usual| usual.wall_ms > 0.0) {
        Some(Usual { wall_ms, runs, is_since_faster }) => {
            let since = if is_since_faster { " since it got faster" } else { "" };
            let usual = duration(wall_ms);
            if run.status == "running" && elapsed_ms < wall_ms {
                format!(", usually {usual}{since}, n = {runs}")
            } else {
                format!(", {} its usual time{since} ({usual}, n = {runs})", ratio(elapsed_ms / wall_ms))
            }
        }
        None => String::new(),
    };
    match run.status.as_str() {
        "running" => format!("Running for {time}{compared}."),
        "finished" => format!("Finished in {time}{compared}."),
        "failed" if is_cancelled(run.failed.as_deref()) => format!("Cancelled after {time}."),
        "failed" => format!("Failed after {time}."),
        "unfinished" => {
            let heard = progress.and_then(|progress| progress.elapsed_ms).map(duration);
            let after = heard.map(|time| format!(" after {time}")).unwrap_or_default();
            format!("Unfinished: lost contact{after}, whether it finished is not known.")
        }
        other => format!("{}.", capital(&line(other))),
    }
}

fn change_note(change: &Change, screen: Screen) -> String {
    let much = if change.kind == "failing" { how_much(change) } else { format!("is {}", how_much(change)) };
    let parts = ["Its query".to_owned(), much, place(change)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let since = screen.times.at(change.since_unix_ns);
    let counts = before_and_after(change);
    // That of failures is their counts again.
    let cause = if change.kind == "failing" { String::new() } else { first_cause(change) };
    format!("{} since {since} ({counts}). {cause}", parts.join(" ")).trim_end().to_owned()
}

fn figures(run: &Run, known: &Known, screen: Screen) -> Vec<(&'static str, String)> {
    let profile = known.events.as_ref().ok().and_then(RunEvents::profile);
    let named = |text: &Option<String>| text.as_deref().map(|text| name(text).into_owned());
    let site = [named(&run.service), named(&run.environment), Some(name(&run.host).into_owned())];
    let site: Vec<String> = site.into_iter().flatten().collect();
    let mut rows = vec![
        ("run", line(&run.query_id).into_owned()),
        ("started", screen.times.at_second(run.started_unix_ns)),
        ("from", site.join(" · ")),
    ];
    let engine = [named(&run.engine), named(&run.engine_version)];
    let engine: Vec<String> = engine.into_iter().flatten().collect();
    if !engine.is_empty() {
        rows.push(("engine", engine.join(" ")));
    }
    if let Some(site) = profile.as_ref().and_then(|profile| profile.call_site.as_ref()) {
        let file = site.filepath.rsplit('/').next().unwrap_or_default();
        rows.push(("called at", format!("{}:{} in {}", line(file), site.lineno, line(&site.function))));
    }
    let busy = run.cpu_ms.zip(run.wall_ms.filter(|&ms| ms > 0.0));
    let busy = busy.map(|(cpu, wall)| format!(" ({} threads busy)", threads(cpu / wall))).unwrap_or_default();
    rows.push(("CPU time", format!("{}{busy}", duration(run.cpu_ms))));
    if let Some(planning_ms) = profile.as_ref().and_then(|profile| profile.planning_ms) {
        rows.push(("planning", duration(planning_ms)));
    }
    if let Some(result_rows) = run.result_rows {
        rows.push(("result", format!("{} rows", count(result_rows as f64))));
    }
    for (name, figure) in
        [("read", run.bytes_read), ("spilled", run.spilled_bytes), ("peak memory", run.peak_memory_bytes)]
    {
        if let Some(figure) = figure {
            rows.push((name, bytes(figure as f64)));
        }
    }
    rows.push(("plan", named(&run.fingerprint).unwrap_or_else(|| UNKNOWN.into())));
    rows
}

fn plan_text(
    rows: Option<&[PlanRow]>,
    error: Option<&Error>,
    findings: &[Finding],
    screen: Screen,
) -> String {
    let title = heading("Plan");
    let said = match (rows, error) {
        (Some([]), _) => "No plan of it was sent.".to_owned(),
        (Some(rows), _) => {
            let marked = findings.iter().filter_map(|finding| u64::try_from(finding.node_id?).ok()).collect();
            let lines = tree(rows, &marked, screen.columns);
            return format!("{title}{}", lines.iter().map(|line| painted_line(line)).collect::<String>());
        }
        (None, Some(error)) => format!("The plan could not be read: {error:#}."),
        (None, None) => "Its events say nothing of its plan.".to_owned(),
    };
    format!("{title}{}", screen.paragraph(&said, "  "))
}

fn no_finding(run: &Run, checked: Option<u64>) -> String {
    let none = match run.status.as_str() {
        "running" => "None so far",
        "failed" => "None in what it did until it failed",
        "unfinished" => "None in what it told",
        _ => "None",
    };
    match checked {
        None => format!("{none}."),
        Some(0) => "Not checked: the plan has more than 10,000 nodes.".into(),
        Some(1) => format!("{none}: 1 rule checked, none fired."),
        Some(rules) => format!("{none}: {rules} rules checked, none fired."),
    }
}

fn finding_text(finding: &Finding, screen: Screen) -> String {
    let (mark, style) = if finding.level == "warn" { ("! ", SLOW) } else { ("  ", PLAIN) };
    let title = screen.hanging(mark, &line(&finding.title));
    let mut text = joined(title.lines().map(|one| painted(one, style)));
    let node = finding.node_kind.as_deref().zip(finding.node_id.and_then(|id| u64::try_from(id).ok()));
    let node = node.map(|(kind, id)| node_name(kind, id));
    // Not of the CPU: engines may time their nodes by the clock on the wall.
    let of_cpu = finding.cpu_share.map(|part| format!("{} of the nodes' time", share(part)));
    let saves = finding.evidence.iter().find(|evidence| evidence.name == "saves_wall_at_most");
    let saves = saves.and_then(|evidence| evidence.value.as_f64()).filter(|&ms| ms > 0.0);
    let saves = saves.map(|ms| format!("saves at most {}", duration(ms)));
    let facts: Vec<String> = [node, of_cpu, saves].into_iter().flatten().collect();
    if !facts.is_empty() {
        text += &screen.soft(&facts.join(" · "), "  ");
    }
    if let Some(fix) = &finding.fix {
        text += &screen.paragraph(&capital(&line(fix)), "  ");
    }
    let evidence: Vec<String> = finding
        .evidence
        .iter()
        .filter(|evidence| !evidence.name.starts_with("saves_"))
        .map(|evidence| format!("{}: {}", line(&evidence.name.replace('_', " ")), evidence_text(evidence)))
        .collect();
    if !evidence.is_empty() {
        text += &screen.soft(&evidence.join("; "), "  ");
    }
    text
}

fn evidence_text(evidence: &Evidence) -> String {
    match (&evidence.value, evidence.unit.as_deref()) {
        (Value::String(text), _) => line(text).into_owned(),
        (Value::Number(number), unit) => {
            let number = number.as_f64();
            match unit {
                Some("ms") => duration(number),
                Some("ratio") => format!("{}x", count(number)),
                None | Some("1") => count(number),
                Some(unit) => format!("{} {}", count(number), line(unit)),
            }
        }
        _ => UNKNOWN.into(),
    }
}

/// What is left out of an error, whose answer ends with "…" where that is not all of it, either.
fn rest_of_error(error: &str, lines: usize, reader: Reader) -> Option<String> {
    let more = lines.saturating_sub(ERROR_LINES_MAX);
    Some(match reader {
        _ if error.trim_end().ends_with('…') => {
            "The error goes on: the recording of the run has all of it.".into()
        }
        _ if more == 0 => return None,
        Reader::Person => format!("{more} more lines: --json has all"),
        Reader::Agent => format!("{more} more lines are left out."),
    })
}

#[cfg(test)]
mod tests;
