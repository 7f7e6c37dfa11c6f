//! What `top` knows and shows: changed by updates and keys alone.

use std::collections::{BTreeMap, HashMap};

use super::choice::Choice;
use super::follow::{Pulse, Snapshot, Update, Wanted};
use super::issues_view::IssuesView;
use super::keys::Key;
use super::plan_view::PlanView;
use super::rows;
use crate::read::answers::{Progress, Run};

/// Characters of a filter.
const FILTER_MAX: usize = 100;

/// A running run.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) run: Run,
    pub(crate) pulse: Option<Pulse>,
    pub(crate) progress: Option<Progress>,
}

/// Whether the service is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contact {
    Connecting,
    Open,
    /// Not any more; what is shown is what was known.
    Lost {
        reason: String,
    },
}

/// What a key leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    GoOn,
    Quit,
}

/// All that is known and chosen.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct App {
    pub(crate) url: String,
    /// Which runs and issues are asked for, to follow what is said of them: ` of service etl`; empty for all.
    pub(crate) source: String,
    /// Whether the reader wants colours.
    pub(crate) has_colours: bool,
    pub(crate) contact: Contact,
    /// When it was first drawn that contact is lost, in Unix nanoseconds.
    pub(crate) lost_unix_ns: Option<i64>,
    /// `None` before the first snapshot.
    pub(crate) running: Option<BTreeMap<String, Running>>,
    /// The column that sorts.
    pub(crate) sort: &'static str,
    pub(crate) reverse: bool,
    pub(crate) is_grouped: bool,
    /// The label whose runs alone are shown, empty for those without one: a group that was opened.
    pub(crate) group: Option<String>,
    /// Text that label, service, host or id must have.
    pub(crate) filter: String,
    pub(crate) is_filtering: bool,
    pub(crate) plan: Option<PlanView>,
    /// Running runs by id or, in groups, by label.
    pub(crate) choice: Choice,
    pub(crate) issues: IssuesView,
    /// Whether the issues are on the screen, and not what runs.
    pub(crate) shows_issues: bool,
}

