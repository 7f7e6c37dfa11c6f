//! The tools: what an agent can ask, and what answers it.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow};
use rmcp::handler::server::tool::schema_for_type;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use super::answer::{Answer, bounded_to, compact, cut, error_text, query_link, run_link};
use super::arguments::{
    Findings, History, Issues, PlanDiff, Resolve, Run, Running, WhatGotWorse, WhySlower, bounded, read,
};
use super::server::Actions;
use super::{changes, findings, history, issues, running};
use crate::read::answers::{Comparison, Run as Summary};
use crate::read::screen::Screen;
use crate::read::service::{Service, segment};
use crate::read::style::joined;
use crate::read::text::{block, line};
use crate::read::{diff, show, why};

/// Bytes of the head of a run: its figures and its error.
const HEAD_BYTES: usize = 3000;
/// Bytes of the findings of a run.
const FINDINGS_BYTES: usize = 3500;
/// Bytes of the plan of a run.
const PLAN_BYTES: usize = 4500;
/// Lines of the error of a typical run.
const ERROR_LINES: usize = 6;
/// Nodes of a plan that is too long: as many as there is room for.
const NODES: [usize; 5] = [60, 40, 25, 15, 8];
/// Bytes of what a whole answer says, so that links and notes have room.
const TEXT_BYTES: usize = 10_000;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    WhatGotWorse,
    WhySlower,
    Running,
    Run,
    PlanDiff,
    Findings,
    History,
    Issues,
    Resolve,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::WhatGotWorse,
        Self::WhySlower,
        Self::Running,
        Self::Run,
        Self::PlanDiff,
        Self::Findings,
        Self::History,
        Self::Issues,
        Self::Resolve,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::WhatGotWorse => "what_got_worse",
            Self::WhySlower => "why_slower",
            Self::Running => "running",
            Self::Run => "run",
            Self::PlanDiff => "plan_diff",
            Self::Findings => "findings",
            Self::History => "history",
            Self::Issues => "issues",
            Self::Resolve => "resolve",
        }
    }

    /// What an agent chooses it by.
    fn description(self) -> &'static str {
        match self {
            Self::WhatGotWorse => {
                "Which queries got slower, fail or read more data: since when, by how much, why, at what cost, with \
                 the node of the plan and the line of the program. Begin here."
            }
            Self::WhySlower => {
                "Why a query is slower or fails: before and after with intervals, causes with their shares and \
                 evidence, nodes, cost, a typical run, the line of the program, and earlier changes."
            }
            Self::Running => {
                "What runs now: elapsed time, remaining time with its basis, busy threads, the busiest node, rows read \
                 so far, host."
            }
            Self::Run => {
                "One run: its state against the usual time, the line of the program, error, findings, and its plan as \
                 a tree with the share of the time of each node, CPU time and rows."
            }
            Self::PlanDiff => {
                "Two runs, or two plans of a query, side by side: what the difference in time is made of, and which \
                 nodes changed."
            }
            Self::Findings => {
                "Problems that rules see in a run, each with node, evidence and fix; or which rules warn in which \
                 queries."
            }
            Self::History => "How a query did: what is usual, its changes, its plans, and its last runs.",
            Self::Issues => {
                "What changed for the worse and needs somebody, with a state that people and the service move."
            }
            Self::Resolve => {
                "Says that an issue is over, in the name of who asks. Only when a person asked for it. It is refused \
                 unless actions are allowed."
            }
        }
    }

    fn schema(self) -> Arc<JsonObject> {
        match self {
            Self::WhatGotWorse => schema_for_type::<WhatGotWorse>(),
            Self::WhySlower => schema_for_type::<WhySlower>(),
            Self::Running => schema_for_type::<Running>(),
            Self::Run => schema_for_type::<Run>(),
            Self::PlanDiff => schema_for_type::<PlanDiff>(),
            Self::Findings => schema_for_type::<Findings>(),
            Self::History => schema_for_type::<History>(),
            Self::Issues => schema_for_type::<Issues>(),
            Self::Resolve => schema_for_type::<Resolve>(),
        }
    }

    /// The tool of a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// All tools as an agent sees them.
