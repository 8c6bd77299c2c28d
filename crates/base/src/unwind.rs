//! Catching panics.
//!
//! A destructor must not stop half way because an item's destructor panics. It must not raise a
//! second panic during the first either, which would end the process. So code that drops many items
//! catches each panic, and resumes the first.

#[cfg(feature = "std")]
use core::mem::{ManuallyDrop, MaybeUninit};
#[cfg(feature = "std")]
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Drops `value` and discards a panic of its destructor, and also a panic in that panic's own
/// payload.
///
/// The payload of a panic is a value like any other: its destructor may panic.
///
/// ```
/// struct Bomb;
/// impl Drop for Bomb {
///     fn drop(&mut self) {
///         panic!("in a destructor");
///     }
/// }
/// sateen_base::unwind::discard(Bomb);
/// let payload = std::panic::catch_unwind(|| std::panic::panic_any(Bomb)).unwrap_err();
/// sateen_base::unwind::discard(payload);
/// ```
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
pub fn discard<T>(value: T) {
    /// # Safety
    /// `place` holds a `T`, which is not used afterwards.
    unsafe fn drop_at<T>(place: *mut ()) {
        // SAFETY: by contract.
        unsafe { place.cast::<T>().drop_in_place() }
    }
    let mut value = ManuallyDrop::new(value);
    // SAFETY: it is dropped once, here.
    unsafe { discard_at((&raw mut value).cast(), drop_at::<T>) }
}

/// [`discard`], compiled once for all types.
///
/// # Safety
/// `drop_at` may be called with `place`.
#[cfg(feature = "std")]
unsafe fn discard_at(place: *mut (), drop_at: unsafe fn(*mut ())) {
    // SAFETY: by contract.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| unsafe { drop_at(place) })) {
        // Its destructor may panic again, and so on without end, so it is leaked.
        core::mem::forget(payload);
    }
}

/// Calls `f` for its effects; discards its result or its panic.
///
/// ```
/// sateen_base::unwind::run_and_discard(|| panic!("discarded"));
/// ```
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
pub fn run_and_discard<R>(f: impl FnOnce() -> R) {
    if cfg!(loom) {
        // In a model the panic means that the model has failed.
        drop(f());
        return;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(f()))) {
        discard(payload);
    }
}

/// A user's value that is kept while other user code runs. If that code unwinds and the value's
/// destructor panics too, only the first panic continues.
///
/// ```
/// use sateen_base::unwind::Held;
/// let held = Held::new(vec![1, 2, 3]);
/// assert_eq!(held.len(), 3);
/// assert_eq!(held.release(), [1, 2, 3]);
/// ```
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct Held<T>(ManuallyDrop<T>);

#[cfg(feature = "std")]
impl<T> Held<T> {
    /// Holds `value`.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    /// Returns the value.
    #[inline(always)]
    pub fn release(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, because `this` is never dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

#[cfg(feature = "std")]
impl<T> core::ops::Deref for Held<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(feature = "std")]
impl<T> core::ops::DerefMut for Held<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(feature = "std")]
impl<T> Drop for Held<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // A constant, so that `discard` is not even compiled if there is nothing to drop.
        if const { core::mem::needs_drop::<T>() } {
            // SAFETY: dropped once, and not used afterwards.
            discard(unsafe { ManuallyDrop::take(&mut self.0) });
        }
    }
}

/// A user's value that functions of the user's replace, one after the other. If other code unwinds
/// meanwhile, the value is dropped as by [`Held`].
///
/// Passing a [`Held`] along costs two more copies each time.
///
/// ```
/// use sateen_base::unwind::Replaced;
/// let mut sum = Replaced::new(1);
/// (2..5).for_each(|n| sum.by(|sum| sum + n));
/// assert_eq!(sum.release(), Some(10));
/// ```
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct Replaced<T> {
    value: MaybeUninit<T>,
    /// Whether there is a value, that is, no function has panicked.
    is_there: bool,
}

#[cfg(feature = "std")]
impl<T> Replaced<T> {
    /// Holds `value`.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Self { value: MaybeUninit::new(value), is_there: true }
    }

    /// Replaces the value by `f`'s result. If `f` panics, no value is left, and later calls do
    /// nothing.
    #[inline(always)]
    pub fn by(&mut self, f: impl FnOnce(T) -> T) {
        if self.is_there {
            self.is_there = false;
            // SAFETY: it was there, and is marked as gone.
            let value = unsafe { self.value.assume_init_read() };
            self.value.write(f(value));
            self.is_there = true;
        }
    }

    /// The value, if no function has panicked.
    #[inline(always)]
    pub fn release(mut self) -> Option<T> {
        // SAFETY: it was there, and is marked as gone.
        core::mem::take(&mut self.is_there).then(|| unsafe { self.value.assume_init_read() })
    }
}

#[cfg(feature = "std")]
impl<T> Drop for Replaced<T> {
    #[inline(always)]
    fn drop(&mut self) {
        if core::mem::needs_drop::<T>() && self.is_there {
            // SAFETY: it is there, and not used afterwards.
            discard(unsafe { self.value.assume_init_read() });
        }
    }
}

