//! Deploys, and versions that senders named.

use std::fmt::Write as _;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use queryscope_store::{
    DEPLOYS_MAX, DEPLOYS_OF_SPAN_MAX, Deploy, DeploySource, DeploySpan, DeployStore, DeploySubject,
    DeploysRequest, PostedDeploy, SeenVersion, StoreError,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;
use crate::store::{PostgresStore, rows};

const COLUMNS: &str =
    "d.id, d.project, d.service, d.environment, d.source, d.subject, d.engine, d.version, d.commit_id,
    d.url, d.unix_ns, d.last_unix_ns";

/// What was posted, and versions that came after another one and were not posted by then.
const IS_DEPLOY: &str = "(d.source = 'posted' OR (
    EXISTS (
        SELECT FROM deploy AS o WHERE o.source = 'seen' AND o.project = d.project AND o.service = d.service
            AND o.environment = d.environment AND o.subject = d.subject AND o.engine = d.engine
            AND (o.unix_ns, o.id) < (d.unix_ns, d.id)
    ) AND NOT (d.subject = 'program' AND EXISTS (
        SELECT FROM deploy AS p WHERE p.source = 'posted' AND p.project = d.project AND p.service = d.service
            AND p.version = d.version AND p.environment IN ('', d.environment) AND p.unix_ns <= d.unix_ns
    ))))";

/// A row with this id, or its times widened; what was posted stays as it is. Whether it is new.
const PUT: &str = "
    INSERT INTO deploy AS known (id, project, service, environment, source, subject, engine, version, commit_id, url,
        unix_ns, last_unix_ns)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (id) DO UPDATE SET unix_ns = least(known.unix_ns, excluded.unix_ns),
        last_unix_ns = greatest(known.last_unix_ns, excluded.last_unix_ns) WHERE known.source = 'seen'
    RETURNING xmax = 0";
const CUT: &str = "
    DELETE FROM deploy WHERE id IN (SELECT id FROM deploy ORDER BY last_unix_ns DESC, id OFFSET $1)";
/// One at a time writes: what is posted is compared with what was posted before.
const LOCK: &str = "LOCK TABLE deploy IN SHARE ROW EXCLUSIVE MODE";

fn name(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}

/// Whether the database can hold all texts of a row.
fn fits(row: &Deploy) -> bool {
    let optional = [&row.service, &row.environment, &row.engine, &row.commit, &row.url];
    let texts = [&row.id, &row.project, &row.version];
    !texts.into_iter().chain(optional.into_iter().flatten()).any(|text| text.contains('\0'))
}

/// Adds a row, or widens its times; `true` when it is new.
async fn put(transaction: &Transaction<'_>, row: &Deploy) -> Result<bool, DbError> {
    if !fits(row) {
        return Ok(false);
    }
    let Deploy { id, project, source, subject, version, unix_ns, last_unix_ns, .. } = row;
    let (service, environment) = (name(row.service.as_ref()), name(row.environment.as_ref()));
    let (engine, commit, url) =
        (name(row.engine.as_ref()), name(row.commit.as_ref()), name(row.url.as_ref()));
    let (source, subject) = (source.name(), subject.name());
    let values: [&(dyn ToSql + Sync); 12] = [
        id,
        project,
        &service,
        &environment,
        &source,
        &subject,
        &engine,
        version,
        &commit,
        &url,
        unix_ns,
        last_unix_ns,
    ];
    let put = transaction.query_opt(&transaction.prepare_cached(PUT).await?, &values).await?;
    Ok(put.is_some_and(|row| row.get(0)))
}

