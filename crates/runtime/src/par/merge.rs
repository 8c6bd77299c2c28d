//! Merging two sorted runs, in parallel and stably.

use crate::join;

/// Up to this many items in total, one worker merges.
const SERIAL: usize = 16 * 1024;

/// A sorted run of initialised items, which are only read.
pub(super) struct Run<T> {
    start: *const T,
    len: usize,
}

impl<T> Clone for Run<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Run<T> {}
// SAFETY: only the comparison reads items while they are shared, and no other code touches them
// meanwhile. Parts of a run have no item in common, so only one worker at a time compares an item.
unsafe impl<T: Send> Send for Run<T> {}

/// The destination of the merged items.
struct Target<T>(*mut T);
// SAFETY: an address; each worker writes only its own part behind it.
unsafe impl<T: Send> Send for Target<T> {}

impl<T> Run<T> {
    /// # Safety
    /// `len` initialised items at `start`, which no code writes while the run is used.
    pub(super) unsafe fn new(start: *const T, len: usize) -> Self {
        Self { start, len }
    }

    fn items(&self) -> &[T] {
        // SAFETY: by contract of `new`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    fn split(self, at: usize) -> (Self, Self) {
        debug_assert!(at <= self.len);
        let rest = Self { start: self.start.wrapping_add(at), len: self.len - at };
        (Self { start: self.start, len: at }, rest)
    }
}

/// Merges `left` and `right` into `target`; of equal items, those of `left` come first.
///
/// # Safety
/// `target` has room for both runs and overlaps neither. The runs are unchanged afterwards, even
/// after a panic.
pub(super) unsafe fn merge<T: Send>(
    left: Run<T>,
    right: Run<T>,
    target: *mut T,
    is_less: &(impl Fn(&T, &T) -> bool + Sync),
) {
    let len = left.len + right.len;
    if len <= SERIAL || left.len == 0 || right.len == 0 {
        // SAFETY: passed on.
        return unsafe { merge_serial(left, right, target, is_less) };
    }
    // Cut the longer run in the middle and the other where that item belongs.
    let (at_left, at_right) = if left.len >= right.len {
        let at = left.len / 2;
        let pivot = &left.items()[at];
        (at, right.items().partition_point(|x| is_less(x, pivot)))
    } else {
        let at = right.len / 2;
        let pivot = &right.items()[at];
        (left.items().partition_point(|x| !is_less(pivot, x)), at)
    };
    let (left_low, left_high) = left.split(at_left);
    let (right_low, right_high) = right.split(at_right);
    let low = Target(target);
    let high = Target(target.wrapping_add(at_left + at_right));
    join(
        move || {
            let (low, left, right) = (low, left_low, right_low);
            // SAFETY: disjoint parts of the target, exactly as long as the parts of the runs.
            unsafe { merge(left, right, low.0, is_less) };
        },
        move || {
            let (high, left, right) = (high, left_high, right_high);
            // SAFETY: as above.
            unsafe { merge(left, right, high.0, is_less) };
        },
    );
}

/// Merges from both ends at once, in two independent chains of comparisons.
///
/// # Safety
/// As [`merge`].
unsafe fn merge_serial<T>(
    left: Run<T>,
    right: Run<T>,
    target: *mut T,
    is_less: &impl Fn(&T, &T) -> bool,
) {
    let (mut l, mut r, mut t) = (left.start, right.start, target);
    let (mut l_end, mut r_end) = (l.wrapping_add(left.len), r.wrapping_add(right.len));
    let mut t_end = target.wrapping_add(left.len + right.len);
    // SAFETY: in `steps` steps each end takes at most `steps` items of either run. With twice that
    // in the shorter run, the ends do not meet, whatever the comparison returns. Each step moves
    // `t` and `t_end` on by one for the one item that it takes from a run.
    unsafe {
        loop {
            let shorter = l_end.offset_from_unsigned(l).min(r_end.offset_from_unsigned(r));
            let steps = shorter / 2;
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                // This has no branches on the data, because they would be as good as random.
                let take_right = is_less(&*r, &*l);
                std::ptr::copy_nonoverlapping(if take_right { r } else { l }, t, 1);
                r = r.add(usize::from(take_right));
                l = l.add(usize::from(!take_right));
                t = t.add(1);

                let (l_last, r_last) = (l_end.sub(1), r_end.sub(1));
                let take_left = is_less(&*r_last, &*l_last);
                t_end = t_end.sub(1);
                std::ptr::copy_nonoverlapping(if take_left { l_last } else { r_last }, t_end, 1);
                l_end = l_end.sub(usize::from(take_left));
                r_end = r_end.sub(usize::from(!take_left));
            }
        }
        while l != l_end && r != r_end {
            let take_right = is_less(&*r, &*l);
            std::ptr::copy_nonoverlapping(if take_right { r } else { l }, t, 1);
            r = r.add(usize::from(take_right));
            l = l.add(usize::from(!take_right));
            t = t.add(1);
        }
        let (l_left, r_left) = (l_end.offset_from_unsigned(l), r_end.offset_from_unsigned(r));
        std::ptr::copy_nonoverlapping(l, t, l_left);
        std::ptr::copy_nonoverlapping(r, t.add(l_left), r_left);
    }
}
