//! Tables as rows of cells, whatever they are written as.

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Int,
    Float,
    Bool,
    /// A point in time, in Unix nanoseconds.
    Time,
}

/// A column; each may lack a value in any row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// A column of a kind.
pub(super) const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Time(i64),
}

/// A row: a cell for each column.
pub(super) type Row = Vec<Cell>;

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        // What is beyond is no count of anything.
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<bool> for Cell {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// A table as bytes, made as its rows come.
pub(super) trait Encoder: Send {
    /// Takes in rows.
    ///
    /// # Errors
    /// When they cannot be written.
    fn write(&mut self, rows: Vec<Row>) -> Result<(), EncodeError>;

    /// Writes what ends the table; no row follows.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(&mut self) -> Result<(), EncodeError>;

    /// What has been written since this was last called.
    fn take(&mut self) -> Vec<u8>;
}

/// A table cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("a table cannot be written: {0}")]
pub(super) struct EncodeError(String);

impl EncodeError {
    pub(super) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
