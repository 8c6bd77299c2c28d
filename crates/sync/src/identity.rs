//! The identity of a context, by which re-entrant locks recognise their holder.

use crate::sys::plain_thread_local;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Distinguishes a context of one thread from all others, for
/// [`ReentrantMutex`](crate::ReentrantMutex). For runtimes: see
/// [`Blocker::identity`](crate::park::Blocker::identity).
///
/// It is created where the context begins to run, and dropped where the context ends. It cannot
/// leave its thread, and its number is never reused. So whatever is locked with it is used on this
/// thread alone.
///
/// # Cost
/// A word. The number is drawn at its first use.
///
/// # Examples
///
/// It stays on its thread:
///
/// ```compile_fail,E0277
/// let here = sateen::sync::park::Identity::new();
/// std::thread::spawn(move || drop(here));
/// ```
///
/// ```compile_fail,E0277
/// let here = sateen::sync::park::Identity::new();
/// std::thread::scope(|s| drop(s.spawn(|| drop(&here))));
/// ```
#[derive(Debug, Default)]
pub struct Identity {
    /// 0 until first used.
    number: Cell<u64>,
    _not_send: PhantomData<*const ()>,
}

/// Numbers that a thread takes at a time.
const BLOCK: u64 = if cfg!(miri) { 1 << 2 } else { 1 << 10 };

plain_thread_local! {
    /// The next and last of the thread's own numbers.
    static NUMBERS: Cell<(u64, u64)> = Cell::new((0, 0));
}

impl Identity {
    /// A new identity.
    #[inline]
    pub const fn new() -> Self {
        Self { number: Cell::new(0), _not_send: PhantomData }
    }

    /// The number, never 0, that no other identity of this process has or had.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        match self.number.get() {
            0 => self.draw(),
            number => number,
        }
    }

    #[cold]
    fn draw(&self) -> u64 {
        let (mut next, mut end) = NUMBERS.with(Cell::get);
        if next == end {
            next = take_block();
            end = next + BLOCK;
        }
        NUMBERS.with(|numbers| numbers.set((next + 1, end)));
        self.number.set(next);
        next
    }
}

/// The first of a block of numbers.
#[cold]
fn take_block() -> u64 {
    // Not the model's: numbers have no influence on a model. 64 bits do not wrap.
    static NEXT: Mutex<u64> = Mutex::new(BLOCK);
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    *next += BLOCK;
    *next - BLOCK
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_stay_and_are_unique() {
        let numbers = || {
            let all: Vec<_> = (0..2 * BLOCK + 1).map(|_| Identity::new()).collect();
            let numbers: Vec<u64> = all.iter().map(Identity::number).collect();
            assert!(numbers.iter().zip(&all).all(|(n, one)| *n == one.number() && *n != 0));
            numbers
        };
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(numbers)).collect();
        let all: Vec<u64> = threads.into_iter().flat_map(|t| t.join().expect("drawn")).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
