//! Headers that say who asks: those of a program, and those of a proxy.

use std::net::IpAddr;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use queryscope_collector::{Reading, hash_token, role_of_groups};
use queryscope_store::testsuite::MemoryStore;
use queryscope_store::{Role, Scope, Store, TokenRecord};
use tokio::runtime::Builder;

use crate::service::{NOW_MS, Service, TOKEN};

const TO_READ: &str = "fuzz-read";
const USER: HeaderName = HeaderName::from_static("x-user");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const TRUSTED: [&str; 2] = ["10.0.0.0/8", "fd00::/8"];
const PEERS: [&str; 4] = ["10.1.2.3", "192.0.2.1", "fd00::1", "::ffff:10.0.0.9"];

thread_local! {
    static SERVICE: Service = Service::with_login(store());
    static READING: Reading = Reading {
        proxies: TRUSTED.iter().map(|network| network.parse().expect("a network")).collect(),
        user_header: Some(USER),
        ..Reading::default()
    };
}

/// Asks with these headers: the first byte says from where, the first byte of each line which header it is.
///
/// # Panics
/// When a token lets in other than `Bearer` says, a proxy is believed that is not trusted, what a client wrote itself
/// changes its address, or a group takes a right away.
pub fn headers(bytes: &[u8]) {
    let Some((from, lines)) = bytes.split_first() else { return };
    let mut headers = HeaderMap::new();
    let mut groups = String::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Some((which, value)) = line.split_first() else { continue };
        let Ok(value) = HeaderValue::from_bytes(value) else { return };
        match which % 4 {
            3 => value.to_str().unwrap_or_default().clone_into(&mut groups),
            of => {
                let name = [header::AUTHORIZATION, FORWARDED_FOR, USER][usize::from(of)].clone();
                headers.append(name, value);
            }
        }
    }
    let peer: IpAddr = PEERS[usize::from(*from) % PEERS.len()].parse().expect("an address");
    READING.with(|reading| {
        check_user(reading, peer, &headers);
        check_client(reading, peer, &headers);
    });
    check_groups(&groups);
    check_token(headers);
}

fn is_trusted(reading: &Reading, address: IpAddr) -> bool {
    reading.proxies.iter().any(|network| network.contains(address.to_canonical()))
}

fn check_user(reading: &Reading, peer: IpAddr, headers: &HeaderMap) {
    let Some(user) = reading.named_user(Some(peer), headers) else { return };
    assert!(is_trusted(reading, peer), "{peer} is believed");
    let mut lines = headers.get_all(USER).iter();
    let line = lines.next().and_then(|line| line.to_str().ok()).expect("a line");
    assert!(lines.next().is_none(), "one of two names is taken");
    assert_eq!(user, line.trim());
    assert!(!user.is_empty() && user.chars().count() <= 200);
    assert_eq!(reading.named_user(None, headers), None);
}

fn check_client(reading: &Reading, peer: IpAddr, headers: &HeaderMap) {
    let client = reading.client(Some(peer), headers).expect("a peer has an address");
    if !is_trusted(reading, peer) {
        assert_eq!(client, peer.to_canonical());
    }
    // What a client writes stands before what proxies add.
    let mut forged = HeaderMap::new();
    forged.append(FORWARDED_FOR, HeaderValue::from_static("203.0.113.7, 10.9.9.9"));
    for line in headers.get_all(FORWARDED_FOR) {
        forged.append(FORWARDED_FOR, line.clone());
    }
    if !is_trusted(reading, client) {
        assert_eq!(reading.client(Some(peer), &forged), Some(client), "a client chose its address");
    }
}

fn check_groups(groups: &str) {
    let found = role_of_groups(groups);
    if let Some((role, project)) = &found {
        let text =
            project.as_ref().map_or(format!("queryscope-{role}"), |of| format!("queryscope-{role}:{of}"));
        assert!(groups.split(',').any(|group| group.trim() == text), "{text} of {groups}");
    }
    let more = role_of_groups(&format!("queryscope-editor,{groups}"));
    let role = |found: &Option<(Role, Option<String>)>| found.as_ref().map(|(role, _)| *role);
    assert_eq!(role(&more), role(&found).max(Some(Role::Editor)));
}

fn check_token(headers: HeaderMap) {
    let line = headers.get(header::AUTHORIZATION).and_then(|line| line.to_str().ok()).unwrap_or_default();
    let is_bearer = line.len() > 7 && line.as_bytes()[..7].eq_ignore_ascii_case(b"bearer ");
    let expected = match line.get(7..).map(str::trim) {
        Some(TO_READ) if is_bearer => 200,
        Some(TOKEN) if is_bearer => 403,
        _ => 401,
    };
    let request = Request::get("/api/access").header(header::HOST, "localhost").body(Body::empty());
    let mut request = request.expect("a request");
    request.headers_mut().extend(headers);
    let answer = SERVICE.with(|service| service.ask(request));
    assert_eq!(answer.status, expected, "{answer:?}");
    if expected != 200 {
        answer.check_error();
    }
}

fn store() -> MemoryStore {
    let store = MemoryStore::default();
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let token = TokenRecord {
        scope: Scope::Read,
        ..TokenRecord::of_sender("fuzz", TokenRecord::ALL_PROJECTS, hash_token(TO_READ), NOW_MS)
    };
    assert!(runtime.block_on(store.add_token(token)).expect("a store"));
    store
}