pub(super) fn all() -> Vec<Tool> {
    let tool = |kind: Kind| {
        let reads = kind != Kind::Resolve;
        // An agent may ask as often as it likes; what it reads is made by programs that nobody here knows.
        let hints =
            ToolAnnotations::new().read_only(reads).destructive(false).idempotent(true).open_world(true);
        Tool::new(kind.name(), kind.description(), kind.schema()).with_annotations(hints)
    };
    Kind::ALL.into_iter().map(tool).collect()
}

/// Answers a call; an error is a text for the agent, too.
pub(super) async fn call(
    kind: Kind,
    given: JsonObject,
    service: &Service,
    actions: Actions,
) -> Result<String, String> {
    let schema = kind.schema();
    let given = Given { values: given, schema: &schema };
    match answer(kind, given, service, actions).await {
        Ok(answer) => Ok(answer.text()),
        Err(error) => Err(match error.downcast::<Wrong>() {
            Ok(Wrong(reason)) => reason,
            Err(error) => error_text(&error),
        }),
    }
}

/// What is wrong with a call, in a sentence.
#[derive(Debug)]
struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

fn wrong(reason: String) -> Error {
    anyhow!(Wrong(reason))
}

struct Given<'s> {
    values: JsonObject,
    schema: &'s JsonObject,
}

impl Given<'_> {
    fn read<T: serde::de::DeserializeOwned>(self) -> Result<T> {
        read(self.values, self.schema).map_err(|reason| {
            let reason = line(&reason).into_owned();
            wrong(bounded_to(&reason, 600))
        })
    }
}

fn number(name: &str, given: Option<usize>, default: usize, max: usize) -> Result<usize> {
    bounded(name, given, default, max).map_err(wrong)
}

async fn answer(kind: Kind, given: Given<'_>, service: &Service, actions: Actions) -> Result<Answer> {
    let screen = Screen::of_an_agent();
    match kind {
        Kind::WhatGotWorse => {
            let asked: WhatGotWorse = given.read()?;
            let hours =
                asked.hours.map(|hours| number("hours", Some(hours as usize), 24, 2160)).transpose()?;
            let hours = hours.and_then(|hours| u32::try_from(hours).ok());
            let limit = number("limit", asked.limit, 10, 50)?;
            changes::what_got_worse(service, &asked.source.args(), hours, limit, screen).await
        }
        Kind::WhySlower => why_slower(service, given.read()?, screen).await,
        Kind::Running => {
            let asked: Running = given.read()?;
            let limit = number("limit", asked.limit, 20, 50)?;
            running::running(service, &asked.source.args(), limit, screen).await
        }
        Kind::Run => {
            let asked: Run = given.read()?;
            run(service, &asked.run, screen).await
        }
        Kind::PlanDiff => plan_diff(service, given.read()?, screen).await,
        Kind::Findings => {
            let asked: Findings = given.read()?;
            match (&asked.run, &asked.label) {
                (Some(_), Some(_)) => Err(wrong("Give run or label, not both.".into())),
                (Some(run), None) => findings::of_run(service, run, screen).await,
                (None, Some(label)) => findings::of_label(service, label, &asked.source.args(), screen).await,
                (None, None) => findings::of_newest_runs(service, &asked.source.args()).await,
            }
        }
        Kind::History => {
            let asked: History = given.read()?;
            let limit = number("limit", asked.limit, 15, 100)?;
            history::history(service, &asked.label, &asked.source.args(), limit, screen).await
        }
        Kind::Issues => {
            let Issues { id, state, label, service: of, project, limit } = given.read()?;
            let limit = number("limit", limit, 20, 50)?;
            if let Some(id) = id {
                issues::issue(service, &id, screen).await
            } else {
                let wanted = issues::Wanted { state, label, service: of, project, limit };
                issues::issues(service, wanted, screen).await
            }
        }
        Kind::Resolve => {
            let asked: Resolve = given.read()?;
            if actions == Actions::Refused {
                let allow = "queryscope mcp --allow-actions, or queryscope serve --mcp-actions";
                return Err(wrong(format!(
                    "Actions are not allowed here: a person can allow them with {allow}."
                )));
            }
            let by = asked.by.as_deref().unwrap_or("an agent");
            issues::resolve(service, &asked.id, &asked.comment, by, screen).await
        }
    }
}

