//! What only shows from outside: the statistics against published implementations, real profiles, whole histories.

#![expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly")]

mod after_faster;
#[path = "../../../insights/tests/it/captures.rs"]
#[expect(dead_code, reason = "running queries are of the other test")]
mod captures;
mod environments;
mod false_causes;
mod growing;
mod histories;
mod hosts;
#[path = "../../../insights/tests/it/made.rs"]
mod made;
mod more_rows;
mod packing;
mod pairs;
mod predicates;
mod profiles;
mod regressions;
mod replay;
mod rewired;
mod spacings;
mod statistics;
mod told;
mod versions;
