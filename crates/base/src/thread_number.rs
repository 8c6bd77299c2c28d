//! Small numbers for threads: dense, released when a thread ends, the smallest first.
//!
//! They index arrays with an element for each thread, such as stripes of a counter or caches of
//! blocks. A number belongs to one living thread at a time. Numbers change owners under a lock, so
//! the next owner sees everything that the last one wrote. So an array element has only one writer
//! at a time.
//!
//! Models number their threads themselves: under loom no thread has a number.

use crate::SpinLock;
use std::cell::Cell;

/// Numbers are below this. Further threads have none.
pub const LIMIT: u32 = if cfg!(loom) {
    64
} else if cfg!(miri) {
    1024
} else {
    64 * 1024
};
/// Returned by [`get`] for a thread without a number; above all array lengths.
pub const NONE: u32 = u32::MAX;
/// Like `NONE`, and permanent: the thread is about to end.
const GONE: u32 = u32::MAX - 1;

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(NONE) };
    /// Releases the number when the thread ends.
    static RETURN: Return = const { Return };
}

struct Return;

impl Drop for Return {
    fn drop(&mut self) {
        let number = NUMBER.replace(GONE);
        if number < LIMIT {
            free().lock().give(number);
        }
    }
}

#[cfg(not(loom))]
fn free() -> &'static SpinLock<Numbers> {
    static FREE: SpinLock<Numbers> = SpinLock::new(Numbers::new());
    &FREE
}

/// A model's lock cannot be a static, and models do not use this.
#[cfg(loom)]
fn free() -> &'static SpinLock<Numbers> {
    unreachable!("in a model no thread has a number")
}

/// The numbers in use, one bit each.
struct Numbers {
    used: [u64; LIMIT as usize / 64],
    /// No word before this one has a free number.
    first: usize,
}

impl Numbers {
    const fn new() -> Self {
        Self { used: [0; LIMIT as usize / 64], first: 0 }
    }

    fn take(&mut self) -> Option<u32> {
        let left = &mut self.used[self.first..];
        let skip = left.iter().position(|word| *word != u64::MAX)?;
        let bit = left[skip].trailing_ones();
        left[skip] |= 1 << bit;
        self.first += skip;
        Some(self.first as u32 * 64 + bit)
    }

    fn give(&mut self, number: u32) {
        let word = number as usize / 64;
        self.used[word] &= !(1 << (number % 64));
        self.first = self.first.min(word);
    }
}

/// The calling thread's number if it has one, otherwise a value not below [`LIMIT`]; then
/// [`get_or_assign`] may help. Costs a load.
#[inline(always)]
pub fn get() -> u32 {
    // It never fails. `with` would not be inlined into other codegen units.
    NUMBER.try_with(Cell::get).unwrap_or(GONE)
}

/// The calling thread's number, assigned if it has none yet. `None` if the thread is about to end
/// (its thread-locals are being destroyed) or if [`LIMIT`] threads have a number already.
///
/// ```
/// use sateen_base::thread_number;
///
/// let mine = thread_number::get_or_assign();
/// assert_eq!(mine, thread_number::get_or_assign());
/// std::thread::spawn(move || assert_ne!(mine, thread_number::get_or_assign())).join().unwrap();
/// ```
#[inline]
pub fn get_or_assign() -> Option<u32> {
    match get() {
        number if number < LIMIT => Some(number),
        GONE => None,
        _ => assign_slow(),
    }
}

#[cold]
fn assign_slow() -> Option<u32> {
    if cfg!(loom) {
        return None;
    }
    // Register the destructor first, because a number that is not released would be lost.
    RETURN.try_with(|_| ()).ok()?;
    let number = free().lock().take()?;
    NUMBER.set(number);
    Some(number)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_first_and_each_once() {
        let mut numbers = Box::new(Numbers::new());
        assert!((0..200).all(|n| numbers.take() == Some(n)));
        for n in [130, 3, 70] {
            numbers.give(n);
        }
        assert_eq!([3, 70, 130, 200].map(Some), [(); 4].map(|()| numbers.take()));
        let rest = (201..LIMIT).all(|n| numbers.take() == Some(n));
        assert!(rest && numbers.take().is_none());
        numbers.give(LIMIT - 1);
        assert_eq!(numbers.take(), Some(LIMIT - 1));
    }

    #[test]
    fn numbers_of_living_threads_differ_and_come_back() {
        let barrier = std::sync::Barrier::new(8);
        for _ in 0..if cfg!(miri) { 2 } else { 20 } {
            let mut seen: Vec<u32> = std::thread::scope(|s| {
                let all: Vec<_> = (0..8)
                    .map(|_| {
                        s.spawn(|| {
                            let mine = get_or_assign().expect("few threads");
                            barrier.wait();
                            assert_eq!(get(), mine);
                            mine
                        })
                    })
                    .collect();
                all.into_iter().map(|t| t.join().expect("no panic")).collect()
            });
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 8);
            // Other tests have threads too, but not thousands.
            assert!(seen.iter().all(|n| *n < 1000), "{seen:?}");
        }
    }
}
