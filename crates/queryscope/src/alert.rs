//! `queryscope config` and `queryscope alert`: the file of receivers, routes and owners.

use std::time::SystemTime;

use anyhow::{Result, bail};
use queryscope_delivery::{Config, Message, Outcome, Secrets, Sender};

use crate::cli::{AlertCommand, ConfigCommand};
use crate::read::units::plural;

/// Judges a file.
pub(crate) fn config(command: &ConfigCommand) -> Result<()> {
    let ConfigCommand::Check { file, without_secrets } = command;
    let secrets = if *without_secrets { Secrets::Ignore } else { Secrets::Read };
    let config = Config::load(file, secrets)?;
    let routes = plural(config.routes.len() as u64, "route", "routes");
    let rules = plural(config.owners.rules().len() as u64, "rule", "rules");
    println!("{}: {routes}, {rules} of owners: valid", file.display());
    Ok(())
}

/// Sends a test over a route.
pub(crate) async fn alert(command: &AlertCommand) -> Result<()> {
    let AlertCommand::Test { route, config } = command;
    let config = Config::load(config, Secrets::Read)?;
    let Some(found) = config.route(route) else {
        let names: Vec<&str> = config.routes.iter().map(|route| route.name.as_str()).collect();
        let names = if names.is_empty() { "no route".to_owned() } else { names.join(", ") };
        bail!("there is no route {route:?}: the file names {names}");
    };
    let sender = Sender::new(&config).map_err(anyhow::Error::msg)?;
    let now = queryscope_collector::Clock::unix_ns(&queryscope_collector::SystemClock::new());
    let random = queryscope_store::random_id().to_string();
    let message = Message::test(&found.name, now, &random, config.home_link());
    let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(now.unsigned_abs());
    let receiver = config.receiver(found);
    match sender.send(&config, receiver, &message, None, time).await {
        Outcome::Sent => {
            println!("{route}: the receiver took it ({}, {})", found.receiver, receiver.type_name());
            Ok(())
        }
        Outcome::Retry { error, .. } => bail!("{route}: {error}; the service would try again"),
        Outcome::Refused { error } => bail!("{route}: {error}; the service would not try again"),
    }
}
