//! `queryscope mcp`, and `/mcp` of the service: the answers of the commands as tools of the Model Context Protocol.
//!
//! The answers come from the read API and are said by [`read`](crate::read), so an agent reads what a person does.

mod answer;
mod arguments;
mod changes;
mod findings;
mod history;
mod http;
mod issues;
mod prompts;
mod resources;
mod running;
mod server;
mod tools;

use anyhow::{Context, Result};
use clap::Args;
use rmcp::ServiceExt;

pub(crate) use self::http::router;
use self::server::{Actions, Server};
use crate::read::args::{ServiceArgs, SourceArgs};
use crate::read::service::{NotFound, Service};
use crate::signals::Signals;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Let the tool `resolve` resolve issues; without it, agents read alone
    #[arg(long)]
    pub(crate) allow_actions: bool,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

/// Answers an agent on standard input and output until it goes away.
///
/// # Errors
/// When the address or the token cannot be used, or the streams are no agent's. A service that is away is none: it may
/// come back.
pub(crate) async fn run(args: McpArgs) -> Result<()> {
    if args.service_at.url.is_some() {
        Service::find(&args.service_at)?;
    }
    let mut signals = Signals::listen()?;
    let server = Server::over_sockets(args.service_at, Actions::when(args.allow_actions));
    let serving = async {
        let running = server.serve(rmcp::transport::stdio()).await.context("no agent is there")?;
        running.waiting().await.context("the agent cannot be answered any more")?;
        anyhow::Ok(())
    };
    tokio::select! {
        served = serving => served,
        () = signals.first() => Ok(()),
    }
}

/// Says of filters that no run meets that they may be misspelt: that nothing is there for them is no good news.
///
/// # Errors
/// [`NotFound`] where no run that is stored meets them.
async fn source_is_known(service: &Service, source: &SourceArgs) -> Result<()> {
    let mut params = source.params();
    if params.is_empty() {
        return Ok(());
    }
    params.push(("limit", "1".into()));
    let found: Vec<serde_json::Value> = service.get("/api/queries", &params).await?;
    if found.is_empty() {
        return Err(NotFound(format!("no run{} is stored", source.words())).into());
    }
    Ok(())
}
