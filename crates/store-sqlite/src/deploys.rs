//! Deploys, and versions that senders named.

use async_trait::async_trait;
use queryscope_store::{
    DEPLOYS_MAX, DEPLOYS_OF_SPAN_MAX, Deploy, DeploySource, DeploySpan, DeployStore, DeploySubject,
    DeploysRequest, PostedDeploy, SeenVersion, StoreError,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use crate::error::damaged;
use crate::store::SqliteStore;

const COLUMNS: &str =
    "d.id, d.project, d.service, d.environment, d.source, d.subject, d.engine, d.version, d.commit_id,
    d.url, d.unix_ns, d.last_unix_ns";

/// What was posted, and versions that came after another one and were not posted by then.
const IS_DEPLOY: &str = "(d.source = 'posted' OR (
    EXISTS (
        SELECT 1 FROM deploy AS o WHERE o.source = 'seen' AND o.project = d.project AND o.service = d.service
            AND o.environment = d.environment AND o.subject = d.subject AND o.engine = d.engine
            AND (o.unix_ns, o.id) < (d.unix_ns, d.id)
    ) AND NOT (d.subject = 'program' AND EXISTS (
        SELECT 1 FROM deploy AS p WHERE p.source = 'posted' AND p.project = d.project AND p.service = d.service
            AND p.version = d.version AND p.environment IN ('', d.environment) AND p.unix_ns <= d.unix_ns
    ))))";

/// A row with this id, or its times widened; what was posted stays as it is.
const PUT: &str = "
    INSERT INTO deploy (id, project, service, environment, source, subject, engine, version, commit_id, url, unix_ns,
        last_unix_ns)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT (id) DO UPDATE SET unix_ns = min(unix_ns, excluded.unix_ns),
        last_unix_ns = max(last_unix_ns, excluded.last_unix_ns) WHERE source = 'seen'";

fn name(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}

fn put(db: &Connection, row: &Deploy) -> rusqlite::Result<()> {
    let Deploy { id, project, source, subject, version, unix_ns, last_unix_ns, .. } = row;
    let (service, environment) = (name(row.service.as_ref()), name(row.environment.as_ref()));
    let (engine, commit, url) =
        (name(row.engine.as_ref()), name(row.commit.as_ref()), name(row.url.as_ref()));
    db.prepare_cached(PUT)?
        .execute(params![
            id,
            project,
            service,
            environment,
            source.name(),
            subject.name(),
            engine,
            version,
            commit,
            url,
            unix_ns,
            last_unix_ns
        ])
        .map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Deploy> {
    let optional = |column| row.get(column).map(|text: String| Some(text).filter(|text| !text.is_empty()));
    let (source, subject): (String, String) = (row.get(4)?, row.get(5)?);
    Ok(Deploy {
        id: row.get(0)?,
        project: row.get(1)?,
        service: optional(2)?,
        environment: optional(3)?,
        source: DeploySource::from_name(&source).ok_or_else(|| damaged(4, "a source that is none"))?,
        subject: DeploySubject::from_name(&subject).ok_or_else(|| damaged(5, "a subject that is none"))?,
        engine: optional(6)?,
        version: row.get(7)?,
        commit: optional(8)?,
        url: optional(9)?,
        unix_ns: row.get(10)?,
        last_unix_ns: row.get(11)?,
    })
}

fn post(db: &Connection, deploy: Deploy) -> rusqlite::Result<PostedDeploy> {
    let before = db
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM deploy AS d WHERE source = 'posted' AND project = ?1 AND service = ?2
                 AND environment = ?3 AND unix_ns <= ?4 ORDER BY unix_ns DESC, id DESC LIMIT 1"
        ))?
        .query_row(
            params![
                deploy.project,
                name(deploy.service.as_ref()),
                name(deploy.environment.as_ref()),
                deploy.unix_ns
            ],
            read,
        )
        .optional()?;
    if let Some(before) = before.filter(|before| deploy.repeats(before)) {
        return Ok(PostedDeploy { deploy: before, is_new: false });
    }
    put(db, &deploy)?;
    cut(db)?;
    Ok(PostedDeploy { deploy, is_new: true })
}

/// Deletes the rows beyond the bound that were seen longest ago.
fn cut(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM deploy WHERE id IN (SELECT id FROM deploy ORDER BY last_unix_ns DESC, id LIMIT -1 OFFSET ?1)",
    )?
    .execute([DEPLOYS_MAX])
    .map(drop)
}

fn adopt(db: &Connection, rows: &[Deploy]) -> rusqlite::Result<usize> {
    let count = || db.query_row("SELECT count(*) FROM deploy", [], |row| row.get::<_, usize>(0));
    let before = count()?;
    for row in rows {
        put(db, row)?;
    }
    let new = count()?.saturating_sub(before);
    cut(db)?;
    Ok(new)
}

