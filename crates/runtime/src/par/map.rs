//! Loops that write to disjoint places.

use super::{fold::fold, par_for};
use crate::unwind::discard;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// An address behind which several workers may write, at disjoint places.
struct Base<T>(*mut T);

impl<T> Clone for Base<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Base<T> {}
// SAFETY: it is only an address; each writer argues for its own index.
unsafe impl<T: Send> Send for Base<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Base<T> {}

impl<T> Base<T> {
    fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

/// Results `start..start + len`, initialised and owned until all are handed over.
struct Part<R> {
    base: Base<R>,
    start: usize,
    len: usize,
    owns: PhantomData<R>,
}

impl<R> Part<R> {
    fn empty(base: Base<R>) -> Self {
        Self { base, start: 0, len: 0, owns: PhantomData }
    }

    fn end(&self) -> usize {
        self.start + self.len
    }

    fn join(mut self, other: Self) -> Self {
        if self.len == 0 {
            return other;
        }
        if other.len != 0 {
            debug_assert_eq!(self.end(), other.start, "parts of a map out of order");
            self.len += other.len;
        }
        std::mem::forget(other);
        self
    }
}

impl<R> Drop for Part<R> {
    fn drop(&mut self) {
        if !std::mem::needs_drop::<R>() {
            return;
        }
        // A panic is in progress, so a destructor's panic must not escape.
        for index in self.start..self.end() {
            // SAFETY: these are initialised, no other thread owns them, and each is read once.
            discard(unsafe { self.base.at(index).read() });
        }
    }
}

pub(super) fn map<T, R, F>(items: &[T], f: F) -> Vec<R>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> R + Sync,
{
    let mut results: Vec<R> = Vec::with_capacity(items.len());
    let base = Base(results.as_mut_ptr());
    let whole = fold(
        0..items.len(),
        &|| Part::empty(base),
        &|mut part, piece| {
            if part.len == 0 {
                part.start = piece.start;
            }
            if !std::mem::needs_drop::<R>() {
                // Results need no drop after a panic, so they are not counted before the end.
                let places: *mut MaybeUninit<R> = base.at(piece.start).cast();
                // SAFETY: within the capacity, and each index is visited once.
                let places = unsafe { std::slice::from_raw_parts_mut(places, piece.len()) };
                for (place, item) in places.iter_mut().zip(&items[piece.clone()]) {
                    place.write(f(item));
                }
                part.len += piece.len();
                return part;
            }
            for index in piece {
                let value = f(&items[index]);
                // SAFETY: within the capacity, and each index is visited once.
                unsafe { base.at(index).write(value) };
                part.len += 1;
            }
            part
        },
        &Part::join,
    );
    assert_eq!(whole.len, items.len(), "a map lost a result");
    std::mem::forget(whole);
    // SAFETY: all results are initialised, and the vector owns them now.
    unsafe { results.set_len(items.len()) };
    results
}

pub(super) fn chunks_mut<T, F>(items: &mut [T], size: usize, f: F)
where
    T: Send,
    F: Fn(usize, &mut [T]) + Sync,
{
    assert!(size != 0, "par_chunks_mut: chunks of 0 items");
    let len = items.len();
    let base = Base(items.as_mut_ptr());
    par_for(0..len.div_ceil(size), |index| {
        let start = index * size;
        // SAFETY: chunks do not overlap, each index is visited once, and `items` stays borrowed
        // until the loop is done.
        let chunk =
            unsafe { std::slice::from_raw_parts_mut(base.at(start), size.min(len - start)) };
        f(index, chunk);
    });
}
