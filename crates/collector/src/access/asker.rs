//! The asker of a request, in whose name others are made within the process: the tools for agents ask the routes.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;

use super::proxy;
use crate::settings::Reading;

/// What a request said of who asks: headers, and the address it came from.
#[derive(Debug, Clone, Default)]
pub struct Asker {
    headers: HeaderMap,
    pub(super) peer: Option<IpAddr>,
}

impl Asker {
    /// The asker of a request.
    pub(crate) fn of(reading: &Reading, head: &Parts) -> Self {
        let mut headers = HeaderMap::new();
        let by_proxy = [reading.user_header.clone(), reading.groups_header.clone()];
        let names = [AUTHORIZATION, COOKIE, proxy::FORWARDED_FOR].into_iter();
        for name in names.chain(by_proxy.into_iter().flatten()) {
            for value in head.headers.get_all(&name) {
                headers.append(&name, value.clone());
            }
        }
        Self { headers, peer: proxy::peer(head) }
    }

    /// Has a request be asked in this name.
    pub fn ask(&self, request: &mut Request) {
        request.headers_mut().extend(self.headers.clone());
        request.extensions_mut().insert(self.clone());
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[test]
    fn who_asks_goes_on_and_nothing_else() {
        let reading = Reading { user_header: Some(HeaderName::from_static("x-user")), ..Reading::default() };
        let mut request: Request = Request::default();
        for name in
            ["authorization", "cookie", "accept", "if-none-match", "x-user", "x-groups", "x-forwarded-for"]
        {
            request.headers_mut().insert(name, "x".parse().expect("a value"));
        }
        let (head, _) = request.into_parts();
        let mut inside: Request = Request::default();
        Asker::of(&reading, &head).ask(&mut inside);
        let mut names: Vec<&str> = inside.headers().keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "cookie", "x-forwarded-for", "x-user"]);
    }
}
