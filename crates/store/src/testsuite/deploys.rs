//! Deploys: what was posted, what was seen, and what lies between two runs.

use super::batch::{batch, facts};
use super::subject::{Subject, Subjects};
use crate::deploys::{
    Deploy, DeployPlace, DeploySource, DeploySpan, DeployStore, DeploySubject, DeploysRequest, SeenVersion,
};

fn deploys(s: &Subject) -> &dyn DeployStore {
    s.store.deploys()
}

fn posted(number: u64, version: &str, unix_ns: i64) -> Deploy {
    Deploy {
        id: format!("deploy-p{number}"),
        project: "default".into(),
        service: Some("etl".into()),
        environment: None,
        source: DeploySource::Posted,
        subject: DeploySubject::Program,
        engine: None,
        version: version.into(),
        commit: Some("abc".into()),
        url: Some("https://ci.example/1".into()),
        unix_ns,
        last_unix_ns: unix_ns,
    }
}

fn seen(version: &str, unix_ns: i64) -> SeenVersion {
    SeenVersion {
        project: "default".into(),
        service: Some("etl".into()),
        environment: Some("prod".into()),
        subject: DeploySubject::Program,
        engine: None,
        version: version.into(),
        first_unix_ns: unix_ns,
        seen_unix_ns: unix_ns,
    }
}

fn engine(version: &str, unix_ns: i64) -> SeenVersion {
    let engine = version.split_once(' ').map(|(engine, _)| engine.to_owned());
    SeenVersion { subject: DeploySubject::Engine, engine, ..seen(version, unix_ns) }
}

fn all() -> DeploysRequest {
    DeploysRequest { limit: 100, ..DeploysRequest::default() }
}

async fn list(s: &Subject, request: DeploysRequest) -> Vec<(String, i64)> {
    let listed = deploys(s).list_deploys(request).await.expect("a store");
    listed.into_iter().map(|deploy| (deploy.version, deploy.unix_ns)).collect()
}

fn of(deploys: &[(&str, i64)]) -> Vec<(String, i64)> {
    deploys.iter().map(|(version, unix_ns)| ((*version).to_owned(), *unix_ns)).collect()
}

pub(super) fn what_is_posted_twice_is_one_deploy(subjects: &Subjects) {
    subjects.one(async |s| {
        let first = deploys(s).post_deploy(posted(1, "1.0", 10)).await.expect("a store");
        assert!(first.is_new);
        // A build system that tries again, some time later.
        let again = deploys(s).post_deploy(posted(2, "1.0", 20)).await.expect("a store");
        assert_eq!((again.is_new, &again.deploy), (false, &first.deploy));
        let other_commit = Deploy { commit: None, ..posted(3, "1.0", 30) };
        assert!(deploys(s).post_deploy(other_commit).await.expect("a store").is_new);
        let other_environment = Deploy { environment: Some("prod".into()), ..posted(4, "1.0", 30) };
        assert!(deploys(s).post_deploy(other_environment).await.expect("a store").is_new);
        let other_service = Deploy { service: None, ..posted(5, "1.0", 30) };
        assert!(deploys(s).post_deploy(other_service).await.expect("a store").is_new);
        // Back to the first, after another: a deploy of its own.
        assert!(deploys(s).post_deploy(posted(6, "1.0", 40)).await.expect("a store").is_new);
        s.reopen().await;
        let listed = deploys(s).list_deploys(all()).await.expect("a store");
        assert_eq!(listed.len(), 5);
        assert!(listed.contains(&posted(1, "1.0", 10)), "each field is kept");
    });
}

