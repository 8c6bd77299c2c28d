//! Waiting for several at once: all of them, the first, the first success, all or all errors.
//!
//! Whatever is a future, or turns into one, takes part: task handles, a oneshot's receiver, promise
//! futures and shared futures, timers, any `async` block. What is waited for comes as a tuple of up to
//! eight different types, as a vector or an array of one type, or as an iterator in [`Each`].
//!
//! | waits for | ends early | gives |
//! |---|---|---|
//! | [`join_all`] | never | all results, in order |
//! | [`race`] | with the first | its result |
//! | [`first_ok`] | with the first success | it, or all errors, in order |
//! | [`try_join_all`] | with the first error | all values, or that error |
//! | [`all_or_errors`] | never | all values, or all errors, in order |
//!
//! Each blocks a thread or suspends a fiber; each has an `_async` form that is a future, and a
//! `_timeout` form that gives `None` when the time is over. Those that are not finished at the end are
//! dropped: pass them by `&mut` to keep them.
//!
//! A child's panic leaves the others intact. Where all are waited for it goes on when they have
//! finished; in a race, and in `try_join_all`, at once; in `first_ok` only if nobody succeeds.
//!
//! Cost: two allocations and one for each child; a poll costs as much as there are children that were
//! woken, however many wait.

mod children;
mod goals;
mod one_of;

pub use one_of::{OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7, OneOf8};

use crate::block_on;
use goals::{FirstOk, Gather, Goal, JoinAll, Race, TryAll};
use sateen_base::prim::time::Duration;
use std::future::{Future, IntoFuture};

/// What can be waited for together; see the [module](self) for what implements it.
pub trait Several {
    /// One of them, as a future.
    type Child: Future;
    /// The results of all.
    type Joined;
    /// The result of one, and which it was.
    type Won;

    /// All of them.
    fn children(self) -> Vec<Self::Child>;

    /// The results of all, from a vector of as many, in order.
    fn joined(all: Vec<<Self::Child as Future>::Output>) -> Self::Joined;

    /// The result of the one with this index.
    fn won(index: usize, value: <Self::Child as Future>::Output) -> Self::Won;
}

/// [`Several`] whose results are `Result`s with one type of error.
pub trait TrySeveral: Several {
    /// The value of one.
    type Ok;
    /// The error of one.
    type Error;
    /// The values of all.
    type AllOk;

    /// Value or error.
    fn split(output: <Self::Child as Future>::Output) -> Result<Self::Ok, Self::Error>;

    /// The values of all, from a vector of as many, in order.
    fn all_ok(all: Vec<Self::Ok>) -> Self::AllOk;
}

/// Everything that an iterator gives; see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Each<I>(pub I);

impl<I: IntoIterator<Item: IntoFuture>> Several for Each<I> {
    type Child = <I::Item as IntoFuture>::IntoFuture;
    type Joined = Vec<<I::Item as IntoFuture>::Output>;
    type Won = (usize, <I::Item as IntoFuture>::Output);

    fn children(self) -> Vec<Self::Child> {
        self.0.into_iter().map(IntoFuture::into_future).collect()
    }

    fn joined(all: Self::Joined) -> Self::Joined {
        all
    }

    fn won(index: usize, value: <I::Item as IntoFuture>::Output) -> Self::Won {
        (index, value)
    }
}

impl<I, T, E> TrySeveral for Each<I>
where
    I: IntoIterator<Item: IntoFuture<Output = Result<T, E>>>,
{
    type Ok = T;
    type Error = E;
    type AllOk = Vec<T>;

    fn split(output: Result<T, E>) -> Result<T, E> {
        output
    }

    fn all_ok(all: Vec<T>) -> Vec<T> {
        all
    }
}