impl App {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            source: String::new(),
            has_colours: true,
            contact: Contact::Connecting,
            lost_unix_ns: None,
            running: None,
            sort: rows::SORT,
            reverse: false,
            is_grouped: false,
            group: None,
            filter: String::new(),
            is_filtering: false,
            plan: None,
            choice: Choice::new(),
            issues: IssuesView::new(),
            shows_issues: false,
        }
    }

    /// Takes an update; whether it is to be seen at once.
    pub(crate) fn take(&mut self, update: Update) -> bool {
        match update {
            Update::Open { url } => {
                self.url = url;
                self.contact = Contact::Open;
                self.lost_unix_ns = None;
            }
            Update::Lost { reason } => self.contact = Contact::Lost { reason },
            Update::Snapshot(snapshot) => self.replace(snapshot),
            Update::Query(run) => self.query(*run),
            Update::Issues(known) => self.issues.known = Some(known),
            Update::Pulse(pulse) => {
                let known = self.running.as_mut().and_then(|running| running.get_mut(&pulse.query_id));
                if let Some(known) = known {
                    // One without new samples leaves the last as it was.
                    let last = known.pulse.as_ref().and_then(|pulse| pulse.threads.last()).copied();
                    let threads = pulse.threads.last().copied().or(last).into_iter().collect();
                    known.pulse = Some(Pulse { threads, ..pulse });
                }
                return false;
            }
            Update::Judged { run, progress } => {
                if let Some(known) = self.running.as_mut().and_then(|running| running.get_mut(&run)) {
                    known.progress = Some(*progress);
                }
                return false;
            }
            Update::Events { run, data } => {
                let open = self.plan.as_mut().filter(|plan| plan.run == run);
                return open.is_some_and(|plan| plan.take(&data));
            }
            Update::Ended(run) => {
                if let Some(plan) = self.plan.as_mut().filter(|plan| plan.run == run.query_id) {
                    plan.ended = Some(*run);
                }
            }
            Update::PlanFound { run } => {
                if let Some(plan) = self.plan.as_mut().filter(|plan| plan.run == run) {
                    plan.lost = None;
                }
            }
            Update::PlanLost { run, reason } => {
                if let Some(plan) = self.plan.as_mut().filter(|plan| plan.run == run) {
                    plan.lost = Some(reason);
                }
            }
        }
        true
    }

    fn replace(&mut self, Snapshot { running, pulses }: Snapshot) {
        let mut known = self.running.take().unwrap_or_default();
        let mut pulses: HashMap<String, Pulse> =
            pulses.into_iter().map(|pulse| (pulse.query_id.clone(), pulse)).collect();
        let each = running.into_iter().map(|run| {
            let pulse = pulses.remove(&run.query_id);
            let progress = known.remove(&run.query_id).and_then(|known| known.progress);
            (run.query_id.clone(), Running { run, pulse, progress })
        });
        self.running = Some(each.collect());
    }

    fn query(&mut self, run: Run) {
        let Some(running) = &mut self.running else { return };
        if run.status != "running" {
            running.remove(&run.query_id);
            return;
        }
        match running.get_mut(&run.query_id) {
            Some(known) => known.run = run,
            None => {
                running.insert(run.query_id.clone(), Running { run, pulse: None, progress: None });
            }
        }
    }

    /// The run whose plan is open.
    pub(crate) fn open_run(&self) -> Option<&str> {
        self.plan.as_ref().map(|plan| plan.run.as_str())
    }

    /// Ids of the runs that are on the screen.
    pub(crate) fn visible(&self) -> &[String] {
        match (&self.plan, self.is_grouped || self.shows_issues) {
            (Some(plan), _) => std::slice::from_ref(&plan.run),
            (None, true) => &[],
            (None, false) => self.choice.visible(),
        }
    }

    /// The running runs whose remaining time is asked for: those on the screen, and all others. Whether a run is late
    /// is told of those, too.
    pub(crate) fn wanted(&self) -> Wanted {
        let visible = self.visible().to_vec();
        let all = self.running.iter().flat_map(BTreeMap::keys);
        let others = all.filter(|id| !visible.contains(id)).cloned().collect();
        Wanted { visible, others }
    }

    /// The selected run; `None` in groups.
    pub(crate) fn selected_run(&self) -> Option<&Running> {
        self.running.as_ref()?.get(self.choice.selected()?).filter(|_| !self.is_grouped)
    }

    /// Does what a key means.
    pub(crate) fn press(&mut self, key: Key) -> Outcome {
        match key {
            Key::Interrupt => return Outcome::Quit,
            _ if self.is_filtering => self.type_filter(key),
            _ if self.plan.is_some() => self.press_in_plan(key),
            Key::Escape if self.shows_issues && self.filter.is_empty() => self.shows_issues = false,
            Key::Escape if !self.filter.is_empty() => self.filter.clear(),
            Key::Escape if self.group.is_some() => self.regroup(true),
            Key::Escape | Key::Char('q') => return Outcome::Quit,
            Key::Char('/') => self.is_filtering = true,
            Key::Char('i') => self.shows_issues = !self.shows_issues,
            _ if self.shows_issues => self.issues.press(key),
            Key::Up | Key::Char('k') => self.choice.move_by(-1),
            Key::Down | Key::Char('j') => self.choice.move_by(1),
            Key::PageUp => self.choice.move_by_pages(-1),
            Key::PageDown => self.choice.move_by_pages(1),
            Key::Home => self.choice.move_by(isize::MIN / 2),
            Key::End => self.choice.move_by(isize::MAX / 2),
            Key::Char('g') => self.regroup(!self.is_grouped),
            Key::Char('s') => self.sort = rows::after(self.sort, self.is_grouped),
            Key::Char('r') => self.reverse = !self.reverse,
            Key::Enter => self.open(),
            Key::Backspace | Key::Char(_) => {}
        }
        Outcome::GoOn
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.is_filtering = false,
            Key::Escape => {
                self.is_filtering = false;
                self.filter.clear();
            }
            Key::Backspace => {
                self.filter.pop();
            }
            Key::Char(c) if self.filter.chars().count() < FILTER_MAX => self.filter.push(c),
            _ => {}
        }
    }

    fn press_in_plan(&mut self, key: Key) {
        let Some(plan) = &mut self.plan else { return };
        match key {
            Key::Escape | Key::Enter | Key::Char('q') | Key::Backspace => self.plan = None,
            Key::Up | Key::Char('k') => plan.scroll(-1),
            Key::Down | Key::Char('j') => plan.scroll(1),
            Key::PageUp => plan.scroll_pages(-1),
            Key::PageDown => plan.scroll_pages(1),
            Key::Home => plan.scroll(isize::MIN / 2),
            Key::End => plan.scroll(isize::MAX / 2),
            Key::Interrupt | Key::Char(_) => {}
        }
    }

    /// Shows groups, or the runs of all.
    fn regroup(&mut self, is_grouped: bool) {
        self.is_grouped = is_grouped;
        self.group = None;
        self.choice.forget();
        if !rows::has_column(self.sort, is_grouped) {
            self.sort = rows::SORT;
        }
    }

    /// Opens the plan of the selected run, or the runs of the selected group.
    fn open(&mut self) {
        let Some(selected) = self.choice.selected().map(str::to_owned) else { return };
        if self.is_grouped {
            self.regroup(false);
            self.group = Some(selected);
        } else {
            let run = self.running.as_ref().and_then(|running| running.get(&selected));
            self.plan = run.map(|running| PlanView::new(running.run.clone()));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
