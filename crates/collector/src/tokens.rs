//! Tokens by hash: those of senders, and those of who reads.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use queryscope_store::{Role, Scope, TokenHash, TokenRecord};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::access::{Kind, Principal};
use crate::error::ApiError;
use crate::settings::Access;

const SCHEME: &str = "bearer ";

/// SHA-256 of a token.
pub fn hash_token(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// A token nobody can guess: 24 random bytes.
pub fn new_token() -> String {
    format!("qs_{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 24]>()))
}

/// The tokens in force: those of the settings and those of the store.
#[derive(Debug)]
pub(crate) struct Tokens {
    fixed: Vec<Access>,
    stored: RwLock<Arc<[Sender]>>,
    others: RwLock<Arc<[Reader]>>,
}

/// A token of the store that sends.
#[derive(Debug)]
struct Sender {
    access: Access,
    used: Used,
}

/// A token of the store that reads.
#[derive(Debug)]
struct Reader {
    expires_unix_ms: Option<i64>,
    principal: Principal,
    hash: TokenHash,
    used: Used,
}

/// Whether a token was used since it was last looked.
#[derive(Debug, Clone)]
struct Used {
    name: String,
    lately: Arc<AtomicBool>,
}

impl Used {
    /// Writes once: others read the same memory.
    fn note(&self) {
        if !self.lately.load(Ordering::Relaxed) {
            self.lately.store(true, Ordering::Relaxed);
        }
    }
}

/// The token that a request carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    None,
    /// One that nobody made, that was revoked or has expired.
    Unknown,
    /// One for sending alone.
    Sender,
    /// One for reading.
    Reader(Principal),
}

impl Tokens {
    pub(crate) fn new(fixed: Vec<Access>) -> Self {
        Self { fixed, stored: RwLock::new(Arc::new([])), others: RwLock::new(Arc::new([])) }
    }

    /// Takes over what the store holds now.
    pub(crate) fn replace(&self, records: Vec<TokenRecord>, unix_ms: i64) {
        let known: Vec<Used> = self.all_used();
        let used = |name: &str| Used {
            name: name.to_owned(),
            lately: known
                .iter()
                .find(|used| used.name == name)
                .map_or_else(Arc::default, |used| Arc::clone(&used.lately)),
        };
        let (mut senders, mut readers) = (Vec::new(), Vec::new());
        for record in records.into_iter().filter(|record| record.holds_at(unix_ms)) {
            let role = match record.scope {
                Scope::Ingest => None,
                Scope::Read => Some(Role::Viewer),
                Scope::Admin => Some(Role::Admin),
                Scope::Invitation => continue,
            };
            let used = used(&record.name);
            let project = record.wall().map(str::to_owned);
            if let Some(role) = role {
                let name = Some(record.name);
                let principal = Principal { kind: Kind::Token(record.hash), name, role, project };
                let (hash, expires_unix_ms) = (record.hash, record.expires_unix_ms);
                readers.push(Reader { expires_unix_ms, principal, hash, used });
            } else {
                senders.push(Sender { access: Access { hash: record.hash, project: record.project }, used });
            }
        }
        *self.stored.write() = senders.into();
        *self.others.write() = readers.into();
    }

    fn all_used(&self) -> Vec<Used> {
        let (senders, readers) = (Arc::clone(&self.stored.read()), Arc::clone(&self.others.read()));
        let senders = senders.iter().map(|sender| &sender.used);
        senders.chain(readers.iter().map(|reader| &reader.used)).cloned().collect()
    }

    /// The names of tokens that were used since this was asked last.
    pub(crate) fn take_used(&self) -> HashSet<String> {
        let used = self.all_used().into_iter();
        used.filter(|used| used.lately.swap(false, Ordering::Relaxed)).map(|used| used.name).collect()
    }

    /// The project of the token a request carries.
    pub(crate) fn project(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        let token = token_of(headers)
            .ok_or_else(|| ApiError::unauthorized("a token is needed: Authorization: Bearer <token>"))?;
        self.project_of(&hash_token(token)).ok_or_else(|| ApiError::unauthorized("the token is not known"))
    }

    fn project_of(&self, hash: &TokenHash) -> Option<String> {
        let stored = Arc::clone(&self.stored.read());
        let mut project = None;
        // Every hash is compared, and each in constant time.
        for access in &self.fixed {
            if bool::from(access.hash.ct_eq(hash)) {
                project = Some(&access.project);
            }
        }
        for sender in stored.iter() {
            if bool::from(sender.access.hash.ct_eq(hash)) {
                project = Some(&sender.access.project);
                sender.used.note();
            }
        }
        project.cloned()
    }

    /// The principal of the token a request carries.
    pub(crate) fn bearer(&self, headers: &HeaderMap, unix_ms: i64) -> Bearer {
        let Some(token) = token_of(headers) else { return Bearer::None };
        let hash = hash_token(token);
        match self.reader(hash, unix_ms) {
            Some(principal) => Bearer::Reader(principal),
            None if self.project_of(&hash).is_some() => Bearer::Sender,
            None => Bearer::Unknown,
        }
    }

    /// The principal of a token for reading.
    pub(crate) fn reader(&self, hash: TokenHash, unix_ms: i64) -> Option<Principal> {
        let others = Arc::clone(&self.others.read());
        let mut found = None;
        for reader in others.iter() {
            if bool::from(reader.hash.ct_eq(&hash)) {
                found = Some(reader);
            }
        }
        let found = found.filter(|reader| reader.expires_unix_ms.is_none_or(|expires| unix_ms < expires))?;
        found.used.note();
        Some(found.principal.clone())
    }
}

fn token_of(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrying(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, authorization.parse().expect("a header"));
        headers
    }

    fn project(tokens: &Tokens, authorization: &str) -> Option<String> {
        tokens.project(&carrying(authorization)).ok()
    }

    #[test]
    fn a_token_has_a_project() {
        let tokens = Tokens::new(vec![Access { hash: hash_token("one"), project: "default".into() }]);
        assert_eq!(project(&tokens, "Bearer one").as_deref(), Some("default"));
        assert_eq!(project(&tokens, "bEARER one").as_deref(), Some("default"));
        for wrong in ["Bearer two", "Basic one", "one", "Bearer", "Bearer ", ""] {
            assert_eq!(project(&tokens, wrong), None, "{wrong}");
        }
        assert!(tokens.project(&HeaderMap::new()).is_err());
    }

    #[test]
    fn tokens_of_the_store_come_and_go() {
        let tokens = Tokens::new(vec![]);
        tokens.replace(vec![TokenRecord::of_sender("ci", "etl", hash_token("two"), 0)], 0);
        assert_eq!(project(&tokens, "Bearer two").as_deref(), Some("etl"));
        tokens.replace(vec![], 0);
        assert_eq!(project(&tokens, "Bearer two"), None);
    }

    #[test]
    fn a_token_does_what_it_is_for_until_it_expires() {
        let tokens = Tokens::new(vec![]);
        let token = |name: &str, scope, project: &str| TokenRecord {
            scope,
            expires_unix_ms: Some(100),
            ..TokenRecord::of_sender(name, project, hash_token(name), 0)
        };
        let records = || {
            vec![
                token("send", Scope::Ingest, "etl"),
                token("read", Scope::Read, "etl"),
                token("all", Scope::Admin, TokenRecord::ALL_PROJECTS),
                token("first", Scope::Invitation, TokenRecord::ALL_PROJECTS),
            ]
        };
        tokens.replace(records(), 99);
        let bearer = |name: &str, unix_ms| tokens.bearer(&carrying(&format!("Bearer {name}")), unix_ms);
        assert_eq!(bearer("send", 99), Bearer::Sender);
        for (name, role, wall) in [("read", Role::Viewer, Some("etl")), ("all", Role::Admin, None)] {
            let Bearer::Reader(found) = bearer(name, 99) else { panic!("{name} reads") };
            assert_eq!((found.role, found.project.as_deref()), (role, wall), "{name}");
            assert_eq!(project(&tokens, &format!("Bearer {name}")), None, "{name} does not send");
            assert_eq!(bearer(name, 100), Bearer::Unknown, "{name} has expired");
        }
        assert_eq!(bearer("first", 99), Bearer::Unknown);
        assert_eq!(tokens.bearer(&HeaderMap::new(), 99), Bearer::None);
        tokens.replace(records(), 100);
        assert_eq!(bearer("send", 100), Bearer::Unknown);
        assert_eq!(project(&tokens, "Bearer send"), None);
    }

    #[test]
    fn a_use_is_told_once_also_when_tokens_come_and_go() {
        let tokens = Tokens::new(vec![]);
        let token = |name: &str| TokenRecord::of_sender(name, "p", hash_token(name), 0);
        tokens.replace(vec![token("a"), token("b")], 0);
        assert!(project(&tokens, "Bearer a").is_some());
        tokens.replace(vec![token("a"), token("b"), token("c")], 0);
        assert_eq!(tokens.take_used(), HashSet::from(["a".to_owned()]));
        assert!(tokens.take_used().is_empty());
    }
}
