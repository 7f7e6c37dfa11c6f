//! Notices of transitions, and messages that are to be delivered.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient, Transaction};
use queryscope_issues::{Issue, Notice, Transition as Move};
use queryscope_store::{
    Attempt, Delivery, DeliveryState, Dispatch, OUTBOX_FULL, OUTBOX_MAX, OutboxPage, OutboxStore,
    RouteRecord, StoreError, StoredNotice, outbox_kept_since,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::access::word;
use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;
use crate::store::{PostgresStore, rows};

const LEASE: &str = "
    UPDATE outbox SET holder = $1, until = clock_timestamp() + make_interval(secs => $2)
    WHERE holder IS NULL OR holder = $1 OR until <= clock_timestamp()";
const HOLDS: &str = "SELECT FROM outbox WHERE holder = $1 AND until > clock_timestamp() FOR UPDATE";
const PUT_NOTICE: &str = "
    INSERT INTO notice (issue, transition, unix_ns, done, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
/// The oldest of too many notices, of those that are done or of the others. Here and below, rows that another
/// transaction deletes are left to it.
const BOUND_NOTICES: &str = "
    DELETE FROM notice WHERE number IN (
        SELECT number FROM notice
        WHERE done = $1
            AND number <= (SELECT number FROM notice WHERE done = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)
        FOR UPDATE SKIP LOCKED)";
const DELETE_DONE: &str = "
    DELETE FROM notice WHERE number IN (SELECT number FROM notice WHERE done AND unix_ns < $1 FOR UPDATE SKIP LOCKED)";
const DELETE_ENDED: &str = "
    DELETE FROM delivery WHERE number IN (
        SELECT number FROM delivery WHERE state <> 'waiting' AND ended_unix_ns < $1 FOR UPDATE SKIP LOCKED)";
/// The oldest of too many deliveries of a route that wait.
const GIVE_UP: &str = "
    UPDATE delivery SET state = 'given_up', ended_unix_ns = $3, last_error = $4, last_error_unix_ns = $3
    WHERE number IN (
        SELECT oldest.number FROM unnest($1::text[]) AS of (route)
        CROSS JOIN LATERAL (
            SELECT number FROM delivery WHERE route = of.route AND state = 'waiting'
            ORDER BY number DESC LIMIT 1 OFFSET $2) AS first
        JOIN delivery AS oldest
            ON oldest.route = of.route AND oldest.state = 'waiting' AND oldest.number <= first.number
        FOR UPDATE OF oldest SKIP LOCKED)
    RETURNING route";
/// The oldest of too many deliveries of a route that ended.
const BOUND_ENDED: &str = "
    DELETE FROM delivery WHERE number IN (
        SELECT oldest.number FROM unnest($1::text[]) AS of (route)
        CROSS JOIN LATERAL (
            SELECT number FROM delivery WHERE route = of.route AND state <> 'waiting'
            ORDER BY number DESC LIMIT 1 OFFSET $2) AS first
        JOIN delivery AS oldest
            ON oldest.route = of.route AND oldest.state <> 'waiting' AND oldest.number <= first.number
        FOR UPDATE OF oldest SKIP LOCKED)";
const DELETE_NOTICES: &str = "
    DELETE FROM notice WHERE number IN (
        SELECT number FROM notice WHERE unix_ns < $1 ORDER BY number LIMIT 1000 FOR UPDATE SKIP LOCKED)";
const DELETE_DELIVERIES: &str = "
    DELETE FROM delivery WHERE number IN (
        SELECT number FROM delivery WHERE created_unix_ns < $1 ORDER BY number LIMIT 1000 FOR UPDATE SKIP LOCKED)";
const DONE: &str = "UPDATE notice SET done = true WHERE number = ANY($1)";
const PUT_DELIVERY: &str = "
    INSERT INTO delivery (route, key, created_unix_ns, state, attempts, due_unix_ns, ended_unix_ns, last_error,
        last_error_unix_ns, body)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
const ATTEMPT: &str = "
    UPDATE delivery SET attempts = attempts + 1, state = $2, due_unix_ns = $3, ended_unix_ns = $4,
        last_error = coalesce($5, last_error), last_error_unix_ns = coalesce($6, last_error_unix_ns)
    WHERE number = $1 AND state = 'waiting'";
const ROUTES: &str = "
    SELECT route, count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'sent'),
        count(*) FILTER (WHERE state IN ('refused', 'given_up')),
        min(created_unix_ns) FILTER (WHERE state = 'waiting'), max(ended_unix_ns) FILTER (WHERE state = 'sent')
    FROM delivery GROUP BY route ORDER BY route COLLATE \"C\"";
const LAST_ERRORS: &str = "
    SELECT DISTINCT ON (route) route, last_error, last_error_unix_ns FROM delivery WHERE last_error IS NOT NULL
    ORDER BY route, last_error_unix_ns DESC, number DESC";
const NOTICE: &str = "number, issue, transition, unix_ns, done, body";
const DELIVERY: &str = "number, route, key, created_unix_ns, state, attempts, due_unix_ns, ended_unix_ns, last_error, \
    last_error_unix_ns, body";

/// Notices that are judged at once.
const JUDGED_AT_ONCE: i64 = 256;

/// Notes transitions of an issue, in the transaction that stores them.
pub(crate) async fn note(
    transaction: &Transaction<'_>,
    issue: &Issue,
    transitions: &[Move],
) -> Result<(), DbError> {
    for moved in transitions {
        let (number, unix_ns) = (moved.number.cast_signed(), moved.unix_ns);
        let body = Notice { issue: issue.clone(), transition: moved.clone() }.to_json();
        let values: [&(dyn ToSql + Sync); 5] = [&issue.id, &number, &unix_ns, &false, &body];
        transaction.execute(&transaction.prepare_cached(PUT_NOTICE).await?, &values).await?;
    }
    bound_notices(transaction, false).await
}

async fn execute(
    transaction: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, DbError> {
    Ok(transaction.execute(&transaction.prepare_cached(sql).await?, values).await?)
}

async fn bound_notices(transaction: &Transaction<'_>, done: bool) -> Result<(), DbError> {
    execute(transaction, BOUND_NOTICES, &[&done, &OUTBOX_MAX.cast_signed()]).await.map(drop)
}

/// Bounds the outbox for routes that got deliveries. Returns how many were given up, by route.
async fn bound_outbox(
    transaction: &Transaction<'_>,
    routes: &[&str],
    unix_ns: i64,
) -> Result<BTreeMap<String, u64>, DbError> {
    bound_notices(transaction, false).await?;
    bound_notices(transaction, true).await?;
    let max = OUTBOX_MAX.cast_signed();
    let give_up = transaction.prepare_cached(GIVE_UP).await?;
    let mut given_up = BTreeMap::new();
    for row in transaction.query(&give_up, &[&routes, &max, &unix_ns, &OUTBOX_FULL]).await? {
        *given_up.entry(row.get(0)).or_default() += 1;
    }
    execute(transaction, BOUND_ENDED, &[&routes, &max]).await?;
    let since = outbox_kept_since(unix_ns);
    execute(transaction, DELETE_DONE, &[&since]).await?;
    execute(transaction, DELETE_ENDED, &[&since]).await?;
    Ok(given_up)
}

/// Deletes what is older.
pub(crate) async fn delete_before(client: &mut Client, format: Format, unix_ns: i64) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    for sql in [DELETE_NOTICES, DELETE_DELIVERIES] {
        while execute(&transaction, sql, &[&unix_ns]).await? > 0 {}
    }
    Ok(transaction.commit().await?)
}

/// Notices that hold no transition, or another than they say.
pub(crate) async fn problems(client: &Client) -> Result<Vec<String>, DbError> {
    let (mut problems, mut after) = (Vec::new(), i64::MIN);
    let sql = format!("SELECT {NOTICE} FROM notice WHERE number > $1 ORDER BY number LIMIT {JUDGED_AT_ONCE}");
    loop {
        let found: Vec<StoredNotice> = rows(client, &sql, &[&after]).await?.iter().map(notice).collect();
        let Some(last) = found.last() else { return Ok(problems) };
        after = last.number;
        for StoredNotice { issue, transition, body, .. } in found {
            let read = Notice::from_json(&body);
            let is_sound =
                read.is_ok_and(|read| (read.issue.id, read.transition.number) == (issue.clone(), transition));
            if !is_sound {
                problems.push(format!("notice {issue}.{transition}: it holds no transition"));
            }
        }
    }
}

fn notice(row: &Row) -> StoredNotice {
    StoredNotice {
        number: row.get(0),
        issue: row.get(1),
        transition: row.get::<_, i64>(2).cast_unsigned(),
        unix_ns: row.get(3),
        done: row.get(4),
        body: row.get(5),
    }
}

fn delivery(row: &Row) -> Result<Delivery, DbError> {
    let error: Option<String> = row.get(8);
    Ok(Delivery {
        number: row.get(0),
        route: row.get(1),
        key: row.get(2),
        created_unix_ns: row.get(3),
        state: word(row, 4)?,
        attempts: u32::try_from(row.get::<_, i64>(5)).unwrap_or(u32::MAX),
        due_unix_ns: row.get(6),
        ended_unix_ns: row.get(7),
        last_error: error.zip(row.get(9)),
        body: row.get(10),
    })
}

async fn put_delivery(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), DbError> {
    let (error, error_unix_ns) = delivery.last_error.clone().unzip();
    let values: [&(dyn ToSql + Sync); 10] = [
        &delivery.route,
        &delivery.key,
        &delivery.created_unix_ns,
        &delivery.state.name(),
        &i64::from(delivery.attempts),
        &delivery.due_unix_ns,
        &delivery.ended_unix_ns,
        &error,
        &error_unix_ns,
        &delivery.body,
    ];
    transaction.execute(&transaction.prepare_cached(PUT_DELIVERY).await?, &values).await?;
    Ok(())
}

impl PostgresStore {
    async fn write_client(&self) -> Result<Client, DbError> {
        Ok(self.write.get().await?)
    }

    async fn deliveries(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Delivery>, StoreError> {
        let found = rows(&self.reader().await?, sql, values).await?;
        Ok(found.iter().map(delivery).collect::<Result<_, _>>()?)
    }

    async fn dispatch_work(&self, work: &Dispatch) -> Result<Option<BTreeMap<String, u64>>, DbError> {
        let mut client = self.write_client().await?;
        let transaction = self.format.begin(&mut client).await?;
        let holds = transaction.prepare_cached(HOLDS).await?;
        if transaction.query_opt(&holds, &[&work.holder]).await?.is_none() {
            return Ok(None);
        }
        execute(&transaction, DONE, &[&work.notices]).await?;
        for new in &work.deliveries {
            put_delivery(&transaction, &Delivery::new(new.clone())).await?;
        }
        let routes: Vec<&str> = work.routes().into_iter().collect();
        let given_up = bound_outbox(&transaction, &routes, work.unix_ns).await?;
        transaction.commit().await?;
        Ok(Some(given_up))
    }

    async fn adopt_page(&self, page: &OutboxPage) -> Result<(), DbError> {
        let mut client = self.write_client().await?;
        let transaction = self.format.begin(&mut client).await?;
        let put = transaction.prepare_cached(PUT_NOTICE).await?;
        for notice in &page.notices {
            let number = notice.transition.cast_signed();
            let values: [&(dyn ToSql + Sync); 5] =
                [&notice.issue, &number, &notice.unix_ns, &notice.done, &notice.body];
            transaction.execute(&put, &values).await?;
        }
        for delivery in &page.deliveries {
            put_delivery(&transaction, delivery).await?;
        }
        Ok(transaction.commit().await?)
    }

    async fn attempt(&self, number: i64, attempt: &Attempt) -> Result<bool, DbError> {
        let ended = (attempt.state != DeliveryState::Waiting).then_some(attempt.unix_ns);
        let error_unix_ns = attempt.error.as_ref().map(|_| attempt.unix_ns);
        // A text of the database holds no NUL.
        let error = attempt.error.as_ref().map(|error| error.replace('\0', " "));
        let mut client = self.write_client().await?;
        let transaction = self.format.begin(&mut client).await?;
        let values: [&(dyn ToSql + Sync); 6] =
            [&number, &attempt.state.name(), &attempt.due_unix_ns, &ended, &error, &error_unix_ns];
        let changed = transaction.execute(&transaction.prepare_cached(ATTEMPT).await?, &values).await?;
        transaction.commit().await?;
        Ok(changed > 0)
    }

    async fn lease_deliveries(&self, holder: &str, ttl: Duration) -> Result<bool, DbError> {
        let mut client = self.write_client().await?;
        let transaction = self.format.begin(&mut client).await?;
        let values: [&(dyn ToSql + Sync); 2] = [&holder, &ttl.as_secs_f64()];
        let taken = transaction.execute(&transaction.prepare_cached(LEASE).await?, &values).await?;
        transaction.commit().await?;
        Ok(taken > 0)
    }
}

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn delivery_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError> {
        Ok(self.lease_deliveries(holder, ttl).await?)
    }

    async fn notices(&self, limit: usize) -> Result<Vec<StoredNotice>, StoreError> {
        let sql = format!("SELECT {NOTICE} FROM notice WHERE done = false ORDER BY number LIMIT $1");
        Ok(rows(&self.reader().await?, &sql, &[&bound(limit)]).await?.iter().map(notice).collect())
    }

    async fn dispatch(&self, work: Dispatch) -> Result<Option<BTreeMap<String, u64>>, StoreError> {
        Ok(self.dispatch_work(&work).await?)
    }

    async fn deliveries_since(
        &self,
        created_unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let sql = format!(
            "SELECT {DELIVERY} FROM delivery WHERE created_unix_ns >= $1
             ORDER BY created_unix_ns DESC, number DESC LIMIT $2"
        );
        self.deliveries(&sql, &[&created_unix_ns, &bound(limit)]).await
    }

    async fn due_deliveries(
        &self,
        route: &str,
        unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let sql = format!(
            "SELECT {DELIVERY} FROM delivery WHERE state = 'waiting' AND route = $1 AND due_unix_ns <= $2
             ORDER BY due_unix_ns, number LIMIT $3"
        );
        self.deliveries(&sql, &[&route, &unix_ns, &bound(limit)]).await
    }

    async fn note_attempt(&self, number: i64, attempt: Attempt) -> Result<bool, StoreError> {
        Ok(self.attempt(number, &attempt).await?)
    }

    async fn route_records(&self) -> Result<Vec<RouteRecord>, StoreError> {
        let client = self.reader().await?;
        let count = |row: &Row, column| row.get::<_, i64>(column).cast_unsigned();
        let mut records: Vec<RouteRecord> = rows(&client, ROUTES, &[])
            .await?
            .iter()
            .map(|row| RouteRecord {
                route: row.get(0),
                waiting: count(row, 1),
                sent: count(row, 2),
                failed: count(row, 3),
                waiting_since_unix_ns: row.get(4),
                sent_unix_ns: row.get(5),
                last_error: None,
            })
            .collect();
        for row in rows(&client, LAST_ERRORS, &[]).await? {
            let route: &str = row.get(0);
            if let Some(record) = records.iter_mut().find(|record| record.route == route) {
                record.last_error = Some((row.get(1), row.get(2)));
            }
        }
        Ok(records)
    }

    async fn outbox_page(
        &self,
        after_notice: i64,
        after_delivery: i64,
        limit: usize,
    ) -> Result<OutboxPage, StoreError> {
        let sql = |what: &str, table: &str| {
            format!("SELECT {what} FROM {table} WHERE number > $1 ORDER BY number LIMIT $2")
        };
        let values: [&(dyn ToSql + Sync); 2] = [&after_notice, &bound(limit)];
        let notices = rows(&self.reader().await?, &sql(NOTICE, "notice"), &values).await?;
        let values: [&(dyn ToSql + Sync); 2] = [&after_delivery, &bound(limit)];
        let deliveries = self.deliveries(&sql(DELIVERY, "delivery"), &values).await?;
        Ok(OutboxPage { notices: notices.iter().map(notice).collect(), deliveries })
    }

    async fn adopt_outbox(&self, page: OutboxPage) -> Result<(), StoreError> {
        Ok(self.adopt_page(&page).await?)
    }
}
