//! The structs of adapters: what they have in common.

/// Declares an adapter: a base, and an operation that debug output leaves out.
///
/// The struct is on one line, because the compiler prints it where it is used in a wrong way.
macro_rules! adapter {
    ($(#[$doc:meta])* $name:ident { base, $op:ident }) => {
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone)]
        pub struct $name<I, F> { base: I, $op: F }

        impl<I, F> $name<I, F> {
            pub(super) fn new(base: I, $op: F) -> Self {
                Self { base, $op }
            }
        }

        impl<I: std::fmt::Debug, F> std::fmt::Debug for $name<I, F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("base", &self.base).finish_non_exhaustive()
            }
        }
    };
    ($(#[$doc:meta])* $name:ident { base }) => {
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone, Debug)]
        pub struct $name<I> { base: I }

        impl<I> $name<I> {
            pub(super) fn new(base: I) -> Self {
                Self { base }
            }
        }
    };
}
pub(crate) use adapter;

/// A stage that holds a reference to the user's function.
macro_rules! with_function {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<'f, F>(&'f F);

        impl<F> Clone for $name<'_, F> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<F> Copy for $name<'_, F> {}
    };
}
pub(crate) use with_function;
