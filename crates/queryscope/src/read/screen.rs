//! Where answers are written to.

use std::io::{ErrorKind, IsTerminal, Write, stdout};

use anyhow::{Context, Result};
use queryscope_collector::{Clock, SystemClock};
use serde_json::Value;

use super::style::{SOFT, joined, painted};
use super::text;
use super::units::{Times, Zone};

/// Lines of sentences are no longer, whatever the terminal: they are easier to read.
const SENTENCE_COLUMNS: usize = 100;

/// The terminal, or what stands in its place, and the time of what is shown there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Columns of a line; `None` for a pipe or file, where nothing is shortened.
    pub(crate) columns: Option<usize>,
    pub(crate) times: Times,
    pub(crate) reader: Reader,
}

/// The reader of an answer: what else can be asked is said in their words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Somebody who enters commands.
    Person,
    /// A program that calls the tools of `queryscope mcp`.
    Agent,
}

impl Screen {
    /// The standard output as it is: `COLUMNS` says how wide it is, else the terminal does.
    pub(crate) fn now() -> Self {
        let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || {
            let columns = terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0));
            columns.filter(|_| stdout().is_terminal())
        };
        let columns = given.filter(|&columns| columns > 0).or_else(terminal);
        let times = Times { now_unix_ns: SystemClock::new().unix_ns(), zone: Zone::Local };
        Self { columns, times, reader: Reader::Person }
    }

    /// An answer to an agent: nothing is shortened, and times are in UTC, as the agent may be anywhere.
    pub(crate) fn of_an_agent() -> Self {
        let times = Times { now_unix_ns: SystemClock::new().unix_ns(), zone: Zone::Utc };
        Self { columns: None, times, reader: Reader::Agent }
    }

    /// Columns of a sentence.
    pub(crate) fn sentence(self) -> usize {
        self.columns.unwrap_or(SENTENCE_COLUMNS).min(SENTENCE_COLUMNS)
    }

    /// A sentence on lines of its own, each behind a margin.
    pub(crate) fn paragraph(self, text: &str, margin: &str) -> String {
        let columns = self.sentence().saturating_sub(text::width(margin));
        joined(text::wrap(text, columns).iter().map(|line| format!("{margin}{line}")))
    }

    /// A sentence behind a head; its further lines stand under the first.
    pub(crate) fn hanging(self, head: &str, text: &str) -> String {
        let margin = text::width(head);
        let lines = text::wrap(text, self.sentence().saturating_sub(margin));
        let heads = std::iter::once(head.to_owned()).chain(std::iter::repeat(" ".repeat(margin)));
        joined(heads.zip(lines).map(|(head, line)| format!("{head}{line}").trim_end().to_owned()))
    }

    /// The same in a style.
    pub(crate) fn painted(self, text: &str, margin: &str, style: anstyle::Style) -> String {
        joined(self.paragraph(text, margin).lines().map(|line| painted(line, style)))
    }

    /// The same for what matters less.
    pub(crate) fn soft(self, text: &str, margin: &str) -> String {
        self.painted(text, margin, SOFT)
    }
}

/// Writes to the standard output, without colours unless that is a terminal that wants them. A reader that has gone
/// away, such as `head`, is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the answer cannot be written"),
    }
}

/// Writes one JSON document.
pub(crate) fn print_json(document: &Value) -> Result<()> {
    print(&format!("{}\n", text::json(&serde_json::to_string_pretty(document)?)))
}
