//! The plan of one run, while it is open.

use std::cell::OnceCell;

use crate::read::answers::Run;
use crate::read::events::RunEvents;
use crate::read::plan::{self, PlanRow};

/// The run whose plan is open.
#[derive(Debug)]
pub(crate) struct PlanView {
    /// Its id.
    pub(crate) run: String,
    /// What was known when it was opened.
    pub(crate) summary: Run,
    /// What it ended as.
    pub(crate) ended: Option<Run>,
    /// Why its events cannot be followed now.
    pub(crate) lost: Option<String>,
    events: RunEvents,
    /// The plan of these events, made when it is first drawn.
    rows: OnceCell<Vec<PlanRow>>,
    first: usize,
    page: usize,
}

impl PlanView {
    pub(crate) fn new(summary: Run) -> Self {
        let run = summary.query_id.clone();
        let (events, rows) = (RunEvents::default(), OnceCell::new());
        Self { run, summary, ended: None, lost: None, events, rows, first: 0, page: 1 }
    }

    /// Takes events; whether they are the first.
    pub(crate) fn take(&mut self, data: &str) -> bool {
        let is_first = self.rows().is_empty();
        self.lost = None;
        self.events.take(data);
        self.rows = OnceCell::new();
        is_first
    }

    /// The nodes of the plan with their latest counters.
    pub(crate) fn rows(&self) -> &[PlanRow] {
        self.rows
            .get_or_init(|| self.events.profile().map(|profile| plan::rows(&profile)).unwrap_or_default())
    }

    pub(crate) fn scroll(&mut self, lines: isize) {
        self.first = self.first.saturating_add_signed(lines);
    }

    pub(crate) fn scroll_pages(&mut self, pages: isize) {
        self.scroll(pages * self.page as isize);
    }

    /// Notes how many lines fit; gives the first of so many to show.
    pub(crate) fn shows(&mut self, lines: usize, page: usize) -> usize {
        self.page = page.max(1);
        self.first = self.first.min(lines.saturating_sub(page));
        self.first
    }
}
