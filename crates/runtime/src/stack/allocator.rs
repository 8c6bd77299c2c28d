//! The interface of stack allocators.

use crate::context::call_off_fiber;
use crate::unwind::Held;
use std::io;
use std::ptr::NonNull;

/// Memory for one stack, from a [`StackAllocator`], which owns it. If dropped and not handed back,
/// it leaks.
#[derive(Debug)]
pub struct Stack {
    bottom: NonNull<u8>,
    size: usize,
    guard: usize,
    token: usize,
}

// SAFETY: this value alone owns the memory.
unsafe impl Send for Stack {}
// SAFETY: a shared reference only returns numbers.
unsafe impl Sync for Stack {}

impl Stack {
    /// Describes the `size` bytes from `bottom` up, with `guard` inaccessible bytes below. `token`
    /// is for the allocator's own use.
    ///
    /// # Safety
    /// Until the stack is handed back, the memory is readable and writable, belongs to no other
    /// code, and is not at the very end of the address space. The `guard` is inaccessible and at
    /// least a page. Or it is 0, and no task that runs there needs more stack than there is.
    pub unsafe fn new(bottom: NonNull<u8>, size: usize, guard: usize, token: usize) -> Self {
        Self { bottom, size, guard, token }
    }

    /// The lowest usable address.
    pub fn bottom(&self) -> NonNull<u8> {
        self.bottom
    }

    /// The number of usable bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of inaccessible bytes below [`Stack::bottom`].
    pub fn guard(&self) -> usize {
        self.guard
    }

    /// The token that the allocator gave to [`Stack::new`].
    pub fn token(&self) -> usize {
        self.token
    }
}

/// An allocator of stacks; see [`Builder::stack_allocator`](crate::Builder::stack_allocator).
///
/// Several workers may call it at once, on their own thread stacks, or on a task's stack with some
/// 60 KiB left. A call is not a task: a wait blocks the worker's thread, nested work runs by plain
/// calls, and spawns are refused. A panic counts as an error of [`allocate`](Self::allocate), and
/// is otherwise discarded.
///
/// # Examples
///
/// ```
/// use sateen::{PooledStacks, Runtime, Stack, StackAllocator};
/// use std::io;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// /// Counts the stacks in use.
/// struct Counted(PooledStacks, Arc<AtomicUsize>);
///
/// impl StackAllocator for Counted {
///     fn allocate(&self, size: usize) -> io::Result<Stack> {
///         let stack = self.0.allocate(size)?;
///         self.1.fetch_add(1, Ordering::Relaxed);
///         Ok(stack)
///     }
///
///     unsafe fn deallocate(&self, stack: Stack) {
///         self.1.fetch_sub(1, Ordering::Relaxed);
///         // SAFETY: passed on to the caller.
///         unsafe { self.0.deallocate(stack) }
///     }
/// }
///
/// let count = Arc::new(AtomicUsize::new(0));
/// let stacks = Counted(PooledStacks::new(), Arc::clone(&count));
/// let runtime = Runtime::builder().workers(2).stack_allocator(stacks).build()?;
/// runtime.install(|| assert!(count.load(Ordering::Relaxed) >= 1));
/// drop(runtime);
/// assert_eq!(count.load(Ordering::Relaxed), 0);
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub trait StackAllocator: Send + Sync {
    /// Returns a stack of at least `size` bytes, which is a multiple of
    /// [`Mapping::PAGE`](sateen_base::os::Mapping::PAGE). New memory holds zeros; reused memory
    /// keeps its contents. A runtime asks for few different sizes.
    ///
    /// # Errors
    /// Any. The runtime then starts no tasks until a stack is free.
    fn allocate(&self, size: usize) -> io::Result<Stack>;

    /// Returns a stack when all workers stand still for lack of one. It may use memory kept in
    /// reserve.
    ///
    /// # Errors
    /// As [`StackAllocator::allocate`].
    fn allocate_last(&self, size: usize) -> io::Result<Stack> {
        self.allocate(size)
    }

    /// Takes a stack back.
    ///
    /// # Safety
    /// The stack came from this allocator, and nothing uses its memory any more.
    unsafe fn deallocate(&self, stack: Stack);

    /// Whether [`StackAllocator::trim`] would return memory to the system. Workers call it before
    /// they sleep, so it must be cheap.
    fn has_spare(&self) -> bool {
        false
    }

    /// Returns unused memory to the system. Called when the runtime has been idle for a while.
    fn trim(&self) {}

    /// Returns all unused memory. Called when the runtime has ended, or was given up with tasks
    /// that do not end. Fibers that still run may ask for more.
    fn close(&self) {
        self.trim();
    }
}

/// A user's allocator.
pub(crate) struct UserStacks<A>(Held<A>);

impl<A: StackAllocator> UserStacks<A> {
    pub(crate) fn new(allocator: A) -> Self {
        Self(Held::new(allocator))
    }

    /// Calls the allocator; `None` if it panics.
    fn call<R>(&self, f: impl FnOnce(&A) -> R) -> Option<R> {
        let mut result = None;
        call_off_fiber(|| result = Some(f(&self.0)));
        result
    }
}

fn panicked() -> io::Result<Stack> {
    Err(io::Error::other("the stack allocator panicked"))
}

impl<A: StackAllocator> StackAllocator for UserStacks<A> {
    fn allocate(&self, size: usize) -> io::Result<Stack> {
        self.call(|stacks| stacks.allocate(size)).unwrap_or_else(panicked)
    }

    fn allocate_last(&self, size: usize) -> io::Result<Stack> {
        self.call(|stacks| stacks.allocate_last(size)).unwrap_or_else(panicked)
    }

    unsafe fn deallocate(&self, stack: Stack) {
        // SAFETY: passed on to the caller.
        self.call(|stacks| unsafe { stacks.deallocate(stack) });
    }

    fn has_spare(&self) -> bool {
        self.call(A::has_spare).unwrap_or(false)
    }

    fn trim(&self) {
        self.call(A::trim);
    }

    fn close(&self) {
        self.call(A::close);
    }
}
