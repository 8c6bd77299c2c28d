//! Variables of a task: `fiber_local!`.

use super::start::Running;
use crate::context;
use crate::unwind::discard;
use sateen_base::prim::UnsafeCell;
use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// Rounds in which destructors may create new values; then the rest is leaked.
const ROUNDS: usize = 8;

type Slot = (*const (), Box<dyn Any>);

/// The values of one task. Only its fiber uses them, and only [`Locals::destroy`] drops them.
#[derive(Debug)]
pub(crate) struct Locals(UnsafeCell<ManuallyDrop<Vec<Slot>>>);

impl Locals {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(ManuallyDrop::new(Vec::new())))
    }

    /// Drops all values, the youngest first. Their destructors may still use the others and create
    /// new ones.
    #[inline]
    pub(crate) fn destroy(&self) {
        // SAFETY: the task's fiber; the reference ends here.
        if self.0.with(|slots| unsafe { !(*slots).is_empty() }) {
            self.destroy_slow();
        }
    }

    #[cold]
    fn destroy_slow(&self) {
        for _ in 0..ROUNDS {
            // SAFETY: as above. The vector is taken out of the cell before user code runs.
            let slots = self.0.with_mut(|slots| unsafe { std::mem::take(&mut **slots) });
            if slots.is_empty() {
                return;
            }
            slots.into_iter().rev().for_each(|(_, value)| discard(value));
        }
        // The destructors create new values for ever, so these are leaked.
    }

    fn get(&self, key: *const ()) -> Option<*const dyn Any> {
        // SAFETY: the task's fiber; values are boxed, so the address outlives the reference.
        self.0.with(|slots| unsafe {
            (*slots).iter().find(|slot| std::ptr::eq(slot.0, key)).map(|slot| &raw const *slot.1)
        })
    }

    fn add(&self, key: *const (), value: Box<dyn Any>) {
        // SAFETY: the task's fiber; the reference ends here, and no user code runs meanwhile.
        self.0.with_mut(|slots| unsafe { (*slots).push((key, value)) });
    }
}

/// Why a fiber-local is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FiberLocalError {
    /// The caller does not run in a task.
    NoTask,
    /// The caller is a branch of a join, fork, scope or loop. Branches have no identity of their
    /// own, and thieves determine which of them run on their task's fiber.
    InBranch,
}

impl std::fmt::Display for FiberLocalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoTask => "a fiber-local was used outside of any task",
            Self::InBranch => "a fiber-local was used in a branch of a task",
        })
    }
}

impl std::error::Error for FiberLocalError {}

/// A variable of which every task has its own value; declared by
/// [`fiber_local!`](crate::fiber_local).
///
/// The value is created at a task's first use and dropped at the task's end, on the same worker. A
/// panic of its destructor goes no further. Values need not be `Send`: a started task stays on its
/// worker.
///
/// ```
/// use std::cell::Cell;
/// sateen::fiber_local! {
///     static COUNT: Cell<u32> = Cell::new(0);
/// }
/// let task = || {
///     COUNT.with(|count| count.set(count.get() + 1));
///     COUNT.with(Cell::get)
/// };
/// assert_eq!(sateen::spawn(task).join().unwrap(), 1);
/// assert_eq!(sateen::spawn(task).join().unwrap(), 1);
/// ```
#[derive(Debug)]
pub struct FiberLocal<T: 'static> {
    init: fn() -> T,
    /// Gives every static a distinct address, even if the initialisers are the same.
    _place: u8,
    _owns: PhantomData<fn() -> T>,
}

impl<T: 'static> FiberLocal<T> {
    /// For [`fiber_local!`](crate::fiber_local), in a static: the address is the variable's
    /// identity.
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _place: 0, _owns: PhantomData }
    }

    /// Runs `f` with the calling task's value.
    ///
    /// # Panics
    /// Outside of a task, and in a branch of one: see [`FiberLocal::try_with`].
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `f` with the calling task's value, which is created if this is its first use.
    ///
    /// # Errors
    /// [`FiberLocalError`]. If a task runs one of its own branches in place, such as the second of
    /// a [`join`](crate::join), only debug builds detect it: counting would slow down every join
    /// noticeably.
    ///
    /// # Cost
    /// A linear search among the task's variables.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, FiberLocalError> {
        let Some(fiber) = context::fiber() else {
            return Err(FiberLocalError::NoTask);
        };
        // SAFETY: what runs on the calling fiber lies on its stack, below this frame.
        let running: &Running =
            unsafe { fiber.running().as_ref() }.ok_or(FiberLocalError::NoTask)?;
        if running.task.is_null() {
            return Err(FiberLocalError::NoTask);
        }
        // SAFETY: as above.
        let locals = unsafe { running.locals.as_ref() }.ok_or(FiberLocalError::InBranch)?;
        #[cfg(debug_assertions)]
        if running.branches.get() > 0 {
            return Err(FiberLocalError::InBranch);
        }
        if fiber.join_stack().height() != running.below {
            return Err(FiberLocalError::InBranch);
        }
        let key = std::ptr::from_ref(self).cast::<()>();
        let value = match locals.get(key) {
            Some(value) => value,
            None => {
                // The initialiser may use the same variable; then its value wins.
                let value = Box::new((self.init)());
                if locals.get(key).is_none() {
                    locals.add(key, value);
                }
                locals.get(key).ok_or(FiberLocalError::NoTask)?
            }
        };
        // SAFETY: the value is dropped only at the end of the task, or of its destruction. It
        // leaves the list only together with all others, and `f` runs inside the task.
        let value = unsafe { &*value };
        value.downcast_ref().map(f).ok_or(FiberLocalError::NoTask)
    }
}

/// Declares variables of which every task has its own value: see [`FiberLocal`].
#[macro_export]
macro_rules! fiber_local {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr);* $(;)?) => {
        $($(#[$meta])* $vis static $name: $crate::FiberLocal<$type> =
            $crate::FiberLocal::new(|| $init);)*
    };
}
