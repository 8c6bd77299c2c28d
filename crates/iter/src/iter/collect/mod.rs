//! `collect`: into places known in advance, or into lists of vectors.

mod collections;
mod deal;
mod list;
mod outcomes;
#[allow(unsafe_code, reason = "results are written to their places in a vector")]
mod places;
mod text;
pub(super) mod unzip;

pub(crate) use list::{Items, collect_unknown};
pub(super) use places::{Joined, Places, Written, append};

use super::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, ParallelExtend,
    ParallelIterator,
};

/// Replaces what `target` holds.
pub(super) fn collect_into_vec<I>(items: I, target: &mut Vec<I::Item>)
where
    I: IndexedParallelIterator,
{
    target.clear();
    let len = items.len();
    places::append(target, len, |consumer| items.drive(consumer));
}

/// Appends what has a known number.
fn append_known<I: ParallelIterator>(items: I, len: usize, target: &mut Vec<I::Item>) {
    places::append(target, len, |consumer| items.drive_unindexed(consumer));
}

impl<T: Send> ParallelExtend<T> for Vec<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = par_iter.into_par_iter();
        match items.opt_len() {
            Some(len) => append_known(items, len, self),
            None => collect_unknown(items).append_to(self),
        }
    }
}

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(par_iter: I) -> Self {
        let items = par_iter.into_par_iter();
        match items.opt_len() {
            Some(len) => {
                let mut collected = Self::new();
                append_known(items, len, &mut collected);
                collected
            }
            None => collect_unknown(items).into_vec(),
        }
    }
}

impl<T: Send> FromParallelIterator<T> for Box<[T]> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(par_iter: I) -> Self {
        Vec::from_par_iter(par_iter).into_boxed_slice()
    }
}

/// Nothing from nothings: for iterators that are driven for their effects.
impl FromParallelIterator<()> for () {
    fn from_par_iter<I: IntoParallelIterator<Item = ()>>(par_iter: I) {
        super::for_each::ignore(par_iter.into_par_iter());
    }
}

impl ParallelExtend<()> for () {
    fn par_extend<I: IntoParallelIterator<Item = ()>>(&mut self, par_iter: I) {
        super::for_each::ignore(par_iter.into_par_iter());
    }
}
