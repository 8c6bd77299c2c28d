//! A cell that is written once.

use super::core::{Core, Running, Turn, Wants};
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::Duration;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;

/// A cell that is written once and then read without locking: `std`'s `OnceLock`, but a wait
/// suspends a fiber, or is awaited.
///
/// It is never poisoned: if an initialiser panics, fails, or its future is dropped, the next one
/// begins. An initialiser that uses its own cell panics instead of waiting for itself, if both uses
/// are on one thread or fiber. (An asynchronous initialiser belongs to no thread, and would wait.)
///
/// # Cost
/// 48 bytes and the value; one load to read it.
///
/// # Examples
///
/// ```
/// use sateen::sync::OnceLock;
/// static NAME: OnceLock<String> = OnceLock::new();
///
/// assert_eq!(NAME.get(), None);
/// assert_eq!(NAME.get_or_init(|| "sateen".to_owned()), "sateen");
/// assert_eq!(NAME.set("silk".to_owned()), Err("silk".to_owned()));
/// ```
pub struct OnceLock<T> {
    core: Core,
    /// Written by the one initialiser that runs; read by all once it is complete.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value goes where the cell goes.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: one thread writes the value (it is sent there), then all read it (it is shared).
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    crate::sys::const_except_loom! {
        /// An empty cell.
        pub const fn new() -> Self {
            Self { core: Core::new(), value: UnsafeCell::new(None) }
        }
    }

    /// The value, if present; never waits.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if self.core.is_complete() { self.read() } else { None }
    }

    /// The value of a complete cell, or of one that the caller is initialising.
    #[inline]
    fn read(&self) -> Option<&T> {
        // SAFETY: a complete cell is not written to while it is borrowed.
        self.value.with(|value| unsafe { (*value).as_ref() })
    }

    /// The value of a complete cell.
    #[inline]
    fn completed(&self) -> &T {
        match self.read() {
            Some(value) => value,
            None => sateen_base::abort_with("a complete OnceLock without a value"),
        }
    }

    /// The value, by exclusive reference.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: the exclusive borrow of the cell covers the value.
        self.value.with_mut(|value| unsafe { (*value).as_mut() })
    }

    /// Writes the value. If another call is writing one, blocks until that has succeeded or failed.
    ///
    /// # Errors
    /// The argument, if there is already a value.
    ///
    /// # Panics
    /// If called by its own initialiser.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("an initialiser runs once"));
        value.map_or(Ok(()), Err)
    }

    /// The value. If there is none, it becomes the result of `f`: one caller's `f` runs, and the
    /// others block until it has returned.
    ///
    /// # Panics
    /// With the panic of `f`; the cell then stays empty. Also if called by its own initialiser.
    #[inline]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        match self.get_or_try_init(|| Ok::<T, Infallible>(f())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Like [`get_or_init`](Self::get_or_init), for an `f` that may fail; the cell then stays
    /// empty.
    ///
    /// ```
    /// let cell = sateen::sync::OnceLock::new();
    /// assert_eq!(cell.get_or_try_init(|| "x".parse::<u8>().map_err(|_| "no")), Err("no"));
    /// assert_eq!(cell.get_or_try_init(|| "1".parse::<u8>().map_err(|_| "no")), Ok(&1));
    /// ```
    ///
    /// # Errors
    /// The error of `f`.
    ///
    /// # Panics
    /// As [`get_or_init`](Self::get_or_init).
    #[inline]
    pub fn get_or_try_init<E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => self.init_slow(f),
        }
    }

    #[cold]
    fn init_slow<E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Turn::Mine(running) = self.core.turn(Wants::Insist) {
            self.write(running, f()?);
        }
        Ok(self.completed())
    }

    /// [`get_or_init`](Self::get_or_init) for an asynchronous initialiser. If the future is dropped
    /// while its initialiser runs, another caller's begins.
    ///
    /// # Panics
    /// With the panic of the initialiser; the cell then stays empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let cell = sateen::sync::OnceLock::new();
    /// let mut init = pin!(cell.get_or_init_async(async || 1));
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert_eq!(init.as_mut().poll(&mut cx), Poll::Ready(&1));
    /// ```
    pub async fn get_or_init_async<F: Future<Output = T>>(&self, f: impl FnOnce() -> F) -> &T {
        match self.get_or_try_init_async(|| async { Ok::<T, Infallible>(f().await) }).await {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Like [`get_or_init_async`](Self::get_or_init_async), for an initialiser that may fail; the
    /// cell then stays empty.
    ///
    /// # Errors
    /// The error of the initialiser.
    ///
    /// # Panics
    /// As [`get_or_init_async`](Self::get_or_init_async).
    pub async fn get_or_try_init_async<E, F: Future<Output = Result<T, E>>>(
        &self,
        f: impl FnOnce() -> F,
    ) -> Result<&T, E> {
        if !self.core.is_complete()
            && let Turn::Mine(running) = self.core.turn_async(Wants::Insist).await
        {
            let value = f().await?;
            self.write(running, value);
        }
        Ok(self.completed())
    }

    fn write(&self, running: Running<'_>, new: T) {
        // SAFETY: it is the caller's turn: no other thread writes, and none reads until it is
        // complete. The replaced value is `None`.
        self.value.with_mut(|value| unsafe { *value = Some(new) });
        running.complete();
    }

    /// Blocks the thread, or suspends the fiber, until there is a value.
    ///
    /// # Panics
    /// If called by its own initialiser.
    pub fn wait(&self) -> &T {
        if !self.core.is_complete() {
            self.core.turn(Wants::WaitOn);
        }
        self.completed()
    }

    /// [`wait`](Self::wait) with a time limit. Returns `None` if there is no value in time.
    ///
    /// # Panics
    /// If called by its own initialiser.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<&T> {
        if !self.core.is_complete() {
            self.core.wait_timeout(timeout, Wants::WaitOn)?;
        }
        Some(self.completed())
    }

    /// [`wait`](Self::wait) as a future.
    pub async fn wait_async(&self) -> &T {
        self.core.turn_async(Wants::WaitOn).await;
        self.completed()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Empties the cell.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        cell.get_or_init(|| value);
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value).finish(),
            None => out.field(&format_args!("<empty>")).finish(),
        }
    }
}
