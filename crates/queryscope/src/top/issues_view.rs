//! The second screen of `top`: the issues that want somebody.

use super::choice::Choice;
use super::keys::Key;
use crate::read::issues::{self, Known};
use crate::read::listing::Listing;
use crate::read::units::Times;

/// What is known of the issues, and how they are shown.
#[derive(Debug)]
pub(crate) struct IssuesView {
    /// `None` before the first answer.
    pub(crate) known: Option<Vec<Known>>,
    /// The column that sorts.
    pub(crate) sort: &'static str,
    pub(crate) reverse: bool,
    pub(crate) choice: Choice,
}

impl IssuesView {
    pub(crate) fn new() -> Self {
        Self { known: None, sort: issues::SORT, reverse: false, choice: Choice::new() }
    }

    /// The issues that a filter keeps.
    pub(crate) fn kept(&self, filter: &str) -> Vec<&Known> {
        let text = filter.to_lowercase();
        let has = |field: Option<&str>| field.is_some_and(|field| field.to_lowercase().contains(&text));
        let all = self.known.iter().flatten();
        all.filter(|Known { issue, .. }| {
            text.is_empty()
                || has(Some(&issue.label))
                || has(issue.service.as_deref())
                || has(issue.host.as_deref())
        })
        .collect()
    }

    /// The rows as they are sorted.
    pub(crate) fn listing(&self, filter: &str, times: Times) -> Listing<String> {
        let mut listing = issues::rows(self.kept(filter), times);
        listing.sort(self.sort, self.reverse);
        listing
    }

    /// The chosen issue.
    pub(crate) fn selected(&self) -> Option<&Known> {
        let id = self.choice.selected()?;
        self.known.iter().flatten().find(|known| known.issue.id == id)
    }

    /// Does what a key of the list means.
    pub(crate) fn press(&mut self, key: Key) {
        match key {
            Key::Up | Key::Char('k') => self.choice.move_by(-1),
            Key::Down | Key::Char('j') => self.choice.move_by(1),
            Key::PageUp => self.choice.move_by_pages(-1),
            Key::PageDown => self.choice.move_by_pages(1),
            Key::Home => self.choice.move_by(isize::MIN / 2),
            Key::End => self.choice.move_by(isize::MAX / 2),
            Key::Char('s') => self.sort = issues::after(self.sort),
            Key::Char('r') => self.reverse = !self.reverse,
            Key::Enter | Key::Escape | Key::Backspace | Key::Interrupt | Key::Char(_) => {}
        }
    }
}