/// Collections that are iterators, and need no [`Each`].
macro_rules! collection {
    ($type:ty $(, $n:ident)?) => {
        impl<F: IntoFuture $(, const $n: usize)?> Several for $type {
            type Child = F::IntoFuture;
            type Joined = Vec<F::Output>;
            type Won = (usize, F::Output);

            fn children(self) -> Vec<F::IntoFuture> {
                Each(self).children()
            }

            fn joined(all: Vec<F::Output>) -> Vec<F::Output> {
                all
            }

            fn won(index: usize, value: F::Output) -> Self::Won {
                (index, value)
            }
        }

        impl<F: IntoFuture<Output = Result<T, E>>, T, E $(, const $n: usize)?> TrySeveral for $type {
            type Ok = T;
            type Error = E;
            type AllOk = Vec<T>;

            fn split(output: Result<T, E>) -> Result<T, E> {
                output
            }

            fn all_ok(all: Vec<T>) -> Vec<T> {
                all
            }
        }
    };
}

collection!(Vec<F>);
collection!(Box<[F]>);
collection!([F; N], N);

/// Not by the context's own token: a child may block when it is polled.
fn blocked<S: Several, G: Goal<S>>(several: S) -> G::Output {
    block_on(Gather::<S, G>::new(several))
}

#[cfg(not(loom))]
fn timed<S: Several, G: Goal<S>>(several: S, timeout: Duration) -> Option<G::Output> {
    block_on(crate::timer::timeout_async(timeout, Gather::<S, G>::new(several))).ok()
}

/// The model has no clock: no limit is reached.
#[cfg(loom)]
fn timed<S: Several, G: Goal<S>>(several: S, _: Duration) -> Option<G::Output> {
    Some(blocked::<S, G>(several))
}

/// Waits for all; their results, in order: a tuple for a tuple, else a vector.
///
/// ```
/// use sateen::sync::{oneshot, several::join_all};
/// let (sender, receiver) = oneshot::channel();
/// std::thread::spawn(|| sender.send("one").unwrap());
/// assert_eq!(join_all((receiver, async { 2 })), (Ok("one"), 2));
/// assert_eq!(join_all(vec![std::future::ready(1), std::future::ready(2)]), [1, 2]);
/// ```
///
/// # Panics
/// With the first panic of a child, after all have finished.
pub fn join_all<S: Several>(several: S) -> S::Joined {
    blocked::<S, JoinAll<S>>(several)
}

/// [`join_all`] with a limit: `None` if not all had finished; what had is dropped.
///
/// # Panics
/// As [`join_all`].
pub fn join_all_timeout<S: Several>(several: S, timeout: Duration) -> Option<S::Joined> {
    timed::<S, JoinAll<S>>(several, timeout)
}

/// [`join_all`] as a future.
pub fn join_all_async<S: Several>(several: S) -> impl Future<Output = S::Joined> {
    Gather::<S, JoinAll<S>>::new(several)
}

/// Waits for the first to finish, and drops the others. Of a tuple it gives the result as the variant
/// of the place, else index and result. Of those that are ready at once, the first in order wins.
///
/// ```
/// use sateen::sync::several::{OneOf2, race};
/// let never = std::future::pending::<u8>();
/// match race((never, async { "now" })) {
///     OneOf2::A(number) => unreachable!("{number}"),
///     OneOf2::B(text) => assert_eq!(text, "now"),
/// }
///
/// let (sender, mut receiver) = sateen::sync::oneshot::channel();
/// race((&mut receiver, async {})); // The loser is kept.
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
///
/// # Panics
/// If there are none. With the panic of a child that came before any result.
pub fn race<S: Several>(several: S) -> S::Won {
    blocked::<S, Race<S>>(several)
}

/// [`race`] with a limit: `None` if none had finished.
///
/// # Panics
/// As [`race`].
pub fn race_timeout<S: Several>(several: S, timeout: Duration) -> Option<S::Won> {
    timed::<S, Race<S>>(several, timeout)
}

/// [`race`] as a future.
///
/// # Panics
/// If there are none. When polled, as [`race`].
pub fn race_async<S: Several>(several: S) -> impl Future<Output = S::Won> {
    Gather::<S, Race<S>>::new(several)
}