fn page(db: &Connection, request: &DeploysRequest) -> rusqlite::Result<Vec<Deploy>> {
    let mut conditions = vec![IS_DEPLOY.to_owned()];
    let mut values: Vec<Value> = Vec::new();
    let mut keep = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            values.push(value);
            conditions.push(condition.replace('?', &format!("?{}", values.len())));
        }
    };
    keep("d.project = ?", request.project.clone().map(Value::from));
    keep("d.service = ?", request.service.clone().map(Value::from));
    keep(
        "(d.environment = ? OR (d.source = 'posted' AND d.environment = ''))",
        request.environment.clone().map(Value::from),
    );
    keep("d.unix_ns >= ?", request.since_unix_ns.map(Value::from));
    keep("d.unix_ns <= ?", request.until_unix_ns.map(Value::from));
    if let Some(after) = &request.after {
        keep("d.unix_ns <= ?", Some(after.unix_ns.into()));
        values.push(after.unix_ns.into());
        values.push(after.id.clone().into());
        let count = values.len();
        conditions.push(format!("(d.unix_ns < ?{} OR d.id > ?{count})", count - 1));
    }
    values.push(i64::try_from(request.limit).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT {COLUMNS} FROM deploy AS d WHERE {} ORDER BY d.unix_ns DESC, d.id LIMIT ?{}",
        conditions.join(" AND "),
        values.len()
    );
    db.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
}

fn between(db: &Connection, spans: &[DeploySpan]) -> rusqlite::Result<Vec<Vec<Deploy>>> {
    let mut select = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM deploy AS d WHERE d.project = ?1 AND d.service = ?2
             AND (d.environment = ?3 OR (d.source = 'posted' AND d.environment = ''))
             AND d.unix_ns > ?4 AND d.unix_ns <= ?5 AND {IS_DEPLOY}
         ORDER BY d.unix_ns DESC, d.id LIMIT {DEPLOYS_OF_SPAN_MAX}"
    ))?;
    let mut all = Vec::with_capacity(spans.len());
    for span in spans {
        let (service, environment) = (name(span.service.as_ref()), name(span.environment.as_ref()));
        let found = select.query_map(
            params![span.project, service, environment, span.after_unix_ns, span.until_unix_ns],
            read,
        )?;
        let mut found: Vec<Deploy> = found.collect::<rusqlite::Result<_>>()?;
        found.reverse();
        all.push(found);
    }
    Ok(all)
}

/// Deletes deploys that were seen last before a time.
pub(crate) fn delete_before(db: &Connection, unix_ns: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM deploy WHERE last_unix_ns < ?1")?.execute([unix_ns]).map(drop)
}

#[async_trait]
impl DeployStore for SqliteStore {
    async fn post_deploy(&self, deploy: Deploy) -> Result<PostedDeploy, StoreError> {
        self.writer.write(move |db| post(db, deploy)).await
    }

    async fn note_versions(&self, seen: Vec<SeenVersion>) -> Result<(), StoreError> {
        let rows: Vec<Deploy> = seen.into_iter().map(Deploy::from).collect();
        self.writer.write(move |db| adopt(db, &rows).map(drop)).await
    }

    async fn list_deploys(&self, request: DeploysRequest) -> Result<Vec<Deploy>, StoreError> {
        self.readers.read(move |db, _| page(db, &request)).await
    }

    async fn deploys_between(&self, spans: Vec<DeploySpan>) -> Result<Vec<Vec<Deploy>>, StoreError> {
        self.readers.read(move |db, _| between(db, &spans)).await
    }

    async fn engine_versions(
        &self,
        project: Option<&str>,
    ) -> Result<Vec<(Option<String>, String)>, StoreError> {
        const SQL: &str = "
            SELECT DISTINCT engine, version FROM deploy
            WHERE subject = 'engine' AND (?1 IS NULL OR project = ?1) ORDER BY engine, version";
        let project = project.map(str::to_owned);
        self.readers
            .read(move |db, _| {
                let named = |row: &Row<'_>| {
                    Ok((Some(row.get(0)?).filter(|engine: &String| !engine.is_empty()), row.get(1)?))
                };
                db.prepare_cached(SQL)?.query_map([project], named)?.collect()
            })
            .await
    }

    async fn deploy_rows(&self, after: Option<String>, limit: usize) -> Result<Vec<Deploy>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM deploy AS d WHERE id > ?1 ORDER BY id LIMIT ?2");
        self.readers
            .read(move |db, _| {
                let mut rows = db.prepare_cached(&sql)?;
                rows.query_map(params![after.unwrap_or_default(), limit], read)?.collect()
            })
            .await
    }

    async fn adopt_deploys(&self, rows: Vec<Deploy>) -> Result<usize, StoreError> {
        self.writer.write(move |db| adopt(db, &rows)).await
    }
}
