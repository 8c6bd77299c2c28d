//! Items of a known number: each piece writes to its places in the vector.
//!
//! A consumer owns a run of places that are not initialised. Its folder owns the items that it has
//! written to them, from the first place on. Two results are joined if the first is complete and
//! the second follows it. Otherwise the second is dropped: its items are lost, which the last count
//! finds. So a source that lies about its length can cost items, but never memory safety.

use crate::iter::end::apart;
use crate::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use sateen_base::unwind::discard;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Appends the `len` items that `drive` feeds to its consumer.
///
/// # Panics
/// If they are more or fewer.
pub(crate) fn append<'v, T, D>(target: &'v mut Vec<T>, len: usize, drive: D)
where
    T: Send + 'v,
    D: for<'p> FnOnce(Places<'p, T>) -> Written<'p, T>,
{
    target.reserve(len);
    let before = target.len();
    let all = &mut target.spare_capacity_mut()[..len];
    let first = all.as_mut_ptr();
    let written = drive(Places { first, len, whole: len, owns: PhantomData });
    if written.len != len || written.first != first {
        fewer(len, written.seen);
    }
    // The vector owns the items from here on.
    std::mem::forget(written);
    // SAFETY: the result covers `len` places from the first spare one on, and it owned the items
    // in all of them.
    unsafe { target.set_len(before + len) };
}

#[cold]
#[inline(never)]
fn fewer(expected: usize, seen: usize) -> ! {
    panic!("a parallel iterator of {expected} items yielded {seen} of them");
}

#[cold]
#[inline(never)]
fn more(whole: usize, expected: usize) -> ! {
    panic!(
        "a parallel iterator of {whole} items yielded {} or more in a piece of {expected}",
        expected.saturating_add(1)
    );
}

/// Places for the next `len` items.
pub(crate) struct Places<'p, T> {
    first: *mut MaybeUninit<T>,
    len: usize,
    /// How many items the whole iterator has.
    whole: usize,
    owns: PhantomData<&'p mut &'p mut [T]>,
}

// SAFETY: it owns its places, which no other thread touches; items of `T` move to its thread.
unsafe impl<T: Send> Send for Places<'_, T> {}

/// Items in their places.
pub(crate) struct Written<'p, T> {
    first: *mut MaybeUninit<T>,
    /// How many places are initialised, and owned here.
    len: usize,
    /// How many there are.
    room: usize,
    whole: usize,
    /// How many items were written, those included that were dropped since.
    seen: usize,
    owns: PhantomData<&'p mut &'p mut [T]>,
}

// SAFETY: it owns the items, and the places; see `Places`.
unsafe impl<T: Send> Send for Written<'_, T> {}

impl<T> Drop for Written<'_, T> {
    fn drop(&mut self) {
        if !std::mem::needs_drop::<T>() {
            return;
        }
        // A panic is under way or follows, and no other may meet it.
        for index in 0..self.len {
            // SAFETY: initialised, owned here, and read once.
            discard(unsafe { self.first.add(index).read().assume_init() });
        }
    }
}

impl<'p, T: Send> Consumer<T> for Places<'p, T> {
    type Folder = Written<'p, T>;
    type Reducer = Joined;
    type Result = Written<'p, T>;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, Joined) {
        let Self { first, len, whole, owns } = self;
        assert!(index <= len, "a piece of {len} items was split at {index}");
        // SAFETY: `index` places from the first are within this consumer's run, or at its end.
        let second = unsafe { first.add(index) };
        let left = Self { first, len: index, whole, owns };
        (left, Self { first: second, len: len - index, whole, owns }, Joined)
    }

    #[inline]
    fn into_folder(self) -> Written<'p, T> {
        let Self { first, len, whole, owns } = self;
        Written { first, len: 0, room: len, whole, seen: 0, owns }
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Written<'p, T>, count: usize) -> bool {
        let follows = folder.first.wrapping_add(folder.room) == self.first;
        if folder.len != folder.room || !follows || count > self.len {
            return false;
        }
        // SAFETY: as in `split_at`.
        self.first = unsafe { self.first.add(count) };
        self.len -= count;
        folder.room += count;
        true
    }
}

