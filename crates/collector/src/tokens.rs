//! The tokens of senders, by hash.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use parking_lot::RwLock;
use queryscope_store::{TokenHash, TokenRecord};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::ApiError;
use crate::settings::Access;

const SCHEME: &str = "bearer ";

/// SHA-256 of a token.
pub fn hash_token(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// The tokens in force: those of the settings and those of the store.
#[derive(Debug)]
pub(crate) struct Tokens {
    fixed: Vec<Access>,
    stored: RwLock<Arc<[Access]>>,
}

impl Tokens {
    pub(crate) fn new(fixed: Vec<Access>) -> Self {
        Self { fixed, stored: RwLock::new(Arc::new([])) }
    }

    /// Takes over what the store holds now.
    pub(crate) fn replace(&self, records: Vec<TokenRecord>) {
        let stored =
            records.into_iter().map(|record| Access { hash: record.hash, project: record.project }).collect();
        *self.stored.write() = stored;
    }

    /// The project of the token a request carries.
    pub(crate) fn project(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        let token = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| {
                let (scheme, token) = value.split_at_checked(SCHEME.len())?;
                scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim())
            })
            .ok_or_else(|| ApiError::unauthorized("a token is needed: Authorization: Bearer <token>"))?;
        let hash = hash_token(token);
        let stored = Arc::clone(&self.stored.read());
        let mut project = None;
        // Every hash is compared, and each in constant time.
        for access in self.fixed.iter().chain(stored.iter()) {
            if bool::from(access.hash.ct_eq(&hash)) {
                project = Some(&access.project);
            }
        }
        project.cloned().ok_or_else(|| ApiError::unauthorized("the token is not known"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(tokens: &Tokens, authorization: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, authorization.parse().expect("a header"));
        tokens.project(&headers).ok()
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
        let record = TokenRecord::of_sender("ci", "etl", hash_token("two"), 0);
        tokens.replace(vec![record]);
        assert_eq!(project(&tokens, "Bearer two").as_deref(), Some("etl"));
        tokens.replace(vec![]);
        assert_eq!(project(&tokens, "Bearer two"), None);
    }
}
