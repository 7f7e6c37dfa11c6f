//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Parser, Subcommand};
use queryscope_collector::{GroupRole, HeaderName, Network};
use queryscope_recordings::Location;
use queryscope_store::{Name, Role, Scope};

use crate::export::ExportArgs;
use crate::gate::GateArgs;
use crate::mcp::McpArgs;
use crate::otlp::OtlpArgs;
use crate::read::args::{DiffArgs, IssuesArgs, ListArgs, NotesArgs, RunsArgs, ShowArgs, WhyArgs};
use crate::top::TopArgs;

/// See what queries do: what is running, what got slower, since when, and why.
///
/// Without a command it serves.
#[derive(Debug, Parser)]
#[command(name = "queryscope", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[expect(clippy::large_enum_variant, reason = "a process has one")]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Receive events and serve the dashboard and the read API (the default)
    Serve(ServeArgs),
    /// Watch what runs now: for how long, how much longer it may take, and what it works on
    Top(TopArgs),
    /// List the queries by label: usual and latest time, runs, failures, and what changed
    List(ListArgs),
    /// List runs, newest first
    Runs(RunsArgs),
    /// List the open issues: what changed for the worse and needs somebody, those that cost most first
    Issues(IssuesArgs),
    /// Show one run: its plan as a tree with shares of the time, and its findings
    Show(ShowArgs),
    /// Say what changed in a query, since when, why, and at what cost
    Why(WhyArgs),
    /// List what people wrote about queries, the last moment first
    Notes(NotesArgs),
    /// Compare two runs, or the last runs of two plans: what the difference in time is made of, and changed nodes
    Diff(DiffArgs),
    /// Write telemetry as tables to a folder or a bucket, a file a day; may be interrupted and run again
    Export(ExportArgs),
    /// Judge whether the queries of a test suite got worse, by what does not depend on the machine
    Gate(GateArgs),
    /// Answer an agent on standard input and output (Model Context Protocol)
    Mcp(McpArgs),
    /// Store events files and profiles files, whether the service runs or not; what is stored already is left as it is
    Import(ImportArgs),
    /// Judge the file of receivers, routes and owners (`serve --config`)
    Config(ConfigArgs),
    /// Test how messages of issues are delivered
    Alert(AlertArgs),
    /// Tell a service of a deploy, so that an issue that begins with it names it
    Deploy(DeployArgs),
    /// Manage the tokens of programs
    Token(TokenArgs),
    /// Manage the users who log in (`serve --login`)
    User(UserArgs),
    /// Judge a data folder or a shared database: everything stored once, whole, and in agreement
    Check(CheckArgs),
    /// Copy a data folder as it is now, while its service goes on
    Backup(BackupArgs),
    /// Move a data folder into a database that collectors share; may be interrupted and run again
    Migrate(MigrateArgs),
    /// Fill the running service with two weeks of history and a minute of live runs
    Demo(DemoArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct DataArg {
    /// Folder that holds everything the service keeps
    #[arg(long, value_name = "DIR", env = "QUERYSCOPE_DATA", default_value = "queryscope-data")]
    pub(crate) data: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DatabaseArg {
    /// PostgreSQL database that collectors share, instead of one in the data folder: `postgres://user@host/name`, with
    /// `?sslmode=verify-full` where others might listen
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_DATABASE", hide_env_values = true, value_parser = text)]
    pub(crate) database: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RecordingsArg {
    /// Where recordings are kept: a folder, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX, with
    /// credentials from the variables of that cloud's tools [default: in the data folder]
    #[arg(long, value_name = "PLACE", env = "QUERYSCOPE_RECORDINGS")]
    pub(crate) recordings: Option<Location>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address of the dashboard, the read API and ingest
    #[arg(long, value_name = "ADDR", env = "QUERYSCOPE_BIND", default_value = "127.0.0.1:7766")]
    pub(crate) bind: SocketAddr,
    /// One more address, for senders alone
    #[arg(long, value_name = "ADDR", env = "QUERYSCOPE_INGEST_BIND")]
    pub(crate) ingest_bind: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) data: DataArg,
    #[command(flatten)]
    pub(crate) database: DatabaseArg,
    #[command(flatten)]
    pub(crate) recordings: RecordingsArg,
    /// Token of the project `default`, instead of one made at the first start
    #[arg(long, value_name = "TOKEN", env = "QUERYSCOPE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Host name readers may use beside localhost and addresses; may be given several times
    #[arg(long, value_name = "NAME", env = "QUERYSCOPE_ALLOWED_HOST", value_delimiter = ',', value_parser = text)]
    pub(crate) allowed_host: Vec<String>,
    /// Restrict reading to users who log in, and to tokens for reading
    #[arg(long, env = "QUERYSCOPE_LOGIN", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) login: bool,
    /// Believe a proxy at this address, or in this network, what it says of who asks; may be given several times
    #[arg(
        long,
        value_name = "ADDRESS[/BITS]",
        env = "QUERYSCOPE_TRUSTED_PROXY",
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) trusted_proxy: Vec<Network>,
    /// Restrict reading to users that a trusted proxy names in this header
    #[arg(long, value_name = "NAME", env = "QUERYSCOPE_PROXY_USER_HEADER", requires = "trusted_proxy")]
    pub(crate) proxy_user_header: Option<HeaderName>,
    /// Take roles from the groups in this header: queryscope-viewer, -editor or -admin, each also with :PROJECT
    /// [default: the role of the user of that name, else viewer]
    #[arg(long, value_name = "NAME", env = "QUERYSCOPE_PROXY_GROUPS_HEADER", requires = "proxy_user_header")]
    pub(crate) proxy_groups_header: Option<HeaderName>,
    /// File (TOML) of receivers, routes and owners: where messages of issues go [default: nobody is told]
    #[arg(long, value_name = "FILE", env = "QUERYSCOPE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) oidc: OidcArgs,
    /// A running run that is silent for so long is unfinished: seconds, or like 90s or 5m
    #[arg(long, value_name = "TIME", env = "QUERYSCOPE_SILENT_AFTER", default_value = "60", value_parser = time)]
    pub(crate) silent_after: Duration,
    /// Runs that end within this time share a file of recordings, for which the first waits in the database: seconds,
    /// or like 90s or 5m
    #[arg(long, value_name = "TIME", env = "QUERYSCOPE_SEAL_WITHIN", default_value = "60", value_parser = time)]
    pub(crate) seal_within: Duration,
    /// Delete runs that started more than so many days ago [default: keep all]
    #[arg(
        long,
        value_name = "DAYS",
        env = "QUERYSCOPE_KEEP_DAYS",
        value_parser = clap::value_parser!(u32).range(1..=36_500)
    )]
    pub(crate) keep_days: Option<u32>,
    /// Let agents that ask at `/mcp` resolve issues; without it, they read alone
    #[arg(long, env = "QUERYSCOPE_MCP_ACTIONS")]
    pub(crate) mcp_actions: bool,
    #[command(flatten)]
    pub(crate) otlp: OtlpArgs,
}

