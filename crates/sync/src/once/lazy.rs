//! A lazily initialised value.

use super::Once;
use sateen_base::prim::UnsafeCell;
use std::fmt;
use std::ops::Deref;

/// A value initialised on first use: `std`'s `LazyLock`, but a wait suspends a fiber.
///
/// If the initialiser panics, or its task is cancelled within it, the value is poisoned: every use
/// panics.
///
/// # Cost
/// 56 bytes, the value and the initialiser; one load to use it.
///
/// # Examples
///
/// ```
/// use sateen::sync::Lazy;
/// static SQUARES: Lazy<Vec<u32>> = Lazy::new(|| (0..10).map(|n| n * n).collect());
/// assert_eq!(SQUARES[3], 9);
/// ```
pub struct Lazy<T, F = fn() -> T> {
    once: Once,
    /// Written by the one initialiser that runs; read-only afterwards.
    cell: UnsafeCell<Cell<T, F>>,
}

enum Cell<T, F> {
    Init(F),
    Running,
    Value(T),
}

// SAFETY: value and initialiser go where the cell goes.
unsafe impl<T: Send, F: Send> Send for Lazy<T, F> {}
// SAFETY: one thread takes the initialiser and writes the value (both are sent there), then all
// threads read the value (it is shared).
unsafe impl<T: Send + Sync, F: Send> Sync for Lazy<T, F> {}

impl<T, F: FnOnce() -> T> Lazy<T, F> {
    crate::sys::const_except_loom! {
        /// Creates a value that `f` will initialise.
        pub const fn new(f: F) -> Self {
            Self { once: Once::new(), cell: UnsafeCell::new(Cell::Init(f)) }
        }
    }

    /// The value. On first use one caller initialises it, and the others block until it is done.
    ///
    /// # Panics
    /// With the panic of the initialiser, if an earlier call panicked, or if called by the
    /// initialiser.
    #[inline]
    pub fn force(this: &Self) -> &T {
        this.once.call_once(|| this.init());
        // SAFETY: complete, so it is not written to while it is borrowed.
        match this.cell.with(|cell| unsafe { &*cell }) {
            Cell::Value(value) => value,
            _ => sateen_base::abort_with("a complete Lazy without a value"),
        }
    }

    /// The value, if it has been initialised; never waits.
    pub fn get(this: &Self) -> Option<&T> {
        this.once.is_completed().then(|| Self::force(this))
    }

    /// Inside the `Once`'s closure.
    #[cold]
    fn init(&self) {
        // SAFETY: the `Once` runs this alone, and no thread reads before it is complete.
        let cell =
            self.cell.with_mut(|cell| unsafe { std::mem::replace(&mut *cell, Cell::Running) });
        if let Cell::Init(f) = cell {
            let value = f();
            // SAFETY: as above. The replaced variant has no destructor.
            self.cell.with_mut(|cell| unsafe { *cell = Cell::Value(value) });
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for Lazy<T, F> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for Lazy<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F: FnOnce() -> T> fmt::Debug for Lazy<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("Lazy");
        match Self::get(self) {
            Some(value) => out.field(value).finish(),
            None => out.field(&format_args!("<not made>")).finish(),
        }
    }
}
