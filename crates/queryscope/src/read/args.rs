//! What commands that read from a service take.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::text::name;
use super::{issues, list, runs};
use crate::cli::DataArg;

/// Which service is asked.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    /// Address of a service elsewhere [default: that of the service that runs on the data folder]
    #[arg(long, value_name = "URL", env = "QUERYSCOPE_URL")]
    pub(crate) url: Option<String>,
    /// Token to send, where reading is restricted or a proxy in front of the service wants one
    #[arg(long, value_name = "TOKEN", env = "TELEMETRY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArg,
}

/// Which runs count.
#[derive(Debug, Default, Args)]
pub(crate) struct SourceArgs {
    /// Only runs of this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only runs of this service; empty for runs without one
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// Only runs in this environment; empty for runs without one
    #[arg(long, value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,
    /// Only runs on this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
}

impl SourceArgs {
    /// The same as parameters of the API.
    pub(crate) fn params(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("project", &self.project),
            ("service", &self.service),
            ("environment", &self.environment),
            ("host", &self.host),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }

    /// The same in words, to follow what is said of the runs: ` of service etl`; empty where all runs count.
    pub(crate) fn words(&self) -> String {
        let params = self.params();
        let words = params.iter().map(|(field, value)| match value.as_str() {
            "" => format!("without {field}"),
            value => format!("of {field} {}", name(value)),
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() { String::new() } else { format!(" {}", words.join(" ")) }
    }
}

impl IssuesArgs {
    /// Whether issues are left out for anything but their state.
    pub(crate) fn has_filter(&self) -> bool {
        let Self { label, kind, owner, project, service, .. } = self;
        [label, kind, owner, project, service].into_iter().any(Option::is_some)
    }
}

/// How a list is written.
#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// Print one JSON document, with all fields of the API
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV with a heading: one line a row, names and units of the API
    #[arg(long)]
    pub(crate) csv: bool,
}

/// How one answer is written.
#[derive(Debug, Args)]
pub(crate) struct JsonArg {
    /// Print one JSON document, with all fields of the API
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Days to look at, 1 to 90
    #[arg(long, value_name = "DAYS", default_value = "14", value_parser = clap::value_parser!(u32).range(1..=90))]
    pub(crate) days: u32,
    /// Only queries with a change that is open
    #[arg(long)]
    pub(crate) changed: bool,
    /// Column to sort by: figures from the largest, names from A
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = list::SORT,
        value_parser = PossibleValuesParser::new(list::sorts())
    )]
    pub(crate) sort: String,
    /// Sort the other way
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Rows to print at most [default: all]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only runs with this label; empty for runs without one
    #[arg(value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Only runs in this state
    #[arg(long, value_name = "STATUS", value_parser = ["running", "finished", "failed", "unfinished"])]
    pub(crate) status: Option<String>,
    /// Only runs that started at most so long ago: like 90m, 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) since: Option<std::time::Duration>,
    /// Only runs whose label, error text or id holds this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) find: Option<String>,
    /// Column to sort by: figures from the largest, names from A, times from the newest. `run`, `status`,
    /// `query`, `service` and `host` sort the newest 5,000 runs
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = runs::SORT,
        value_parser = PossibleValuesParser::new(runs::sorts())
    )]
    pub(crate) sort: String,
    /// Sort the other way
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Rows to print at most
    #[arg(long, value_name = "ROWS", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct IssuesArgs {
    /// Only issues of queries with this label
    #[arg(value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Only issues in these states, separated by commas
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        default_values_t = issues::OPEN.map(str::to_owned),
        value_parser = PossibleValuesParser::new(issues::states())
    )]
    pub(crate) state: Vec<String>,
    /// Issues in every state
    #[arg(long, conflicts_with = "state")]
    pub(crate) all: bool,
    /// Only issues of this kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(issues::kinds()))]
    pub(crate) kind: Option<String>,
    /// Only issues of queries of this owner; empty for queries without one
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<String>,
    /// Only issues of this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only issues of queries of this service; empty for queries without one
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// Column to sort by: figures from the largest, names from A, times from the newest
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = issues::SORT,
        value_parser = PossibleValuesParser::new(issues::sorts())
    )]
    pub(crate) sort: String,
    /// Sort the other way
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Rows to print at most [default: all]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the run, or at least 6 characters of it that no other run has
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) format: JsonArg,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Label of the query
    #[arg(value_name = "LABEL")]
    pub(crate) label: String,
    #[command(flatten)]
    pub(crate) format: JsonArg,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NotesArgs {
    /// Only notes on queries with this label
    #[arg(value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Notes to print at most
    #[arg(long, value_name = "ROWS", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) format: JsonArg,
    /// Only notes of this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only notes on queries of this service; empty for those of programs without one
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// What to compare with: a run as `show` takes it, or LABEL@PLAN for the last run of a plan, which is a letter
    /// (`orders@A`) or the begin of a fingerprint
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The run to judge, in either form [default: BASE, beside the usual run or one before its change]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Nodes to print at most, those that changed most first
    #[arg(long, value_name = "NODES", default_value = "12", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) format: JsonArg,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) service_at: ServiceArgs,
}
