//! How long the program's own functions ran inside of a query.
//!
//! Problem: an engine's counters hold next to nothing of what a Python function takes that the query calls. Mechanism:
//! each call is reported to a clock of the process, which adds up the time in which at least one call was under way;
//! waiting counts, and calls at the same time count once. A query that ran alone gets what the clock advanced
//! meanwhile. Nothing says which query a call belongs to, so queries that overlapped get no figure.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A clock that runs while functions of the program run.
#[pyclass(frozen, module = "queryscope._native")]
#[derive(Clone, Default)]
pub(crate) struct UserCode(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Calls under way, and since when there has been at least one.
    calls: u64,
    since: Option<Instant>,
    /// The time before that.
    total: Duration,
    /// Queries that run, and how many have begun so far.
    running: u64,
    begun: u64,
}

#[pymethods]
impl UserCode {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// A call begins.
    fn enter(&self) {
        let mut state = self.state();
        state.calls += 1;
        state.since = state.since.or_else(|| Some(queryscope_client::now()));
    }

    /// A call ends.
    fn leave(&self) {
        let mut state = self.state();
        state.calls = state.calls.saturating_sub(1);
        if state.calls == 0 {
            state.total = state.now();
            state.since = None;
        }
    }
}

impl UserCode {
    /// Registers a query that begins to run.
    pub(crate) fn begin(&self) -> Share {
        let mut state = self.state();
        state.running += 1;
        state.begun += 1;
        let is_alone = state.running == 1;
        Share {
            clock: self.clone(),
            is_alone,
            number: state.begun,
            before: state.now(),
            ended: OnceLock::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn now(&self) -> Duration {
        self.total + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }
}

/// A function of the program that tells a clock when it is called. Copies that leave the process are the function
/// alone.
///
/// Native, since `rolling_map` of Polars calls its function once a window.
#[pyclass(frozen, module = "queryscope._native")]
pub(crate) struct Timed {
    function: Py<PyAny>,
    clock: UserCode,
}

/// A call that ends, also where it panics.
struct Call<'c>(&'c UserCode);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[pymethods]
impl Timed {
    #[new]
    fn new(function: Py<PyAny>, clock: PyRef<'_, UserCode>) -> Self {
        Self { function, clock: clock.clone() }
    }

    #[pyo3(signature = (*args, **named))]
    fn __call__(
        &self,
        python: Python<'_>,
        args: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.clock.enter();
        let _call = Call(&self.clock);
        self.function.call(python, args, named)
    }

    fn __reduce__(&self, python: Python<'_>) -> PyResult<(Py<PyAny>, (Py<PyAny>,))> {
        let partial = python.import("functools")?.getattr("partial")?;
        Ok((partial.unbind(), (self.function.clone_ref(python),)))
    }
}

/// The part of one query in the clock's time. A query that is dropped has ended.
pub(crate) struct Share {
    clock: UserCode,
    is_alone: bool,
    number: u64,
    before: Duration,
    /// What the query has at its end: nothing where it was not alone.
    ended: OnceLock<Option<u64>>,
}

impl Share {
    /// The query ends; only the first end counts.
    pub(crate) fn end(&self) {
        self.ended.get_or_init(|| {
            let mut state = self.clock.state();
            state.running = state.running.saturating_sub(1);
            let was_alone = self.is_alone && state.begun == self.number;
            let spent = state.now().saturating_sub(self.before).as_nanos();
            u64::try_from(spent).ok().filter(|&spent| was_alone && spent > 0)
        });
    }

    /// How long calls were under way, in nanoseconds, once the query has ended; `None` also where there was no call.
    pub(crate) fn nanoseconds(&self) -> Option<u64> {
        self.ended.get().copied().flatten()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const STEP: Duration = Duration::from_millis(20);

    fn call(clock: &UserCode) {
        clock.enter();
        sleep(STEP);
        clock.leave();
    }

    fn ended(share: &Share) -> Option<Duration> {
        share.end();
        share.nanoseconds().map(Duration::from_nanos)
    }

    #[test]
    fn a_query_alone_gets_the_time_of_its_calls() {
        let clock = UserCode::default();
        call(&clock);
        let began = queryscope_client::now();
        let first = clock.begin();
        assert_eq!(first.nanoseconds(), None);
        call(&clock);
        sleep(STEP);
        call(&clock);
        let spent = ended(&first).expect("some");
        assert!(spent >= 2 * STEP && spent + STEP <= began.elapsed(), "{spent:?}");
        call(&clock);
        assert_eq!(ended(&first), Some(spent), "the first end counts");
        assert_eq!(ended(&clock.begin()), None, "there was no call");
    }

    #[test]
    fn calls_at_the_same_time_count_once_and_one_under_way_counts() {
        let clock = UserCode::default();
        let began = queryscope_client::now();
        let share = clock.begin();
        clock.enter();
        clock.enter();
        sleep(STEP);
        clock.leave();
        let spent = ended(&share).expect("some");
        assert!((STEP..=began.elapsed()).contains(&spent), "{spent:?}");
    }

    #[test]
    fn queries_that_overlap_get_nothing() {
        let clock = UserCode::default();
        let first = clock.begin();
        let second = clock.begin();
        call(&clock);
        assert_eq!((ended(&first), ended(&second)), (None, None));
        let third = clock.begin();
        call(&clock);
        drop(clock.begin());
        assert_eq!(ended(&third), None);
        let alone = clock.begin();
        call(&clock);
        assert!(ended(&alone).is_some(), "a query that was dropped runs no more");
    }
}
