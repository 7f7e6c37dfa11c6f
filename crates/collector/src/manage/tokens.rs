//! Tokens: listed, made and revoked.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use queryscope_store::{AccessAction, Name, Scope, TokenRecord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{By, Nothing, Wall, named, unix_ns};
use crate::access::Principal;
use crate::act::read;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::PROJECT_DEFAULT;
use crate::tokens::{hash_token, new_token};

/// The tokens of the store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenList {
    /// By name.
    tokens: Vec<TokenEntry>,
}

/// A token, without its text.
#[derive(Debug, Serialize, ToSchema)]
struct TokenEntry {
    /// Its name.
    name: String,
    /// What it is for.
    scope: Scope,
    /// The project its batches belong to, or the only one it reads; null for all.
    project: Option<String>,
    /// When it was made, in Unix nanoseconds.
    created_unix_ns: i64,
    /// From when on it is not taken any more, in Unix nanoseconds; null for never.
    expires_unix_ns: Option<i64>,
    /// When it was used last, to the minute, in Unix nanoseconds.
    used_unix_ns: Option<i64>,
}

/// A token to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenToMake {
    /// Its name: 1 to 64 letters, digits, `.`, `_` and `-`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    name: String,
    /// What it is for: `ingest`, `read` or `admin`.
    scope: Scope,
    /// The project its batches belong to, or the only one it reads. Without it, a token that sends belongs to
    /// `default`, and another reads all; one made by an administrator of one project is of that project.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    project: Option<String>,
    /// From when on it is not taken any more, in Unix nanoseconds; it must be to come.
    #[serde(default)]
    expires_unix_ns: Option<i64>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenMade {
    /// Its text, told this once: the store has its hash alone.
    token: String,
    /// All tokens as they are now.
    tokens: Vec<TokenEntry>,
}

/// Lists the tokens of the store, without their texts: an administrator of one project sees those of that project.
#[utoipa::path(
    get,
    path = "/api/tokens",
    tag = "read",
    responses(
        (status = 200, description = "The tokens", body = TokenList),
        (status = 403, description = "You are no administrator, or the Host is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn tokens(State(app): State<Arc<App>>, who: Principal) -> Result<Json<TokenList>, ApiError> {
    Ok(Json(TokenList { tokens: listed(&app, &Wall(who.project)).await? }))
}

/// Makes a token; its text is in this answer and nowhere else. Collectors take it within a second.
#[utoipa::path(
    post,
    path = "/api/tokens",
    tag = "read",
    request_body = TokenToMake,
    responses(
        (status = 200, description = "The token", body = TokenMade),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "There is a token of that name", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn add_token(
    State(app): State<Arc<App>>,
    who: Principal,
    request: Request,
) -> Result<Json<TokenMade>, ApiError> {
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let wanted: TokenToMake = read(Request::from_parts(head, body)).await?;
    let name = wanted.name.parse::<Name>().map_err(|error| ApiError::invalid(format!("name: {error}")))?;
    let name = String::from(name);
    if wanted.scope == Scope::Invitation {
        return Err(ApiError::invalid("scope: expected ingest, read or admin"));
    }
    let project: Option<Name> = wanted
        .project
        .map(|project| project.parse())
        .transpose()
        .map_err(|error: queryscope_store::NoName| ApiError::invalid(format!("project: {error}")))?;
    let project = match (by.wall.within(project.map(Into::into))?, wanted.scope) {
        (Some(project), _) => project,
        (None, Scope::Ingest) => PROJECT_DEFAULT.to_owned(),
        (None, _) => TokenRecord::ALL_PROJECTS.to_owned(),
    };
    let now = app.clock.unix_ms();
    let expires_unix_ms = wanted.expires_unix_ns.map(|time| time / 1_000_000);
    if expires_unix_ms.is_some_and(|time| time <= now) {
        return Err(ApiError::invalid("expires_unix_ns: must be to come"));
    }
    let text = new_token();
    let record = TokenRecord {
        scope: wanted.scope,
        expires_unix_ms,
        ..TokenRecord::of_sender(name.clone(), project, hash_token(&text), now)
    };
    if !app.store.add_token(record).await? {
        return Err(ApiError::conflict(format!(
            "there is a token {name:?} already: revoke it first, or choose another name"
        )));
    }
    by.note(&app, AccessAction::TokenAdded, &name).await;
    Ok(Json(TokenMade { token: text, tokens: listed(&app, &by.wall).await? }))
}

/// Revokes a token: collectors refuse it, and end its live streams, within seconds.
#[utoipa::path(
    post,
    path = "/api/tokens/{name}/revoke",
    tag = "read",
    params(("name" = String, Path, description = "Name of the token", example = "ci")),
    request_body = Nothing,
    responses(
        (status = 200, description = "The tokens that are left", body = TokenList),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 404, description = "There is no such token", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn revoke_token(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    who: Principal,
    request: Request,
) -> Result<Json<TokenList>, ApiError> {
    let name = named(name)?;
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let Nothing {} = read(Request::from_parts(head, body)).await?;
    let is_this = |token: &TokenRecord| token.name == name && is_shown(token, &by.wall);
    let is_listed = app.store.tokens().await?.iter().any(is_this);
    if !is_listed || !app.store.revoke_token(&name).await? {
        return Err(ApiError::not_found(format!("there is no token {name:?}")));
    }
    by.note(&app, AccessAction::TokenRevoked, &name).await;
    Ok(Json(TokenList { tokens: listed(&app, &by.wall).await? }))
}

fn is_shown(token: &TokenRecord, wall: &Wall) -> bool {
    token.scope != Scope::Invitation && wall.holds(token.wall())
}

async fn listed(app: &App, wall: &Wall) -> Result<Vec<TokenEntry>, ApiError> {
    let entry = |token: TokenRecord| TokenEntry {
        scope: token.scope,
        project: token.wall().map(Into::into),
        created_unix_ns: unix_ns(token.created_unix_ms),
        expires_unix_ns: token.expires_unix_ms.map(unix_ns),
        used_unix_ns: token.used_unix_ms.map(unix_ns),
        name: token.name,
    };
    let tokens = app.store.tokens().await?.into_iter();
    Ok(tokens.filter(|token| is_shown(token, wall)).map(entry).collect())
}
