//! Which path is answered by what.
//!
//! `POST /v1/events` is registered here for the API's document and for other methods; its requests go to
//! `ingest::events` from `routes.rs` and never come here.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::ApiError;
use crate::routes::Routes;
use crate::{access, act, deploys, ingest, live, manage, notes, page, read, security, trace, views};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "queryscope",
        description = "Collects the telemetry of running queries and answers what they do and did.\n\n\
            Every error has a JSON body with `error`, also 400 and 431 to what is no valid HTTP. A head that is cut \
            off or does not arrive within 30 s, and an HTTP/2 greeting, close the connection without an answer. Reads \
            from a page of another site are answered 403; links are followed. When as many readers are answered as may \
            be, reads are answered 503.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(live::Pulse, live::Snapshot)),
    tags(
        (name = "ingest", description = "What senders use; needs a token"),
        (name = "read", description = "What readers use; can change until version 1.0")
    )
)]
struct Document;

fn ingest_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(ingest::events))
        .routes(routes!(ingest::health))
        .routes(routes!(deploys::post))
}

fn read_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(read::list))
        .routes(routes!(read::query))
        .routes(routes!(read::recording))
        .routes(routes!(read::changes))
        .routes(routes!(read::change))
        .routes(routes!(read::issues))
        .routes(routes!(read::issue))
        .routes(routes!(read::routes))
        .routes(routes!(read::owners))
        .routes(routes!(read::senders))
        .routes(routes!(deploys::list))
        .routes(routes!(notes::list))
        .routes(routes!(views::list))
        .routes(routes!(access::you))
        .routes(routes!(access::audit))
}

/// What people do to issues, and what they write.
fn act_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(act::acknowledge))
        .routes(routes!(act::mute))
        .routes(routes!(act::resolve))
        .routes(routes!(act::reopen))
        .routes(routes!(act::note))
        .routes(routes!(notes::add))
        .routes(routes!(notes::edit, notes::delete))
        .routes(routes!(views::share, views::unshare))
}

/// What administrators see and change.
fn manage_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(manage::service))
        .routes(routes!(manage::tokens, manage::add_token))
        .routes(routes!(manage::revoke_token))
        .routes(routes!(manage::users, manage::add_user))
        .routes(routes!(manage::change_user))
        .routes(routes!(manage::remove_user))
        .routes(routes!(manage::sessions))
        .routes(routes!(manage::end_session))
}

/// Answers over many queries.
fn analysis_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(read::groups))
        .routes(routes!(read::overview))
        .routes(routes!(read::versions))
        .routes(routes!(read::series))
        .routes(routes!(read::differences))
        .routes(routes!(read::places))
        .routes(routes!(read::facets))
        .routes(routes!(read::insights))
        .routes(routes!(read::progress))
        .routes(routes!(read::compare))
}

/// Telemetry as tables.
fn export_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(read::runs))
        .routes(routes!(read::nodes))
        .routes(routes!(read::findings))
        .routes(routes!(read::exported_issues))
}

fn live_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(live::running)).routes(routes!(live::one))
}

/// The OpenAPI 3.1 document, made from the handlers.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let routes = OpenApiRouter::with_openapi(Document::openapi())
        .merge(ingest_routes())
        .merge(read_routes())
        .merge(act_routes())
        .merge(manage_routes())
        .merge(analysis_routes())
        .merge(export_routes())
        .merge(live_routes());
    let mut document = routes.into_openapi();
    access::describe(&mut document);
    let token =
        HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("A token of a project")).build();
    document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(token));
    document
}

/// Everything: what senders and what readers use, and further routes of readers.
pub(crate) fn full(app: &Arc<App>, further: Router) -> Routes {
    let (read, _) = read_routes().split_for_parts();
    let (acts, _) = act_routes().split_for_parts();
    let (managed, _) = manage_routes().split_for_parts();
    let (analyses, _) = analysis_routes().split_for_parts();
    let (exports, _) = export_routes().split_for_parts();
    let (live, _) = live_routes().split_for_parts();
    let document = openapi();
    let compress = CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest);
    let analyses = analyses
        .layer(from_fn(read::validate))
        .layer(compress.clone())
        .layer(from_fn_with_state(Arc::clone(app), read::offload));
    let read = read
        .route("/api/openapi.json", get(|| async move { Json(document) }))
        .layer(from_fn(read::validate))
        .layer(compress)
        .merge(acts)
        .merge(managed)
        .merge(analyses)
        .merge(exports.layer(from_fn_with_state(Arc::clone(app), read::offload)))
        .merge(live.layer(from_fn(live::move_apart)))
        .route("/metrics", get(read::metrics))
        .merge(dashboard())
        .merge(access::login_routes())
        .merge(further.with_state(()))
        .layer(from_fn_with_state(Arc::clone(app), access::guard))
        .layer(from_fn_with_state(Arc::clone(app), security::check_reader));
    let (ingest, _) = ingest_routes().split_for_parts();
    finish(ingest.merge(read).fallback(no_such_page), app)
}

/// The pages for people. None of their paths has an answer for a program.
fn dashboard() -> Router<Arc<App>> {
    let pages =
        page::PAGES.into_iter().fold(Router::new(), |router, path| router.route(path, page::document()));
    page::FILES.into_iter().fold(pages, |router, path| router.route(path, page::file()))
}

/// What senders use, alone.
pub(crate) fn ingest_only(app: &Arc<App>) -> Routes {
    let (ingest, _) = ingest_routes().split_for_parts();
    finish(ingest.fallback(no_such_path), app)
}

fn finish(routes: Router<Arc<App>>, app: &Arc<App>) -> Routes {
    let others = routes
        .route_layer(from_fn_with_state(Arc::clone(app), count))
        .method_not_allowed_fallback(no_such_method)
        .with_state(Arc::clone(app));
    Routes::new(app, others)
}

async fn count(State(app): State<Arc<App>>, path: MatchedPath, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    trace::answered(&app, method, path.as_str(), next.run(request)).await
}

/// A person sees a page that says so, a program the error.
async fn no_such_page(request: Request) -> Response {
    if page::is_for_a_person(&request) {
        return (StatusCode::NOT_FOUND, page::answer_document(request.headers())).into_response();
    }
    no_such_path(request).await.into_response()
}

async fn no_such_path(request: Request) -> ApiError {
    let shown: String = request.uri().path().chars().take(200).collect();
    ApiError::not_found(format!("there is nothing at {shown}"))
}

async fn no_such_method(request: Request) -> Response {
    let reason = format!("{} is not allowed here", request.method());
    let mut response = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, reason).into_response();
    let path = request.uri().path();
    let posted = [ingest::EVENTS, deploys::PATH, security::AGENTS, "/logout"];
    let allowed = if posted.contains(&path) || act::is_action(path) || manage::is_action(path) {
        "POST"
    } else if path == notes::PATH || manage::takes_both(path) {
        "GET, HEAD, POST"
    } else if notes::is_note(path) || views::is_view(path) {
        "PUT, DELETE"
    } else {
        "GET, HEAD"
    };
    response.headers_mut().insert(header::ALLOW, axum::http::HeaderValue::from_static(allowed));
    response
}
