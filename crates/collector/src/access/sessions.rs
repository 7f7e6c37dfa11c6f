//! Sessions of users: a random id in a cookie, of which the store has the hash.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use parking_lot::Mutex;
use queryscope_store::{Session, SessionHash, User};
use sha2::{Digest, Sha256};

use super::principal::{Kind, Principal};
use crate::app::App;
use crate::error::ApiError;

/// A session that was not used for so long has ended.
pub const IDLE: Duration = Duration::from_hours(12);
/// A session of a user of a provider has ended so long after it began: whom the provider no longer knows is then out.
const OF_PROVIDER: Duration = IDLE;
/// What the store said of a session holds for so long: another collector may have ended it.
const KNOWN_FOR: Duration = Duration::from_millis(1500);
/// Sessions that are known at once.
const KNOWN_MAX: usize = 10_000;
/// A use is written when the last one that was written is so old.
const USE_EVERY_MS: i64 = 60_000;
const COOKIE: &str = "queryscope_session";

/// What the store said of sessions lately.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<SessionHash, Known>>);

struct Known {
    user: Principal,
    looked: Instant,
    /// Whether a request used it then.
    is_used: bool,
}

impl Sessions {
    /// The user of a session, which is used by this.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub(super) async fn find(&self, app: &App, hash: SessionHash) -> Result<Option<Principal>, ApiError> {
        self.look(app, hash, true).await
    }

    /// The user of a session, which is no use of it: who only follows a stream is idle.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub(super) async fn look_up(&self, app: &App, hash: SessionHash) -> Result<Option<Principal>, ApiError> {
        self.look(app, hash, false).await
    }

    async fn look(&self, app: &App, hash: SessionHash, is_used: bool) -> Result<Option<Principal>, ApiError> {
        let now = queryscope_store::now();
        if let Some(known) = self.0.lock().get(&hash)
            && now.duration_since(known.looked) < KNOWN_FOR
            && (known.is_used || !is_used)
        {
            return Ok(Some(known.user.clone()));
        }
        let unix_ms = app.clock.unix_ms();
        let found = app.store.access().session(hash, unix_ms - IDLE.as_millis() as i64).await?;
        let Some((session, user)) = found else {
            self.0.lock().remove(&hash);
            return Ok(None);
        };
        let age_ms = unix_ms - session.created_unix_ms;
        if user.is_of_provider() && age_ms >= OF_PROVIDER.as_millis() as i64 {
            self.end(app, hash).await?;
            return Ok(None);
        }
        if is_used && unix_ms - session.used_unix_ms >= USE_EVERY_MS {
            app.store.access().use_session(hash, unix_ms).await?;
        }
        let User { name, role, project, .. } = user;
        let user = Principal { kind: Kind::User(hash), name: Some(name), role, project };
        let mut all = self.0.lock();
        if all.len() >= KNOWN_MAX {
            all.retain(|_, known| now.duration_since(known.looked) < KNOWN_FOR);
        }
        if all.len() < KNOWN_MAX {
            all.insert(hash, Known { user: user.clone(), looked: now, is_used });
        }
        Ok(Some(user))
    }

    /// Begins a session of a user; the value of its cookie, `None` when the user is gone.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub(super) async fn begin(&self, app: &App, user: &str) -> Result<Option<String>, ApiError> {
        let [first, second]: [u128; 2] = rand::random();
        let id = format!("{first:032x}{second:032x}");
        let unix_ms = app.clock.unix_ms();
        let session = Session {
            hash: hash(&id),
            user: user.to_owned(),
            created_unix_ms: unix_ms,
            used_unix_ms: unix_ms,
        };
        Ok(app.store.access().begin_session(session).await?.then_some(id))
    }

    /// Ends a session.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub(super) async fn end(&self, app: &App, hash: SessionHash) -> Result<bool, ApiError> {
        let ended = app.store.access().end_session(hash).await?;
        self.0.lock().remove(&hash);
        Ok(ended)
    }
}

fn hash(id: &str) -> SessionHash {
    Sha256::digest(id.as_bytes()).into()
}

/// The hash of the session that a request names.
pub(super) fn hash_of(headers: &HeaderMap) -> Option<SessionHash> {
    let id = cookie_of(headers, COOKIE)?;
    let is_id = id.len() == 64 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| hash(id))
}

/// The value of the first cookie of a name.
pub(super) fn cookie_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies =
        lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The cookie of a session; without an id, the one that takes it back.
pub(super) fn cookie(id: Option<&str>, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    let (id, gone) = id.map_or(("", "; Max-Age=0"), |id| (id, ""));
    format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Lax{secure}{gone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Option<SessionHash> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, line.parse().expect("a header"));
        }
        hash_of(&headers)
    }

    #[test]
    fn a_session_is_found_among_cookies() {
        let id = "0f".repeat(32);
        let expected = Some(hash(&id));
        assert_eq!(found(&[&format!("queryscope_session={id}")]), expected);
        assert_eq!(found(&[&format!("a=b; queryscope_session={id};c")]), expected);
        assert_eq!(found(&["a=b", &format!("queryscope_session={id}")]), expected);
    }

    #[test]
    fn what_is_no_session_is_none() {
        let id = "0f".repeat(32);
        for line in [
            "",
            ";;=;",
            "queryscope_session",
            "queryscope_session=",
            &format!("queryscope_session={}", id.to_uppercase()),
            &format!("queryscope_session={id}0"),
            &format!("queryscope_session=\"{id}\""),
            &format!("Queryscope_Session={id}"),
            &format!("x_queryscope_session={id}"),
        ] {
            assert_eq!(found(&[line]), None, "{line}");
        }
        assert_eq!(found(&[]), None);
    }
}
