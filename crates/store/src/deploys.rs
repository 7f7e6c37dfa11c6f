//! Deploys: those that a build system posted, and versions that senders were the first to name.
//!
//! The problem: a version is one deploy, however many processes and collectors name it, and a process of before may go
//! on for days. The mechanism: a row for each version of a service in an environment, with the first time it was seen;
//! it is written whenever the version is seen, and its times only ever widen. A row is a deploy where another version
//! of the same was there before it. What was posted is one row each, and takes the place of the version of its name
//! that is seen later.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// Rows a store keeps: those that were seen last.
pub const DEPLOYS_MAX: usize = 10_000;
/// Deploys of one span that are answered: the last ones.
pub const DEPLOYS_OF_SPAN_MAX: usize = 20;

/// Where a deploy is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DeploySource))]
#[serde(rename_all = "snake_case")]
pub enum DeploySource {
    /// It was posted.
    Posted,
    /// Senders named the version.
    Seen,
}

/// What has the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DeploySubject))]
#[serde(rename_all = "snake_case")]
pub enum DeploySubject {
    /// The program.
    Program,
    /// The engine.
    Engine,
}

/// A deploy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Deploy {
    /// Stable for the life of the deploy.
    pub id: String,
    /// The project of the service.
    pub project: String,
    /// The service; null for programs that name none.
    pub service: Option<String>,
    /// The environment; null where none was named. What was posted without one was deployed to all.
    pub environment: Option<String>,
    /// Where it is known from.
    pub source: DeploySource,
    /// What has the version.
    pub subject: DeploySubject,
    /// The engine that has the version, where its text names one; null for programs.
    pub engine: Option<String>,
    /// The version.
    pub version: String,
    /// The commit, where it was posted.
    pub commit: Option<String>,
    /// Where people read more, where it was posted.
    pub url: Option<String>,
    /// When, in Unix nanoseconds: as posted, or when the first run with the version started.
    pub unix_ns: i64,
    /// When the version was seen last, to the hour, in Unix nanoseconds.
    pub last_unix_ns: i64,
}

/// A version that a sender named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SeenVersion {
    /// The project.
    pub project: String,
    /// The service.
    pub service: Option<String>,
    /// The environment.
    pub environment: Option<String>,
    /// What has the version.
    pub subject: DeploySubject,
    /// The engine of the version, where it is one and has a name.
    pub engine: Option<String>,
    /// The version; of an engine with its name.
    pub version: String,
    /// When the first run with it started, in Unix nanoseconds.
    pub first_unix_ns: i64,
    /// When it was seen, in Unix nanoseconds.
    pub seen_unix_ns: i64,
}

/// What became of a deploy that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedDeploy {
    /// The deploy: the one that was there, where it was posted before.
    pub deploy: Deploy,
    /// Whether it is new.
    pub is_new: bool,
}

/// Where a deploy stands in the list: the last one first, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of a deploy")]
pub struct DeployPlace {
    pub unix_ns: i64,
    pub id: String,
}

/// Which deploys are asked for; a field that is `None` keeps all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeploysRequest {
    /// Of this project.
    pub project: Option<String>,
    /// Of this service; empty for those without one.
    pub service: Option<String>,
    /// To this environment; empty for those that name none. What was posted to all environments is to each.
    pub environment: Option<String>,
    /// At this time or later.
    pub since_unix_ns: Option<i64>,
    /// At this time or before.
    pub until_unix_ns: Option<i64>,
    /// Only those after this place.
    pub after: Option<DeployPlace>,
    /// How many at most.
    pub limit: usize,
}

/// A time between two runs of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploySpan {
    /// The project.
    pub project: String,
    /// The service.
    pub service: Option<String>,
    /// The environment of the runs.
    pub environment: Option<String>,
    /// Only deploys after this time.
    pub after_unix_ns: i64,
    /// Only deploys at this time or before.
    pub until_unix_ns: i64,
}

/// Keeps deploys.
#[async_trait]
pub trait DeployStore: Send + Sync {
    /// Stores a deploy that was posted, unless the last one before it, of the same service and environment, has the
    /// same version and commit: then it is that one.
    async fn post_deploy(&self, deploy: Deploy) -> Result<PostedDeploy, StoreError>;

    /// Notes versions that were seen. The same again changes nothing but the times between which it was seen.
    async fn note_versions(&self, seen: Vec<SeenVersion>) -> Result<(), StoreError>;

    /// One page of the deploys, the last one first.
    async fn list_deploys(&self, request: DeploysRequest) -> Result<Vec<Deploy>, StoreError>;

    /// The deploys in each span, the first first; of many the last [`DEPLOYS_OF_SPAN_MAX`].
    async fn deploys_between(&self, spans: Vec<DeploySpan>) -> Result<Vec<Vec<Deploy>>, StoreError>;

    /// The engines that were seen, of one project or of all, each with its versions as [`SeenVersion`] has them; by
    /// both, each once.
    async fn engine_versions(
        &self,
        project: Option<&str>,
    ) -> Result<Vec<(Option<String>, String)>, StoreError>;

    /// Up to `limit` rows, by id, after one: also versions that are no deploy.
    async fn deploy_rows(&self, after: Option<String>, limit: usize) -> Result<Vec<Deploy>, StoreError>;

    /// Takes over rows of elsewhere; gives back how many were not there. The times of others widen.
    async fn adopt_deploys(&self, rows: Vec<Deploy>) -> Result<usize, StoreError>;
}

