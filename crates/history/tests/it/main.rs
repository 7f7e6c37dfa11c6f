//! History as its users see it: against SciPy and NumPy, and against slow models.

#![expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly")]

mod any_runs;
mod model;
mod properties;
mod reference;
