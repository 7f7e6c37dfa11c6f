//! The record of what repairs found to be lost, before the data was moved here.

use deadpool_postgres::Client;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::Loss;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::Format;

const OF_STREAM: &str =
    "SELECT query_id, events, found_unix_ms FROM recorded_loss WHERE stream_id = $1 ORDER BY id";
const RECORD: &str = "
    INSERT INTO recorded_loss (stream_id, query_id, events, found_unix_ms) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING";

/// What was found to be lost of a stream.
pub(crate) async fn of_stream(client: &Client, id: StreamId) -> Result<Vec<Loss>, DbError> {
    let rows = client.query(&client.prepare_cached(OF_STREAM).await?, &[&id.uuid()]).await?;
    let loss = |row: &tokio_postgres::Row| Loss {
        stream_id: id,
        query_id: row.get::<_, Option<Uuid>>(0).map(QueryId::new),
        events: row.get::<_, i64>(1).cast_unsigned(),
        found_unix_ms: row.get(2),
    };
    Ok(rows.iter().map(loss).collect())
}

/// Adds those that are not there, all or none.
pub(crate) async fn record(client: &mut Client, format: Format, losses: &[Loss]) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(RECORD).await?;
    for loss in losses {
        let query = loss.query_id.map(QueryId::uuid);
        let events = loss.events.cast_signed();
        transaction
            .execute(&statement, &[&loss.stream_id.uuid(), &query, &events, &loss.found_unix_ms])
            .await?;
    }
    Ok(transaction.commit().await?)
}
