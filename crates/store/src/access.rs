//! Access: users, their sessions, and the log of access.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::error::StoreError;

/// Sessions that one user may have; a further one takes the place of the one that was used longest ago.
pub const SESSIONS_OF_USER_MAX: usize = 100;

/// Entries that the log of access keeps: the newest. Retention of runs does not touch them.
pub const ACCESS_LOG_MAX: usize = 100_000;

/// A word that names no member of a set of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected {0}")]
pub struct NoWord(pub(crate) &'static str);

macro_rules! words {
    ($(#[$of:meta])* $name:ident, $takes:tt { $($(#[$about:meta])* $case:ident = $word:tt,)* }) => {
        $(#[$of])*
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$about])* $case,)*
        }

        impl $name {
            /// All, in the order of the least first.
            pub const ALL: &[Self] = &[$(Self::$case),*];

            /// Its word.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)*
                }
            }
        }

        impl FromStr for $name {
            type Err = NoWord;

            fn from_str(word: &str) -> Result<Self, NoWord> {
                Self::ALL.iter().copied().find(|one| one.name() == word).ok_or(NoWord($takes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a user may do; each role may do what those before it may.
    Role, "viewer, editor or admin" {
        /// May read.
        Viewer = "viewer",
        /// May move issues, too.
        Editor = "editor",
        /// May manage tokens, users and sessions, too; of all projects, also read the log of access.
        Admin = "admin",
    }
}

words! {
    /// What a token is for.
    Scope, "ingest, read, admin or invitation" {
        /// Sending batches.
        Ingest = "ingest",
        /// Reading, as a viewer.
        Read = "read",
        /// All that an administrator may.
        Admin = "admin",
        /// Making the first user, once.
        Invitation = "invitation",
    }
}

words! {
    /// What was done.
    AccessAction, "an action of the log of access" {
        /// A user logged in.
        Login = "login",
        /// A name or a password was wrong.
        LoginFailed = "login_failed",
        /// A user logged out.
        Logout = "logout",
        /// An administrator ended a session of a user.
        SessionEnded = "session_ended",
        /// A user was made.
        UserAdded = "user_added",
        /// A user was removed.
        UserRemoved = "user_removed",
        /// A user got another password.
        PasswordChanged = "password_changed",
        /// A user got another role or another project.
        RoleChanged = "role_changed",
        /// A token was made.
        TokenAdded = "token_added",
        /// A token was revoked.
        TokenRevoked = "token_revoked",
        /// An issue was muted.
        IssueMuted = "issue_muted",
        /// A note on a query got another text.
        NoteEdited = "note_edited",
        /// A note on a query was deleted.
        NoteDeleted = "note_deleted",
        /// A view was shared, or another one under its name.
        ViewShared = "view_shared",
        /// A view that was shared was taken away.
        ViewDeleted = "view_deleted",
        /// A service started that restricts reading otherwise than the one before.
        SettingsChanged = "settings_changed",
    }
}

/// A user as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, unique.
    pub name: String,
    /// What the user may do.
    pub role: Role,
    /// The only project the user may read; `None` for all.
    pub project: Option<String>,
    /// The hash of the password with its parameters (a PHC string); of a user of a provider of logins
    /// [`OF_PROVIDER`], the issuer, a space and the subject.
    pub password: String,
    /// When the user was made, in Unix milliseconds.
    pub created_unix_ms: i64,
}

/// Begins what stands in place of the password of a user of a provider of logins. No hash begins so.
pub const OF_PROVIDER: &str = "openid:";

impl User {
    /// Whether a provider of logins lets the user in, and no password does.
    #[must_use]
    pub fn is_of_provider(&self) -> bool {
        self.password.starts_with(OF_PROVIDER)
    }

    /// Whether the user manages everything.
    #[must_use]
    pub fn is_admin_of_all(&self) -> bool {
        self.role == Role::Admin && self.project.is_none()
    }
}

/// Whether a change of a user may leave nobody who manages everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastAdmin {
    /// The last administrator of all projects stays as it is.
    Stays,
    /// It may go.
    MayGo,
}

/// What became of a change of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserOutcome {
    /// It was made.
    Made,
    /// There is no user of that name.
    NoUser,
    /// The user is the last administrator of all projects, and was to stay.
    IsLastAdmin,
}

