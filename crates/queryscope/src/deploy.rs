//! `queryscope deploy`.

use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::cli::DeployArgs;
use crate::data::DataFolder;
use crate::read::args::ServiceArgs;
use crate::read::service::Service;
use crate::token::TemporaryToken;

const PATH: &str = "/v1/deploys";

pub(crate) async fn run(args: DeployArgs) -> Result<()> {
    let body = body(&args)?;
    let as_json = args.json;
    let deploy = if args.token.is_some() {
        post(args.url, args.token, args.data, &body).await?
    } else {
        // The folder's owner may say what is deployed, as for an import.
        let data = DataFolder::existing(&args.data.data)?;
        let address = DataFolder::running_service(&args.data.data)?;
        let token = TemporaryToken::make(&data, "deploy", args.project).await?;
        let posted = post(Some(address), Some(token.text().to_owned()), args.data, &body).await;
        token.revoke().await?;
        posted?
    };
    if as_json {
        println!("{}", serde_json::to_string_pretty(&deploy)?);
        return Ok(());
    }
    let text = |name: &str| deploy[name].as_str().unwrap_or_default().to_owned();
    let of = Some(text("service")).filter(|service| !service.is_empty());
    let to = Some(text("environment")).filter(|environment| !environment.is_empty());
    println!(
        "{}: version {}{}{}",
        text("id"),
        text("version"),
        of.map(|service| format!(" of {service}")).unwrap_or_default(),
        to.map(|environment| format!(" to {environment}")).unwrap_or_default()
    );
    Ok(())
}

async fn post(
    url: Option<String>,
    token: Option<String>,
    data: crate::cli::DataArg,
    body: &Value,
) -> Result<Value> {
    let service = Service::find(&ServiceArgs { url, token, data })?;
    let mut tried = 0;
    loop {
        match service.post(PATH, body).await {
            // A token that was just made takes a second to work.
            Err(error) if tried < 20 && error.to_string().contains("the token is not known") => {
                tried += 1;
                tokio::time::sleep(std::time::Duration::from_millis(250)).await;
            }
            answered => return answered,
        }
    }
}

fn body(args: &DeployArgs) -> Result<Value> {
    let mut body = json!({ "version": args.version });
    let named = [
        ("service", &args.service),
        ("environment", &args.environment),
        ("commit", &args.commit),
        ("url", &args.link),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
    if let Some(at) = args.at {
        let since = at.duration_since(UNIX_EPOCH).context("--at: must not be before 1970")?;
        body["unix_ns"] = json!(i64::try_from(since.as_nanos()).context("--at: too late")?);
    }
    Ok(body)
}
