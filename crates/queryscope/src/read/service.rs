//! Asking a service over HTTP.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use queryscope_collector::{Asker, Routes};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LINK};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

use super::args::ServiceArgs;
use super::text::line;
use crate::data::DataFolder;
use crate::token::check_given;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Answers over many runs wait for their turn.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Characters of an answer that is none of this API.
const SHOWN_CHARS: usize = 200;

/// What was asked for is not there.
#[derive(Debug)]
pub(crate) struct NotFound(pub(crate) String);

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

/// A page of an answer.
#[derive(Debug)]
pub(crate) struct Page<T = Value> {
    pub(crate) body: T,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// A service that answers reads.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    way: Way,
    base: String,
    /// Headers of every request, those that say who asks.
    headers: HeaderMap,
}

/// How it is asked.
#[derive(Debug, Clone)]
enum Way {
    /// Over a socket.
    Socket(Client),
    /// Within this process.
    Inside(Routes, Asker),
}

impl Service {
    /// The service that is named, or the one that runs on the data folder.
    ///
    /// # Errors
    /// When none runs there, or the address or the token cannot be used.
    pub(crate) fn find(args: &ServiceArgs) -> Result<Self> {
        let base = match &args.url {
            Some(url) => checked(url)?,
            None => DataFolder::running_service(&args.data.data)?,
        };
        let authorization = args.token.as_deref().map(|token| {
            check_given(token, "TELEMETRY_TOKEN")?;
            let mut value =
                HeaderValue::try_from(format!("Bearer {token}")).context("the token cannot be sent")?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        });
        // reqwest takes the provider of the process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .redirect(Policy::none())
            .user_agent(concat!("queryscope/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("no client for HTTP can be made")?;
        let mut headers = HeaderMap::new();
        headers.extend(authorization.transpose()?.map(|value| (AUTHORIZATION, value)));
        Ok(Self { way: Way::Socket(client), base, headers })
    }

    /// The service of this process, asked without a socket in the name of who asked; readers find it at `base`.
    pub(crate) fn inside(routes: Routes, base: String, asker: Asker) -> Self {
        // The routes answer to this name; which one the reader used has been checked.
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost"))]);
        Self { way: Way::Inside(routes, asker), base, headers }
    }

    /// Where it answers.
    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// One answer.
    ///
    /// # Errors
    /// [`NotFound`] where the service says so; else when it does not answer, refuses, or answers something else.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, params: &[(&str, String)]) -> Result<T> {
        Ok(self.page(path, params).await?.body)
    }

    /// One page, and where the next one begins.
    ///
    /// # Errors
    /// As [`Service::get`].
    pub(crate) async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        params: &[(&str, String)],
    ) -> Result<Page<T>> {
        tokio::time::timeout(ANSWER_WITHIN, self.read(path, params)).await.unwrap_or_else(|_| {
            bail!("{} did not answer within {} s", self.base, ANSWER_WITHIN.as_secs());
        })
    }

    async fn read<T: DeserializeOwned>(&self, path: &str, params: &[(&str, String)]) -> Result<Page<T>> {
        let response = self.open(path, params, None).await?;
        self.received(path, response).await
    }

