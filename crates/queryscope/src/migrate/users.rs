//! Users of the folder and its log of access. Sessions stay behind: users log in anew.

use std::collections::HashSet;

use anyhow::{Result, bail};
use queryscope_store::{ACCESS_LOG_MAX, AccessEntry, AccessStore};

/// Entries that are read at once.
const PAGE: usize = 1000;

/// Adds them to the database; how many users were not there.
pub(crate) async fn migrate(source: &dyn AccessStore, target: &dyn AccessStore) -> Result<usize> {
    let mut moved = 0;
    for user in source.users().await? {
        match target.user(&user.name).await? {
            Some(there) if there == user => {}
            Some(_) => {
                bail!("the database has another user {:?}: remove it there, or in the folder", user.name)
            }
            None => {
                let name = user.name.clone();
                if !target.add_user(user).await? {
                    bail!("the database has another user {name:?} as of now");
                }
                moved += 1;
            }
        }
    }
    let there: HashSet<AccessEntry> = log(target).await?.into_iter().collect();
    let mut new = log(source).await?;
    new.retain(|entry| !there.contains(entry));
    new.reverse();
    for entries in new.chunks(PAGE) {
        target.note_access(entries.to_vec(), ACCESS_LOG_MAX).await?;
    }
    Ok(moved)
}

/// The whole log, the newest first.
async fn log(store: &dyn AccessStore) -> Result<Vec<AccessEntry>> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page = store.access_log(before, PAGE).await?;
        let Some((number, _)) = page.last() else { return Ok(all) };
        before = Some(*number);
        all.extend(page.into_iter().map(|(_, entry)| entry));
    }
}

#[cfg(test)]
mod tests {
    use queryscope_store::testsuite::MemoryStore;
    use queryscope_store::{AccessAction, Role, User};

    use super::*;

    fn user(name: &str, password: &str) -> User {
        let (name, password) = (name.to_owned(), password.to_owned());
        User { name, role: Role::Editor, project: Some("etl".into()), password, created_unix_ms: 7 }
    }

    fn entry(unix_ms: i64, actor: &str) -> AccessEntry {
        let actor = Some(actor.to_owned());
        AccessEntry { unix_ms, action: AccessAction::Login, actor, subject: None, address: None }
    }

    #[tokio::test]
    async fn users_and_the_log_are_moved_once() {
        let (source, target) = (MemoryStore::default(), MemoryStore::default());
        for name in ["ada", "bob"] {
            assert!(source.add_user(user(name, "x")).await.expect("a store"));
        }
        source.note_access(vec![entry(1, "ada"), entry(2, "bob")], 10).await.expect("a store");
        assert_eq!(migrate(&source, &target).await.expect("moved"), 2);
        target.note_access(vec![entry(3, "eve")], 10).await.expect("a store");
        assert_eq!(migrate(&source, &target).await.expect("moved again"), 0);
        assert_eq!(target.users().await.expect("a store"), [user("ada", "x"), user("bob", "x")]);
        assert_eq!(log(&target).await.expect("a store"), [entry(3, "eve"), entry(2, "bob"), entry(1, "ada")]);
        target.change_password("ada", "other".into()).await.expect("a store");
        let refused = migrate(&source, &target).await.expect_err("another user");
        assert!(refused.to_string().contains("another user \"ada\""), "{refused}");
    }
}