async fn cut(transaction: &Transaction<'_>) -> Result<(), DbError> {
    transaction.execute(&transaction.prepare_cached(CUT).await?, &[&(DEPLOYS_MAX as i64)]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Deploy, DbError> {
    let optional = |column| Some(row.get::<_, String>(column)).filter(|text| !text.is_empty());
    let (source, subject): (&str, &str) = (row.get(4), row.get(5));
    Ok(Deploy {
        id: row.get(0),
        project: row.get(1),
        service: optional(2),
        environment: optional(3),
        source: DeploySource::from_name(source).ok_or(DbError::Damaged("a source that is none"))?,
        subject: DeploySubject::from_name(subject).ok_or(DbError::Damaged("a subject that is none"))?,
        engine: optional(6),
        version: row.get(7),
        commit: optional(8),
        url: optional(9),
        unix_ns: row.get(10),
        last_unix_ns: row.get(11),
    })
}

fn read_all(rows: &[Row]) -> Result<Vec<Deploy>, DbError> {
    rows.iter().map(read).collect()
}

/// Deletes deploys that were seen last before a time.
pub(crate) async fn delete_before(
    client: &mut deadpool_postgres::Client,
    format: Format,
    unix_ns: i64,
) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached("DELETE FROM deploy WHERE last_unix_ns < $1").await?;
    transaction.execute(&statement, &[&unix_ns]).await?;
    Ok(transaction.commit().await?)
}

impl PostgresStore {
    async fn post(&self, deploy: Deploy) -> Result<PostedDeploy, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        transaction.batch_execute(LOCK).await?;
        let sql = format!(
            "SELECT {COLUMNS} FROM deploy AS d WHERE source = 'posted' AND project = $1 AND service = $2
                 AND environment = $3 AND unix_ns <= $4 ORDER BY unix_ns DESC, id DESC LIMIT 1"
        );
        let (service, environment) = (name(deploy.service.as_ref()), name(deploy.environment.as_ref()));
        let values: [&(dyn ToSql + Sync); 4] = [&deploy.project, &service, &environment, &deploy.unix_ns];
        let before = transaction.query_opt(&transaction.prepare_cached(&sql).await?, &values).await?;
        let before = before.as_ref().map(read).transpose()?;
        if let Some(before) = before.filter(|before| deploy.repeats(before)) {
            return Ok(PostedDeploy { deploy: before, is_new: false });
        }
        put(&transaction, &deploy).await?;
        cut(&transaction).await?;
        transaction.commit().await?;
        Ok(PostedDeploy { deploy, is_new: true })
    }

    async fn adopt(&self, adopted: &[Deploy]) -> Result<usize, DbError> {
        let mut client = self.write.get().await?;
        let transaction = self.format.begin(&mut client).await?;
        transaction.batch_execute(LOCK).await?;
        let mut new = 0;
        for row in adopted {
            new += usize::from(put(&transaction, row).await?);
        }
        cut(&transaction).await?;
        transaction.commit().await?;
        Ok(new)
    }
}

/// The statement of a page, and its values.
fn select(request: &DeploysRequest) -> (String, Vec<&(dyn ToSql + Sync)>) {
    let mut values: Vec<&(dyn ToSql + Sync)> = Vec::new();
    let mut sql = format!("SELECT {COLUMNS} FROM deploy AS d WHERE {IS_DEPLOY}");
    let of: [(&str, Option<&(dyn ToSql + Sync)>); 6] = [
        ("d.project = ?", request.project.as_ref().map(|text| text as _)),
        ("d.service = ?", request.service.as_ref().map(|text| text as _)),
        (
            "(d.environment = ? OR (d.source = 'posted' AND d.environment = ''))",
            request.environment.as_ref().map(|text| text as _),
        ),
        ("d.unix_ns >= ?", request.since_unix_ns.as_ref().map(|time| time as _)),
        ("d.unix_ns <= ?", request.until_unix_ns.as_ref().map(|time| time as _)),
        ("d.unix_ns <= ?", request.after.as_ref().map(|after| &after.unix_ns as _)),
    ];
    for (condition, value) in of {
        if let Some(value) = value {
            values.push(value);
            let _ = write!(sql, " AND {}", condition.replace('?', &format!("${}", values.len())));
        }
    }
    if let Some(after) = &request.after {
        let last = values.len();
        values.push(&after.id);
        let _ = write!(sql, " AND (d.unix_ns < ${last} OR d.id > ${})", last + 1);
    }
    (sql, values)
}

