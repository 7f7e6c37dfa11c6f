//! Users that a proxy names, from addresses that are trusted, and what else such a proxy says.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use queryscope_store::Role;

use super::asker::Asker;
use super::principal::{Kind, Principal, one};
use crate::app::App;
use crate::error::ApiError;
use crate::live::Apart;
use crate::settings::Reading;

pub(super) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// Groups that give a role begin so.
const GROUP: &str = "queryscope-";
const NAME_CHARS_MAX: usize = 200;

/// The address that a request comes from, also where it is made within the process in the name of who asked.
pub(super) fn peer(head: &Parts) -> Option<IpAddr> {
    let inside = || head.extensions.get::<Asker>().and_then(|asker| asker.peer);
    head.extensions.get::<Apart>().map_or_else(inside, Apart::peer)
}

/// Whether a request comes from a proxy that is trusted.
fn is_trusted(reading: &Reading, address: Option<IpAddr>) -> bool {
    address.is_some_and(|address| reading.proxies.iter().any(|proxy| proxy.contains(address)))
}

/// The user that a trusted proxy names; `None` where no proxy does.
///
/// # Errors
/// 403 when no group of the user gives a role, 503 when the store fails.
pub(super) async fn user(app: &App, head: &Parts) -> Result<Option<Principal>, ApiError> {
    let reading = &app.settings.reading;
    let Some(name) = reading.named_user(peer(head), &head.headers) else { return Ok(None) };
    let (role, project) = if let Some(groups) = &reading.groups_header {
        role_of_groups(one(&head.headers, groups).unwrap_or_default()).ok_or_else(|| {
            let reason = "none of your groups gives a role here: queryscope-viewer, -editor or -admin";
            ApiError::new(StatusCode::FORBIDDEN, reason)
        })?
    } else {
        let stored = app.store.access().user(&name).await?;
        stored.map_or((Role::Viewer, None), |user| (user.role, user.project))
    };
    Ok(Some(Principal { kind: Kind::OfProxy, name: Some(name), role, project }))
}

/// The highest role that a list of groups gives, and its project: of `queryscope-ROLE` for all, of
/// `queryscope-ROLE:PROJECT` for one.
#[must_use]
pub fn role_of_groups(groups: &str) -> Option<(Role, Option<String>)> {
    let roles = groups.split(',').filter_map(|group| {
        let group = group.trim().strip_prefix(GROUP)?;
        let (role, project) = match group.split_once(':') {
            Some((_, "")) => return None,
            Some((role, project)) => (role, Some(project.to_owned())),
            None => (group, None),
        };
        Some((role.parse::<Role>().ok()?, project))
    });
    // Of two roles as high, the one for all projects.
    roles.max_by_key(|(role, project): &(Role, Option<String>)| (*role, project.is_none()))
}

impl Reading {
    /// The user that a trusted proxy names in a request from this address.
    #[must_use]
    pub fn named_user(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<String> {
        let header = self.user_header.as_ref().filter(|_| is_trusted(self, peer))?;
        let name = one(headers, header)?.trim();
        let is_name = !name.is_empty() && name.chars().nth(NAME_CHARS_MAX).is_none();
        is_name.then(|| name.to_owned())
    }

    /// The address that a request from this one comes from: behind trusted proxies, what the first of them was asked
    /// from.
    #[must_use]
    pub fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let peer = peer?.to_canonical();
        let lines: Vec<_> =
            headers.get_all(FORWARDED_FOR).iter().filter_map(|line| line.to_str().ok()).collect();
        let mut nearest = peer;
        // The last was written by the nearest proxy; what a client itself wrote stands before it.
        for address in lines.iter().flat_map(|line| line.split(',')).collect::<Vec<_>>().into_iter().rev() {
            if !is_trusted(self, Some(nearest)) {
                break;
            }
            let Ok(address) = address.trim().parse::<IpAddr>() else { break };
            nearest = address.to_canonical();
        }
        Some(nearest)
    }
}

/// The address that a request comes from: behind trusted proxies, what the first of them was asked from.
pub(super) fn client(app: &App, head: &Parts) -> Option<IpAddr> {
    app.settings.reading.client(peer(head), &head.headers)
}

/// Whether a trusted proxy says that it was asked by TLS.
pub(super) fn is_secure(app: &App, head: &Parts) -> bool {
    is_trusted(&app.settings.reading, peer(head))
        && one(&head.headers, &FORWARDED_PROTO).is_some_and(|proto| proto.eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        Reading {
            proxies: vec!["10.0.0.0/8".parse().expect("a network")],
            user_header: Some(HeaderName::from_static("x-user")),
            ..Reading::default()
        }
    }

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("a header"));
        }
        headers
    }

    fn address(text: &str) -> Option<IpAddr> {
        text.parse().ok()
    }

    #[test]
    fn a_name_counts_from_a_trusted_address_alone() {
        let found = |peer, lines: &[_]| reading().named_user(peer, &headers(lines));
        let line = [("x-user", "ada")];
        assert_eq!(found(address("10.1.2.3"), &line).as_deref(), Some("ada"));
        assert_eq!(found(address("::ffff:10.1.2.3"), &line).as_deref(), Some("ada"));
        for peer in [address("11.1.2.3"), address("::1"), None] {
            assert_eq!(found(peer, &line), None, "{peer:?}");
        }
        for lines in
            [&[][..], &[("x-user", " ")], &[("x-user", "ada"), ("x-user", "eve")], &[("x-use", "ada")]]
        {
            assert_eq!(found(address("10.1.2.3"), lines), None, "{lines:?}");
        }
        assert_eq!(Reading::default().named_user(address("10.1.2.3"), &headers(&line)), None);
    }

    #[test]
    fn groups_give_the_highest_role() {
        let all = |role| Some((role, None));
        let one = |role, project: &str| Some((role, Some(project.to_owned())));
        assert_eq!(role_of_groups("staff, queryscope-viewer"), all(Role::Viewer));
        assert_eq!(role_of_groups("queryscope-editor:etl,queryscope-viewer"), one(Role::Editor, "etl"));
        assert_eq!(role_of_groups("queryscope-admin:etl,queryscope-admin"), all(Role::Admin));
        for none in ["", "admin", "queryscope-", "queryscope-root", "queryscope-admin:", "xqueryscope-admin"]
        {
            assert_eq!(role_of_groups(none), None, "{none}");
        }
    }

    #[test]
    fn the_client_is_whom_the_first_trusted_proxy_saw() {
        let found = |peer, lines: &[_]| reading().client(address(peer), &headers(lines));
        let line = [("x-forwarded-for", "1.1.1.1, 2.2.2.2, 10.0.0.9")];
        assert_eq!(found("10.0.0.1", &line), address("2.2.2.2"));
        assert_eq!(found("3.3.3.3", &line), address("3.3.3.3"), "anybody can write that header");
        assert_eq!(found("10.0.0.1", &[("x-forwarded-for", "x")]), address("10.0.0.1"));
        assert_eq!(found("10.0.0.1", &[]), address("10.0.0.1"));
        assert_eq!(reading().client(None, &headers(&line)), None);
    }
}
