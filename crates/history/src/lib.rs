//! What the runs of a query say about it: usual times, verdicts, plans, new warnings.
//!
//! Pure functions over runs: no clock, no store, no IO. Whoever reads runs from a store gives them as [`Run`]s,
//! in any order; results do not depend on it. The specification says what an overview, a group and a version
//! are; where it leaves a choice, this holds:
//!
//! | term | definition |
//! |---|---|
//! | order of runs | by start, then by query id |
//! | time of a run | its wall time if it finished; a run that failed, was cancelled, is unfinished or runs has no part in medians, quartiles, tests and totals |
//! | median, quartiles | the average of the two middle values; type 7 of Hyndman and Fan ([`median`], [`quartiles`]) |
//! | range | the last `days` times 24 hours, or from one moment to another, both ends included; where it ends now, runs up to 24 hours ahead count at its end, and later ones have no part ([`Window`]) |
//! | lately | the runs of every state that started in the last 24 hours, or the last three when there were fewer |
//! | usual | the runs that finished among those of the 14 times 24 hours before the start of the first lately run; known from 5 on |
//! | verdict | at least 3 finished lately runs, a ratio of medians of 1.5 or more either way, and a probability under 1 % ([`Comparison`], [`RankTest`]) |
//! | `failed_before` | failed runs of the same 14 days |
//! | new warning | in a run of the last 7 days, in no earlier one however old, where there are at least 5 earlier runs ([`Earlier`]) |
//! | change of plan | the last known plan is not (one of) the most frequent of at least 5 usual runs; it changed when that plan first ran among the lately runs and the 14 days before them ([`LabelOverview::plan_changed_unix_ns`]) |
//! | bins | medians of slices of 6 hours from the start of the range on, of one between two moments of at most 96 slices; null where nothing finished |
//! | days | local days of 24 hours by one offset; only runs in the range count, so they add up to `runs` |
//! | total | in whole nanoseconds, independent of order |
//! | version | the runs of one known plan, of every state, if one of them finished ([`versions`]) |
//!
//! Ranges of time include their start.
//!
//! Where runs are many they are given as [`Point`]s, whose names are numbers: [`Overviews`] and [`Tally`] tell the
//! same of them in less memory.

#![cfg_attr(test, expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly"))]

mod cells;
mod compare;
mod failure;
mod groups;
mod lately;
pub mod limits;
mod overview;
mod place;
mod plan;
mod point;
mod quantile;
mod quantity;
mod rank_test;
mod rules;
mod run;
#[cfg(test)]
mod sample;
mod series;
mod sparse;
mod tally;
mod total;
mod versions;
mod window;

pub use compare::{Comparison, Verdict};
pub use failure::Failure;
pub use groups::Group;
pub use overview::{Day, LabelOverview, Overviews, Totals};
pub use place::{Place, PlaceTotal};
pub use point::{Names, PlanNames, Point};
pub use quantile::{Median, Quartiles, median, quartiles};
pub use quantity::Quantity;
pub use rank_test::{Alternative, EXACT_LARGER_MAX, EXACT_SMALLER_MAX, RankTest};
pub use rules::Earlier;
pub use run::{Run, RunStatus};
pub use series::{P95_RUNS_MIN, SeriesGroup, SeriesRun, SeriesSlice, series};
pub use tally::Tally;
pub use total::WallTotal;
pub use versions::{Version, versions};
pub use window::{SLICES_MAX, SLICES_NS, Window, WindowError};
