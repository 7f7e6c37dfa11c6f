//! What only shows from outside: the statistics against published implementations, real profiles, whole histories.

#![expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly")]

mod environments;
mod histories;
mod more_rows;
mod packing;
mod profiles;
mod regressions;
mod replay;
mod rewired;
mod spacings;
mod statistics;
mod told;
