//! Goals: what a combinator makes of children that finish one by one.

use super::children::Children;
use super::members::{Members, TryMembers};
use sateen_base::unwind::{FirstPanic, discard, run_to_end};
use std::any::Any;
use std::future::Future;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(super) type Output<S> = <<S as Members>::Child as Future>::Output;
type Panic = Box<dyn Any + Send>;

/// Collects the results.
pub(super) trait Goal<S: Members> {
    type Output;

    /// For `n` children.
    fn new(n: usize) -> Self;

    /// Adds the result of a finished child; breaks if the others do not matter any more.
    fn add(&mut self, index: usize, result: Result<Output<S>, Panic>) -> ControlFlow<()>;

    /// The output, after a break, or when all have finished.
    fn end(self) -> Self::Output;
}

/// The future of a collection.
pub(super) struct Gather<S: Members, G> {
    children: Children<S::Child>,
    /// `None` once it was ready.
    goal: Option<G>,
}

// The children are pinned in a box, and the goal is not pinned.
impl<S: Members, G> Unpin for Gather<S, G> {}

impl<S: Members, G: Goal<S>> Gather<S, G> {
    pub(super) fn new(futures: S) -> Self {
        let children = Children::new(futures.children());
        let goal = Some(G::new(children.len()));
        Self { children, goal }
    }
}

impl<S: Members, G: Goal<S>> Future for Gather<S, G> {
    type Output = G::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<G::Output> {
        let Self { children, goal } = self.get_mut();
        let added = goal.as_mut().expect("a combinator was polled after it was ready");
        if children.poll(cx, |index, result| added.add(index, result)).is_pending() {
            return Poll::Pending;
        }
        let goal = goal.take().expect("seen above");
        children.clear();
        Poll::Ready(goal.end())
    }
}

/// Goes on with the panic of a child, also while this thread unwinds: a result is missing.
fn go_on(panic: &mut FirstPanic) {
    if let Some(panic) = panic.take() {
        resume_unwind(panic);
    }
}

/// Values of children that have finished, each in its child's place.
struct Kept<T>(Vec<Option<T>>);

impl<T> Kept<T> {
    fn new(n: usize) -> Self {
        Self((0..n).map(|_| None).collect())
    }

    fn keep(&mut self, index: usize, value: T) {
        self.0[index] = Some(value);
    }

    /// Those that there are, in order.
    fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0).into_iter().flatten().collect()
    }
}

impl<T> Drop for Kept<T> {
    /// Drops all, whatever their destructors do.
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let mut values = std::mem::take(&mut self.0).into_iter();
            run_to_end(|| values.next().is_some());
        }
    }
}

pub(super) struct JoinAll<S: Members> {
    outputs: Kept<Output<S>>,
    panic: FirstPanic,
}

impl<S: Members> Goal<S> for JoinAll<S> {
    type Output = S::Joined;

    fn new(n: usize) -> Self {
        Self { outputs: Kept::new(n), panic: FirstPanic::default() }
    }

    fn add(&mut self, index: usize, result: Result<Output<S>, Panic>) -> ControlFlow<()> {
        match result {
            Ok(output) => self.outputs.keep(index, output),
            Err(panic) => self.panic.keep(panic),
        }
        Continue(())
    }

    fn end(mut self) -> S::Joined {
        go_on(&mut self.panic);
        S::joined(self.outputs.take())
    }
}

pub(super) struct Race<S: Members> {
    first: Option<(usize, Result<Output<S>, Panic>)>,
}

impl<S: Members> Goal<S> for Race<S> {
    type Output = S::Won;

    fn new(n: usize) -> Self {
        assert!(n > 0, "a race of nobody has no winner");
        Self { first: None }
    }

    fn add(&mut self, index: usize, result: Result<Output<S>, Panic>) -> ControlFlow<()> {
        self.first = Some((index, result));
        Break(())
    }

    fn end(self) -> S::Won {
        match self.first {
            Some((index, Ok(output))) => S::won(index, output),
            Some((_, Err(panic))) => resume_unwind(panic),
            None => unreachable!("it has members, and ends with the first"),
        }
    }
}

pub(super) struct FirstOk<S: TryMembers> {
    ok: Option<S::Ok>,
    errors: Kept<S::Error>,
    panic: FirstPanic,
}

impl<S: TryMembers> Goal<S> for FirstOk<S> {
    type Output = Result<S::Ok, Vec<S::Error>>;

    fn new(n: usize) -> Self {
        Self { ok: None, errors: Kept::new(n), panic: FirstPanic::default() }
    }

    fn add(&mut self, index: usize, result: Result<Output<S>, Panic>) -> ControlFlow<()> {
        match result.map(S::split) {
            Ok(Ok(ok)) => {
                self.ok = Some(ok);
                return Break(());
            }
            Ok(Err(error)) => self.errors.keep(index, error),
            Err(panic) => self.panic.keep(panic),
        }
        Continue(())
    }

    fn end(mut self) -> Self::Output {
        if let Some(ok) = self.ok {
            // A panic of an error's destructor must not cost the success.
            discard(self.errors);
            return Ok(ok);
        }
        go_on(&mut self.panic);
        Err(self.errors.take())
    }
}

/// All results, or errors: the first to come (`EARLY`), or all of them.
pub(super) struct TryAll<S: TryMembers, const EARLY: bool> {
    oks: Kept<S::Ok>,
    errors: Kept<S::Error>,
    panic: FirstPanic,
}

impl<S: TryMembers, const EARLY: bool> Goal<S> for TryAll<S, EARLY> {
    type Output = Result<S::AllOk, Vec<S::Error>>;

    fn new(n: usize) -> Self {
        Self { oks: Kept::new(n), errors: Kept::new(n), panic: FirstPanic::default() }
    }

    fn add(&mut self, index: usize, result: Result<Output<S>, Panic>) -> ControlFlow<()> {
        match result.map(S::split) {
            Ok(Ok(ok)) => {
                self.oks.keep(index, ok);
                return Continue(());
            }
            Ok(Err(error)) => self.errors.keep(index, error),
            Err(panic) => self.panic.keep(panic),
        }
        if EARLY { Break(()) } else { Continue(()) }
    }

    fn end(mut self) -> Self::Output {
        go_on(&mut self.panic);
        let errors = self.errors.take();
        if errors.is_empty() {
            return Ok(S::all_ok(self.oks.take()));
        }
        // A panic of a value's destructor must not cost the errors.
        discard(self.oks);
        Err(errors)
    }
}
