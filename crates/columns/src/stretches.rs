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

/// Stretches of about equal size at most. The rows of many labels are read sooner together, since those of
/// neighbours lie beside each other, but no thread is to wait for another's last stretch.
const STRETCHES: usize = 64;

/// Threads that make one answer at most, the one that asks included.
const THREADS_MAX: usize = 4;

/// Has threads go through the labels that have plans, of which the queries of a stretch of time are read: each calls
/// `work` once, with stretches of labels that no other takes. Gives what they made of them, in any order.
///
/// The label of the most plans comes first, then that of the most queries, the others in the order in which their
/// rows lie. Most plans of all have the queries without a label: what is made of a plan, whatever its labels,
/// would otherwise wait for them. The most queries take the most memory: it has been given back when the answer
/// has grown.
///
/// On Linux the threads have the scheduling policy of the one that asks.
pub(crate) fn on_threads<T: Send>(
    clusters: &Clusters,
    since_unix_ns: i64,
    until_unix_ns: i64,
    work: impl Fn(&mut dyn Iterator<Item = &[usize]>) -> T + Sync,
) -> Vec<T> {
    let plans = |label: &usize| clusters.plans(*label).len();
    let rows = |label: &usize| clusters.rows_max(*label, since_unix_ns, until_unix_ns);
    let mut labels: Vec<usize> = clusters.labels().filter(|label| plans(label) > 0).collect();
    put_first(&mut labels, rows);
    put_first(&mut labels, plans);
    let stretches = cut(labels.iter().map(rows).collect());
    let threads = match stretches.len() {
        0 | 1 => 1,
        stretches => thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX).min(stretches),
    };
    share(&stretches, threads, |stretches| work(&mut stretches.map(|stretch| &labels[stretch])))
}

/// Puts the label that has the most of something first, and leaves the others as they are.
fn put_first(labels: &mut [usize], most: impl Fn(&usize) -> usize) {
    if let Some(first) = (0..labels.len()).max_by_key(|at| most(&labels[*at])) {
        labels[..=first].rotate_right(1);
    }
}

/// Cuts labels into stretches, by the rows of each.
fn cut(rows: Vec<usize>) -> Vec<Range<usize>> {
    let rows_enough = STRETCH_ROWS.max(rows.iter().sum::<usize>() / STRETCHES);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut rows_in_last = rows_enough;
    for (label, rows) in rows.into_iter().enumerate() {
        if let Some(last) = stretches.last_mut().filter(|_| rows == 0 || rows_in_last < rows_enough) {
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
    work: impl Fn(&mut dyn Iterator<Item = Range<usize>>) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || work(&mut from_fn(|| stretches.get(next.fetch_add(1, Ordering::Relaxed)).cloned()));
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
    fn the_label_of_the_most_is_put_first() {
        let mut labels = [3, 1, 4, 2];
        put_first(&mut labels, |label| *label);
        assert_eq!(labels, [4, 3, 1, 2]);
        put_first(&mut [], |label| *label);
    }

    #[test]
    fn labels_are_cut_into_stretches_of_enough_rows() {
        let stretches =
            |rows: &[usize]| cut(rows.iter().map(|quarters| quarters * STRETCH_ROWS / 4).collect());
        assert!(stretches(&[]).is_empty());
        assert_eq!(stretches(&[0, 1, 1, 1, 1, 1]), [0..5, 5..6]);
        assert_eq!(stretches(&[20, 1, 9]), [0..1, 1..3]);
        // Also labels without rows are gone through; no thread begins for them.
        assert_eq!(stretches(&[0, 20, 0, 0, 3, 0]), [0..4, 4..6]);
    }

    #[test]
    fn many_labels_are_cut_into_few_stretches() {
        let stretches = cut(vec![STRETCH_ROWS; 10 * STRETCHES]);
        assert!(stretches.len() == STRETCHES && stretches.iter().all(|stretch| stretch.len() == 10));
    }

    #[test]
    fn each_label_is_taken_once() {
        let stretches = [0..3, 3..4, 4..9, 9..10];
        for threads in 1..=4 {
            // All have begun before one goes on, so that each gets something.
            let begun = Barrier::new(threads);
            let taken = share(&stretches, threads, |stretches| {
                let first = stretches.next();
                begun.wait();
                first.into_iter().chain(stretches).flatten().collect::<Vec<_>>()
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
        share(&[0..1, 3..4], 2, |stretches| {
            let stretch = stretches.next();
            begun.wait();
            assert!(stretch != Some(3..4), "label 3");
        });
    }
}
