//! Which rows of a list are on the screen, and which one is chosen.

/// Rows as they were drawn last, by id.
#[derive(Debug)]
pub(crate) struct Choice {
    shown: Vec<String>,
    selected: Option<String>,
    first: usize,
    page: usize,
}

impl Choice {
    pub(crate) fn new() -> Self {
        Self { shown: Vec::new(), selected: None, first: 0, page: 1 }
    }

    /// Notes the rows that are drawn, and how many fit; gives the first to show and the place of the selected one.
    pub(crate) fn shows(&mut self, rows: Vec<String>, page: usize) -> (usize, Option<usize>) {
        let before = self.place().unwrap_or(0);
        self.shown = rows;
        self.page = page.max(1);
        // A row that has gone leaves the selection to the one in its place.
        let place = self.place().unwrap_or(before).min(self.shown.len().saturating_sub(1));
        self.selected = self.shown.get(place).cloned();
        self.first = self.first.min(self.shown.len().saturating_sub(self.page));
        self.first = self.first.clamp((place + 1).saturating_sub(self.page), place);
        (self.first, self.selected.as_ref().map(|_| place))
    }

    /// The rows on the screen.
    pub(crate) fn visible(&self) -> &[String] {
        let end = (self.first + self.page).min(self.shown.len());
        &self.shown[self.first.min(end)..end]
    }

    /// Id of the chosen row.
    pub(crate) fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Chooses none until rows are drawn again.
    pub(crate) fn forget(&mut self) {
        self.selected = None;
    }

    pub(crate) fn move_by(&mut self, rows: isize) {
        let last = self.shown.len().saturating_sub(1);
        let place = self.place().unwrap_or(0).saturating_add_signed(rows).min(last);
        self.selected = self.shown.get(place).cloned();
    }

    pub(crate) fn move_by_pages(&mut self, pages: isize) {
        self.move_by(pages.saturating_mul(self.page as isize));
    }

    fn place(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.shown.iter().position(|row| row == selected)
    }
}
