//! The log of the service, on standard error.
//!
//! A fault that lasts is met by every job and every batch, many times a second. A line that was written a moment ago is
//! left out, and the next one of its place in the code says how many were: the log of a night stays readable, and does
//! not fill the disk. This is done here, where all lines pass, so that no job has to. Lines that differ, by the id of a
//! query say, are limited together. What is asked for with a level below `info` is written as it comes.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// How long a line is not written again.
const QUIET: Duration = Duration::from_mins(1);
/// Lines of one place in the code, which differ, within that time.
const LINES_MAX: usize = 10;

/// Logs to standard error; `QUERYSCOPE_LOG` says what, as `RUST_LOG` does elsewhere.
pub(crate) fn init() {
    let directives = std::env::var("QUERYSCOPE_LOG").unwrap_or_default();
    let filter = Some(directives).filter(|text| !text.trim().is_empty());
    let filter = filter
        .and_then(|text| EnvFilter::try_new(text).ok())
        .unwrap_or_else(|| EnvFilter::new("info,rmcp=error"));
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(color)
        // It would say so with `eprintln!`, which panics where the log cannot be written: on a full disk.
        .log_internal_errors(false)
        .event_format(Limited {
            format: Format::default().without_time().with_ansi(color),
            ..Limited::default()
        })
        .init();
}

/// Formats lines, and leaves out those that repeat.
#[derive(Debug)]
struct Limited {
    format: Format<Full, ()>,
    time: SystemTime,
    places: Mutex<HashMap<Identifier, Place>>,
}

/// What was written from one place in the code.
#[derive(Debug, Default)]
struct Place {
    /// Lines that were written, by their hash, and when.
    written: Vec<(u64, Instant)>,
    left_out: u64,
}

impl Default for Limited {
    fn default() -> Self {
        Self { format: Format::default().without_time(), time: SystemTime, places: Mutex::default() }
    }
}

impl Place {
    /// Whether a line is written; then how many were left out since the last one.
    fn take(&mut self, line: &str, now: Instant) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        let hash = hasher.finish();
        self.written.retain(|(_, at)| now.saturating_duration_since(*at) < QUIET);
        if self.written.len() >= LINES_MAX || self.written.iter().any(|(written, _)| *written == hash) {
            self.left_out += 1;
            return None;
        }
        self.written.push((hash, now));
        Some(std::mem::take(&mut self.left_out))
    }
}

impl<S, N> FormatEvent<S, N> for Limited
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        let mut left_out = 0;
        if *event.metadata().level() <= Level::INFO {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            let place = places.entry(event.metadata().callsite()).or_default();
            let Some(count) = place.take(&line, queryscope_store::now()) else { return Ok(()) };
            left_out = count;
        }
        self.time.format_time(&mut writer)?;
        write!(writer, " {}", line.trim_end())?;
        if left_out > 0 {
            write!(writer, " ({left_out} lines like it were left out)")?;
        }
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_line_is_written_at_once_then_once_a_minute_with_a_count() {
        let mut place = Place::default();
        let begun = queryscope_store::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(place.take("away", at(0)), Some(0));
        for second in 1..60 {
            assert_eq!(place.take("away", at(second)), None);
        }
        assert_eq!(place.take("another", at(59)), Some(59));
        assert_eq!(place.take("away", at(60)), Some(0));
        assert_eq!(place.take("away", at(61)), None);
    }

    #[test]
    fn lines_that_differ_are_limited_together() {
        let mut place = Place::default();
        let now = queryscope_store::now();
        let written = (0..1000).filter(|n| place.take(&format!("query {n}"), now).is_some()).count();
        assert_eq!((written, place.written.len()), (LINES_MAX, LINES_MAX), "what is kept of them is bounded");
        assert_eq!(place.take("query 1000", now + QUIET), Some(990));
    }

    /// What is logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_repeats_is_left_out_of_the_log_unless_it_was_asked_for() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::DEBUG)
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .event_format(Limited::default())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            for n in 0..3 {
                let error = io::Error::other("no such place");
                tracing::warn!(error = &error as &dyn std::error::Error, "it failed");
                tracing::debug!("a detail");
                tracing::info!(n, "done");
            }
        });
        let text = String::from_utf8(log.0.lock().expect("no panic").clone()).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines[0].ends_with("tests: it failed error=no such place"), "{text}");
        assert!(lines[0].contains('T') && lines[0].contains("Z  WARN "), "with its time: {text}");
        assert_eq!(text.matches("a detail").count(), 3, "{text}");
        for n in 0..3 {
            assert!(text.contains(&format!("done n={n}")), "{text}");
        }
    }
}