async fn why_slower(service: &Service, asked: WhySlower, screen: Screen) -> Result<Answer> {
    let source = asked.source.args();
    let told = why::ask(service, &asked.label, &source).await?;
    let mut text = compact(&told.text(screen));
    let example = told.examples().first().map(|run| (*run).to_owned());
    let mut answer = Answer::default();
    if let Some(run) = &example {
        let _ = writeln!(text, "typical run since: {}", line(run));
        if let Some(site) = show::call_site_of(service, run).await {
            // It stands in front: what is cut is the end.
            text = format!("called at: {site}\n{text}");
        }
        let path = format!("/api/queries/{}", segment(run));
        let summary = service.get::<Summary>(&path, &[]).await.ok();
        if let Some(error) = summary.and_then(|run| run.failed) {
            let error = joined(block(&error).iter().take(ERROR_LINES).map(|one| format!("  {one}")));
            let _ = write!(text, "its error:\n{error}");
        }
        answer = answer.with_link(run_link(service.url(), run));
    }
    let page = query_link(service.url(), &asked.label, source.service.as_deref());
    Ok(answer.with_line(&cut(&text, TEXT_BYTES)).with_link(page))
}

/// One run.
pub(super) async fn run(service: &Service, run: &str, screen: Screen) -> Result<Answer> {
    let told = show::ask(service, run).await?;
    let parts = told.parts(screen);
    let mut plan = compact(&parts.plan);
    for nodes in NODES {
        if plan.len() <= PLAN_BYTES {
            break;
        }
        let busiest = told.busiest_nodes(nodes, screen);
        if !busiest.is_empty() {
            plan = compact(&busiest);
        }
    }
    let site = told.call_site().map(|site| format!("called at: {site}\n")).unwrap_or_default();
    let text = format!(
        "{site}{}\n{}\n{}",
        cut(&compact(&parts.head), HEAD_BYTES),
        cut(&compact(&parts.findings), FINDINGS_BYTES),
        cut(&plan, PLAN_BYTES)
    );
    let id = &told.run.query_id;
    Ok(Answer::of(&text)
        .with_link(run_link(service.url(), id))
        .with_note("plan_diff with this run compares it with the usual one."))
}

async fn plan_diff(service: &Service, asked: PlanDiff, screen: Screen) -> Result<Answer> {
    let limit = number("limit", asked.limit, 12, 50)?;
    let source = asked.source.args();
    let body = match &asked.base {
        Some(base) => diff::ask(service, base, Some(&asked.run), &source).await?,
        None => diff::ask(service, &asked.run, None, &source).await?,
    };
    let comparison: Comparison = serde_json::from_value(body)?;
    let mut text = compact(&diff::text(&comparison, limit, screen));
    if let Some(site) = show::call_site_of(service, &comparison.run.query_id).await {
        text = format!("called at: {site}\n{text}");
    }
    Ok(Answer::default()
        .with_line(&cut(&text, TEXT_BYTES))
        .with_link(run_link(service.url(), &comparison.run.query_id))
        .with_link(run_link(service.url(), &comparison.base.query_id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_names_and_sound_schemas() {
        let tools = all();
        assert_eq!(tools.len(), 9);
        for (tool, kind) in tools.iter().zip(Kind::ALL) {
            assert_eq!(Kind::from_name(&tool.name), Some(kind));
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            let members = tool.input_schema["properties"].as_object().expect("arguments");
            for (name, member) in members {
                assert!(member["description"].is_string(), "{} of {}", name, tool.name);
            }
        }
        // What an agent reads before it asks anything.
        let bytes = serde_json::to_vec(&tools).expect("JSON").len();
        assert!(bytes < 12_000, "{bytes}");
    }
}