    /// What a request that changes something leads to.
    ///
    /// # Errors
    /// As [`Service::get`].
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let asked = async {
            let mut headers = self.headers.clone();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let response = self.send(Method::POST, path, headers, serde_json::to_vec(body)?).await?;
            anyhow::Ok(self.received(path, response).await?.body)
        };
        tokio::time::timeout(ANSWER_WITHIN, asked).await.unwrap_or_else(|_| {
            bail!("{} did not answer within {} s", self.base, ANSWER_WITHIN.as_secs());
        })
    }

    async fn received<T: DeserializeOwned>(&self, path: &str, mut response: Response) -> Result<Page<T>> {
        let next = response.headers().get(LINK).and_then(|link| cursor(link.to_str().ok()?));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                bail!("{}{path} answers more than {} MiB: use filters", self.base, ANSWER_BYTES_MAX >> 20);
            }
            body.extend_from_slice(&chunk);
        }
        let body = serde_json::from_slice(&body).map_err(|error| {
            let what =
                if error.is_data() { "something else" } else { "no JSON: is it a queryscope service?" };
            anyhow::Error::new(error).context(format!("{}{path} answered {what}", self.base))
        })?;
        Ok(Page { body, next })
    }

    /// The head of an answer with the status 200 or 201, whose body is read by the caller.
    ///
    /// # Errors
    /// As [`Service::get`].
    pub(crate) async fn open(
        &self,
        path: &str,
        params: &[(&str, String)],
        last_event_id: Option<&str>,
    ) -> Result<Response> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
        let mark = if query.is_empty() { "" } else { "?" };
        let mut headers = self.headers.clone();
        if let Some(id) = last_event_id {
            headers.insert("last-event-id", id.parse().context("the id of the last message cannot be sent")?);
        }
        self.send(Method::GET, &format!("{path}{mark}{query}"), headers, Vec::new()).await
    }

    async fn send(
        &self,
        method: Method,
        address: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response> {
        let response = match &self.way {
            Way::Socket(client) => {
                let request = client.request(method, format!("{}{address}", self.base)).headers(headers);
                let request = if body.is_empty() { request } else { request.body(body) };
                request.send().await.map_err(|error| self.unreachable(&error))?
            }
            Way::Inside(routes, asker) => {
                let mut request = axum::extract::Request::new(Body::from(body));
                *request.method_mut() = method;
                *request.uri_mut() = address.parse().context("the address cannot be asked")?;
                *request.headers_mut() = headers;
                asker.ask(&mut request);
                let Ok(response) = routes.clone().oneshot(request).await;
                let body = |body: Body| reqwest::Body::wrap_stream(body.into_data_stream());
                Response::from(response.map(body))
            }
        };
        match response.status() {
            StatusCode::OK | StatusCode::CREATED => Ok(response),
            status => Err(self.refused(status, response).await),
        }
    }

    async fn refused(&self, status: StatusCode, response: Response) -> anyhow::Error {
        let body = response.text().await.unwrap_or_default();
        let told = serde_json::from_str::<Value>(&body).ok();
        let told = told.as_ref().and_then(|body| body["error"].as_str()).map(line);
        match (status, told) {
            (StatusCode::NOT_FOUND, Some(reason)) => NotFound(reason.into_owned()).into(),
            (_, Some(reason)) => anyhow::anyhow!("{} answered {status}: {reason}", self.base),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => {
                anyhow::anyhow!("{} answered {status}: give a token with --token", self.base)
            }
            (_, None) => {
                let shown: String = line(body.trim()).chars().take(SHOWN_CHARS).collect();
                anyhow::anyhow!("{} answered {status}, which no queryscope service does: {shown}", self.base)
            }
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        // The innermost cause is what a reader can do something about.
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        anyhow::anyhow!("{} cannot be reached: {}", self.base, line(&cause.to_string()))
    }
}

/// A part of a path.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn checked(url: &str) -> Result<String> {
    let url = url.trim().trim_end_matches('/');
    let parsed = reqwest::Url::parse(url).ok().filter(|parsed| {
        let is_plain = parsed.query().is_none() && parsed.fragment().is_none();
        matches!(parsed.scheme(), "http" | "https") && is_plain
    });
    match parsed {
        // The address is shown, and a password with it.
        Some(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            bail!("an address like http://127.0.0.1:7766 (--url) holds no user: give a token with --token")
        }
        Some(_) => Ok(url.to_owned()),
        None => {
            let shown = line(url);
            bail!("{shown:?} is no address of a service: expected one like http://127.0.0.1:7766 (--url)")
        }
    }
}

/// The cursor in a `Link` header of a page that is not the last.
fn cursor(link: &str) -> Option<String> {
    let (address, relation) = link.strip_prefix('<')?.split_once('>')?;
    let query = address.split_once('?').filter(|_| relation.contains("rel=\"next\""))?.1;
    form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "cursor")
        .map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for url in ["http://127.0.0.1:7766", "https://queryscope.example/below/"] {
            assert_eq!(checked(url).expect("valid"), url.trim_end_matches('/'));
        }
        for url in
            ["", "127.0.0.1:7766", "ftp://host", "http://", "http://host/?a=b", "http://user:secret@host"]
        {
            let error = checked(url).expect_err(url).to_string();
            assert!(error.contains("http://127.0.0.1:7766 (--url)"), "{error}");
        }
    }

    #[test]
    fn the_next_page_is_in_the_link() {
        let link = "</api/queries?limit=2&cursor=A-b_c>; rel=\"next\"";
        assert_eq!(cursor(link).as_deref(), Some("A-b_c"));
        assert_eq!(cursor("</api/queries?cursor=A>; rel=\"prev\""), None);
        assert_eq!(segment("a/b ä"), "a%2Fb%20%C3%A4");
    }
}
