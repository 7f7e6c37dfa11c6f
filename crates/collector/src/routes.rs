//! [`Routes`]: everything that is served at one address.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use tower::{Service, ServiceExt};

use crate::app::App;
use crate::held::hold;
use crate::{ingest, readers, security};

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
}

impl Service<Request> for Routes {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if let Err(error) = security::check_one_host(request.headers()) {
            return Box::pin(std::future::ready(Ok(security::protect(error.into_response()))));
        }
        if request.method() == Method::POST && request.uri().path() == ingest::EVENTS {
            let app = Arc::clone(&self.app);
            return Box::pin(async move {
                let began = Instant::now();
                let response = ingest::events(State(Arc::clone(&app)), request).await;
                app.metrics.answered(ingest::EVENTS, response.status(), began);
                Ok(security::protect(response))
            });
        }
        if readers::is_always_answered(&request) {
            let answer = self.others.clone().oneshot(request);
            return Box::pin(async move { answer.await.map(security::protect) });
        }
        match self.app.readers.let_in(&self.app.metrics) {
            Ok(place) => {
                let answer = self.others.clone().oneshot(request);
                Box::pin(async move {
                    let mut response = security::protect(answer.await?);
                    hold(&mut response, place);
                    Ok(response)
                })
            }
            Err(error) => Box::pin(std::future::ready(Ok(security::protect(error.into_response())))),
        }
    }
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routes").finish_non_exhaustive()
    }
}
