//! Work that is divided among the processors.

use futures_util::{Stream, StreamExt};

/// Has each item worked on in a task of its own, as many at once as there are processors; the results are in the order
/// of the items.
pub(super) fn in_tasks<I, F>(
    items: impl Stream<Item = I>,
    work: impl Fn(I) -> F,
) -> impl Stream<Item = F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    items.map(move |item| joined(tokio::spawn(work(item)))).buffered(at_once)
}

async fn joined<T>(task: tokio::task::JoinHandle<T>) -> T {
    // A task that nobody ends can only have panicked.
    task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::stream;
    use tokio::sync::Barrier;

    use super::*;

    #[tokio::test]
    async fn results_are_in_the_order_of_items() {
        let numbers = in_tasks(stream::iter(0..100_u64), async |number| {
            tokio::time::sleep(Duration::from_micros(number % 7 * 100)).await;
            number
        });
        assert_eq!(numbers.collect::<Vec<_>>().await, (0..100).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn as_many_items_as_there_are_processors_are_worked_on_at_once() {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let all_work = Arc::new(Barrier::new(processors));
        let work = |()| {
            let all_work = Arc::clone(&all_work);
            async move { all_work.wait().await.is_leader() }
        };
        let leaders =
            in_tasks(stream::repeat(()).take(processors), work).filter(|leads| std::future::ready(*leads));
        assert_eq!(leaders.count().await, 1);
    }

    #[tokio::test]
    #[should_panic(expected = "of an item")]
    async fn a_panic_is_passed_on() {
        let even = in_tasks(stream::iter(0..2), async |number| assert!(number % 2 == 0, "of an item"));
        even.collect::<Vec<_>>().await;
    }
}