impl DeploySource {
    /// Its name in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Posted => "posted",
            Self::Seen => "seen",
        }
    }

    /// The source of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Posted, Self::Seen].into_iter().find(|source| source.name() == name)
    }
}

impl DeploySubject {
    /// Its name in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Engine => "engine",
        }
    }

    /// The subject of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Program, Self::Engine].into_iter().find(|subject| subject.name() == name)
    }
}

impl Deploy {
    /// Whether a deploy that is posted after another says nothing new.
    pub fn repeats(&self, before: &Self) -> bool {
        self.version == before.version && self.commit == before.commit
    }

    /// The version with what has it, in words: `1.4.2`, or for an engine its own text, as `polars 2.1.0`.
    pub fn words(&self) -> &str {
        &self.version
    }
}

impl From<SeenVersion> for Deploy {
    fn from(seen: SeenVersion) -> Self {
        let SeenVersion {
            project,
            service,
            environment,
            subject,
            engine,
            version,
            first_unix_ns,
            seen_unix_ns,
        } = seen;
        let mut hash = Sha256::new();
        for text in [
            Some(project.as_str()),
            service.as_deref(),
            environment.as_deref(),
            Some(subject.name()),
            Some(version.as_str()),
        ] {
            // No text holds a byte that is not UTF-8.
            hash.update(text.unwrap_or_default().as_bytes());
            hash.update([0xff]);
        }
        let mut number = [0; 16];
        number.copy_from_slice(&hash.finalize()[..16]);
        let number = u128::from_be_bytes(number);
        Self {
            id: format!("deploy-{number:032x}"),
            project,
            service,
            environment,
            source: DeploySource::Seen,
            subject,
            engine,
            version,
            commit: None,
            url: None,
            unix_ns: first_unix_ns,
            last_unix_ns: seen_unix_ns.max(first_unix_ns),
        }
    }
}

/// Deploys, without versions that were seen and then posted, too: those are one.
pub fn each_once(deploys: &[Deploy]) -> Vec<&Deploy> {
    let posted = |seen: &Deploy| {
        let is_it = |other: &Deploy| other.source == DeploySource::Posted && other.version == seen.version;
        seen.subject == DeploySubject::Program && deploys.iter().any(is_it)
    };
    deploys.iter().filter(|deploy| deploy.source == DeploySource::Posted || !posted(deploy)).collect()
}

/// "after deploy 1.4.2", "after 3 deploys, the last of them 1.4.2": the deploys of a span in words, which are all there
/// were; `None` where there are none.
pub fn after_deploys(deploys: &[Deploy]) -> Option<String> {
    let is_cut = deploys.len() >= DEPLOYS_OF_SPAN_MAX;
    let deploys = each_once(deploys);
    let last = deploys.last()?;
    if let [one] = &deploys[..] {
        return Some(format!("after deploy {}", one.words()));
    }
    let count = deploys.len();
    let many = if is_cut { format!("{count} or more") } else { count.to_string() };
    if count > 3 {
        return Some(format!("after {many} deploys, the last of them {}", last.words()));
    }
    let names: Vec<&str> = deploys.iter().map(|deploy| deploy.words()).collect();
    let (last, others) = names.split_last()?;
    Some(format!("after {many} deploys: {} and {last}", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(version: &str) -> Deploy {
        Deploy::from(SeenVersion {
            project: "default".into(),
            service: None,
            environment: None,
            subject: DeploySubject::Program,
            engine: None,
            version: version.into(),
            first_unix_ns: 5,
            seen_unix_ns: 4,
        })
    }

    #[test]
    fn one_deploy_is_named_and_several_are_named_as_several() {
        let words = |versions: &[&str]| {
            after_deploys(&versions.iter().map(|version| seen(version)).collect::<Vec<_>>())
        };
        assert_eq!(words(&[]), None);
        assert_eq!(words(&["1"]).as_deref(), Some("after deploy 1"));
        assert_eq!(words(&["1", "2"]).as_deref(), Some("after 2 deploys: 1 and 2"));
        assert_eq!(words(&["1", "2", "3"]).as_deref(), Some("after 3 deploys: 1, 2 and 3"));
        let four = ["1", "2", "3", "4"];
        assert_eq!(words(&four).as_deref(), Some("after 4 deploys, the last of them 4"));
        let many = vec!["1"; DEPLOYS_OF_SPAN_MAX];
        assert_eq!(words(&many).as_deref(), Some("after 20 or more deploys, the last of them 1"));
    }

    #[test]
    fn a_version_that_was_seen_and_posted_is_named_once() {
        let posted = Deploy { source: DeploySource::Posted, id: "deploy-1".into(), ..seen("2") };
        let words = |deploys: &[Deploy]| after_deploys(deploys);
        assert_eq!(words(&[seen("2"), posted.clone()]).as_deref(), Some("after deploy 2"));
        assert_eq!(
            words(&[seen("1"), seen("2"), posted.clone()]).as_deref(),
            Some("after 2 deploys: 1 and 2")
        );
        let engine = Deploy { subject: DeploySubject::Engine, ..seen("2") };
        assert_eq!(words(&[engine, posted]).as_deref(), Some("after 2 deploys: 2 and 2"));
    }

    #[test]
    fn a_seen_version_has_one_id_and_ordered_times() {
        assert_eq!(seen("1"), seen("1"));
        assert_ne!(seen("1").id, seen("2").id);
        assert!(seen("1").last_unix_ns >= seen("1").unix_ns);
    }
}
