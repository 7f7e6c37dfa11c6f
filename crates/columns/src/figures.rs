//! The figures of a run that the columns hold rounded, and their columns.

use std::ops::Range;
use std::slice::from_ref;

use queryscope_history::Quantity;
use queryscope_store::{NumberField, Query};

use crate::segment::ROWS;

/// How many figures are held rounded.
pub(crate) const FIGURES: usize = 6;

/// The figures of a run, each rounded to two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// CPU time in nanoseconds.
    pub cpu: Quantity,
    /// Rows of the result.
    pub result_rows: Quantity,
    /// Bytes read.
    pub bytes_read: Quantity,
    /// Bytes written to disk for want of memory.
    pub spilled_bytes: Quantity,
    /// The most memory used at a time, in bytes.
    pub peak_memory_bytes: Quantity,
    /// Findings that warn.
    pub warnings: Quantity,
}

impl Figures {
    /// Those of a run.
    pub fn of(query: &Query) -> Self {
        Self {
            cpu: Quantity::from_ms(query.cpu_ms),
            result_rows: Quantity::from_whole(query.result_rows),
            bytes_read: Quantity::from_whole(query.bytes_read),
            spilled_bytes: Quantity::from_whole(query.spilled_bytes),
            peak_memory_bytes: Quantity::from_whole(query.peak_memory_bytes),
            warnings: Quantity::new(query.warnings.into()),
        }
    }

    /// None of them is known.
    pub const NONE: Self = Self::from_columns([Quantity::NONE; FIGURES]);

    /// The figures in the order of their columns.
    pub(crate) const fn columns(self) -> [Quantity; FIGURES] {
        let Self { cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings } = self;
        [cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings]
    }

    pub(crate) const fn from_columns(columns: [Quantity; FIGURES]) -> Self {
        let [cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings] = columns;
        Self { cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings }
    }

    /// The figure of a field; of wall time, which is not rounded, none.
    pub(crate) fn get(self, field: NumberField) -> Quantity {
        column_of(field).map_or(Quantity::NONE, |column| self.columns()[column])
    }
}

/// Which column has the figures of a field; `None` for wall time, which is not rounded.
pub(crate) const fn column_of(field: NumberField) -> Option<usize> {
    match field {
        NumberField::Wall => None,
        NumberField::Cpu => Some(0),
        NumberField::Rows => Some(1),
        NumberField::Read => Some(2),
        NumberField::Spilled => Some(3),
        NumberField::Memory => Some(4),
        NumberField::Warnings => Some(5),
    }
}

/// One figure of each place of a segment.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// All places have the same: few engines tell the peak memory, and few runs spill.
    Same(Quantity),
    Each(Vec<Quantity>),
}

impl Column {
    pub(crate) const NONE: Self = Self::Same(Quantity::NONE);

    #[inline]
    pub(crate) fn at(&self, at: usize) -> Quantity {
        match self {
            Self::Same(figure) => *figure,
            Self::Each(figures) => figures[at],
        }
    }

    /// The figures at some places; one alone where all have the same.
    pub(crate) fn slice(&self, places: Range<usize>) -> &[Quantity] {
        match self {
            Self::Same(figure) => from_ref(figure),
            Self::Each(figures) => &figures[places],
        }
    }

    pub(crate) fn put(&mut self, at: usize, figure: Quantity) {
        match self {
            Self::Same(same) if *same == figure => {}
            Self::Same(same) => {
                let mut figures = vec![*same; ROWS];
                figures[at] = figure;
                *self = Self::Each(figures);
            }
            Self::Each(figures) => figures[at] = figure,
        }
    }

    /// The figures at some places, one after the other.
    pub(crate) fn picked(&self, places: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Same(figure) => Self::Same(*figure),
            Self::Each(figures) => Self::of(places.map(|at| figures[at]).collect()),
        }
    }

    fn of(figures: Vec<Quantity>) -> Self {
        match figures.first() {
            Some(first) if figures.iter().all(|figure| figure == first) => Self::Same(*first),
            _ => Self::Each(figures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_a_column_of_its_own() {
        let columns: [u64; FIGURES] = std::array::from_fn(|column| column as u64);
        let figures = Figures::from_columns(columns.map(Quantity::new));
        assert_eq!(figures.columns(), columns.map(Quantity::new));
        let fields = NumberField::ALL.into_iter().filter(|field| *field != NumberField::Wall);
        let mut found: Vec<Quantity> = fields.map(|field| figures.get(field)).collect();
        assert!(found.len() == FIGURES && figures.warnings == figures.get(NumberField::Warnings));
        found.sort_unstable_by_key(|figure| figure.code());
        assert_eq!(found, columns.map(Quantity::new));
        assert_eq!(figures.get(NumberField::Wall), Quantity::NONE);
    }

    #[test]
    fn a_column_of_one_figure_takes_no_memory_for_each_place() {
        let (zero, one) = (Quantity::new(0), Quantity::new(1));
        let mut column = Column::NONE;
        column.put(0, Quantity::NONE);
        assert!(matches!(column, Column::Same(Quantity::NONE)));
        for at in 0..ROWS {
            column.put(at, zero);
        }
        let same = column.picked(0..ROWS);
        assert!(matches!(same, Column::Same(same) if same == zero));
        column.put(3, one);
        let mut turned = column.picked((0..ROWS).rev());
        assert_eq!((turned.at(ROWS - 4), turned.at(3)), (one, zero));
        turned.put(ROWS - 4, zero);
        assert!(matches!(turned.picked(0..ROWS), Column::Same(same) if same == zero));
    }
}