/// Waits for the first that succeeds, and drops the others.
///
/// # Errors
/// All errors, in order, if none succeeds.
///
/// ```
/// use sateen::sync::several::first_ok;
/// use std::future::ready;
/// assert_eq!(first_ok([ready(Err("no")), ready(Ok(1)), ready(Ok(2))]), Ok(1));
/// assert_eq!(first_ok([ready(Err::<(), _>("no")), ready(Err("neither"))]), Err(vec!["no", "neither"]));
/// ```
///
/// # Panics
/// With the first panic of a child, if none succeeds.
pub fn first_ok<S: TrySeveral>(several: S) -> Result<S::Ok, Vec<S::Error>> {
    blocked::<S, FirstOk<S>>(several)
}

/// [`first_ok`] with a limit: `None` if none had succeeded and not all had failed.
///
/// # Panics
/// As [`first_ok`].
pub fn first_ok_timeout<S: TrySeveral>(
    several: S,
    timeout: Duration,
) -> Option<Result<S::Ok, Vec<S::Error>>> {
    timed::<S, FirstOk<S>>(several, timeout)
}

/// [`first_ok`] as a future.
pub fn first_ok_async<S: TrySeveral>(
    several: S,
) -> impl Future<Output = Result<S::Ok, Vec<S::Error>>> {
    Gather::<S, FirstOk<S>>::new(several)
}

/// Waits for all to succeed, or for the first error, and then drops the others.
///
/// # Errors
/// The first to come.
///
/// ```
/// use sateen::sync::several::try_join_all;
/// use std::future::{pending, ready};
/// assert_eq!(try_join_all((ready(Ok::<_, ()>(1)), ready(Ok("two")))), Ok((1, "two")));
/// assert_eq!(try_join_all((pending::<Result<(), _>>(), ready(Err::<(), _>("no")))), Err("no"));
/// ```
///
/// # Panics
/// With the panic of a child that came before any error.
pub fn try_join_all<S: TrySeveral>(several: S) -> Result<S::AllOk, S::Error> {
    blocked::<S, TryAll<S, true>>(several).map_err(first)
}

/// [`try_join_all`] with a limit: `None` if not all had succeeded and none had failed.
///
/// # Panics
/// As [`try_join_all`].
pub fn try_join_all_timeout<S: TrySeveral>(
    several: S,
    timeout: Duration,
) -> Option<Result<S::AllOk, S::Error>> {
    timed::<S, TryAll<S, true>>(several, timeout).map(|all| all.map_err(first))
}

/// [`try_join_all`] as a future.
pub fn try_join_all_async<S: TrySeveral>(
    several: S,
) -> impl Future<Output = Result<S::AllOk, S::Error>> {
    let all = Gather::<S, TryAll<S, true>>::new(several);
    async { all.await.map_err(first) }
}

/// The one error that ended the waiting.
fn first<E>(errors: Vec<E>) -> E {
    errors.into_iter().next().expect("an error ended it")
}

/// Waits for all, whatever becomes of them.
///
/// # Errors
/// All errors, in order, if there is any.
///
/// ```
/// use sateen::sync::several::all_or_errors;
/// use std::future::ready;
/// assert_eq!(all_or_errors([ready(Ok::<_, ()>(1)), ready(Ok(2))]), Ok(vec![1, 2]));
/// assert_eq!(all_or_errors([ready(Err("a")), ready(Ok(2)), ready(Err("c"))]), Err(vec!["a", "c"]));
/// ```
///
/// # Panics
/// With the first panic of a child, after all have finished.
pub fn all_or_errors<S: TrySeveral>(several: S) -> Result<S::AllOk, Vec<S::Error>> {
    blocked::<S, TryAll<S, false>>(several)
}

/// [`all_or_errors`] with a limit: `None` if not all had finished.
///
/// # Panics
/// As [`all_or_errors`].
pub fn all_or_errors_timeout<S: TrySeveral>(
    several: S,
    timeout: Duration,
) -> Option<Result<S::AllOk, Vec<S::Error>>> {
    timed::<S, TryAll<S, false>>(several, timeout)
}

/// [`all_or_errors`] as a future.
pub fn all_or_errors_async<S: TrySeveral>(
    several: S,
) -> impl Future<Output = Result<S::AllOk, Vec<S::Error>>> {
    Gather::<S, TryAll<S, false>>::new(several)
}
