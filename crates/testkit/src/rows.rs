//! How generic types vary with their parameters, and which threads may have them.

/// Parameters for the tables of auto traits: `Send`, `Sync`, both or neither.
pub mod parameters {
    use core::cell::Cell;
    use core::marker::PhantomData;

    /// `Send` and `Sync`.
    pub type Both = u8;
    /// `Send` alone.
    pub type OnlySend = Cell<u8>;
    /// Neither.
    pub type Neither = *const u8;

    /// `Sync` alone, as the guard of a lock is.
    #[derive(Clone, Copy, Debug)]
    pub struct OnlySync(PhantomData<*const u8>);

    // SAFETY: it holds nothing.
    unsafe impl Sync for OnlySync {}
}

/// Says how a public generic type varies with its parameter. A crate's `tests/variance.rs` is a
/// table of these rows.
///
/// | word | the parameter of a value may become | for types that |
/// |---|---|---|
/// | `covariant` | shorter-lived | only give their items out |
/// | `contravariant` | longer-lived | only take items in |
/// | `invariant` | neither | take items in and give them out |
///
/// A subtype lives longer: a function that takes any reference also takes `'static` ones. Code that
/// must compile is a test. Code that must not is a doc test: the crate's `lib.rs` includes the file
/// under `cfg(doctest)`.
#[macro_export]
macro_rules! variance {
    ($($kind:ident $name:ident<$parameter:tt> = $ty:ty;)*) => { $(
        $crate::variance_row! { $kind $name<$parameter> = $ty }
    )* };
}

/// One row of [`variance!`].
#[macro_export]
macro_rules! variance_row {
    (covariant $name:ident<T> = $ty:ty) => {
        $crate::variance_row!(@ $name<T> = $ty, (for<'x> fn(&'x u8)) => (fn(&'static u8)));
    };
    (contravariant $name:ident<T> = $ty:ty) => {
        $crate::variance_row!(@ $name<T> = $ty, (fn(&'static u8)) => (for<'x> fn(&'x u8)));
    };
    (invariant $name:ident<T> = $ty:ty) => {
        $crate::variance_row!(@ $name<T> = $ty, (fn(&'static u8)) => (fn(&'static u8)));
        #[cfg(doctest)]
        #[doc = concat!("```compile_fail,E0308\ntype X<T> = ", stringify!($ty), ";\n",
            "fn f(x: X<for<'x> fn(&'x u8)>) -> X<fn(&'static u8)> { x }\n```\n",
            "```compile_fail,E0308\ntype X<T> = ", stringify!($ty), ";\n",
            "fn f(x: X<fn(&'static u8)>) -> X<for<'x> fn(&'x u8)> { x }\n```")]
        #[allow(missing_debug_implementations)]
        pub struct $name;
    };
    (covariant $name:ident<$a:lifetime> = $ty:ty) => {
        $crate::variance_row!(@ $name<$a> = $ty, 'static => 's);
    };
    (invariant $name:ident<$a:lifetime> = $ty:ty) => {
        $crate::variance_row!(@ $name<$a> = $ty, 's => 's);
        #[cfg(doctest)]
        #[doc = concat!(
            "```compile_fail\ntype X<", stringify!($a), "> = ", stringify!($ty), ";\n",
            "fn f<'s>(x: X<'static>) -> X<'s> { x }\n```\n",
            "```compile_fail\ntype X<", stringify!($a), "> = ", stringify!($ty), ";\n",
            "fn f<'s>(x: X<'s>) -> X<'static> { x }\n```")]
        #[allow(missing_debug_implementations)]
        pub struct $name;
    };
    (@ $name:ident<$parameter:tt> = $ty:ty, $from:tt => $to:tt) => {
        #[cfg(not(doctest))]
        #[allow(non_snake_case)]
        #[test]
        fn $name() {
            type X<$parameter> = $ty;
            #[allow(clippy::extra_unused_lifetimes)]
            fn becomes<'s>(x: X<$from>) -> X<$to> {
                x
            }
            let _ = becomes;
        }
    };
}

/// Says for which parameters a public generic type is `Send`, and for which it is `Sync`.
///
/// `Name<T>: Send if C, Sync if C = type;` where C is `always`, `never`, or the trait that the
/// parameter must have: `Send`, `Sync`, `Both`.
#[macro_export]
macro_rules! auto_traits {
    ($($name:ident<T>: Send if $send:ident, Sync if $sync:ident = $ty:ty;)*) => { $(
        #[allow(non_snake_case)]
        #[test]
        fn $name() {
            type X<T> = $ty;
            $crate::auto_trait!(X, Send, $send);
            $crate::auto_trait!(X, Sync, $sync);
        }
    )* };
}

/// One trait of a row of [`auto_traits!`].
#[macro_export]
macro_rules! auto_trait {
    ($x:ident, $trait:ident, always) => {
        $crate::auto_trait!(@ $x, $trait, is Both, is OnlySend, is OnlySync, is Neither);
    };
    ($x:ident, $trait:ident, never) => {
        $crate::auto_trait!(@ $x, $trait, not Both, not OnlySend, not OnlySync, not Neither);
    };
    ($x:ident, $trait:ident, Send) => {
        $crate::auto_trait!(@ $x, $trait, is Both, is OnlySend, not OnlySync, not Neither);
    };
    ($x:ident, $trait:ident, Sync) => {
        $crate::auto_trait!(@ $x, $trait, is Both, not OnlySend, is OnlySync, not Neither);
    };
    ($x:ident, $trait:ident, Both) => {
        $crate::auto_trait!(@ $x, $trait, is Both, not OnlySend, not OnlySync, not Neither);
    };
    (@ $x:ident, $trait:ident, $($word:ident $parameter:ident),*) => {
        $( $crate::$word!($x<$crate::parameters::$parameter>: $trait); )*
    };
}

/// Does not compile unless the type has the trait.
#[macro_export]
macro_rules! is {
    ($ty:ty: $trait:path) => {{
        fn is<X: ?Sized + $trait>() {}
        is::<$ty>();
    }};
}

/// Does not compile if the type has the trait.
#[macro_export]
macro_rules! not {
    ($ty:ty: $trait:path) => {{
        /// A type with the trait has two implementations, so the call below is ambiguous.
        trait Ambiguous<A> {
            fn call() {}
        }
        struct Has;
        impl<X: ?Sized> Ambiguous<()> for X {}
        impl<X: ?Sized + $trait> Ambiguous<Has> for X {}
        <$ty as Ambiguous<_>>::call();
    }};
}
