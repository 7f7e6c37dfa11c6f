//! `queryscope export`: telemetry as files, a day each.
//!
//! Files lie as engines that read partitions expect them: `runs/day=2026-11-25/runs.parquet`. A file is there whole or
//! not at all, so an export that was interrupted goes on where it ended. Runs of a day may still start, end and arrive,
//! so its file is written again until it was written some days after the day.

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Days, NaiveDate, Utc};
use clap::{Args, ValueEnum};
use queryscope_recordings::{Files, Location};
use serde_json::Value;

use crate::read::args::{ServiceArgs, SourceArgs};
use crate::read::service::Service;

const DAY_NS: i64 = 86_400_000_000_000;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Where the files are put: a folder, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX, with
    /// credentials from the variables of that cloud's tools
    #[arg(value_name = "PLACE")]
    place: Location,
    /// Tables to write, separated by commas
    #[arg(long, value_name = "TABLE", value_delimiter = ',', default_values_t = [Table::Runs, Table::Issues])]
    table: Vec<Table>,
    /// What the files are
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    format: Format,
    /// First day, in UTC [default: that of the oldest run]
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<NaiveDate>,
    /// Last day, in UTC [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<NaiveDate>,
    /// A day is written again until it was written so many days after it ended
    #[arg(long, value_name = "DAYS", default_value = "2", value_parser = clap::value_parser!(u64).range(0..=36_500))]
    rewrite_days: u64,
    /// Only runs that meet these conditions, such as `wall>10s label:orders/*`
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    service_at: ServiceArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// One row a run
    Runs,
    /// One row a node of each run
    Nodes,
    /// One row a finding
    Findings,
    /// One row an issue; as they are now, in one file
    Issues,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Nodes => "nodes",
            Self::Findings => "findings",
            Self::Issues => "issues",
        }
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns, compressed
    Parquet,
    /// Text with a line of names
    Csv,
    /// A JSON object a line
    Json,
}

impl Format {
    const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "jsonl",
        }
    }
}

/// What was done.
#[derive(Debug, Default)]
struct Done {
    files: u64,
    bytes: u64,
    kept: u64,
}

struct Export<'a> {
    args: &'a ExportArgs,
    service: Service,
    files: Files,
    done: Done,
}

pub(crate) async fn run(args: &ExportArgs) -> Result<()> {
    let service = Service::find(&args.service_at)?;
    let files = Files::open(&args.place).with_context(|| format!("{} cannot be opened", args.place))?;
    let mut export = Export { args, service, files, done: Done::default() };
    let of_runs: Vec<Table> = args.table.iter().copied().filter(|table| *table != Table::Issues).collect();
    if !of_runs.is_empty() {
        export.days(&of_runs).await?;
    }
    if args.table.contains(&Table::Issues) {
        if args.source.environment.is_some() || args.source.host.is_some() || args.filter.is_some() {
            eprintln!("issues: --environment, --host and --filter do not apply to them");
        }
        let name = format!("issues/issues.{}", args.format.ending());
        let params = args.source.params();
        let of_issues = params.into_iter().filter(|(name, _)| matches!(*name, "project" | "service"));
        export.write(&name, Table::Issues, of_issues.collect()).await?;
    }
    let Done { files, bytes, kept } = export.done;
    println!("{files} files written ({bytes} bytes), {kept} left as they are, in {}", args.place);
    Ok(())
}

impl Export<'_> {
    /// Writes the tables of runs day by day.
    async fn days(&mut self, tables: &[Table]) -> Result<()> {
        let today = Utc::now().date_naive();
        let last = self.args.to.unwrap_or(today).min(today);
        if let Some(from) = self.args.from.filter(|from| *from > last) {
            bail!("--from {from} is after the last day, {last}");
        }
        let mut next = self.first_day_with_runs(self.args.from).await?;
        while let Some(day) = next.filter(|day| *day <= last) {
            for table in tables {
                let (table_name, ending) = (table.name(), self.args.format.ending());
                let name = format!("{table_name}/day={day}/{table_name}.{ending}");
                let written = self.files.written_unix_ms(&name).await.context(name.clone())?;
                if written.is_some_and(|unix_ms| self.is_settled(day, unix_ms)) {
                    self.done.kept += 1;
                    continue;
                }
                let begin = begin_of(day)?;
                let mut params = self.args.source.params();
                params.extend(self.args.filter.clone().map(|filter| ("filter", filter)));
                params.push(("since", begin.to_string()));
                params.push(("until", (begin + DAY_NS - 1).to_string()));
                self.write(&name, *table, params).await?;
            }
            next = match day.succ_opt() {
                Some(day) => self.first_day_with_runs(Some(day)).await?,
                None => None,
            };
        }
        Ok(())
    }

    /// Whether a file of a day that was written then has all its runs.
    fn is_settled(&self, day: NaiveDate, written_unix_ms: i64) -> bool {
        let settles = day.checked_add_days(Days::new(self.args.rewrite_days.saturating_add(1)));
        let settles = settles.and_then(|day| begin_of(day).ok());
        settles.is_some_and(|settles| written_unix_ms.saturating_mul(1_000_000) >= settles)
    }

    /// The first day from one on that has runs; days without are left out.
    async fn first_day_with_runs(&self, from: Option<NaiveDate>) -> Result<Option<NaiveDate>> {
        let mut params = self.args.source.params();
        params.extend([("order", "oldest".into()), ("limit", "1".into())]);
        if let Some(from) = from {
            params.push(("since", begin_of(from)?.to_string()));
        }
        let found: Value = self.service.get("/api/queries", &params).await?;
        let started = found[0]["started_unix_ns"].as_i64();
        Ok(started.map(|started| DateTime::from_timestamp_nanos(started).date_naive()))
    }

    /// Writes one file.
    async fn write(
        &mut self,
        name: &str,
        table: Table,
        mut params: Vec<(&'static str, String)>,
    ) -> Result<()> {
        params.push(("format", self.args.format.name().into()));
        let path = format!("/api/export/{}", table.name());
        let mut response = self.service.open(&path, &params, None).await?;
        let mut file = self.files.create(name).await.with_context(|| format!("{name} cannot be written"))?;
        let copied = async {
            let mut bytes = 0;
            while let Some(chunk) = response.chunk().await.context("the service cut the table off")? {
                file.write(&chunk).await?;
                bytes += chunk.len() as u64;
            }
            anyhow::Ok(bytes)
        };
        match copied.await {
            Ok(bytes) => {
                file.finish().await.with_context(|| format!("{name} cannot be written"))?;
                eprintln!("{name}: {bytes} bytes");
                self.done.files += 1;
                self.done.bytes += bytes;
                Ok(())
            }
            Err(error) => {
                // What is left of it is no file; the first error counts.
                let _ = file.abort().await;
                Err(error.context(format!("{name} is not written: run the same command again to go on")))
            }
        }
    }
}

/// Begin of a day, in Unix nanoseconds.
fn begin_of(day: NaiveDate) -> Result<i64> {
    let begin = day.and_hms_opt(0, 0, 0).and_then(|begin| begin.and_utc().timestamp_nanos_opt());
    begin.with_context(|| format!("{day} is beyond the days there may be runs of"))
}
