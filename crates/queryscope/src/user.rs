//! `queryscope user`, and the link that makes the first one.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use queryscope_collector::{
    Clock, SystemClock, check_password, check_user_name, hash_password, hash_token, new_token,
};
use queryscope_store::{
    ACCESS_LOG_MAX, AccessAction, AccessEntry, LastAdmin, Name, Role, Scope, Store, TokenRecord, User,
    UserOutcome,
};

use crate::cli::{UserArgs, UserCommand};
use crate::data::DataFolder;
use crate::{store, token};

/// How long the link holds that makes the first administrator.
const LINK_MS: i64 = 24 * 3_600_000;

pub(crate) async fn run(args: UserArgs) -> Result<()> {
    match args.command {
        UserCommand::Add { name, role, project, data, database } => {
            check_user_name(&name).map_err(|reason| anyhow!(reason))?;
            let password = hash(&read_password(&name)?)?;
            let store: Arc<dyn Store> = match &database.database {
                Some(address) => store::open_database(address).await?,
                None => store::open_for_tokens(&DataFolder::create(&data.data)?)?,
            };
            let created_unix_ms = SystemClock::new().unix_ms();
            let project = project.map(String::from);
            let user = User { name: name.clone(), role, project, password, created_unix_ms };
            if !store.access().add_user(user).await? {
                bail!("there is a user {name:?} already: queryscope user password gives another password");
            }
            note(&store, AccessAction::UserAdded, &name).await?;
            store.close().await?;
        }
        UserCommand::List { data, database } => {
            let store = token::existing(&data, &database).await?;
            for user in store.access().users().await? {
                let project = user.project.as_deref().unwrap_or(TokenRecord::ALL_PROJECTS);
                println!("{}\t{}\t{project}\t{}", user.name, user.role, token::time(user.created_unix_ms));
            }
            store.close().await?;
        }
        UserCommand::Remove { name, data, database } => {
            let store = token::existing(&data, &database).await?;
            let mut outcome = store.access().remove_user(&name, LastAdmin::Stays).await?;
            let is_last_admin = outcome == UserOutcome::IsLastAdmin;
            if is_last_admin {
                outcome = store.access().remove_user(&name, LastAdmin::MayGo).await?;
            }
            if outcome == UserOutcome::NoUser {
                bail!("there is no user {name:?}: queryscope user list shows all");
            }
            note(&store, AccessAction::UserRemoved, &name).await?;
            if is_last_admin {
                eprintln!(
                    "no administrator of all projects is left: queryscope user add NAME --role admin makes one, and so \
                     does the link that a service with a login prints at its next start"
                );
            }
            store.close().await?;
        }
        UserCommand::Password { name, data, database } => {
            let store = token::existing(&data, &database).await?;
            let password = hash(&read_password(&name)?)?;
            if !store.access().change_password(&name, password).await? {
                bail!("there is no user {name:?}: queryscope user list shows all");
            }
            note(&store, AccessAction::PasswordChanged, &name).await?;
            store.close().await?;
            eprintln!("the sessions of {name} have ended");
        }
    }
    Ok(())
}

fn hash(password: &str) -> Result<String> {
    check_password(password).and_then(|()| hash_password(password)).map_err(|reason| anyhow!(reason))
}

/// Reads a password from the first line of standard input: it is not shown where that is a terminal, and neither the
/// history of a shell nor a list of processes has it.
fn read_password(name: &str) -> Result<String> {
    let input = std::io::stdin();
    let hidden = if input.is_terminal() {
        eprint!("password of {name}: ");
        Some(Hidden::begin()?)
    } else {
        None
    };
    let mut line = String::new();
    input.lock().read_line(&mut line).context("the password cannot be read")?;
    drop(hidden);
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A terminal that does not show what is typed until this is dropped.
struct Hidden(rustix::termios::Termios);

impl Hidden {
    fn begin() -> Result<Self> {
        let before = rustix::termios::tcgetattr(std::io::stdin()).context("the terminal cannot be set")?;
        let mut silent = before.clone();
        silent.local_modes.remove(rustix::termios::LocalModes::ECHO);
        set(&silent).context("the terminal cannot be set")?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = set(&self.0);
        eprintln!();
    }
}

fn set(modes: &rustix::termios::Termios) -> rustix::io::Result<()> {
    rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Flush, modes)
}

/// Writes to the log of access what a command did.
pub(crate) async fn note(store: &Arc<dyn Store>, action: AccessAction, subject: &str) -> Result<()> {
    note_by("command line", store, action, subject).await
}

/// Writes to the log of access what was done.
pub(crate) async fn note_by(
    actor: &str,
    store: &Arc<dyn Store>,
    action: AccessAction,
    subject: &str,
) -> Result<()> {
    let entry = AccessEntry {
        unix_ms: SystemClock::new().unix_ms(),
        action,
        actor: Some(actor.into()),
        subject: Some(subject.to_owned()),
        address: None,
    };
    Ok(store.access().note_access(vec![entry], ACCESS_LOG_MAX).await?)
}

/// The key of a link that makes the first administrator; `None` where there is one. Those of earlier starts go on:
/// collectors that share a store print one each.
pub(crate) async fn first_key(store: &Arc<dyn Store>) -> Result<Option<String>> {
    if store.access().users().await?.iter().any(User::is_admin_of_all) {
        return Ok(None);
    }
    let (key, now) = (new_token(), SystemClock::new().unix_ms());
    for token in store.tokens().await? {
        if token.scope == Scope::Invitation && !token.holds_at(now) {
            store.revoke_token(&token.name).await?;
            note_by("service", store, AccessAction::TokenRevoked, &token.name).await?;
        }
    }
    let name: Name = format!("invitation-{}", queryscope_store::random_id()).parse()?;
    let shown = String::from(name.clone());
    let record = TokenRecord {
        scope: Scope::Invitation,
        expires_unix_ms: Some(now + LINK_MS),
        ..TokenRecord::of_sender(name, TokenRecord::ALL_PROJECTS, hash_token(&key), now)
    };
    store.add_token(record).await.context("the link of the first administrator cannot be stored")?;
    note_by("service", store, AccessAction::TokenAdded, &shown).await?;
    Ok(Some(key))
}

/// A role, for the command line.
pub(crate) fn role(text: &str) -> Result<Role, String> {
    text.parse().map_err(|error: queryscope_store::NoWord| error.to_string())
}