#[expect(clippy::struct_field_names, reason = "options are named after their fields")]
#[derive(Debug, Args)]
pub(crate) struct OidcArgs {
    /// Let users log in at this provider of OpenID Connect, too: its address, as in its ID tokens
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_OIDC_ISSUER", requires = "oidc_client_id")]
    pub(crate) oidc_issuer: Option<String>,
    /// Id of this service at the provider; the provider sends users back to /login/openid/callback
    #[arg(long, value_name = "ID", env = "QUERYSCOPE_OIDC_CLIENT_ID", requires = "oidc_issuer")]
    pub(crate) oidc_client_id: Option<String>,
    /// Secret of this service at the provider [default: none, a public client]
    #[arg(
        long,
        value_name = "SECRET",
        env = "QUERYSCOPE_OIDC_CLIENT_SECRET",
        hide_env_values = true,
        conflicts_with = "oidc_client_secret_file",
        requires = "oidc_issuer"
    )]
    pub(crate) oidc_client_secret: Option<String>,
    /// File whose first line is that secret
    #[arg(long, value_name = "FILE", env = "QUERYSCOPE_OIDC_CLIENT_SECRET_FILE", requires = "oidc_issuer")]
    pub(crate) oidc_client_secret_file: Option<PathBuf>,
    /// Scope to ask for beside `openid`; may be given several times
    #[arg(
        long,
        value_name = "SCOPE",
        env = "QUERYSCOPE_OIDC_SCOPE",
        value_delimiter = ',',
        default_values = ["profile", "email"]
    )]
    pub(crate) oidc_scope: Vec<String>,
    /// Claim that has the groups of a user
    #[arg(long, value_name = "CLAIM", env = "QUERYSCOPE_OIDC_GROUPS_CLAIM", default_value = "groups")]
    pub(crate) oidc_groups_claim: String,
    /// Give a group a role, for all projects or one: GROUP=ROLE[:PROJECT], `*` for every user; may be given several
    /// times, also divided by semicolons [default: the groups queryscope-ROLE and queryscope-ROLE:PROJECT]
    #[arg(long, value_name = "GROUP=ROLE", env = "QUERYSCOPE_OIDC_ROLE", value_delimiter = ';')]
    pub(crate) oidc_role: Vec<GroupRole>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Events files (events@1 as JSON Lines) or profiles files (a profile@1 a line), plain or gzip
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArg,
    /// Project the runs belong to
    #[arg(long, default_value = "default")]
    pub(crate) project: Name,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Judge a file: its mistakes, with line and cause
    Check {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Do not read secrets from the environment and from files: they are elsewhere
        #[arg(long)]
        without_secrets: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AlertArgs {
    #[command(subcommand)]
    pub(crate) command: AlertCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AlertCommand {
    /// Send a test message over a route, from here, and say what its receiver answers
    Test {
        /// Name of the route
        route: String,
        /// The file that names it
        #[arg(long, value_name = "FILE", env = "QUERYSCOPE_CONFIG")]
        config: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DeployArgs {
    /// Version that is deployed, best the one that its processes name as their own
    pub(crate) version: String,
    /// Service that is deployed, as its processes name it [default: programs that name none]
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// Environment it is deployed to [default: all]
    #[arg(long, value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,
    /// Commit it was made of
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
    /// Address where people read more, such as that of the build
    #[arg(long, value_name = "URL")]
    pub(crate) link: Option<String>,
    /// When it began, in UTC, like 2026-11-25T02:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = utc)]
    pub(crate) at: Option<SystemTime>,
    /// Print the deploy as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Address of a service elsewhere; needs --token [default: that of the service that runs on the data folder]
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_URL", requires = "token")]
    pub(crate) url: Option<String>,
    /// Token to send with, whose project the deploy is of [default: one made for this call]
    #[arg(long, value_name = "TOKEN", env = "TELEMETRY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Project the deploy is of, where no token says it
    #[arg(long, default_value = "default", conflicts_with = "token")]
    pub(crate) project: Name,
    #[command(flatten)]
    pub(crate) data: DataArg,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it, this once
    #[command(visible_alias = "create")]
    Add {
        /// Name of the token: up to 64 letters, digits, dots, hyphens and underscores
        name: Name,
        /// What it is for: ingest to send, read to read, admin to read and do all
        #[arg(long, default_value = "ingest", value_parser = scope)]
        scope: Scope,
        /// Project its batches belong to, or the only one it reads: a name like the token's [default: `default` for
        /// ingest, else all]
        #[arg(long)]
        project: Option<Name>,
        /// It is not taken any more after this time: seconds, or like 12h or 90days [default: never]
        #[arg(long, value_name = "TIME", value_parser = time)]
        expires: Option<Duration>,
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// List tokens by name
    List {
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// Revoke a token
    Revoke {
        /// Name of the token
        name: String,
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
}

#[derive(Debug, Args)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    pub(crate) command: UserCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Make a user; the password is the first line of standard input, or asked for
    Add {
        /// Name of the user: up to 64 letters, digits, and . _ - @ +
        name: String,
        /// What the user may do: viewer to read, editor to act on issues, too, admin to manage tokens,
        /// users and sessions, too
        #[arg(long, default_value = "viewer", value_parser = crate::user::role)]
        role: Role,
        /// The only project the user may read [default: all]
        #[arg(long)]
        project: Option<Name>,
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// List users by name: role, project, and when they were made
    List {
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// Remove a user and end the user's sessions
    Remove {
        /// Name of the user
        name: String,
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// Give a user another password and end the user's sessions
    Password {
        /// Name of the user
        name: String,
        #[command(flatten)]
        data: DataArg,
        #[command(flatten)]
        database: DatabaseArg,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) data: DataArg,
    #[command(flatten)]
    pub(crate) database: DatabaseArg,
    #[command(flatten)]
    pub(crate) recordings: RecordingsArg,
    /// Events files of what was acknowledged: each event must be stored, byte for byte
    #[arg(long, value_name = "FILE")]
    pub(crate) acknowledged: Vec<PathBuf>,
    /// Rebuild what follows from the events, and put what is damaged into the folder's `quarantine`; no service may
    /// use the folder. Of a database: remove copies of runs that differ from their rows. Of both: have evaluations that
    /// differ from their runs made anew, and give up damaged messages of issues
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print each finding as one JSON object a line, the totals last
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Folder for the copy, new or empty; serve it with --data to restore it
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArg,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Data folder to move, which stays as it is; no service may use it
    #[arg(long, value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// PostgreSQL database that collectors share: `postgres://user@host/name`; they may be running
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_DATABASE", hide_env_values = true, value_parser = text)]
    pub(crate) to: String,
    /// Where the collectors keep recordings (as their --recordings) [default: the database, until they write them]
    #[arg(long, value_name = "PLACE", env = "QUERYSCOPE_RECORDINGS")]
    pub(crate) recordings: Option<Location>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) data: DataArg,
    /// Address of a service elsewhere; needs --token
    #[arg(long, requires = "token")]
    pub(crate) url: Option<String>,
    /// Token to send with [default: one for the project `demo`, made for the time of the demo]
    #[arg(long, env = "TELEMETRY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Send the history alone, no live runs
    #[arg(long)]
    pub(crate) history_only: bool,
    /// Draw the history from this number [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// What a token is for; invitations are made by the service.
fn scope(text: &str) -> Result<Scope, String> {
    let scope = text.parse().ok().filter(|scope| *scope != Scope::Invitation);
    scope.ok_or_else(|| "expected ingest, read or admin".into())
}

/// A text that is not empty.
fn text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it is empty".into()) } else { Ok(text.to_owned()) }
}

/// Seconds, or a time with a unit.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected seconds above 0, or a time like 90s or 5m".into())
}

/// A date and time, which are UTC with `Z` and without.
fn utc(text: &str) -> Result<SystemTime, String> {
    humantime::parse_rfc3339_weak(text).map_err(|_| "expected UTC, like 2026-11-25T02:00:00Z".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serving_is_the_default() {
        let cli =
            Cli::try_parse_from(["queryscope", "--silent-after", "2m", "--keep-days", "30"]).expect("valid");
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.silent_after, Duration::from_mins(2));
        assert_eq!((cli.serve.keep_days, cli.serve.bind.port()), (Some(30), 7766));
    }

    #[test]
    fn times_are_seconds_or_have_units() {
        assert_eq!(time("60"), Ok(Duration::from_mins(1)));
        assert_eq!(time("1500ms"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "soon", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
