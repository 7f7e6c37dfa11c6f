//! Notices of transitions, and messages that are to be delivered.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use queryscope_issues::{Issue, Notice, Transition};
use queryscope_store::{
    Attempt, Delivery, DeliveryState, Dispatch, OUTBOX_FULL, OUTBOX_MAX, OutboxPage, OutboxStore,
    RouteRecord, StoreError, StoredNotice, outbox_kept_since,
};
use rusqlite::{Connection, Row, params};

use crate::access::word;
use crate::store::SqliteStore;

const NOTICE: &str = "number, issue, transition, unix_ns, done, body";
const DELIVERY: &str = "number, route, key, created_unix_ns, state, attempts, due_unix_ns, ended_unix_ns, last_error, \
    last_error_unix_ns, body";

/// Notes transitions of an issue, in the transaction that stores them.
pub(crate) fn note(db: &Connection, issue: &Issue, transitions: &[Transition]) -> rusqlite::Result<()> {
    for transition in transitions {
        let notice = Notice { issue: issue.clone(), transition: transition.clone() };
        let unix_ns = transition.unix_ns;
        db.prepare_cached(
            "INSERT INTO notice (issue, transition, unix_ns, body) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )?
        .execute(params![issue.id, transition.number, unix_ns, notice.to_json()])?;
    }
    bound_notices(db, false)
}

/// Deletes the oldest of too many notices, of those that are done or of the others.
fn bound_notices(db: &Connection, done: bool) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM notice WHERE done = ?1 AND number <=
             (SELECT number FROM notice WHERE done = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![done, OUTBOX_MAX])
    .map(drop)
}

/// Deletes what ended too long ago.
fn delete_ended_before(db: &Connection, unix_ns: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM notice WHERE done = 1 AND unix_ns < ?1")?.execute([unix_ns])?;
    db.prepare_cached("DELETE FROM delivery WHERE state <> 'waiting' AND ended_unix_ns < ?1")?
        .execute([unix_ns])
        .map(drop)
}

/// Gives up the oldest of too many deliveries of a route that wait, and deletes the oldest of too many that ended.
/// Returns how many it gave up.
fn bound_route(db: &Connection, route: &str, unix_ns: i64) -> rusqlite::Result<u64> {
    let given_up = db
        .prepare_cached(
            "UPDATE delivery SET state = 'given_up', ended_unix_ns = ?2, last_error = ?3, last_error_unix_ns = ?2
             WHERE route = ?1 AND state = 'waiting' AND number <=
                 (SELECT number FROM delivery WHERE route = ?1 AND state = 'waiting'
                  ORDER BY number DESC LIMIT 1 OFFSET ?4)",
        )?
        .execute(params![route, unix_ns, OUTBOX_FULL, OUTBOX_MAX])?;
    db.prepare_cached(
        "DELETE FROM delivery WHERE route = ?1 AND state <> 'waiting' AND number <=
             (SELECT number FROM delivery WHERE route = ?1 AND state <> 'waiting'
              ORDER BY number DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![route, OUTBOX_MAX])?;
    Ok(given_up as u64)
}

/// Deletes what is older.
pub(crate) fn delete_before(db: &Connection, unix_ns: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM notice WHERE unix_ns < ?1")?.execute([unix_ns])?;
    db.prepare_cached("DELETE FROM delivery WHERE created_unix_ns < ?1")?.execute([unix_ns]).map(drop)
}

fn notice(row: &Row<'_>) -> rusqlite::Result<StoredNotice> {
    Ok(StoredNotice {
        number: row.get(0)?,
        issue: row.get(1)?,
        transition: row.get(2)?,
        unix_ns: row.get(3)?,
        done: row.get(4)?,
        body: row.get(5)?,
    })
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let error: Option<String> = row.get(8)?;
    Ok(Delivery {
        number: row.get(0)?,
        route: row.get(1)?,
        key: row.get(2)?,
        created_unix_ns: row.get(3)?,
        state: word(row, 4)?,
        attempts: row.get(5)?,
        due_unix_ns: row.get(6)?,
        ended_unix_ns: row.get(7)?,
        last_error: error.zip(row.get(9)?),
        body: row.get(10)?,
    })
}

fn put_delivery(db: &Connection, delivery: &Delivery) -> rusqlite::Result<()> {
    let (error, error_unix_ns) = delivery.last_error.clone().unzip();
    db.prepare_cached(
        "INSERT INTO delivery (route, key, created_unix_ns, state, attempts, due_unix_ns, ended_unix_ns, last_error,
             last_error_unix_ns, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
    )?
    .execute(params![
        delivery.route,
        delivery.key,
        delivery.created_unix_ns,
        delivery.state.name(),
        delivery.attempts,
        delivery.due_unix_ns,
        delivery.ended_unix_ns,
        error,
        error_unix_ns,
        delivery.body,
    ])
    .map(drop)
}

fn dispatch(db: &Connection, dispatch: &Dispatch) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut done = db.prepare_cached("UPDATE notice SET done = 1 WHERE number = ?1")?;
    dispatch.notices.iter().try_for_each(|number| done.execute([number]).map(drop))?;
    dispatch.deliveries.iter().try_for_each(|new| put_delivery(db, &Delivery::new(new.clone())))?;
    bound_notices(db, false)?;
    bound_notices(db, true)?;
    let mut given_up = BTreeMap::new();
    for route in dispatch.routes() {
        let of_route = bound_route(db, route, dispatch.unix_ns)?;
        if of_route > 0 {
            given_up.insert(route.to_owned(), of_route);
        }
    }
    delete_ended_before(db, outbox_kept_since(dispatch.unix_ns))?;
    Ok(given_up)
}

