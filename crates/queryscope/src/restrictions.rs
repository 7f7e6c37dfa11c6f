//! What a start says of who may read, in the log of access: a service that was restarted without a login leaves a
//! trace.

use std::sync::Arc;

use anyhow::Result;
use queryscope_collector::Reading;
use queryscope_store::{AccessAction, Store};

use crate::user;

/// Entries of the log that are read at once.
const PAGE: usize = 1_000;
/// What a service without restrictions says.
const OPEN: &str = "open";

/// Notes how reading is restricted, where the start before said something else.
pub(crate) async fn note(store: &Arc<dyn Store>, reading: &Reading, agents_act: bool) -> Result<()> {
    let (said, before) = (words(reading, agents_act), last(store).await?);
    if before.as_deref().unwrap_or(OPEN) != said {
        user::note_by("service", store, AccessAction::SettingsChanged, &said).await?;
    }
    Ok(())
}

/// What the last start said.
async fn last(store: &Arc<dyn Store>) -> Result<Option<String>> {
    let mut before = None;
    loop {
        let page = store.access().access_log(before, PAGE).await?;
        let said = page.iter().find(|(_, entry)| entry.action == AccessAction::SettingsChanged);
        if let Some((_, entry)) = said {
            return Ok(entry.subject.clone());
        }
        match page.last() {
            Some((number, _)) => before = Some(*number),
            None => return Ok(None),
        }
    }
}

/// "login, OpenID Connect of accounts.example.com, users of a proxy by x-user, agents may act".
fn words(reading: &Reading, agents_act: bool) -> String {
    let parts = [
        reading.login.then(|| "login".to_owned()),
        reading.openid.as_ref().map(|provider| format!("OpenID Connect of {}", provider.host())),
        reading.user_header.as_ref().map(|header| format!("users of a proxy by {header}")),
        reading.groups_header.as_ref().map(|header| format!("their groups by {header}")),
        agents_act.then(|| "agents may act".to_owned()),
    ];
    let mut said: Vec<String> = parts.into_iter().flatten().collect();
    if !reading.is_restricted() {
        said.insert(0, OPEN.into());
    }
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use queryscope_collector::HeaderName;

    use super::*;

    #[test]
    fn restrictions_are_said_in_words() {
        assert_eq!(words(&Reading::default(), false), "open");
        assert_eq!(words(&Reading::default(), true), "open, agents may act");
        let reading = Reading {
            login: true,
            user_header: Some(HeaderName::from_static("x-user")),
            ..Reading::default()
        };
        assert_eq!(words(&reading, false), "login, users of a proxy by x-user");
    }
}
