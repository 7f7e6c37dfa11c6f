//! Work that goes on when nobody waits for it any more.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Does work where it is waited for. Where that is given up, a task of its own takes the work over.
///
/// A task for all of it would cost its begin and one more wake for each, also where nobody ever gives up.
pub(crate) fn to_the_end<F>(work: F) -> ToTheEnd<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    ToTheEnd { work: Some(Box::pin(work)), begun: false }
}

/// Work as it is waited for.
pub(crate) struct ToTheEnd<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    /// `None` once it is done.
    work: Option<Pin<Box<F>>>,
    begun: bool,
}

impl<F> Future for ToTheEnd<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.begun = true;
        // Polled once more after its end, it never ends again.
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let done = work.as_mut().poll(cx);
        if done.is_ready() {
            self.work = None;
        }
        done
    }
}

impl<F> Drop for ToTheEnd<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime the service has ended.
        if let (Some(work), true, Ok(runtime)) = (self.work.take(), self.begun, Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::{Notify, oneshot};

    use super::*;

    #[tokio::test]
    async fn what_is_given_up_is_done_all_the_same() {
        let (go, gone) = (Arc::new(Notify::new()), oneshot::channel());
        let (done, is_done) = gone;
        let waits = Arc::clone(&go);
        let work = to_the_end(async move {
            waits.notified().await;
            done.send(7).expect("heard");
        });
        let given_up = tokio::time::timeout(Duration::from_millis(1), work).await;
        assert!(given_up.is_err());
        go.notify_one();
        assert_eq!(is_done.await, Ok(7));
    }

    #[tokio::test]
    async fn what_is_waited_for_gives_its_result_and_panics_where_it_is_waited_for() {
        assert_eq!(to_the_end(async { 5 }).await, 5);
        let panics = tokio::spawn(to_the_end(async { panic!("as it does") }));
        assert!(panics.await.expect_err("a panic").is_panic());
    }

    #[tokio::test]
    async fn what_nobody_has_begun_is_dropped() {
        let (done, is_done) = oneshot::channel();
        drop(to_the_end(async move { done.send(7).expect("heard") }));
        assert!(is_done.await.is_err());
    }
}
