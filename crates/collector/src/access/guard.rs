//! The guard before every route of readers.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;

use super::login;
use super::principal::{Asking, Kind, Principal};
use super::rules::{Reach, Rule, STRICTEST, rule};
use crate::app::App;
use crate::error::ApiError;

/// How often it is looked whether who follows a stream still may.
const LOOK_EVERY: Duration = Duration::from_millis(1500);

/// Lets a request in if who asks may, and keeps it within their project.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let rule = path.as_deref().and_then(|path| rule(path, request.method())).unwrap_or(STRICTEST);
    let Some(least) = rule.least else { return next.run(request).await };
    let (mut head, body) = request.into_parts();
    let who = match Principal::of(&app, &head).await {
        Ok(who) => who,
        Err(error) if rule.reach == Reach::Page => return login::instead_of(&app, &head.uri, &error),
        Err(error) => return error.into_response(),
    };
    if let Err(error) = admit(&who, least, rule, &mut head.uri) {
        return error.into_response();
    }
    let is_stream = path.is_some_and(|path| path.starts_with("/api/live"));
    let who = Arc::new(who);
    head.extensions.insert(Asking(Arc::clone(&who)));
    let response = next.run(Request::from_parts(head, body)).await;
    if !app.settings.reading.is_restricted() {
        return response;
    }
    let mut response = if is_stream { while_it_holds(app, who, response) } else { response };
    // What one may read, the next who uses this browser may not.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("authorization, cookie"));
    response
}

fn admit(who: &Principal, least: queryscope_store::Role, rule: Rule, uri: &mut Uri) -> Result<(), ApiError> {
    let forbidden = |reason: String| Err(ApiError::new(StatusCode::FORBIDDEN, reason));
    if who.role < least {
        return forbidden(format!("this needs the role {least}"));
    }
    let Some(project) = &who.project else { return Ok(()) };
    match rule.reach {
        Reach::Nothing | Reach::Page | Reach::Managed => Ok(()),
        Reach::Project => keep_within(uri, project),
        Reach::Everything => forbidden("this tells of all projects, and your access is to one".into()),
    }
}

/// Has a request ask for a project, as if it named it. What names another asks for what is not there.
fn keep_within(uri: &mut Uri, project: &str) -> Result<(), ApiError> {
    let mut kept = form_urlencoded::Serializer::new(String::new());
    kept.append_pair("project", project);
    let mut query = kept.finish();
    for pair in uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = form_urlencoded::parse(pair.as_bytes()).next() else { continue };
        if name != "project" {
            query.push('&');
            query.push_str(pair);
        } else if value != project {
            let shown: String = value.chars().take(80).collect();
            return Err(ApiError::not_found(format!("there is no project {shown:?}")));
        }
    }
    let mut parts = std::mem::take(uri).into_parts();
    let path = parts.path_and_query.as_ref().map_or("/", PathAndQuery::path);
    let invalid = |_| ApiError::invalid("the address is not valid");
    parts.path_and_query = Some(format!("{path}?{query}").parse().map_err(invalid)?);
    *uri = Uri::from_parts(parts).map_err(|_| ApiError::invalid("the address is not valid"))?;
    Ok(())
}

/// Ends a stream once who follows it no longer may.
fn while_it_holds(app: Arc<App>, who: Arc<Principal>, response: Response) -> Response {
    if matches!(who.kind, Kind::Anonymous | Kind::OfProxy) {
        return response;
    }
    let ended = async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // Who cannot be looked up now is looked up again.
            if let Ok(false) = who.still_holds(&app).await {
                return;
            }
        }
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(uri: &str, project: &str) -> Result<String, String> {
        let mut uri: Uri = uri.parse().expect("an address");
        keep_within(&mut uri, project).map(|()| uri.to_string()).map_err(|error| error.reason().to_owned())
    }

    #[test]
    fn a_request_asks_for_the_project_of_who_asks() {
        assert_eq!(within("/a", "etl").as_deref(), Ok("/a?project=etl"));
        assert_eq!(within("/a?x=%20&&y", "etl").as_deref(), Ok("/a?project=etl&x=%20&y"));
        assert_eq!(within("/a?project=etl&x=1", "etl").as_deref(), Ok("/a?project=etl&x=1"));
        assert_eq!(within("/a?%70roject=etl", "etl").as_deref(), Ok("/a?project=etl"));
        assert_eq!(within("/a?Project=x", "a b&c").as_deref(), Ok("/a?project=a+b%26c&Project=x"));
    }

    #[test]
    fn what_names_another_project_asks_for_nothing() {
        for query in ["project=other", "project=etl&project=other", "project", "%70roject=o", "project=%ff"] {
            let refused = within(&format!("/a?{query}"), "etl").expect_err(query);
            assert!(refused.starts_with("there is no project"), "{query}: {refused}");
        }
    }
}
