//! A run's row against what its events make of it.

use queryscope_protocol::{Event, EventKind, QueryId};
use queryscope_store::{Facts, Known, Naming, Query, Report, Status, StreamProcess};

/// What an event says of its query: two reports where an earlier version would have made other names of it.
pub(crate) fn reports(event: &Event<'_>) -> Vec<Report> {
    let mut reports = Naming::ALL.map(|naming| report(event, naming)).to_vec();
    reports.dedup();
    reports
}

fn report(event: &Event<'_>, naming: Naming) -> Report {
    let mut report = Report { engine: event.engine.as_deref().map(Into::into), ..Report::default() };
    match &event.kind {
        EventKind::Started(_, profile) => report.started = Some(Facts::named(event.seq, profile, naming)),
        EventKind::Finished(_, profile) => report.finished = Some(Facts::named(event.seq, profile, naming)),
        _ => {}
    }
    report
}

/// Every row that events may have made: several where it is not told which of two profiles of a kind arrived first, or
/// by which version a name was made.
///
/// `like` is the row there is, if any. What the events do not tell is taken from it: how long an unfinished query
/// has been silent, which event named the engine, and a start nobody said.
pub(crate) fn candidates(
    project: &str,
    process_line: &str,
    id: QueryId,
    reports: &[Report],
    like: Option<&Query>,
) -> Vec<Query> {
    let processes = StreamProcess::read_as_named(process_line);
    let finished: Vec<&Report> = reports.iter().filter(|report| report.finished.is_some()).collect();
    let started: Vec<&Report> = reports.iter().filter(|report| report.started.is_some()).collect();
    let deciding = if finished.is_empty() { started } else { finished };
    let deciding = if deciding.is_empty() { reports.iter().take(1).collect() } else { deciding };
    let made = processes.iter().flat_map(|process| deciding.iter().map(move |report| (process, *report)));
    made.map(|(process, report)| {
        let mut query = Query::first(project, process, id, report);
        let Some(like) = like else { return query };
        if reports.iter().any(|report| report.engine == like.engine) {
            query.engine.clone_from(&like.engine);
        }
        // An earlier version did not keep these.
        if like.engine_version.is_none() {
            query.engine_version = None;
        }
        if like.program_version.is_none() {
            query.program_version = None;
        }
        query.bytes_read = query.bytes_read.filter(|_| like.bytes_read.is_some());
        query.spilled_bytes = query.spilled_bytes.filter(|_| like.spilled_bytes.is_some());
        query.peak_memory_bytes = query.peak_memory_bytes.filter(|_| like.peak_memory_bytes.is_some());
        if query.known != Known::Finished && like.status == Status::Unfinished {
            query.status = Status::Unfinished;
        }
        let facts = report.finished.as_ref().or(report.started.as_ref());
        if facts.is_none_or(|facts| facts.started_unix_ns.is_none()) {
            query.started_unix_ns = like.started_unix_ns;
        }
        query
    })
    .collect()
}

/// In what a row differs from the candidate it is nearest to, and that candidate.
pub(crate) fn nearest(query: &Query, candidates: Vec<Query>) -> Option<(Query, Vec<String>)> {
    if candidates.contains(query) {
        return Some((query.clone(), Vec::new()));
    }
    candidates
        .into_iter()
        .map(|expected| {
            let fields = fields(query).into_iter().zip(fields(&expected)).filter(|(is, should)| is != should);
            let differences = fields
                .map(|((name, is), (_, should))| format!("{name} is {is}, its events say {should}"))
                .collect::<Vec<_>>();
            (expected, differences)
        })
        .min_by_key(|(_, differences)| differences.len())
}

fn fields(query: &Query) -> [(&'static str, String); 21] {
    [
        ("stream_id", query.stream_id.to_string()),
        ("service", format!("{:?}", query.service)),
        ("environment", format!("{:?}", query.environment)),
        ("host", format!("{:?}", query.host)),
        ("engine", format!("{:?}", query.engine)),
        ("engine_version", format!("{:?}", query.engine_version)),
        ("program_version", format!("{:?}", query.program_version)),
        ("label", format!("{:?}", query.label)),
        ("fingerprint", format!("{:?}", query.fingerprint)),
        ("status", query.status.to_string()),
        ("known", format!("{:?}", query.known)),
        ("started_unix_ns", query.started_unix_ns.to_string()),
        ("wall_ms", format!("{:?}", query.wall_ms)),
        ("cpu_ms", format!("{:?}", query.cpu_ms)),
        ("result_rows", format!("{:?}", query.result_rows)),
        ("bytes_read", format!("{:?}", query.bytes_read)),
        ("spilled_bytes", format!("{:?}", query.spilled_bytes)),
        ("peak_memory_bytes", format!("{:?}", query.peak_memory_bytes)),
        ("failed", format!("{:?}", query.failed)),
        ("warnings", query.warnings.to_string()),
        ("rules", format!("{:?}", query.rules)),
    ]
}