/// The first of several panics, kept until all work is done.
///
/// Dropping it discards the panic.
///
/// ```
/// use sateen_base::unwind::FirstPanic;
/// let caught = std::panic::catch_unwind(|| {
///     let mut panics = FirstPanic::new();
///     assert_eq!(panics.catch(|| 1), Some(1));
///     panics.catch(|| panic!("first"));
///     panics.catch(|| panic!("second"));
///     panics.resume();
/// });
/// assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"first"));
/// ```
#[cfg(feature = "std")]
#[derive(Debug, Default)]
pub struct FirstPanic(Option<Box<dyn std::any::Any + Send>>);

#[cfg(feature = "std")]
impl FirstPanic {
    /// No panic yet.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Calls `f`; `None` if it panics. The first panic is kept, later ones are discarded.
    #[inline]
    pub fn catch<R>(&mut self, f: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(result) => Some(result),
            Err(payload) => {
                self.keep(payload);
                None
            }
        }
    }

    /// Keeps a panic that was caught, if it is the first; a later one is discarded.
    #[cold]
    pub fn keep(&mut self, payload: Box<dyn std::any::Any + Send>) {
        match self.0 {
            None => self.0 = Some(payload),
            Some(_) => discard(payload),
        }
    }

    /// Returns the panic, for a caller that must not continue without it.
    pub fn take(&mut self) -> Option<Box<dyn std::any::Any + Send>> {
        self.0.take()
    }

    /// Resumes the panic, if there was one.
    ///
    /// Discards it instead if the thread is already unwinding: two panics at once end the process.
    #[inline]
    pub fn resume(self) {
        // Nothing is left to drop.
        let mut this = ManuallyDrop::new(self);
        if let Some(payload) = this.0.take() {
            go_on(payload);
        }
    }
}

#[cfg(feature = "std")]
#[cold]
fn go_on(payload: Box<dyn std::any::Any + Send>) {
    if std::thread::panicking() {
        discard(payload);
    } else {
        resume_unwind(payload);
    }
}

#[cfg(feature = "std")]
impl Drop for FirstPanic {
    fn drop(&mut self) {
        if let Some(payload) = self.0.take() {
            discard(payload);
        }
    }
}

/// Calls `step` until it returns false, even if calls panic. Then the first panic is resumed,
/// unless the thread is already unwinding.
///
/// `step` must make progress before it runs code that may panic. Without the feature `std` no panic
/// can be caught: the calls continue while the first panic unwinds, and a second one ends the
/// process.
///
/// ```
/// let mut left = vec![1, 2, 1];
/// let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
///     sateen_base::unwind::run_to_end(|| left.pop().map(|n| assert_eq!(n, 1)).is_some());
/// }));
/// assert!(caught.is_err() && left.is_empty());
/// ```
#[inline]
pub fn run_to_end(mut step: impl FnMut() -> bool) {
    if cfg!(loom) {
        // A failed model panics at each step.
        while step() {}
        return;
    }
    #[cfg(feature = "std")]
    {
        let mut panics = FirstPanic::new();
        while panics.catch(|| while step() {}).is_none() {}
        panics.resume();
    }
    #[cfg(not(feature = "std"))]
    {
        /// Makes the remaining calls while a panic unwinds.
        struct Rest<F: FnMut() -> bool>(F);
        impl<F: FnMut() -> bool> Drop for Rest<F> {
            fn drop(&mut self) {
                while (self.0)() {}
            }
        }
        let rest = Rest(&mut step);
        while (rest.0)() {}
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// Counts itself, and panics.
    struct Bomb(Rc<Cell<u32>>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            panic!("a bomb");
        }
    }

    #[test]
    fn every_step_is_taken_and_the_first_panic_goes_on() {
        let dropped = Rc::new(Cell::new(0));
        let mut bombs: Vec<_> = (0..5).map(|_| Bomb(dropped.clone())).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            run_to_end(|| bombs.pop().is_some());
        }));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"a bomb"));
        assert_eq!(dropped.get(), 5);
    }

    #[test]
    fn nothing_goes_on_while_the_thread_unwinds() {
        sateen_testkit::print_no_panics_under_miri();
        struct AtEnd(Rc<Cell<u32>>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                let mut bombs: Vec<_> = (0..5).map(|_| Bomb(self.0.clone())).collect();
                run_to_end(|| bombs.pop().is_some());
            }
        }
        let dropped = Rc::new(Cell::new(0));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _end = AtEnd(dropped.clone());
            panic!("the reason");
        }));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"the reason"));
        assert_eq!(dropped.get(), 5);
    }

    #[test]
    fn payloads_that_panic_are_discarded() {
        struct Payload(Cell<bool>);
        impl Drop for Payload {
            fn drop(&mut self) {
                if !self.0.replace(true) {
                    panic!("dropping the payload");
                }
            }
        }
        let mut panics = FirstPanic::new();
        for _ in 0..3 {
            panics.catch(|| std::panic::panic_any(Payload(Cell::new(false))));
        }
        drop(panics);
    }
}
