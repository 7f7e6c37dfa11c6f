//! Answers that several threads make together, each from the labels it takes.

use std::iter::from_fn;
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::clusters::Clusters;

/// A thread takes labels of so many rows at once: fewer are read sooner than another thread begins. In debug builds a
/// handful, so that tests with few queries are answered by several threads.
const STRETCH_ROWS: usize = if cfg!(debug_assertions) { 4 } else { 16_384 };

/// Threads that make one answer at most, the one that asks included.
const THREADS_MAX: usize = 4;

/// Has threads go through all labels, of which the queries of a stretch of time are read: each calls `work` once, with
/// labels that no other takes. Gives what they made of them, in any order.
///
/// On Linux the threads have the scheduling policy of the one that asks.
pub(crate) fn on_threads<T: Send>(
    clusters: &Clusters,
    since_unix_ns: i64,
    until_unix_ns: i64,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> T + Sync,
) -> Vec<T> {
    let rows = clusters.labels().map(|label| clusters.rows_max(label, since_unix_ns, until_unix_ns));
    let stretches = cut(rows);
    let threads = match stretches.len() {
        0 | 1 => 1,
        stretches => thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX).min(stretches),
    };
    share(&stretches, threads, work)
}

/// Cuts labels into stretches, by the rows of each.
fn cut(rows: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut rows_in_last = STRETCH_ROWS;
    for (label, rows) in rows.enumerate() {
        if let Some(last) = stretches.last_mut().filter(|_| rows == 0 || rows_in_last < STRETCH_ROWS) {
            last.end = label + 1;
            rows_in_last += rows;
        } else {
            stretches.push(label..label + 1);
            rows_in_last = rows;
        }
    }
    stretches
}

fn share<T: Send>(
    stretches: &[Range<usize>],
    threads: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work =
        || work(&mut from_fn(|| stretches.get(next.fetch_add(1, Ordering::Relaxed)).cloned()).flatten());
    thread::scope(|scope| {
        let begin = || thread::Builder::new().name("analysis".into()).spawn_scoped(scope, work);
        // Where the system refuses a thread, the others take all there is.
        let others: Vec<_> = (1..threads).map_while(|_| begin().ok()).collect();
        let mut made = vec![work()];
        made.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))),
        );
        made
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn labels_are_cut_into_stretches_of_enough_rows() {
        let stretches = |rows: &[usize]| cut(rows.iter().map(|quarters| quarters * STRETCH_ROWS / 4));
        assert!(stretches(&[]).is_empty());
        assert_eq!(stretches(&[0, 1, 1, 1, 1, 1]), [0..5, 5..6]);
        assert_eq!(stretches(&[20, 1, 9]), [0..1, 1..3]);
        // Also labels without rows are gone through; no thread begins for them.
        assert_eq!(stretches(&[0, 20, 0, 0, 3, 0]), [0..4, 4..6]);
    }

    #[test]
    fn each_label_is_taken_once() {
        let stretches = [0..3, 3..4, 4..9, 9..10];
        for threads in 1..=4 {
            // All have begun before one goes on, so that each gets something.
            let begun = Barrier::new(threads);
            let taken = share(&stretches, threads, |labels| {
                let first = labels.next();
                begun.wait();
                first.into_iter().chain(labels).collect::<Vec<_>>()
            });
            assert!(taken.len() == threads && taken.iter().all(|labels| !labels.is_empty()), "{taken:?}");
            let mut taken = taken.concat();
            taken.sort_unstable();
            assert_eq!(taken, (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "label 3")]
    fn a_panic_is_passed_on() {
        let begun = Barrier::new(2);
        share(&[0..1, 3..4], 2, |labels| {
            let label = labels.next();
            begun.wait();
            assert!(label != Some(3), "label 3");
        });
    }
}