pub(super) fn engines_are_seen_with_their_versions(subjects: &Subjects) {
    subjects.one(async |s| {
        let note = async |seen| deploys(s).note_versions(seen).await.expect("a store");
        note(vec![seen("1.0", 100), engine("polars 2.0.0", 100), engine("duckdb 2.0.0", 110)]).await;
        note(vec![SeenVersion { service: None, ..engine("polars 2.0.0", 120) }, engine("2.0.0", 130)]).await;
        note(vec![SeenVersion { project: "other".into(), ..engine("polars 2.1.0", 140) }]).await;
        let of = async |project: Option<&str>| {
            let found = deploys(s).engine_versions(project).await.expect("a store");
            let text = |(engine, version): (Option<String>, String)| {
                format!("{}: {version}", engine.as_deref().unwrap_or("-"))
            };
            found.into_iter().map(text).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(of(Some("default")).await, "-: 2.0.0, duckdb: duckdb 2.0.0, polars: polars 2.0.0");
        assert!(of(None).await.ends_with(", polars: polars 2.1.0"));
        assert_eq!(of(Some("\0")).await, "");
    });
}

pub(super) fn a_version_that_comes_after_another_is_a_deploy(subjects: &Subjects) {
    subjects.one(async |s| {
        let note = async |seen| deploys(s).note_versions(seen).await.expect("a store");
        note(vec![seen("1.0", 100), engine("polars 2.0.0", 100)]).await;
        assert_eq!(list(s, all()).await, []);
        note(vec![seen("2.0", 200), engine("polars 2.1.0", 300), engine("duckdb 1.5.0", 310)]).await;
        let two = of(&[("polars 2.1.0", 300), ("2.0", 200)]);
        assert_eq!(list(s, all()).await, two, "another engine is no new version of the first");
        // A process of before goes on, and one of the new version started somewhat earlier elsewhere.
        note(vec![seen("1.0", 400), seen("2.0", 190)]).await;
        assert_eq!(list(s, all()).await, of(&[("polars 2.1.0", 300), ("2.0", 190)]));
        // Elsewhere it is the first.
        note(vec![SeenVersion { environment: None, ..seen("2.0", 500) }]).await;
        note(vec![SeenVersion { service: None, ..seen("2.0", 500) }]).await;
        note(vec![SeenVersion { project: "other".into(), ..seen("2.0", 500) }]).await;
        assert_eq!(list(s, all()).await.len(), 2);
        // What is imported later was there before.
        note(vec![seen("0.9", 50)]).await;
        let three = of(&[("polars 2.1.0", 300), ("2.0", 190), ("1.0", 100)]);
        assert_eq!(list(s, all()).await, three);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
    });
}

pub(super) fn what_was_posted_takes_the_place_of_what_is_seen(subjects: &Subjects) {
    subjects.one(async |s| {
        let note = async |seen| deploys(s).note_versions(seen).await.expect("a store");
        note(vec![seen("1.0", 100), seen("2.0", 200), seen("3.0", 300)]).await;
        deploys(s).post_deploy(posted(1, "2.0", 195)).await.expect("a store");
        let elsewhere = Deploy { environment: Some("test".into()), ..posted(2, "3.0", 296) };
        deploys(s).post_deploy(elsewhere).await.expect("a store");
        let expected = of(&[("3.0", 300), ("3.0", 296), ("2.0", 195)]);
        assert_eq!(list(s, all()).await, expected);
        let prod = DeploysRequest { environment: Some("prod".into()), ..all() };
        assert_eq!(list(s, prod).await, of(&[("3.0", 300), ("2.0", 195)]));
    });
}

pub(super) fn what_is_posted_later_leaves_what_was_seen(subjects: &Subjects) {
    subjects.one(async |s| {
        deploys(s).note_versions(vec![seen("1.0", 100), seen("2.0", 200)]).await.expect("a store");
        deploys(s).post_deploy(posted(1, "2.0", 201)).await.expect("a store");
        assert_eq!(list(s, all()).await, of(&[("2.0", 201), ("2.0", 200)]));
        let bad_run = DeploySpan {
            project: "default".into(),
            service: Some("etl".into()),
            environment: Some("prod".into()),
            after_unix_ns: 150,
            until_unix_ns: 200,
        };
        let found = deploys(s).deploys_between(vec![bad_run]).await.expect("a store");
        assert_eq!(found[0].iter().map(|deploy| deploy.source).collect::<Vec<_>>(), [DeploySource::Seen]);
        // At the same time, it is that one.
        deploys(s).post_deploy(Deploy { commit: None, ..posted(2, "2.0", 200) }).await.expect("a store");
        assert_eq!(list(s, all()).await, of(&[("2.0", 201), ("2.0", 200)]));
    });
}

pub(super) fn deploys_are_listed_by_page(subjects: &Subjects) {
    subjects.one(async |s| {
        for number in 0..7 {
            let version = format!("v{number}");
            let at = 10 + i64::try_from(number / 2).expect("small");
            deploys(s).post_deploy(posted(number, &version, at)).await.expect("a store");
        }
        let whole = deploys(s).list_deploys(all()).await.expect("a store");
        let mut joined: Vec<Deploy> = Vec::new();
        loop {
            let after = joined.last().map(|last| DeployPlace { unix_ns: last.unix_ns, id: last.id.clone() });
            let page = DeploysRequest { after, limit: 2, ..DeploysRequest::default() };
            let page = deploys(s).list_deploys(page).await.expect("a store");
            if page.is_empty() {
                break;
            }
            joined.extend(page);
        }
        assert_eq!(joined, whole);
        assert_eq!(joined.len(), 7);
        let within = DeploysRequest { since_unix_ns: Some(11), until_unix_ns: Some(13), ..all() };
        assert_eq!(list(s, within).await.len(), 5);
        for (request, count) in [
            (DeploysRequest { project: Some("default".into()), ..all() }, 7),
            (DeploysRequest { project: Some("other".into()), ..all() }, 0),
            (DeploysRequest { service: Some("etl".into()), ..all() }, 7),
            (DeploysRequest { service: Some(String::new()), ..all() }, 0),
            (DeploysRequest { service: Some("\0".into()), ..all() }, 0),
            (DeploysRequest { environment: Some(String::new()), ..all() }, 7),
        ] {
            assert_eq!(list(s, request.clone()).await.len(), count, "{request:?}");
        }
    });
}

pub(super) fn deploys_between_two_runs(subjects: &Subjects) {
    subjects.one(async |s| {
        deploys(s).note_versions(vec![seen("1.0", 100), seen("2.0", 200)]).await.expect("a store");
        deploys(s).post_deploy(posted(1, "1.9", 150)).await.expect("a store");
        let span = |after_unix_ns, until_unix_ns| DeploySpan {
            project: "default".into(),
            service: Some("etl".into()),
            environment: Some("prod".into()),
            after_unix_ns,
            until_unix_ns,
        };
        let spans = vec![
            span(100, 149),
            span(100, 200),
            span(150, 300),
            span(200, 300),
            DeploySpan { environment: Some("test".into()), ..span(0, 300) },
            DeploySpan { service: None, ..span(0, 300) },
            DeploySpan { project: "other".into(), ..span(0, 300) },
            DeploySpan { service: Some("\0".into()), ..span(0, 300) },
        ];
        let found = deploys(s).deploys_between(spans).await.expect("a store");
        let versions: Vec<Vec<&str>> = found
            .iter()
            .map(|deploys| deploys.iter().map(|deploy| deploy.version.as_str()).collect())
            .collect();
        let expected: [&[&str]; 8] = [&[], &["1.9", "2.0"], &["2.0"], &[], &["1.9"], &[], &[], &[]];
        assert_eq!(versions, expected);
    });
}

pub(super) fn deploys_that_were_seen_long_ago_go(subjects: &Subjects) {
    subjects.one(async |s| {
        s.store.commit(batch(1).finished(1, 2, facts("x")).build()).await.expect("stored");
        deploys(s).post_deploy(posted(1, "1.0", 100)).await.expect("a store");
        deploys(s).note_versions(vec![seen("1.0", 100), seen("2.0", 150)]).await.expect("a store");
        // It is in use still.
        deploys(s)
            .note_versions(vec![SeenVersion { first_unix_ns: 300, ..seen("2.0", 300) }])
            .await
            .expect("a store");
        s.store.delete_before(200, 100).await.expect("a store");
        let rows = deploys(s).deploy_rows(None, 100).await.expect("a store");
        let rows: Vec<_> =
            rows.iter().map(|row| (row.version.as_str(), row.unix_ns, row.last_unix_ns)).collect();
        assert_eq!(rows, [("2.0", 150, 300)]);
    });
}

pub(super) fn deploys_are_taken_over_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let rows: Vec<Deploy> = vec![posted(1, "1.0", 100), seen("1.0", 100).into(), seen("2.0", 200).into()];
        assert_eq!(deploys(s).adopt_deploys(rows.clone()).await.expect("a store"), 3);
        assert_eq!(deploys(s).adopt_deploys(rows.clone()).await.expect("a store"), 0);
        let mut expected = rows;
        expected.sort_by(|one, other| one.id.cmp(&other.id));
        let mut kept = Vec::new();
        loop {
            let after = kept.last().map(|row: &Deploy| row.id.clone());
            let page = deploys(s).deploy_rows(after, 2).await.expect("a store");
            if page.is_empty() {
                break;
            }
            kept.extend(page);
        }
        assert_eq!(kept, expected);
    });
}
