//! What combinators need of a collection of futures. The traits are private: a collection outside
//! this crate is an iterator in [`Each`].

use super::Each;
use std::future::{Future, IntoFuture};

/// A collection of futures.
pub trait Members {
    /// One of them, as a future.
    type Child: Future;
    /// The results of all.
    type Joined;
    /// The result of the first, and which it was.
    type Won;

    /// All of them.
    fn children(self) -> Vec<Self::Child>;

    /// The results of all, from a vector of as many, in order.
    fn joined(all: Vec<<Self::Child as Future>::Output>) -> Self::Joined;

    /// The result of the one with this index.
    fn won(index: usize, value: <Self::Child as Future>::Output) -> Self::Won;
}

/// [`Members`] whose results are `Result`s with one type of error.
pub trait TryMembers: Members {
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

impl<I: IntoIterator<Item: IntoFuture>> Members for Each<I> {
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

impl<I, T, E> TryMembers for Each<I>
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

/// Collections that need no [`Each`].
macro_rules! collection {
    ($type:ty $(, $n:ident)?) => {
        impl<F: IntoFuture $(, const $n: usize)?> Members for $type {
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

        impl<F, T, E $(, const $n: usize)?> TryMembers for $type
        where
            F: IntoFuture<Output = Result<T, E>>,
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
    };
}

collection!(Vec<F>);
collection!(Box<[F]>);
collection!([F; N], N);