#[async_trait]
impl DeployStore for PostgresStore {
    async fn post_deploy(&self, deploy: Deploy) -> Result<PostedDeploy, StoreError> {
        Ok(self.post(deploy).await?)
    }

    async fn note_versions(&self, seen: Vec<SeenVersion>) -> Result<(), StoreError> {
        let mut rows: Vec<Deploy> = seen.into_iter().map(Deploy::from).collect();
        rows.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        self.adopt(&rows).await?;
        Ok(())
    }

    async fn list_deploys(&self, request: DeploysRequest) -> Result<Vec<Deploy>, StoreError> {
        let names = [&request.project, &request.service, &request.environment];
        let after = request.after.as_ref().map(|place| &place.id);
        if names.into_iter().flatten().chain(after).any(|text| text.contains('\0')) {
            return Ok(Vec::new());
        }
        let limit = bound(request.limit);
        let (mut sql, mut values) = select(&request);
        values.push(&limit);
        let _ = write!(sql, " ORDER BY d.unix_ns DESC, d.id LIMIT ${}", values.len());
        Ok(read_all(&rows(&self.reader().await?, &sql, &values).await?)?)
    }

    async fn deploys_between(&self, spans: Vec<DeploySpan>) -> Result<Vec<Vec<Deploy>>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM deploy AS d WHERE d.project = $1 AND d.service = $2
                 AND (d.environment = $3 OR (d.source = 'posted' AND d.environment = ''))
                 AND d.unix_ns > $4 AND d.unix_ns <= $5 AND {IS_DEPLOY}
             ORDER BY d.unix_ns DESC, d.id LIMIT {DEPLOYS_OF_SPAN_MAX}"
        );
        let client = self.reader().await?;
        let mut all = Vec::with_capacity(spans.len());
        for span in &spans {
            let (service, environment) = (name(span.service.as_ref()), name(span.environment.as_ref()));
            if [span.project.as_str(), service, environment].iter().any(|text| text.contains('\0')) {
                all.push(Vec::new());
                continue;
            }
            let values: [&(dyn ToSql + Sync); 5] =
                [&span.project, &service, &environment, &span.after_unix_ns, &span.until_unix_ns];
            let mut found = read_all(&rows(&client, &sql, &values).await?)?;
            found.reverse();
            all.push(found);
        }
        Ok(all)
    }

    async fn engine_versions(
        &self,
        project: Option<&str>,
    ) -> Result<Vec<(Option<String>, String)>, StoreError> {
        const SQL: &str = "
            SELECT DISTINCT engine COLLATE \"C\", version COLLATE \"C\" FROM deploy
            WHERE subject = 'engine' AND ($1::text IS NULL OR project = $1) ORDER BY 1, 2";
        if project.is_some_and(|project| project.contains('\0')) {
            return Ok(Vec::new());
        }
        let named = |row: &Row| {
            let engine: String = row.get(0);
            (Some(engine).filter(|engine| !engine.is_empty()), row.get(1))
        };
        Ok(rows(&self.reader().await?, SQL, &[&project]).await?.iter().map(named).collect())
    }

    async fn deploy_rows(&self, after: Option<String>, limit: usize) -> Result<Vec<Deploy>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM deploy AS d WHERE id > $1 ORDER BY id LIMIT $2");
        let values: [&(dyn ToSql + Sync); 2] = [&after.unwrap_or_default(), &bound(limit)];
        Ok(read_all(&rows(&self.reader().await?, &sql, &values).await?)?)
    }

    async fn adopt_deploys(&self, rows: Vec<Deploy>) -> Result<usize, StoreError> {
        Ok(self.adopt(&rows).await?)
    }
}
