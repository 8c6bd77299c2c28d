//! Strings: each piece makes one, and these are appended to the first.

use super::super::end::{End, Ended};
use super::super::plumbing::Folder;
use super::super::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;

/// What can be appended to a string of type `B`.
trait Text<B>: Send {
    fn append_to(self, target: &mut B);
}

/// Collects strings of type `B`, one a piece.
struct Pieces<B>(PhantomData<fn() -> B>);

impl<B> Clone for Pieces<B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B> Copy for Pieces<B> {}

impl<B: Default + Send, T: Text<B>> End<T> for Pieces<B> {
    type Folder = Writing<B>;
    type Result = Vec<B>;

    fn folder(self) -> Writing<B> {
        Writing(B::default())
    }

    fn reduce(self, mut left: Vec<B>, mut right: Vec<B>) -> Vec<B> {
        left.append(&mut right);
        left
    }
}

struct Writing<B>(B);

impl<B, T: Text<B>> Folder<T> for Writing<B> {
    type Result = Vec<B>;
    const FILLS: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        item.append_to(&mut self.0);
        self
    }

    fn complete(self) -> Vec<B> {
        vec![self.0]
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

/// Implements the traits for a kind of string and its kinds of parts.
macro_rules! text {
    ($owned:ty: $(
        impl[$($generics:tt)*] $item:ty, |$target:ident, $part:ident| $append:expr;
    )*) => {
        $(
            impl<$($generics)*> Text<$owned> for $item {
                #[inline]
                fn append_to(self, $target: &mut $owned) {
                    let $part = self;
                    $append;
                }
            }

            impl<$($generics)*> ParallelExtend<$item> for $owned {
                fn par_extend<I: IntoParallelIterator<Item = $item>>(&mut self, par_iter: I) {
                    let end = Ended(Pieces::<$owned>(PhantomData));
                    let pieces = par_iter.into_par_iter().drive_unindexed(end);
                    self.reserve(pieces.iter().map(|piece| piece.len()).sum());
                    pieces.iter().for_each(|piece| self.push_str(piece));
                }
            }

            impl<$($generics)*> FromParallelIterator<$item> for $owned {
                fn from_par_iter<I: IntoParallelIterator<Item = $item>>(par_iter: I) -> Self {
                    let mut all = Self::new();
                    all.par_extend(par_iter);
                    all
                }
            }
        )*
    };
}

/// What the macro needs of `OsString` under the name that `String` has for it.
trait PushStr {
    fn push_str(&mut self, piece: &Self);
}

impl PushStr for OsString {
    fn push_str(&mut self, piece: &Self) {
        self.push(piece);
    }
}

text! {
    String:
    impl[] char, |target, part| target.push(part);
    impl['a] &'a char, |target, part| target.push(*part);
    impl['a] &'a str, |target, part| target.push_str(part);
    impl[] String, |target, part| target.push_str(&part);
    impl[] Box<str>, |target, part| target.push_str(&part);
    impl['a] Cow<'a, str>, |target, part| target.push_str(&part);
}

text! {
    OsString:
    impl['a] &'a OsStr, |target, part| target.push(part);
    impl[] OsString, |target, part| target.push(part);
    impl['a] Cow<'a, OsStr>, |target, part| target.push(part);
}

macro_rules! boxed {
    ($(impl[$($generics:tt)*] $item:ty;)*) => {$(
        impl<$($generics)*> FromParallelIterator<$item> for Box<str> {
            fn from_par_iter<I: IntoParallelIterator<Item = $item>>(par_iter: I) -> Self {
                String::from_par_iter(par_iter).into_boxed_str()
            }
        }
    )*};
}

boxed! {
    impl[] char;
    impl['a] &'a char;
    impl['a] &'a str;
    impl[] String;
    impl[] Box<str>;
    impl['a] Cow<'a, str>;
}
