//! Windows, bounds and allowances of the detector. A threshold of one method stands in that method's file.
//! `docs/internals/diagnosis.md` says where each comes from.

/// Ended runs of a query that are looked at.
pub const WINDOW_RUNS: usize = 500;
/// Runs before a change that are needed to see it.
pub const BEFORE_RUNS_MIN: usize = 5;
/// Runs after a change that are needed to see it.
pub const AFTER_RUNS_MIN: usize = 3;
/// Runs that are kept of the side before an open change.
pub const BEFORE_RUNS_KEPT: usize = 120;
/// A change of no more runs than this, once over, is what the query does at times.
pub const SHORT_RUNS: usize = 12;
/// Runs of a side whose nodes are compared.
pub const COMPARED_RUNS: usize = 40;
/// Runs a stratum needs before it has a level of its own.
pub const STRATUM_RUNS_MIN: usize = 8;
/// False alarms a query may raise in a day by luck.
pub const ALARMS_A_DAY: f64 = 3e-4;
/// Probability of luck under which the counters' own change of a cause lets a change of time be called.
pub const MARKED_PROBABILITY: f64 = 1e-3;
/// Least effect (Cliff's delta).
pub const DELTA_MIN: f64 = 0.4;
/// Environments of a query whose changes are kept: in further ones none is looked for.
pub const ENVIRONMENTS_MAX: usize = 16;
/// Open changes of one query that wait under a later one.
pub const LAYERS_MAX: usize = 4;
/// Runs after which a detector notes its state anew: from there its last runs can be replayed.
pub const REPLAYED_RUNS: usize = 64;
/// Changes that are over whose ids a detector keeps.
pub const OVER_MAX: usize = 64;
/// How sure it must be that runs are as before: one chance in e to the power of this.
pub const RECOVERY_EVIDENCE: f64 = 12.0;
/// Sizes of the side after a change that are tried.
pub const AFTER_SIZES: [usize; 15] = [3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60];
