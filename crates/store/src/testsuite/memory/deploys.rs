//! Deploys of the model.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::MemoryStore;
use crate::deploys::{
    DEPLOYS_MAX, DEPLOYS_OF_SPAN_MAX, Deploy, DeploySource, DeploySpan, DeployStore, DeploySubject,
    DeploysRequest, PostedDeploy, SeenVersion,
};
use crate::error::StoreError;

type Rows = BTreeMap<String, Deploy>;

/// Whether a row is a deploy among all.
fn is_deploy(rows: &Rows, row: &Deploy) -> bool {
    if row.source == DeploySource::Posted {
        return true;
    }
    let is_of = |other: &Deploy| {
        (&other.project, &other.service, other.subject) == (&row.project, &row.service, row.subject)
    };
    let is_before = |other: &Deploy| {
        other.source == DeploySource::Seen
            && is_of(other)
            && (&other.environment, &other.engine) == (&row.environment, &row.engine)
            && (other.unix_ns, &other.id) < (row.unix_ns, &row.id)
    };
    let is_posted = |other: &Deploy| {
        other.source == DeploySource::Posted
            && row.subject == DeploySubject::Program
            && is_of(other)
            && other.version == row.version
            && (other.environment.is_none() || other.environment == row.environment)
            && other.unix_ns <= row.unix_ns
    };
    rows.values().any(is_before) && !rows.values().any(is_posted)
}

/// All deploys, the last one first.
fn all(rows: &Rows) -> Vec<Deploy> {
    let mut all: Vec<Deploy> = rows.values().filter(|row| is_deploy(rows, row)).cloned().collect();
    all.sort_by_key(|deploy| (std::cmp::Reverse(deploy.unix_ns), deploy.id.clone()));
    all
}

fn is_to(deploy: &Deploy, environment: Option<&String>) -> bool {
    let is_to_all = deploy.source == DeploySource::Posted && deploy.environment.is_none();
    is_to_all || deploy.environment.as_ref() == environment
}

fn cut(rows: &mut Rows) {
    while rows.len() > DEPLOYS_MAX {
        let oldest = rows.values().min_by_key(|row| (row.last_unix_ns, std::cmp::Reverse(row.id.clone())));
        let Some(id) = oldest.map(|row| row.id.clone()) else { return };
        rows.remove(&id);
    }
}

/// Adds a row, or widens its times; `true` when it is new.
fn widen(rows: &mut Rows, row: Deploy) -> bool {
    let Some(known) = rows.get_mut(&row.id) else {
        rows.insert(row.id.clone(), row);
        return true;
    };
    if known.source == DeploySource::Seen {
        known.unix_ns = known.unix_ns.min(row.unix_ns);
        known.last_unix_ns = known.last_unix_ns.max(row.last_unix_ns);
    }
    false
}

#[async_trait]
impl DeployStore for MemoryStore {
    async fn post_deploy(&self, deploy: Deploy) -> Result<PostedDeploy, StoreError> {
        let rows = &mut self.disk()?.deploys;
        let is_of = |other: &&Deploy| {
            other.source == DeploySource::Posted
                && (&other.project, &other.service, &other.environment)
                    == (&deploy.project, &deploy.service, &deploy.environment)
                && other.unix_ns <= deploy.unix_ns
        };
        let before = rows.values().filter(is_of).max_by_key(|row| (row.unix_ns, row.id.clone()));
        if let Some(before) = before.filter(|before| deploy.repeats(before)) {
            return Ok(PostedDeploy { deploy: before.clone(), is_new: false });
        }
        rows.insert(deploy.id.clone(), deploy.clone());
        cut(rows);
        Ok(PostedDeploy { deploy, is_new: true })
    }

    async fn note_versions(&self, seen: Vec<SeenVersion>) -> Result<(), StoreError> {
        let rows = &mut self.disk()?.deploys;
        for seen in seen {
            widen(rows, Deploy::from(seen));
        }
        cut(rows);
        Ok(())
    }

    async fn list_deploys(&self, request: DeploysRequest) -> Result<Vec<Deploy>, StoreError> {
        let name = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let is_kept = |deploy: &Deploy| {
            request.project.as_ref().is_none_or(|project| deploy.project == *project)
                && request.service.as_ref().is_none_or(|service| deploy.service == name(service))
                && request.environment.as_ref().is_none_or(|to| is_to(deploy, name(to).as_ref()))
                && request.since_unix_ns.is_none_or(|since| deploy.unix_ns >= since)
                && request.until_unix_ns.is_none_or(|until| deploy.unix_ns <= until)
                && request.after.as_ref().is_none_or(|after| {
                    (std::cmp::Reverse(deploy.unix_ns), &deploy.id)
                        > (std::cmp::Reverse(after.unix_ns), &after.id)
                })
        };
        let all = all(&self.disk()?.deploys);
        Ok(all.into_iter().filter(is_kept).take(request.limit).collect())
    }

    async fn deploys_between(&self, spans: Vec<DeploySpan>) -> Result<Vec<Vec<Deploy>>, StoreError> {
        let all = all(&self.disk()?.deploys);
        let between = |span: DeploySpan| {
            let is_kept = |deploy: &&Deploy| {
                (&deploy.project, &deploy.service) == (&span.project, &span.service)
                    && is_to(deploy, span.environment.as_ref())
                    && deploy.unix_ns > span.after_unix_ns
                    && deploy.unix_ns <= span.until_unix_ns
            };
            let mut kept: Vec<Deploy> =
                all.iter().filter(is_kept).take(DEPLOYS_OF_SPAN_MAX).cloned().collect();
            kept.reverse();
            kept
        };
        Ok(spans.into_iter().map(between).collect())
    }

    async fn engine_versions(
        &self,
        project: Option<&str>,
    ) -> Result<Vec<(Option<String>, String)>, StoreError> {
        let disk = self.disk()?;
        let seen = disk.deploys.values().filter(|row| {
            row.subject == DeploySubject::Engine && project.is_none_or(|project| row.project == project)
        });
        let all: BTreeSet<_> = seen.map(|row| (row.engine.clone(), row.version.clone())).collect();
        Ok(all.into_iter().collect())
    }

    async fn deploy_rows(&self, after: Option<String>, limit: usize) -> Result<Vec<Deploy>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.deploys.values().filter(|row| after.as_ref().is_none_or(|after| row.id > *after));
        Ok(ahead.take(limit).cloned().collect())
    }

    async fn adopt_deploys(&self, adopted: Vec<Deploy>) -> Result<usize, StoreError> {
        let rows = &mut self.disk()?.deploys;
        let new = adopted.into_iter().filter(|row| widen(rows, row.clone())).count();
        cut(rows);
        Ok(new)
    }
}
