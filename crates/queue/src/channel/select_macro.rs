//! The macros `select!` and `select_biased!`.
//!
//! Their stages: `@parse` takes the cases apart. `@bind` evaluates senders and receivers once each,
//! in order. `@run` selects. `@dispatch` completes the selected operation and runs its body.

/// Waits for the first of several operations that becomes possible, and completes it.
///
/// | Case | Chosen when |
/// |---|---|
/// | `recv(receiver) -> result => body` | there is an item, or all senders are gone |
/// | `send(sender, item) -> result => body` | there is room, or all receivers are gone |
/// | `default => body` | none of the others is possible now |
/// | `default(timeout) => body` | none of the others is possible within the timeout |
///
/// `result` is a pattern for the result of [`recv`](crate::channel::Receiver::recv) or
/// [`send`](crate::channel::Sender::send). If several operations are possible, one is chosen at
/// random; see [`select_biased!`](crate::select_biased). Bodies may `break`, `continue` and
/// `return`.
///
/// `item` is evaluated only if its case was chosen, and should not take long: receivers may pass
/// over its slot for items that others send meanwhile.
///
/// A thread blocks, a fiber is suspended. For a set of operations known only at run time see
/// [`Select`](crate::channel::Select).
///
/// # Examples
/// ```
/// use sateen::channel::{after, bounded, select, unbounded};
/// use std::time::Duration;
///
/// let (sender, receiver) = unbounded();
/// let (full, _kept) = bounded::<u8>(0);
/// std::thread::spawn(move || sender.send("hello"));
///
/// select! {
///     recv(receiver) -> greeting => assert_eq!(greeting, Ok("hello")),
///     send(full, 1) -> _ => unreachable!("nobody receives"),
///     recv(after(Duration::from_secs(10))) -> _ => panic!("took too long"),
/// }
/// ```
#[macro_export]
macro_rules! select {
    ($($cases:tt)*) => {
        $crate::__channel_select!(@parse false [] (none) $($cases)*)
    };
}

/// [`select!`](crate::select) that prefers the operation written first if several are possible.
///
/// ```
/// use sateen::channel::{select_biased, unbounded};
/// let (sender, receiver) = unbounded();
/// sender.send(1).unwrap();
/// let which = select_biased! {
///     recv(receiver) -> _ => "first",
///     recv(receiver) -> _ => "second",
/// };
/// assert_eq!(which, "first");
/// ```
#[macro_export]
macro_rules! select_biased {
    ($($cases:tt)*) => {
        $crate::__channel_select!(@parse true [] (none) $($cases)*)
    };
}

