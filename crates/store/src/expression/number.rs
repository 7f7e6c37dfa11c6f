//! Figures of runs, and numbers with units.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::query::Query;

/// A finite number that can be compared and hashed; 0 has no sign.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Amount(f64);

impl Amount {
    /// `None` of what is no finite number.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Eq for Amount {}

impl Hash for Amount {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A figure of a run that filters compare and lists are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum NumberField {
    /// Wall time.
    Wall,
    /// CPU time.
    Cpu,
    /// Rows of the result.
    Rows,
    /// Bytes read.
    Read,
    /// Bytes written to disk for want of memory.
    Spilled,
    /// The most memory used at a time.
    Memory,
    /// Findings that warn.
    Warnings,
}

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds, written as a duration.
    Duration,
    /// A count.
    Count,
    /// Bytes.
    Bytes,
}

impl NumberField {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Wall, Self::Cpu, Self::Rows, Self::Read, Self::Spilled, Self::Memory, Self::Warnings];

    /// Its name in a filter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Rows => "rows",
            Self::Read => "read",
            Self::Spilled => "spilled",
            Self::Memory => "memory",
            Self::Warnings => "warnings",
        }
    }

    /// What it is counted in.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Wall | Self::Cpu => Unit::Duration,
            Self::Rows | Self::Warnings => Unit::Count,
            Self::Read | Self::Spilled | Self::Memory => Unit::Bytes,
        }
    }

    /// What a run says of it, in the unit of the field; `None` where it is not known.
    pub fn of(self, query: &Query) -> Option<Amount> {
        let whole = |number: Option<i64>| number.map(|number| number as f64);
        let value = match self {
            Self::Wall => query.wall_ms,
            Self::Cpu => query.cpu_ms,
            Self::Rows => whole(query.result_rows),
            Self::Read => whole(query.bytes_read),
            Self::Spilled => whole(query.spilled_bytes),
            Self::Memory => whole(query.peak_memory_bytes),
            Self::Warnings => Some(f64::from(query.warnings)),
        };
        value.and_then(Amount::new)
    }
}

/// How two numbers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
}

impl Comparison {
    /// All of them, those of two characters first.
    pub const ALL: [Self; 5] = [Self::AtLeast, Self::AtMost, Self::More, Self::Less, Self::Equal];

    /// How it is written, in a filter and in SQL.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
        }
    }

    /// Whether a number that was found compares so with the one asked for.
    pub fn holds(self, found: Amount, asked: Amount) -> bool {
        match self {
            Self::More => found > asked,
            Self::AtLeast => found >= asked,
            Self::Less => found < asked,
            Self::AtMost => found <= asked,
            Self::Equal => found == asked,
        }
    }
}

/// Units of durations, in milliseconds. The first is the one numbers are written in.
const DURATIONS: [(&str, f64); 8] = [
    ("ms", 1.0),
    ("s", 1e3),
    ("m", 60e3),
    ("min", 60e3),
    ("h", 3_600e3),
    ("d", 86_400e3),
    ("us", 1e-3),
    ("µs", 1e-3),
];
const COUNTS: [(&str, f64); 7] =
    [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1e9), ("T", 1e12)];
/// Units of bytes: those of 1,000, and those of 1,024 with an `i`.
const BYTES: [(&str, f64); 13] = [
    ("B", 1.0),
    ("", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("PB", 1e15),
    ("KiB", (1_u64 << 10) as f64),
    ("MiB", (1_u64 << 20) as f64),
    ("GiB", (1_u64 << 30) as f64),
    ("TiB", (1_u64 << 40) as f64),
    ("PiB", (1_u64 << 50) as f64),
];

impl Unit {
    const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Duration => &DURATIONS,
            Self::Count => &COUNTS,
            Self::Bytes => &BYTES,
        }
    }

    /// What a value of it looks like.
    pub const fn takes(self) -> &'static str {
        match self {
            Self::Duration => "a duration such as 500ms, 10s, 2m, 1.5h or 1d",
            Self::Count => "a number such as 100, 20k, 1M or 2.5G",
            Self::Bytes => "a number of bytes such as 4096, 500kB, 64MiB or 1.5GB",
        }
    }

    /// Reads a number with a unit; `None` of what is none. Zero needs no unit.
    pub fn read(self, text: &str) -> Option<Amount> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let number: f64 = number.parse().ok()?;
        if number == 0.0 && unit.is_empty() {
            return Amount::new(0.0);
        }
        let (_, factor) = self.units().iter().find(|(name, _)| *name == unit)?;
        Amount::new(number * factor)
    }

    /// Writes a number so that it is read as the same.
    pub fn text(self, value: Amount) -> String {
        format!("{}{}", value.get(), self.units()[0].0)
    }
}
