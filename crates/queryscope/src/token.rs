//! `queryscope token`.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use queryscope_collector::{Clock, SystemClock, hash_token, new_token};
use queryscope_store::{AccessAction, Name, Scope, Store, TokenRecord};

use crate::cli::{DataArg, DatabaseArg, TokenArgs, TokenCommand};
use crate::data::{DEFAULT_PROJECT, DataFolder};
use crate::{store, user};

pub(crate) async fn run(args: TokenArgs) -> Result<()> {
    match args.command {
        TokenCommand::Add { name, project, scope, expires, data, database } => {
            let made = SystemClock::new().unix_ms();
            let expires_unix_ms = expires.map(|time| made.saturating_add(time.as_millis() as i64));
            let project = match (project, scope) {
                (Some(project), _) => String::from(project),
                (None, Scope::Ingest) => DEFAULT_PROJECT.into(),
                (None, _) => TokenRecord::ALL_PROJECTS.into(),
            };
            let store: Arc<dyn Store> = match &database.database {
                Some(address) => store::open_database(address).await?,
                None => store::open_for_tokens(&DataFolder::create(&data.data)?)?,
            };
            let (shown, token) = (String::from(name), new_token());
            let sender = TokenRecord::of_sender(shown.clone(), project.clone(), hash_token(&token), made);
            put(&store, TokenRecord { scope, expires_unix_ms, ..sender }).await?;
            user::note(&store, AccessAction::TokenAdded, &shown).await?;
            println!("{token}");
            match scope {
                Scope::Ingest => {
                    eprintln!("shown this once; senders of project {project} use it within a second");
                }
                _ if project == TokenRecord::ALL_PROJECTS => {
                    eprintln!("shown this once; it reads all projects within a second");
                }
                _ => eprintln!("shown this once; it reads project {project} within a second"),
            }
            store.close().await?;
        }
        TokenCommand::List { data, database } => {
            let store = existing(&data, &database).await?;
            for token in store.tokens().await? {
                let moment = |unix_ms: Option<i64>| unix_ms.map_or_else(|| "-".into(), time);
                println!(
                    "{}\t{}\t{}\t{}\t{}\t{}",
                    token.name,
                    token.project,
                    time(token.created_unix_ms),
                    token.scope,
                    moment(token.expires_unix_ms),
                    moment(token.used_unix_ms)
                );
            }
            store.close().await?;
        }
        TokenCommand::Revoke { name, data, database } => {
            let store = existing(&data, &database).await?;
            if !store.revoke_token(&name).await? {
                bail!("there is no token {name:?}: queryscope token list shows all");
            }
            user::note(&store, AccessAction::TokenRevoked, &name).await?;
            store.close().await?;
        }
    }
    Ok(())
}

pub(crate) async fn existing(data: &DataArg, database: &DatabaseArg) -> Result<Arc<dyn Store>> {
    match &database.database {
        Some(address) => Ok(store::open_database(address).await?),
        None => store::open_for_tokens(&DataFolder::existing(&data.data)?),
    }
}

/// Whether a token that was given is one that a header can carry. An empty one is a variable that was never set: no
/// sender has it. It is checked here, since the parser of the command line prints what it refuses.
pub(crate) fn check_given(token: &str, variable: &str) -> Result<()> {
    if token.trim().is_empty() {
        bail!("the token is empty: give one, or leave {variable} unset");
    }
    if !token.chars().all(|char| char.is_ascii_graphic()) {
        bail!(
            "a token is of visible ASCII characters without spaces; the one given is not ({variable}, --token)"
        );
    }
    Ok(())
}

/// Makes a token; its text is not kept anywhere.
pub(crate) async fn add(store: &Arc<dyn Store>, name: Name, project: Name) -> Result<String> {
    let token = new_token();
    let made = SystemClock::new().unix_ms();
    put(store, TokenRecord::of_sender(name, project, hash_token(&token), made)).await?;
    Ok(token)
}

async fn put(store: &Arc<dyn Store>, record: TokenRecord) -> Result<()> {
    let name = record.name.clone();
    if !store.add_token(record).await.context("the token cannot be stored")? {
        bail!("there is a token {name:?} already: revoke it first, or choose another name");
    }
    Ok(())
}

/// A token for the time of one command, in the store of a service that runs.
pub(crate) struct TemporaryToken {
    store: Arc<dyn Store>,
    name: String,
    text: String,
}

impl TemporaryToken {
    /// Makes a token of a project; the service takes it within a second.
    pub(crate) async fn make(data: &DataFolder, purpose: &str, project: Name) -> Result<Self> {
        let store = store::open_for_tokens(data)?;
        let name: Name = format!("{purpose}-{}", queryscope_store::random_id()).parse()?;
        let text = add(&store, name.clone(), project).await?;
        user::note(&store, AccessAction::TokenAdded, &String::from(name.clone())).await?;
        Ok(Self { store, name: name.into(), text })
    }

    /// The token itself.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Makes it useless.
    pub(crate) async fn revoke(self) -> Result<()> {
        self.store.revoke_token(&self.name).await?;
        user::note(&self.store, AccessAction::TokenRevoked, &self.name).await?;
        Ok(self.store.close().await?)
    }
}

/// A moment as commands show it.
pub(crate) fn time(unix_ms: i64) -> String {
    let seconds = std::time::Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0));
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + seconds).to_string()
}