/// The stages of [`select!`](crate::select).
#[doc(hidden)]
#[macro_export]
macro_rules! __channel_select {
    // A case's body is a block, or an expression up to a comma.
    (
        @parse $biased:tt $ops:tt $default:tt
        $case:ident $(($($args:tt)*))? $(-> $result:pat)? => { $($body:tt)* }, $($rest:tt)*
    ) => {
        $crate::__channel_select!(
            @case $biased $ops $default
            ($case ($($($args)*)?) ($($result)?) { $($body)* }) $($rest)*
        )
    };
    (
        @parse $biased:tt $ops:tt $default:tt
        $case:ident $(($($args:tt)*))? $(-> $result:pat)? => { $($body:tt)* } $($rest:tt)*
    ) => {
        $crate::__channel_select!(
            @case $biased $ops $default
            ($case ($($($args)*)?) ($($result)?) { $($body)* }) $($rest)*
        )
    };
    (
        @parse $biased:tt $ops:tt $default:tt
        $case:ident $(($($args:tt)*))? $(-> $result:pat)? => $body:expr, $($rest:tt)*
    ) => {
        $crate::__channel_select!(
            @case $biased $ops $default
            ($case ($($($args)*)?) ($($result)?) { $body }) $($rest)*
        )
    };
    (
        @parse $biased:tt $ops:tt $default:tt
        $case:ident $(($($args:tt)*))? $(-> $result:pat)? => $body:expr
    ) => {
        $crate::__channel_select!(
            @case $biased $ops $default ($case ($($($args)*)?) ($($result)?) { $body })
        )
    };
    // One receiver and nothing else needs no selection.
    (@parse $biased:tt [(recv ($receiver:expr $(,)?) ($result:pat) $body:tt)] (none)) => {
        match $receiver {
            ref _receiver => {
                let _receiver: &$crate::channel::Receiver<_> = _receiver;
                let _result = _receiver.recv();
                let $result = _result;
                $body
            }
        }
    };
    (@parse $biased:tt $ops:tt $default:tt) => {
        $crate::__channel_select!(@bind $biased $ops [] $default)
    };
    (@parse $biased:tt $ops:tt $default:tt $($rest:tt)+) => {
        ::std::compile_error!(::std::concat!(
            "expected `recv(receiver) -> result => body`, ",
            "`send(sender, item) -> result => body`, ",
            "`default => body` or `default(timeout) => body`, found `",
            ::std::stringify!($($rest)+),
            "`",
        ))
    };

    (@case $biased:tt $ops:tt (none) (default () () $body:tt) $($rest:tt)*) => {
        $crate::__channel_select!(@parse $biased $ops (now $body) $($rest)*)
    };
    (
        @case $biased:tt $ops:tt (none)
        (default ($timeout:expr $(,)?) () $body:tt) $($rest:tt)*
    ) => {
        $crate::__channel_select!(@parse $biased $ops (after ($timeout) $body) $($rest)*)
    };
    (@case $biased:tt $ops:tt $default:tt (default $args:tt () $body:tt) $($rest:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "there can be only one `default` case, with at most one argument, ",
            "in a selection",
        ))
    };
    (
        @case $biased:tt [$($ops:tt)*] $default:tt
        (recv ($receiver:expr $(,)?) ($result:pat) $body:tt) $($rest:tt)*
    ) => {
        $crate::__channel_select!(
            @parse $biased [$($ops)* (recv ($receiver) ($result) $body)] $default $($rest)*
        )
    };
    (
        @case $biased:tt [$($ops:tt)*] $default:tt
        (send ($sender:expr, $item:expr $(,)?) ($result:pat) $body:tt) $($rest:tt)*
    ) => {
        $crate::__channel_select!(
            @parse $biased [$($ops)* (send ($sender, $item) ($result) $body)] $default $($rest)*
        )
    };
    (
        @case $biased:tt $ops:tt $default:tt
        ($case:ident $args:tt $result:tt $body:tt) $($rest:tt)*
    ) => {
        ::std::compile_error!(::std::concat!(
            "expected `recv(receiver) -> result => body`, ",
            "`send(sender, item) -> result => body`, ",
            "`default => body` or `default(timeout) => body`, found `",
            ::std::stringify!($case $args),
            "`",
        ))
    };

    (
        @bind $biased:tt [(recv ($receiver:expr) $result:tt $body:tt) $($ops:tt)*]
        [$($bound:tt)*] $default:tt
    ) => {
        match $receiver {
            ref _receiver => {
                let _receiver: &$crate::channel::Receiver<_> = _receiver;
                $crate::__channel_select!(
                    @bind $biased [$($ops)*] [$($bound)* (recv _receiver () $result $body)] $default
                )
            }
        }
    };
    (
        @bind $biased:tt [(send ($sender:expr, $item:expr) $result:tt $body:tt) $($ops:tt)*]
        [$($bound:tt)*] $default:tt
    ) => {
        match $sender {
            ref _sender => {
                let _sender: &$crate::channel::Sender<_> = _sender;
                $crate::__channel_select!(
                    @bind $biased [$($ops)*]
                    [$($bound)* (send _sender ($item) $result $body)] $default
                )
            }
        }
    };
    (@bind $biased:tt [] $bound:tt $default:tt) => {
        $crate::__channel_select!(@run $biased $bound $default)
    };

    (@run $biased:tt [$(($op:ident $handle:ident $($more:tt)*))*] (none)) => {{
        let _selected = $crate::channel::internal::select([$($handle),*], $biased);
        let _index = _selected.index();
        $crate::__channel_select!(@dispatch _selected _index $(($op $handle $($more)*))*)
    }};
    (@run $biased:tt [$(($op:ident $handle:ident $($more:tt)*))*] (now $body:tt)) => {{
        match $crate::channel::internal::try_select([$($handle),*], $biased) {
            ::std::result::Result::Err(_) => $body,
            ::std::result::Result::Ok(_selected) => {
                let _index = _selected.index();
                $crate::__channel_select!(@dispatch _selected _index $(($op $handle $($more)*))*)
            }
        }
    }};
    (
        @run $biased:tt [$(($op:ident $handle:ident $($more:tt)*))*]
        (after ($timeout:expr) $body:tt)
    ) => {{
        match $crate::channel::internal::select_timeout([$($handle),*], $timeout, $biased) {
            ::std::result::Result::Err(_) => $body,
            ::std::result::Result::Ok(_selected) => {
                let _index = _selected.index();
                $crate::__channel_select!(@dispatch _selected _index $(($op $handle $($more)*))*)
            }
        }
    }};

    (
        @dispatch $selected:ident $index:ident
        (recv $receiver:ident () ($result:pat) $body:tt) $($more:tt)*
    ) => {
        if $index == 0 {
            let _result = $selected.recv($receiver);
            let $result = _result;
            $body
        } else {
            let _index = $index - 1;
            $crate::__channel_select!(@dispatch $selected _index $($more)*)
        }
    };
    (
        @dispatch $selected:ident $index:ident
        (send $sender:ident ($item:expr) ($result:pat) $body:tt) $($more:tt)*
    ) => {
        if $index == 0 {
            let _result = $selected.send($sender, $item);
            let $result = _result;
            $body
        } else {
            let _index = $index - 1;
            $crate::__channel_select!(@dispatch $selected _index $($more)*)
        }
    };
    (@dispatch $selected:ident $index:ident) => {{
        let _ = ($selected, $index);
        ::std::unreachable!("one of the operations was selected")
    }};
}
