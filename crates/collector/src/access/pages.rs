//! Pages for logging in: plain HTML, without a script.

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// How the pages look.
const STYLE: &str = "\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-items: center; min-height: 90vh; margin: 0; }
main { width: min(22rem, 90vw); }
h1 { font-size: 1.25rem; }
label { display: block; margin-top: 0.75rem; }
input { display: block; box-sizing: border-box; width: 100%; padding: 0.5rem; font: inherit; }
button { margin-top: 1.25rem; padding: 0.5rem 1.25rem; font: inherit; }
.instead { display: block; padding: 0.5rem 1.25rem; border: 1px solid; border-radius: 4px; text-align: center; }
.error { padding: 0.5rem 0.75rem; border-left: 4px solid #c0392b; }
";

/// Marks an answer whose form may be sent to this address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnForm;

/// One field of a form.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) kind: &'a str,
    pub(super) autocomplete: &'a str,
    pub(super) value: &'a str,
}

/// A page with one form.
pub(super) struct FormPage<'a> {
    pub(super) title: &'a str,
    pub(super) action: &'a str,
    pub(super) button: &'a str,
    pub(super) error: Option<&'a str>,
    pub(super) fields: &'a [Field<'a>],
    pub(super) hidden: &'a [(&'a str, &'a str)],
    /// The text and the address of a link before the form.
    pub(super) instead: Option<(&'a str, &'a str)>,
}

impl FormPage<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let mut response = (
            status,
            [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")],
            self.html(),
        )
            .into_response();
        response.extensions_mut().insert(OwnForm);
        response
    }

    fn html(&self) -> String {
        let error = self.error.map_or_else(String::new, |error| {
            format!("<p class=\"error\" role=\"alert\">{}</p>\n", escaped(error))
        });
        let instead = self.instead.map_or_else(String::new, |(text, to)| {
            format!("<p><a class=\"instead\" href=\"{}\">{}</a></p>\n", escaped(to), escaped(text))
        });
        let hidden = |(name, value): &(&str, &str)| {
            format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">\n", escaped(value))
        };
        let hidden = self.hidden.iter().map(hidden).collect::<Vec<_>>().concat();
        let fields: String = self.fields.iter().map(Field::html).collect();
        let (title, action, button) = (escaped(self.title), self.action, escaped(self.button));
        let form = format!(
            "<form method=\"post\" action=\"{action}\">\n{hidden}{fields}<button>{button}</button>\n</form>\n"
        );
        document(&title, &[&*error, &*instead, &*form].concat())
    }
}

/// A page; both are HTML.
fn document(title: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title} · queryscope</title>\n\
         <link rel=\"icon\" href=\"/favicon.svg\">\n<link rel=\"stylesheet\" href=\"/login.css\">\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{content}</main>\n</body>\n</html>\n"
    )
}

/// A page that says why there is no other.
pub(super) fn message(status: StatusCode, reason: &str) -> Response {
    let html = document("Not for you", &format!("<p>{}.</p>\n", escaped(reason)));
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, html).into_response()
}

impl Field<'_> {
    fn html(&self) -> String {
        let Self { name, label, kind, autocomplete, value } = self;
        let (label, value) = (escaped(label), escaped(value));
        format!(
            "<label>{label}<input name=\"{name}\" type=\"{kind}\" value=\"{value}\" \
             autocomplete=\"{autocomplete}\" required></label>\n"
        )
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// The style of the pages.
pub(super) async fn style(_: Request) -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], STYLE)
        .into_response()
}

/// Sends a browser elsewhere on this address.
pub(super) fn see_other(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    let headers = [(header::LOCATION, to), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (StatusCode::SEE_OTHER, headers).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_shown_as_text() {
        let fields = [Field {
            name: "user",
            label: "User",
            kind: "text",
            autocomplete: "username",
            value: "\"><b>'&",
        }];
        let page = FormPage {
            title: "<i>",
            action: "/login",
            button: "Go",
            error: Some("<script>"),
            fields: &fields,
            hidden: &[("next", "/\"onload=\"")],
            instead: Some(("<b>", "/\"onload=\"")),
        };
        let html = page.html();
        for tag in ["<b>", "<i>", "<script>", "/\"onload"] {
            assert!(!html.contains(tag), "{html}");
        }
        assert!(html.contains("value=\"&quot;&gt;&lt;b&gt;&#39;&amp;\""), "{html}");
    }
}
