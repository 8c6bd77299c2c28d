//! What `try_` methods work with: `Option`, `Result`, `ControlFlow` and `Poll` of a `Result`.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::task::Poll;

/// Keeps others from implementing a trait.
#[derive(Debug)]
pub struct Sealed;

/// A value that goes on with an output, or stops with the rest. `std::ops::Try` is not stable.
#[diagnostic::on_unimplemented(message = "`{Self}` is neither an `Option` nor a `Result`")]
pub trait Try {
    /// What it goes on with.
    type Output;
    /// What it stops with.
    type Residual;

    #[doc(hidden)]
    fn sealed(_: Sealed);

    /// Goes on with `output`.
    fn from_output(output: Self::Output) -> Self;

    /// Stops with `residual`.
    fn from_residual(residual: Self::Residual) -> Self;

    /// Which of the two it is.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
}

impl<B, C> Try for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;

    fn sealed(_: Sealed) {}

    #[inline]
    fn from_output(output: C) -> Self {
        ControlFlow::Continue(output)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        match residual {
            ControlFlow::Break(stop) => ControlFlow::Break(stop),
            ControlFlow::Continue(never) => match never {},
        }
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, C> {
        match self {
            ControlFlow::Continue(output) => ControlFlow::Continue(output),
            ControlFlow::Break(stop) => ControlFlow::Break(ControlFlow::Break(stop)),
        }
    }
}

impl<T> Try for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;

    fn sealed(_: Sealed) {}

    #[inline]
    fn from_output(output: T) -> Self {
        Some(output)
    }

    #[inline]
    fn from_residual(_: Option<Infallible>) -> Self {
        None
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Some(output) => ControlFlow::Continue(output),
            None => ControlFlow::Break(None),
        }
    }
}

impl<T, E> Try for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;

    fn sealed(_: Sealed) {}

    #[inline]
    fn from_output(output: T) -> Self {
        Ok(output)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        match residual {
            Err(error) => Err(error),
            Ok(never) => match never {},
        }
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Ok(output) => ControlFlow::Continue(output),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T, E> Try for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = Result<Infallible, E>;

    fn sealed(_: Sealed) {}

    #[inline]
    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        Poll::Ready(Try::from_residual(residual))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<T>> {
        match self {
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
            Poll::Ready(Ok(output)) => ControlFlow::Continue(Poll::Ready(output)),
            Poll::Ready(Err(error)) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T, E> Try for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;
    type Residual = Result<Infallible, E>;

    fn sealed(_: Sealed) {}

    #[inline]
    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|output| output.map(Ok))
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        Poll::Ready(Some(Try::from_residual(residual)))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<Option<T>>> {
        match self {
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
            Poll::Ready(None) => ControlFlow::Continue(Poll::Ready(None)),
            Poll::Ready(Some(Ok(output))) => ControlFlow::Continue(Poll::Ready(Some(output))),
            Poll::Ready(Some(Err(error))) => ControlFlow::Break(Err(error)),
        }
    }
}
