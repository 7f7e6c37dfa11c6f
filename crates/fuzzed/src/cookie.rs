//! The cookie of a session.

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use queryscope_store::testsuite::MemoryStore;
use queryscope_store::{AccessStore, Role, Session, User};
use tokio::runtime::Builder;

use crate::service::{NOW_MS, Service};

/// The id of the one session there is.
const ID: &str = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

thread_local! {
    static SERVICE: Service = Service::with_login(store());
}

/// Asks with these lines of `Cookie`.
///
/// # Panics
/// When anything but the first cookie of the right name decides whether the request is let in.
pub fn cookie(bytes: &[u8]) {
    let mut request = Request::get("/api/access").header(header::HOST, "localhost");
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = HeaderValue::from_bytes(line) else { return };
        request = request.header(header::COOKIE, line);
    }
    let request = request.body(Body::empty()).expect("a request");
    let answer = SERVICE.with(|service| service.ask(request));
    if named(bytes) == Some(ID.as_bytes()) {
        assert_eq!(answer.status, 200, "{answer:?}");
        let body: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(body["name"], "ada");
    } else {
        assert_eq!(answer.status, 401, "{answer:?}");
        answer.check_error();
    }
}

/// The value of the first cookie of a session. A line with a byte that is no visible ASCII is none.
fn named(bytes: &[u8]) -> Option<&[u8]> {
    let is_text = |line: &&[u8]| line.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let lines = bytes.split(|byte| *byte == b'\n').filter(is_text);
    let mut cookies = lines.flat_map(|line| line.split(|byte| *byte == b';')).map(<[u8]>::trim_ascii);
    cookies.find_map(|cookie| cookie.strip_prefix(b"queryscope_session="))
}

fn store() -> MemoryStore {
    let store = MemoryStore::default();
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let user = User {
            name: "ada".into(),
            role: Role::Viewer,
            project: None,
            password: String::new(),
            created_unix_ms: NOW_MS,
        };
        assert!(store.add_user(user).await.expect("a store"));
        let hash = queryscope_collector::hash_token(ID);
        let session = Session { hash, user: "ada".into(), created_unix_ms: NOW_MS, used_unix_ms: NOW_MS };
        assert!(store.begin_session(session).await.expect("a store"));
    });
    store
}
