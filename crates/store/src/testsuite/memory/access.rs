//! Users, sessions and the log of access of the model.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::MemoryStore;
use crate::access::{
    AccessEntry, AccessStore, LastAdmin, Role, SESSIONS_OF_USER_MAX, Session, SessionHash, User, UserOutcome,
};
use crate::error::StoreError;

#[derive(Debug, Default)]
pub(super) struct Access {
    users: BTreeMap<String, User>,
    sessions: Vec<Session>,
    log: Vec<(i64, AccessEntry)>,
    logged: i64,
}

impl Access {
    /// Whether a user is the last administrator of all projects, who is to stay.
    fn is_kept(&self, name: &str, last: LastAdmin) -> bool {
        let admins: Vec<&User> = self.users.values().filter(|user| user.is_admin_of_all()).collect();
        last == LastAdmin::Stays && matches!(admins[..], [only] if only.name == name)
    }
}

#[async_trait]
impl AccessStore for MemoryStore {
    async fn users(&self) -> Result<Vec<User>, StoreError> {
        Ok(self.disk()?.access.users.values().cloned().collect())
    }

    async fn user(&self, name: &str) -> Result<Option<User>, StoreError> {
        Ok(self.disk()?.access.users.get(name).cloned())
    }

    async fn add_user(&self, user: User) -> Result<bool, StoreError> {
        let access = &mut self.disk()?.access;
        let new = !access.users.contains_key(&user.name);
        if new {
            access.users.insert(user.name.clone(), user);
        }
        Ok(new)
    }

    async fn change_password(&self, name: &str, password: String) -> Result<bool, StoreError> {
        let access = &mut self.disk()?.access;
        let Some(user) = access.users.get_mut(name) else { return Ok(false) };
        user.password = password;
        access.sessions.retain(|session| session.user != name);
        Ok(true)
    }

    async fn change_role(
        &self,
        name: &str,
        role: Role,
        project: Option<String>,
        last: LastAdmin,
    ) -> Result<UserOutcome, StoreError> {
        let access = &mut self.disk()?.access;
        let stays_admin = role == Role::Admin && project.is_none();
        if !stays_admin && access.is_kept(name, last) {
            return Ok(UserOutcome::IsLastAdmin);
        }
        let Some(user) = access.users.get_mut(name) else { return Ok(UserOutcome::NoUser) };
        (user.role, user.project) = (role, project);
        Ok(UserOutcome::Made)
    }

    async fn remove_user(&self, name: &str, last: LastAdmin) -> Result<UserOutcome, StoreError> {
        let access = &mut self.disk()?.access;
        if access.is_kept(name, last) {
            return Ok(UserOutcome::IsLastAdmin);
        }
        access.sessions.retain(|session| session.user != name);
        Ok(access.users.remove(name).map_or(UserOutcome::NoUser, |_| UserOutcome::Made))
    }

    async fn begin_session(&self, session: Session) -> Result<bool, StoreError> {
        let access = &mut self.disk()?.access;
        if !access.users.contains_key(&session.user) {
            return Ok(false);
        }
        let user = session.user.clone();
        access.sessions.push(session);
        access.sessions.sort_by_key(|session| std::cmp::Reverse((session.used_unix_ms, session.hash)));
        let mut of_user = 0;
        access.sessions.retain(|session| {
            of_user += usize::from(session.user == user);
            session.user != user || of_user <= SESSIONS_OF_USER_MAX
        });
        Ok(true)
    }

    async fn session(
        &self,
        hash: SessionHash,
        used_since_unix_ms: i64,
    ) -> Result<Option<(Session, User)>, StoreError> {
        let access = &self.disk()?.access;
        let found = access.sessions.iter().find(|session| session.hash == hash);
        let found = found.filter(|session| session.used_unix_ms >= used_since_unix_ms);
        Ok(found.and_then(|session| Some((session.clone(), access.users.get(&session.user)?.clone()))))
    }

    async fn sessions(&self, used_since_unix_ms: i64, limit: usize) -> Result<Vec<Session>, StoreError> {
        let sessions = &self.disk()?.access.sessions;
        let mut found: Vec<Session> =
            sessions.iter().filter(|session| session.used_unix_ms >= used_since_unix_ms).cloned().collect();
        found.sort_by_key(|session| std::cmp::Reverse((session.used_unix_ms, session.hash)));
        found.truncate(limit);
        Ok(found)
    }

    async fn use_session(&self, hash: SessionHash, unix_ms: i64) -> Result<(), StoreError> {
        let access = &mut self.disk()?.access;
        if let Some(session) = access.sessions.iter_mut().find(|session| session.hash == hash) {
            session.used_unix_ms = session.used_unix_ms.max(unix_ms);
        }
        Ok(())
    }

    async fn end_session(&self, hash: SessionHash) -> Result<bool, StoreError> {
        let sessions = &mut self.disk()?.access.sessions;
        let before = sessions.len();
        sessions.retain(|session| session.hash != hash);
        Ok(sessions.len() < before)
    }

    async fn end_idle_sessions(&self, used_before_unix_ms: i64) -> Result<u64, StoreError> {
        let sessions = &mut self.disk()?.access.sessions;
        let before = sessions.len();
        sessions.retain(|session| session.used_unix_ms >= used_before_unix_ms);
        Ok((before - sessions.len()) as u64)
    }

    async fn use_tokens(&self, names: Vec<String>, unix_ms: i64) -> Result<(), StoreError> {
        let tokens = &mut self.disk()?.tokens;
        for name in names {
            if let Some(token) = tokens.get_mut(&name) {
                token.used_unix_ms = token.used_unix_ms.max(Some(unix_ms));
            }
        }
        Ok(())
    }

    async fn note_access(&self, entries: Vec<AccessEntry>, keep: usize) -> Result<(), StoreError> {
        let access = &mut self.disk()?.access;
        for entry in entries {
            access.logged += 1;
            access.log.push((access.logged, entry));
        }
        let excess = access.log.len().saturating_sub(keep);
        access.log.drain(..excess);
        Ok(())
    }

    async fn access_log(
        &self,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(i64, AccessEntry)>, StoreError> {
        let disk = self.disk()?;
        let newest = disk.access.log.iter().rev();
        let wanted = newest.filter(|(number, _)| before.is_none_or(|before| *number < before));
        Ok(wanted.take(limit).cloned().collect())
    }
}
