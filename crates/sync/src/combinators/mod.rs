//! Futures that wait for several futures: for all of them, or for the first.
//!
//! | Future | Ends early | Gives |
//! |---|---|---|
//! | [`join_all`] | never | all results, in order |
//! | [`race`] | with the first | its result |
//! | [`first_ok`] | with the first success | that value, or all errors, in order |
//! | [`try_join_all`] | with the first error | all values, or that error |
//! | [`all_or_errors`] | never | all values, or all errors, in order |
//!
//! Everything that is a future, or turns into one, takes part: task handles, a oneshot's receiver,
//! timers, any `async` block. The members come as a tuple of up to eight different types, as a
//! vector or an array of one type, or as an iterator in [`Each`].
//!
//! Each is awaited. [`block_on`](crate::block_on) blocks a thread, or suspends a fiber, until it is
//! ready, and [`timeout_async`](crate::timer::timeout_async) ends it after a time. Members that
//! have not finished at the end are dropped: pass them by `&mut` to keep them.
//!
//! ```
//! use sateen::sync::{block_on, combinators::join_all, timer::timeout_async};
//! use std::time::Duration;
//! let members = (async { 1 }, std::future::pending::<()>());
//! assert!(block_on(timeout_async(Duration::from_millis(1), join_all(members))).is_err());
//! ```
//!
//! # Panics
//!
//! A member's panic leaves the others intact. Where all are waited for it goes on when they have
//! finished; in [`race`] and [`try_join_all`] at once; in [`first_ok`] only if none succeeds. A
//! member whose destructor panics once it has finished has panicked; of two panics the first
//! counts. What is dropped because there is a result already may panic too: that ends there.
//!
//! # Cost
//!
//! Two allocations and one for each member. A poll costs as much as there are members that were
//! woken, however many wait.

mod children;
mod goals;
mod members;
mod one_of;

pub use one_of::{OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7, OneOf8};

use goals::{FirstOk, Gather, JoinAll, Race, TryAll};
use members::{Members, TryMembers};
use std::future::Future;

/// A collection of futures to wait for together; the [module](self) says what implements it.
pub trait Futures: Members {}

impl<S: Members> Futures for S {}

/// [`Futures`] whose results are `Result`s with one type of error.
pub trait TryFutures: TryMembers {}

impl<S: TryMembers> TryFutures for S {}

/// All that an iterator yields, as a collection to wait for.
#[derive(Clone, Copy, Debug)]
pub struct Each<I>(pub I);

/// Waits for all, and gives their results in order: a tuple for a tuple, else a vector.
///
/// ```
/// use sateen::sync::{block_on, combinators::join_all, oneshot};
/// let (sender, receiver) = oneshot::channel();
/// std::thread::spawn(|| sender.send("one").unwrap());
/// assert_eq!(block_on(join_all((receiver, async { 2 }))), (Ok("one"), 2));
/// assert_eq!(block_on(join_all([std::future::ready(1), std::future::ready(2)])), [1, 2]);
/// ```
///
/// # Panics
/// When polled, with the first panic of a member, after all have finished.
pub fn join_all<S: Futures>(futures: S) -> impl Future<Output = S::Joined> {
    Gather::<S, JoinAll<S>>::new(futures)
}

/// Waits for the first to finish, and drops the others. Of a tuple it gives the result as the
/// variant of its member, else index and result. Of those that are ready at once, the first in
/// order wins.
///
/// ```
/// use sateen::sync::block_on;
/// use sateen::sync::combinators::{OneOf2, race};
/// let never = std::future::pending::<u8>();
/// match block_on(race((never, async { "now" }))) {
///     OneOf2::A(number) => unreachable!("{number}"),
///     OneOf2::B(text) => assert_eq!(text, "now"),
/// }
///
/// let (sender, mut receiver) = sateen::sync::oneshot::channel();
/// block_on(race((&mut receiver, async {}))); // The loser is kept.
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
///
/// # Panics
/// If there are none. When polled, with the panic of a member that came before any result.
pub fn race<S: Futures>(futures: S) -> impl Future<Output = S::Won> {
    Gather::<S, Race<S>>::new(futures)
}

/// Waits for the first that succeeds, and drops the others.
///
/// # Errors
/// All errors, in order, if none succeeds.
///
/// # Examples
///
/// ```
/// use sateen::sync::{block_on, combinators::first_ok};
/// use std::future::ready;
/// assert_eq!(block_on(first_ok([ready(Err("no")), ready(Ok(1)), ready(Ok(2))])), Ok(1));
/// let failures = first_ok([ready(Err::<(), _>("no")), ready(Err("neither"))]);
/// assert_eq!(block_on(failures), Err(vec!["no", "neither"]));
/// ```
///
/// # Panics
/// When polled, with the first panic of a member, if none succeeds.
pub fn first_ok<S: TryFutures>(futures: S) -> impl Future<Output = Result<S::Ok, Vec<S::Error>>> {
    Gather::<S, FirstOk<S>>::new(futures)
}

/// Waits for all to succeed, or for the first error, and then drops the others.
///
/// # Errors
/// The first to come.
///
/// # Examples
///
/// ```
/// use sateen::sync::{block_on, combinators::try_join_all};
/// use std::future::{pending, ready};
/// let both = try_join_all((ready(Ok::<_, ()>(1)), ready(Ok("two"))));
/// assert_eq!(block_on(both), Ok((1, "two")));
/// let failing = try_join_all((pending::<Result<(), _>>(), ready(Err::<(), _>("no"))));
/// assert_eq!(block_on(failing), Err("no"));
/// ```
///
/// # Panics
/// When polled, with the panic of a member that came before any error.
pub fn try_join_all<S: TryFutures>(futures: S) -> impl Future<Output = Result<S::AllOk, S::Error>> {
    let all = Gather::<S, TryAll<S, true>>::new(futures);
    async { all.await.map_err(first) }
}

/// The one error that ended the wait.
fn first<E>(errors: Vec<E>) -> E {
    errors.into_iter().next().expect("an error ended it")
}

/// Waits for all, whatever becomes of them.
///
/// # Errors
/// All errors, in order, if there is any.
///
/// # Examples
///
/// ```
/// use sateen::sync::{block_on, combinators::all_or_errors};
/// use std::future::ready;
/// let good = all_or_errors([ready(Ok::<_, ()>(1)), ready(Ok(2))]);
/// assert_eq!(block_on(good), Ok(vec![1, 2]));
/// let mixed = all_or_errors([ready(Err("a")), ready(Ok(2)), ready(Err("c"))]);
/// assert_eq!(block_on(mixed), Err(vec!["a", "c"]));
/// ```
///
/// # Panics
/// When polled, with the first panic of a member, after all have finished.
pub fn all_or_errors<S: TryFutures>(
    futures: S,
) -> impl Future<Output = Result<S::AllOk, Vec<S::Error>>> {
    Gather::<S, TryAll<S, false>>::new(futures)
}
