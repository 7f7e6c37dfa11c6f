//! Connections to the database.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::{Connect, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{DbError, OpenError};
use crate::options::PostgresOptions;
use crate::tls::TlsOptions;

/// How long to connect to the server may take; and how long what was sent may stay unacknowledged.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(20);
/// How long to wait for one of the connections.
const POOL_WAIT: Duration = Duration::from_secs(10);

/// A server and how to talk to it.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    /// Where connections live, whoever asks for them first.
    runtime: Handle,
    settings: String,
}

impl Server {
    /// Reads an address, `postgres://user:password@host:port/database?option=value`.
    pub(crate) fn of(address: &str, options: &PostgresOptions) -> Result<Self, OpenError> {
        let (rest, tls) = TlsOptions::take(address)?;
        let mut config: Config =
            rest.parse().map_err(|error: tokio_postgres::Error| OpenError::Address(said(&error)))?;
        config.ssl_mode(tls.mode).tcp_user_timeout(UNACKNOWLEDGED_MAX).keepalives_idle(UNACKNOWLEDGED_MAX);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("queryscope");
        }
        let settings = format!(
            "SET default_transaction_isolation = 'read committed'; SET jit = off;
             SET statement_timeout = {timeout}; SET idle_in_transaction_session_timeout = {timeout};
             SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
            timeout = options.statement_timeout.as_millis()
        );
        let tls = MakeRustlsConnect::new(tls.client()?);
        Ok(Self { config, tls, runtime: Handle::current(), settings })
    }

    /// Connections up to a number, made when they are needed.
    pub(crate) fn pool(&self, size: usize, more_settings: &str) -> Result<Pool, OpenError> {
        let connector = Self { settings: format!("{}; {more_settings}", self.settings), ..self.clone() };
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(self.config.clone(), connector, recycling);
        Pool::builder(manager)
            .max_size(size)
            .wait_timeout(Some(POOL_WAIT))
            .create_timeout(Some(POOL_WAIT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| OpenError::Database(error.into()))
    }

    /// One connection; is told of notifications whose text is another than its own.
    pub(crate) async fn listen(
        &self,
        own: String,
        notified: impl Fn() + Send + 'static,
    ) -> Result<(Client, JoinHandle<()>), DbError> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        let driver = async move {
            while let Some(Ok(message)) =
                std::future::poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(heard) = message
                    && heard.payload() != own
                {
                    notified();
                }
            }
        };
        Ok((client, self.runtime.spawn(driver)))
    }

    async fn connect(self) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        let driver = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "a connection to the database ended"
                );
            }
        });
        client.batch_execute(&self.settings).await?;
        Ok((client, driver))
    }
}

impl Connect for Server {
    fn connect(
        &self,
        _config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + '_>>
    {
        Box::pin(async move {
            match self.runtime.spawn(self.clone().connect()).await {
                Ok(connected) => connected,
                // The runtime ends, and with it whoever asked.
                Err(_) => std::future::pending().await,
            }
        })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Where and as whom, without the password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            tokio_postgres::config::Host::Tcp(name) => name.clone(),
            tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
        });
        let hosts: Vec<_> = hosts.collect();
        write!(f, "database {} on {}", self.config.get_dbname().unwrap_or("-"), hosts.join(", "))
    }
}

/// All that an error says.
pub(crate) fn said(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", said(source)),
        None => error.to_string(),
    }
}