impl<T: Send> UnindexedConsumer<T> for Places<'_, T> {
    fn split_off_left(&self) -> Self {
        panic!(
            "a parallel iterator says that it has {} items, but it is driven without indices",
            self.whole
        );
    }

    fn to_reducer(&self) -> Joined {
        Joined
    }
}

impl<T: Send> Folder<T> for Written<'_, T> {
    type Result = Self;
    const FILLS: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.write(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, iter: I) -> Self {
        let items = iter.into_iter();
        apart(|| self.fill(items));
        self
    }

    #[inline]
    fn complete(self) -> Self {
        self
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

impl<T> Written<'_, T> {
    /// How many items were written and are still there.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The last of them.
    #[inline]
    fn last(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        // SAFETY: the first `len` places are initialised.
        Some(unsafe { (*self.first.add(last)).assume_init_ref() })
    }

    /// Writes the items.
    #[inline(always)]
    fn fill(&mut self, mut items: impl Iterator<Item = T>) {
        if std::mem::needs_drop::<T>() {
            items.for_each(|item| self.write(item));
            return;
        }
        // No item has to be dropped after a panic, so none is counted before the end.
        // SAFETY: the places after the first `len` are this folder's, and not initialised.
        let places = unsafe {
            std::slice::from_raw_parts_mut(self.first.add(self.len), self.room - self.len)
        };
        let mut filled = 0;
        for place in places.iter_mut() {
            let Some(item) = items.next() else { break };
            place.write(item);
            filled += 1;
        }
        self.len += filled;
        self.seen += filled;
        if self.len == self.room && items.next().is_some() {
            more(self.whole, self.room);
        }
    }

    /// Writes each item, joined with the one before it by `join`. The first goes in as it is.
    ///
    /// # Panics
    /// With the panics of both arguments, and if there are more items than places.
    #[inline]
    pub(crate) fn chain(
        mut self,
        items: impl Iterator<Item = T>,
        join: impl Fn(&T, T) -> T,
    ) -> Self {
        let mut items = items;
        let put = |written: &mut Self, item| match written.last() {
            Some(last) => written.write(join(last, item)),
            None => written.write(item),
        };
        if std::mem::needs_drop::<T>() {
            items.for_each(|item| put(&mut self, item));
            return self;
        }
        if self.len == 0 {
            let Some(item) = items.next() else { return self };
            put(&mut self, item);
        }
        // As in `consume_iter`. The last item is looked at in its place, which is a register to the
        // compiler, since it sees the write.
        // SAFETY: the first place is the last one that is initialised, the others are this
        // folder's and not initialised.
        let places = unsafe {
            let last = self.first.add(self.len - 1);
            std::slice::from_raw_parts_mut(last, self.room - self.len + 1)
        };
        let Some((last, places)) = places.split_first_mut() else { return self };
        // SAFETY: as above.
        let mut last: &T = unsafe { last.assume_init_ref() };
        let mut filled = 0;
        for place in places {
            let Some(item) = items.next() else { break };
            last = place.write(join(last, item));
            filled += 1;
        }
        self.len += filled;
        self.seen += filled;
        if self.len == self.room && items.next().is_some() {
            more(self.whole, self.room);
        }
        self
    }

    #[inline(always)]
    fn write(&mut self, item: T) {
        if self.len == self.room {
            drop(item);
            more(self.whole, self.room);
        }
        // SAFETY: the place is this folder's, since `len` is less than `room`.
        unsafe { (*self.first.add(self.len)).write(item) };
        self.len += 1;
        self.seen += 1;
    }
}

/// Joins the items of adjacent pieces.
pub(crate) struct Joined;

impl<'p, T> Reducer<Written<'p, T>> for Joined {
    #[inline]
    fn reduce(self, mut left: Written<'p, T>, right: Written<'p, T>) -> Written<'p, T> {
        left.seen += right.seen;
        let follows = left.first.wrapping_add(left.len) == right.first;
        if follows && left.len == left.room {
            left.len += right.len;
            left.room += right.room;
            // `left` owns the items from here on.
            std::mem::forget(right);
        }
        left
    }
}
