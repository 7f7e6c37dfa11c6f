//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far long work has come, on standard error.
pub(crate) struct Progress {
    what: &'static str,
    total: Option<u64>,
    done: u64,
    /// Hidden where standard error is no terminal.
    bar: ProgressBar,
    last_line: Instant,
}

impl Progress {
    /// Begins; `what` names what is counted, like `events`.
    pub(crate) fn new(what: &'static str, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "{bar:32} {human_pos} of {human_len} {msg}, {eta} left",
            None => "{spinner} {human_pos} {msg}, {elapsed}",
        };
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new).with_message(what);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { what, total, done: 0, bar, last_line: queryscope_store::now() }
    }

    /// Counts more that is done.
    pub(crate) fn add(&mut self, done: u64) {
        self.done += done;
        self.bar.inc(done);
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = queryscope_store::now();
            match self.total {
                Some(total) => eprintln!("{} of {total} {}", self.done, self.what),
                None => eprintln!("{} {}", self.done, self.what),
            }
        }
    }

    /// Ends the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