fn note_attempt(db: &Connection, number: i64, attempt: &Attempt) -> rusqlite::Result<bool> {
    let ended = (attempt.state != DeliveryState::Waiting).then_some(attempt.unix_ns);
    let error_unix_ns = attempt.error.as_ref().map(|_| attempt.unix_ns);
    let changed = db
        .prepare_cached(
            "UPDATE delivery SET attempts = attempts + 1, state = ?2, due_unix_ns = ?3, ended_unix_ns = ?4,
                 last_error = coalesce(?5, last_error), last_error_unix_ns = coalesce(?6, last_error_unix_ns)
             WHERE number = ?1 AND state = 'waiting'",
        )?
        .execute(params![
            number,
            attempt.state.name(),
            attempt.due_unix_ns,
            ended,
            attempt.error,
            error_unix_ns
        ])?;
    Ok(changed > 0)
}

fn route_records(db: &Connection) -> rusqlite::Result<Vec<RouteRecord>> {
    let mut last_error = db.prepare_cached(
        "SELECT last_error, last_error_unix_ns FROM delivery WHERE route = ?1 AND last_error IS NOT NULL
         ORDER BY last_error_unix_ns DESC, number DESC LIMIT 1",
    )?;
    let mut records: Vec<RouteRecord> = db
        .prepare_cached(
            "SELECT route, count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'sent'),
                 count(*) FILTER (WHERE state IN ('refused', 'given_up')),
                 min(created_unix_ns) FILTER (WHERE state = 'waiting'),
                 max(ended_unix_ns) FILTER (WHERE state = 'sent')
             FROM delivery GROUP BY route ORDER BY route",
        )?
        .query_map([], |row| {
            Ok(RouteRecord {
                route: row.get(0)?,
                waiting: row.get(1)?,
                sent: row.get(2)?,
                failed: row.get(3)?,
                waiting_since_unix_ns: row.get(4)?,
                sent_unix_ns: row.get(5)?,
                last_error: None,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    for record in &mut records {
        let mut found = last_error.query_map([&record.route], |row| Ok((row.get(0)?, row.get(1)?)))?;
        record.last_error = found.next().transpose()?;
    }
    Ok(records)
}

fn adopt(db: &Connection, page: &OutboxPage) -> rusqlite::Result<()> {
    let mut put = db.prepare_cached(
        "INSERT INTO notice (issue, transition, unix_ns, done, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    for notice in &page.notices {
        put.execute(params![notice.issue, notice.transition, notice.unix_ns, notice.done, notice.body])?;
    }
    page.deliveries.iter().try_for_each(|delivery| put_delivery(db, delivery))
}

#[async_trait]
impl OutboxStore for SqliteStore {
    async fn delivery_lease(&self, _holder: &str, _ttl: Duration) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn notices(&self, limit: usize) -> Result<Vec<StoredNotice>, StoreError> {
        let sql = format!("SELECT {NOTICE} FROM notice WHERE done = 0 ORDER BY number LIMIT ?1");
        self.readers.read(move |db, _| db.prepare_cached(&sql)?.query_map([limit], notice)?.collect()).await
    }

    async fn dispatch(&self, work: Dispatch) -> Result<Option<BTreeMap<String, u64>>, StoreError> {
        self.writer.write(move |db| dispatch(db, &work)).await.map(Some)
    }

    async fn deliveries_since(
        &self,
        created_unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let sql = format!(
            "SELECT {DELIVERY} FROM delivery WHERE created_unix_ns >= ?1
             ORDER BY created_unix_ns DESC, number DESC LIMIT ?2"
        );
        self.readers
            .read(move |db, _| {
                db.prepare_cached(&sql)?.query_map((created_unix_ns, limit), delivery)?.collect()
            })
            .await
    }

    async fn due_deliveries(
        &self,
        route: &str,
        unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let sql = format!(
            "SELECT {DELIVERY} FROM delivery WHERE state = 'waiting' AND route = ?1 AND due_unix_ns <= ?2
             ORDER BY due_unix_ns, number LIMIT ?3"
        );
        let route = route.to_owned();
        self.readers
            .read(move |db, _| {
                db.prepare_cached(&sql)?.query_map((route, unix_ns, limit), delivery)?.collect()
            })
            .await
    }

    async fn note_attempt(&self, number: i64, attempt: Attempt) -> Result<bool, StoreError> {
        self.writer.write(move |db| note_attempt(db, number, &attempt)).await
    }

    async fn route_records(&self) -> Result<Vec<RouteRecord>, StoreError> {
        self.readers.read(|db, _| route_records(db)).await
    }

    async fn outbox_page(
        &self,
        after_notice: i64,
        after_delivery: i64,
        limit: usize,
    ) -> Result<OutboxPage, StoreError> {
        let page = |what: &str, table: &str| {
            format!("SELECT {what} FROM {table} WHERE number > ?1 ORDER BY number LIMIT ?2")
        };
        let (notices, deliveries) = (page(NOTICE, "notice"), page(DELIVERY, "delivery"));
        self.readers
            .read(move |db, _| {
                Ok(OutboxPage {
                    notices: db
                        .prepare_cached(&notices)?
                        .query_map((after_notice, limit), notice)?
                        .collect::<rusqlite::Result<_>>()?,
                    deliveries: db
                        .prepare_cached(&deliveries)?
                        .query_map((after_delivery, limit), delivery)?
                        .collect::<rusqlite::Result<_>>()?,
                })
            })
            .await
    }

    async fn adopt_outbox(&self, page: OutboxPage) -> Result<(), StoreError> {
        self.writer.write(move |db| adopt(db, &page)).await
    }
}
