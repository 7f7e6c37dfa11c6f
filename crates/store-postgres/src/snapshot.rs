//! Several reads of one moment.

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::{Error, IsolationLevel};

/// A transaction that reads the database as it is at its first statement.
pub(crate) async fn snapshot(client: &mut Client) -> Result<Transaction<'_>, Error> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    transaction.read_only(true).start().await
}
