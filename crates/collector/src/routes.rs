//! [`Routes`]: everything that is served at one address.
//!
//! A batch goes from here to `ingest::events`, past the router. Any other request goes to the router, reads within a
//! bound on the readers that are answered at the same time.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use tower::{Service, ServiceExt};

use crate::access::Asker;
use crate::app::App;
use crate::held::hold;
use crate::{ingest, readers, security, trace};

/// Answers requests.
///
/// Batches go to ingest straight away: each layer of a router is a future of its own, and a request that waits in line
/// is woken through all of them, which the processor's caches do not hold where thousands wait.
#[derive(Clone)]
pub struct Routes {
    app: Arc<App>,
    others: Router,
}

impl Routes {
    pub(crate) fn new(app: &Arc<App>, others: Router) -> Self {
        Self { app: Arc::clone(app), others }
    }

    /// The asker of a request, so that others can be made in that name.
    #[must_use]
    pub fn asker(&self, head: &Parts) -> Asker {
        Asker::of(&self.app.settings.reading, head)
    }

    async fn answer(self, request: Request) -> Response {
        let Self { app, others } = self;
        if let Err(error) = security::check_one_host(request.headers()) {
            return error.into_response();
        }
        if request.method() == Method::POST && request.uri().path() == ingest::EVENTS {
            let answer = ingest::events(State(Arc::clone(&app)), request);
            return trace::answered(&app, Method::POST, ingest::EVENTS, answer).await;
        }
        if readers::is_always_answered(&request) {
            let Ok(response) = others.oneshot(request).await;
            return response;
        }
        match app.readers.let_in(&app.metrics) {
            Ok(place) => {
                let Ok(mut response) = others.oneshot(request).await;
                hold(&mut response, place);
                response
            }
            Err(error) => error.into_response(),
        }
    }
}

impl Service<Request> for Routes {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let routes = self.clone();
        Box::pin(async move { Ok(security::protect(routes.answer(request).await)) })
    }
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routes").finish_non_exhaustive()
    }
}
