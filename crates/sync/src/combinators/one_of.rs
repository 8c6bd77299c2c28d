//! Tuples of futures of different types.

use super::members::{Members, TryMembers};
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The enumeration for one length of tuples, and the traits that make such tuples collections.
macro_rules! one_of {
    ($name:ident: $first:ident $first_f:ident $($rest:ident $rest_f:ident)*) => {
        /// One of the members of a tuple: a future, or what [`race`](super::race) gives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the variants stand for places")]
        pub enum $name<$first, $($rest),*> {
            $first($first),
            $($rest($rest)),*
        }

        impl<$first: Future, $($rest: Future),*> Future for $name<$first, $($rest),*> {
            type Output = $name<$first::Output, $($rest::Output),*>;

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: the member is pinned with us and never moved; there is no `Drop` and no
                // `Unpin` of our own.
                unsafe {
                    match self.get_unchecked_mut() {
                        Self::$first(f) => Pin::new_unchecked(f).poll(cx).map($name::$first),
                        $(Self::$rest(f) => Pin::new_unchecked(f).poll(cx).map($name::$rest)),*
                    }
                }
            }
        }

        impl<$first: IntoFuture, $($rest: IntoFuture),*> Members for ($first, $($rest),*) {
            type Child = $name<$first::IntoFuture, $($rest::IntoFuture),*>;
            type Joined = ($first::Output, $($rest::Output),*);
            type Won = $name<$first::Output, $($rest::Output),*>;

            #[allow(non_snake_case, reason = "one name for type and value")]
            fn children(self) -> Vec<Self::Child> {
                let ($first, $($rest),*) = self;
                vec![$name::$first($first.into_future()), $($name::$rest($rest.into_future())),*]
            }

            fn joined(all: Vec<Self::Won>) -> Self::Joined {
                let mut all = all.into_iter();
                (one_of!(@next all $name $first), $(one_of!(@next all $name $rest)),*)
            }

            fn won(_: usize, value: Self::Won) -> Self::Won {
                value
            }
        }

        impl<Er, $first, $($rest,)* $first_f, $($rest_f),*> TryMembers for ($first_f, $($rest_f),*)
        where
            $first_f: IntoFuture<Output = Result<$first, Er>>,
            $($rest_f: IntoFuture<Output = Result<$rest, Er>>),*
        {
            type Ok = $name<$first, $($rest),*>;
            type Error = Er;
            type AllOk = ($first, $($rest),*);

            fn split(output: Self::Won) -> Result<Self::Ok, Er> {
                match output {
                    $name::$first(result) => result.map($name::$first),
                    $($name::$rest(result) => result.map($name::$rest)),*
                }
            }

            fn all_ok(all: Vec<Self::Ok>) -> Self::AllOk {
                let mut all = all.into_iter();
                (one_of!(@next all $name $first), $(one_of!(@next all $name $rest)),*)
            }
        }
    };
    (@next $all:ident $name:ident $letter:ident) => {
        match $all.next() {
            Some($name::$letter(value)) => value,
            _ => unreachable!("the members of a tuple in another order"),
        }
    };
}

one_of! { OneOf2: A FA B FB }
one_of! { OneOf3: A FA B FB C FC }
one_of! { OneOf4: A FA B FB C FC D FD }
one_of! { OneOf5: A FA B FB C FC D FD E FE }
one_of! { OneOf6: A FA B FB C FC D FD E FE F FF }
one_of! { OneOf7: A FA B FB C FC D FD E FE F FF G FG }
one_of! { OneOf8: A FA B FB C FC D FD E FE F FF G FG H FH }