/// SHA-256 of the id of a session, which its browser alone has.
pub type SessionHash = [u8; 32];

/// A session as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its hash.
    pub hash: SessionHash,
    /// The name of its user.
    pub user: String,
    /// When it began, in Unix milliseconds.
    pub created_unix_ms: i64,
    /// When it was used, to the minute, in Unix milliseconds.
    pub used_unix_ms: i64,
}

/// One entry of the log of access.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessEntry {
    /// When, in Unix milliseconds.
    pub unix_ms: i64,
    /// What was done.
    pub action: AccessAction,
    /// The one that did it: the name of a user or a token, or `command line`; `None` where nobody says.
    pub actor: Option<String>,
    /// What it was done to: the name of a user or a token, or the id of an issue.
    pub subject: Option<String>,
    /// The address it was done from.
    pub address: Option<String>,
}

/// Users, their sessions, when tokens were used, and the log of access.
#[async_trait]
pub trait AccessStore: Send + Sync {
    /// All users, by name.
    async fn users(&self) -> Result<Vec<User>, StoreError>;

    /// One user.
    async fn user(&self, name: &str) -> Result<Option<User>, StoreError>;

    /// Adds a user; `false` when the name is taken.
    async fn add_user(&self, user: User) -> Result<bool, StoreError>;

    /// Gives a user another password and ends the user's sessions; `false` when there is none of that name.
    async fn change_password(&self, name: &str, password: String) -> Result<bool, StoreError>;

    /// Gives a user another role, and another project or all. Of several changes at once, none takes the last
    /// administrator away where that is to stay.
    async fn change_role(
        &self,
        name: &str,
        role: Role,
        project: Option<String>,
        last: LastAdmin,
    ) -> Result<UserOutcome, StoreError>;

    /// Takes a user and the user's sessions out, as [`AccessStore::change_role`] changes one.
    async fn remove_user(&self, name: &str, last: LastAdmin) -> Result<UserOutcome, StoreError>;

    /// Begins a session of a user, and ends those beyond [`SESSIONS_OF_USER_MAX`]; `false` when there is no such user.
    async fn begin_session(&self, session: Session) -> Result<bool, StoreError>;

    /// A session that was used at or after a time, and its user.
    async fn session(
        &self,
        hash: SessionHash,
        used_since_unix_ms: i64,
    ) -> Result<Option<(Session, User)>, StoreError>;

    /// Up to `limit` sessions that were used at or after a time, that with the latest use first.
    async fn sessions(&self, used_since_unix_ms: i64, limit: usize) -> Result<Vec<Session>, StoreError>;

    /// Notes that a session was used.
    async fn use_session(&self, hash: SessionHash, unix_ms: i64) -> Result<(), StoreError>;

    /// Ends a session; `false` when there is none.
    async fn end_session(&self, hash: SessionHash) -> Result<bool, StoreError>;

    /// Ends the sessions that were used before a time only, and gives back how many.
    async fn end_idle_sessions(&self, used_before_unix_ms: i64) -> Result<u64, StoreError>;

    /// Notes that tokens were used; those that are gone change nothing.
    async fn use_tokens(&self, names: Vec<String>, unix_ms: i64) -> Result<(), StoreError>;

    /// Writes entries to the log of access, in this order, and takes out the oldest beyond `keep`.
    async fn note_access(&self, entries: Vec<AccessEntry>, keep: usize) -> Result<(), StoreError>;

    /// Up to `limit` entries, each with its number, the newest first, before a number.
    async fn access_log(
        &self,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(i64, AccessEntry)>, StoreError>;
}
