//! How users log in at a provider of OpenID Connect.

use std::str::FromStr;

use openidconnect::{ClientId, ClientSecret, IssuerUrl, Scope};
use queryscope_store::{Name, Role};

use super::super::proxy::role_of_groups;

/// A provider of OpenID Connect, and what its groups may here.
#[derive(Debug, Clone)]
pub struct OpenIdOptions {
    pub(super) issuer: IssuerUrl,
    pub(super) client_id: ClientId,
    pub(super) client_secret: Option<ClientSecret>,
    pub(super) scopes: Vec<Scope>,
    pub(super) groups_claim: String,
    roles: Vec<GroupRole>,
}

impl OpenIdOptions {
    /// Of a provider, without a secret, with the scopes `profile` and `email`, and with groups in the claim `groups`.
    ///
    /// # Errors
    /// When the issuer is no URL, or one that others on the network can read and change.
    pub fn new(issuer: &str, client_id: String) -> Result<Self, String> {
        let issuer = IssuerUrl::new(issuer.to_owned()).map_err(|error| format!("no URL: {error}"))?;
        let is_here = issuer.url().host_str().is_some_and(|host| {
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
            host == "localhost" || address.is_ok_and(|address| address.is_loopback())
        });
        if issuer.url().scheme() != "https" && !(is_here && issuer.url().scheme() == "http") {
            return Err("must begin with https:// (http:// on this machine alone)".into());
        }
        Ok(Self {
            issuer,
            client_id: ClientId::new(client_id),
            client_secret: None,
            scopes: ["profile", "email"].map(|scope| Scope::new(scope.into())).into(),
            groups_claim: "groups".into(),
            roles: Vec::new(),
        })
    }

    /// With the secret of the client.
    #[must_use]
    pub fn with_secret(mut self, secret: String) -> Self {
        self.client_secret = Some(ClientSecret::new(secret));
        self
    }

    /// With scopes beside `openid`.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Vec<String>) -> Self {
        self.scopes = scopes.into_iter().map(Scope::new).collect();
        self
    }

    /// With roles by groups, and the claim that has the groups of a user. Without roles, groups give those that their
    /// names say, as [`role_of_groups`] does.
    #[must_use]
    pub fn with_roles(mut self, groups_claim: String, roles: Vec<GroupRole>) -> Self {
        self.groups_claim = groups_claim;
        self.roles = roles;
        self
    }

    /// The provider.
    pub(super) fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    /// The host of the provider, for people.
    pub fn host(&self) -> &str {
        self.issuer.url().host_str().unwrap_or_default()
    }

    /// The highest role that groups give, and its project; of two as high, the one for all projects.
    pub(super) fn role_of(&self, groups: &[String]) -> Option<(Role, Option<String>)> {
        if self.roles.is_empty() {
            return groups
                .iter()
                .filter_map(|group| role_of_groups(&group.replace(',', " ")))
                .max_by_key(|(role, project)| (*role, project.is_none()));
        }
        let given = self.roles.iter().filter(|of| of.group == "*" || groups.contains(&of.group));
        let highest = given.max_by_key(|of| (of.role, of.project.is_none()))?;
        Some((highest.role, highest.project.clone()))
    }
}

/// The role of a group: `GROUP=ROLE`, or `GROUP=ROLE:PROJECT`. The group `*` is that of every user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRole {
    group: String,
    role: Role,
    project: Option<String>,
}

impl FromStr for GroupRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected GROUP=ROLE or GROUP=ROLE:PROJECT".to_owned();
        // The name of a group may hold an equals sign: `cn=data,ou=groups`.
        let (group, role) = text.trim().rsplit_once('=').ok_or_else(expected)?;
        let (role, project) = match role.split_once(':') {
            Some((role, project)) => {
                (role, Some(project.parse::<Name>().map_err(|error| error.to_string())?))
            }
            None => (role, None),
        };
        let role = role.parse().map_err(|error: queryscope_store::NoWord| error.to_string())?;
        if group.is_empty() {
            return Err(expected());
        }
        Ok(Self { group: group.into(), role, project: project.map(String::from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(texts: &[&str], groups: &[&str]) -> Option<(Role, Option<String>)> {
        let roles = texts.iter().map(|text| text.parse().expect(text)).collect();
        let options = OpenIdOptions::new("https://id.example", "queryscope".into()).expect("a provider");
        let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        options.with_roles("groups".into(), roles).role_of(&groups)
    }

    #[test]
    fn a_group_gives_its_role() {
        let all = |role| Some((role, None));
        let of_etl = |role| Some((role, Some("etl".to_owned())));
        let texts = ["cn=data,ou=x=editor:etl", "staff=viewer", "ops=admin"];
        assert_eq!(roles(&texts, &["staff"]), all(Role::Viewer));
        assert_eq!(roles(&texts, &["staff", "cn=data,ou=x"]), of_etl(Role::Editor));
        assert_eq!(roles(&texts, &["ops", "cn=data,ou=x"]), all(Role::Admin));
        for none in [&[][..], &["Staff"], &["queryscope-admin"], &["*"]] {
            assert_eq!(roles(&texts, none), None, "{none:?}");
        }
        assert_eq!(roles(&["*=viewer:etl", "ops=viewer"], &["x"]), of_etl(Role::Viewer));
        assert_eq!(roles(&["*=viewer:etl", "ops=viewer"], &["ops"]), all(Role::Viewer));
    }

    #[test]
    fn without_a_mapping_names_say_it() {
        let of_etl = Some((Role::Admin, Some("etl".to_owned())));
        assert_eq!(roles(&[], &["queryscope-viewer", "queryscope-admin:etl"]), of_etl);
        assert_eq!(roles(&[], &["admin", "x,queryscope-admin"]), None, "one name is one group");
    }

    #[test]
    fn what_is_no_role_of_a_group_is_refused() {
        for (text, reason) in [
            ("staff", "expected GROUP=ROLE"),
            ("=viewer", "expected GROUP=ROLE"),
            ("staff=root", "expected viewer, editor or admin"),
            ("staff=viewer:", "1 to 64 letters"),
            ("staff=viewer:a b", "1 to 64 letters"),
        ] {
            let refused = text.parse::<GroupRole>().expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn a_provider_cannot_be_read_by_others() {
        for issuer in
            ["https://id.example/realm", "http://127.0.0.1:80", "http://localhost:3000", "http://[::1]"]
        {
            assert!(OpenIdOptions::new(issuer, "q".into()).is_ok(), "{issuer}");
        }
        for issuer in
            ["", "id.example", "http://id.example", "ftp://localhost", "http://localhost.evil.example"]
        {
            assert!(OpenIdOptions::new(issuer, "q".into()).is_err(), "{issuer}");
        }
        let options = OpenIdOptions::new("https://id.example", "q".into()).expect("a provider");
        assert!(!format!("{:?}", options.with_secret("s3cret".into())).contains("s3cret"));
    }
}
