//! Names for queries: what the program says about those it runs within a future.

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use queryscope_client::Query;

thread_local! {
    static SCOPE: RefCell<Option<Arc<Scope>>> = const { RefCell::new(None) };
}

/// What is known of the queries that a future runs.
#[derive(Debug)]
pub(crate) struct Scope {
    label: Cow<'static, str>,
    location: &'static Location<'static>,
    function: &'static str,
}

/// Names the queries that a future plans or starts, and says that they come from this line of the program.
///
/// The innermost name counts. Tasks that the future spawns are not part of it: name them where they are
/// spawned.
///
/// ```
/// # use datafusion::prelude::*;
/// # async fn nightly(ctx: &SessionContext) -> datafusion::error::Result<()> {
/// let orders = queryscope_datafusion::label("nightly/orders", async {
///     ctx.sql("SELECT count(*) FROM orders").await?.collect().await
/// });
/// println!("{:?}", orders.await?);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn label<F: Future>(label: impl Into<Cow<'static, str>>, future: F) -> Labelled<F> {
    let scope = Scope {
        label: label.into(),
        location: Location::caller(),
        function: function_of(std::any::type_name::<F>()),
    };
    Labelled { scope: Arc::new(scope), future: Box::pin(future) }
}

/// A future whose queries have a name, made by [`label`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Labelled<F> {
    scope: Arc<Scope>,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Labelled<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _until = Entered { outer: SCOPE.replace(Some(Arc::clone(&self.scope))) };
        self.future.as_mut().poll(context)
    }
}

/// Gives the scope back when it is dropped, also by a panic.
struct Entered {
    outer: Option<Arc<Scope>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        SCOPE.set(self.outer.take());
    }
}

impl Scope {
    /// The scope of what runs now.
    pub(crate) fn current() -> Option<Arc<Self>> {
        SCOPE.with_borrow(Clone::clone)
    }

    pub(crate) fn describe(&self, query: Query) -> Query {
        query.label(self.label.clone()).call_site(self.location.file(), self.location.line(), self.function)
    }
}

/// The function an `async` block is written in, by the name of its type; empty for futures of DataFusion, whose
/// names say nothing of the program.
fn function_of(future: &'static str) -> &'static str {
    match future.split_once("::{{closure}}") {
        Some((function, _)) if !function.starts_with("datafusion") => function,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current() -> Option<String> {
        Scope::current().map(|scope| scope.label.to_string())
    }

    #[tokio::test]
    async fn the_innermost_name_counts_and_ends_with_its_future() {
        let seen = label("outer", async {
            let before = current();
            let inner = label("inner", async { current() }).await;
            (before, inner, current())
        });
        let name = |text: &str| Some(text.to_owned());
        assert_eq!(seen.await, (name("outer"), name("inner"), name("outer")));
        assert_eq!(current(), None);
    }

    #[tokio::test]
    async fn it_knows_the_line_and_the_function() {
        let line = line!() + 1;
        let labelled = label("here", async {});
        assert_eq!((labelled.scope.location.line(), labelled.scope.location.file()), (line, file!()));
        assert!(labelled.scope.function.ends_with("it_knows_the_line_and_the_function"));
        labelled.await;
        assert_eq!(function_of("datafusion::dataframe::DataFrame::collect::{{closure}}"), "");
    }
}
