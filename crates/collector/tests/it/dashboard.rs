//! The pages of the dashboard and the files they load.

use axum::body::Body;
use axum::http::{Request, header};

use crate::app::{Answer, TestApp};

const PAGES: [&str; 11] = [
    "/",
    "/now",
    "/queries",
    "/queries?view=runs&status=failed",
    "/queries/01a1faa8-1bd9-77b2-97ab-860dd7026506",
    "/labels/orders%2Fdaily",
    "/labels/orders/daily",
    "/issues?state=all",
    "/issues/issue-slower-01a1faa81bd977b297ab860dd7026506",
    "/open",
    "/settings",
];

/// What browsers say they take when they ask for a page.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn packed(app: &TestApp, path: &str) -> Answer {
    let request =
        Request::get(path).header(header::HOST, "localhost").header(header::ACCEPT_ENCODING, "gzip, br");
    app.send(request.body(Body::empty()).expect("a request")).await
}

/// The files that the document names.
fn files(document: &str) -> Vec<&str> {
    document
        .split('"')
        .filter(|text| text.starts_with('/') && text.contains('.') && !text.contains("/api/"))
        .collect()
}

#[tokio::test]
async fn every_page_is_one_document_that_is_never_kept() {
    let app = TestApp::new().await;
    let first = app.get("/").await;
    assert!(first.text().starts_with("<!doctype html>"), "{}", first.text());
    for path in PAGES {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.text(), first.text(), "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
    }
}

#[tokio::test]
async fn files_are_compressed_and_kept_for_ever_where_their_name_says_what_they_hold() {
    let app = TestApp::new().await;
    let document = app.get("/").await.text();
    let files = files(&document);
    assert!(files.len() >= 3, "script, style and icon: {files:?}");
    for file in files {
        let answer = packed(&app, file).await;
        assert_eq!(answer.status, 200, "{file}");
        assert_eq!(answer.header("content-encoding"), Some("gzip"), "{file}");
        let is_named = file.starts_with("/assets/");
        let kept = answer.header("cache-control").is_some_and(|value| value.contains("immutable"));
        assert_eq!(kept, is_named, "{file}");
    }
}

/// The policy allows neither scripts nor styles within the document.
#[tokio::test]
async fn the_document_holds_no_code_of_its_own() {
    let app = TestApp::new().await;
    let document = app.get("/").await.text();
    assert!(!document.contains("style="), "{document}");
    for script in document.split("<script").skip(1) {
        let (opening, rest) = script.split_once('>').expect("an end of the tag");
        assert!(opening.contains("src="), "{opening}");
        assert!(rest.starts_with("</script>"), "{rest}");
    }
}

#[tokio::test]
async fn a_file_of_another_version_is_not_there() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/assets/index-00000000.js").await.status, 404);
    assert_eq!(app.get("/assets/../Cargo.toml").await.status, 404);
    assert_eq!(app.get("/sources.sha256").await.status, 404);
}

/// Browsers ask for it where an answer names no icon, as those of the API do.
#[tokio::test]
async fn the_icon_is_where_browsers_look_for_it() {
    let app = TestApp::new().await;
    let answer = app.get("/favicon.ico").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("image/x-icon")));
    assert!(answer.body.starts_with(&[0, 0, 1, 0]), "an icon of Windows' format");
}

/// At a mistyped address a person sees a page that says so and leads on, a program the error it can read.
#[tokio::test]
async fn a_person_sees_a_page_also_where_there_is_nothing() {
    let app = TestApp::new().await;
    let ask = async |path: &str, accepted: &str| {
        let request = Request::get(path).header(header::HOST, "localhost").header(header::ACCEPT, accepted);
        app.send(request.body(Body::empty()).expect("a request")).await
    };
    let answer = ask("/nowhere", BROWSER).await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.text(), app.get("/").await.text());
    assert!(answer.header("content-security-policy").is_some());
    for (path, accepted) in
        [("/nowhere", "*/*"), ("/api/nowhere", BROWSER), ("/v1", BROWSER), ("/assets/x.js", BROWSER)]
    {
        let answer = ask(path, accepted).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (404, Some("application/json")),
            "{path}"
        );
    }
}
