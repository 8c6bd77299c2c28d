//! What the tests of all crates share.
//!
//! Layer 0. It uses no other crate of the workspace, and others use it for their tests only.
//!
//! * [`Counter`], [`waker_fn`], [`Hooks`]: wakers that count, run code, or do harm; [`poll`].
//! * [`until`], [`until_some`]: wait until what can be observed has come; [`give_way`].
//! * [`watched`], [`in_time`], [`Watchdog`]: a test that hangs fails.
//! * [`in_child`]: a test that might end the process fails.
//! * [`panic_of`], [`message`]: texts of panics.
//! * [`variance!`], [`auto_traits!`]: tables of types.
//! * `model`, under `cfg(loom)`: runs a model with a bound.

mod child;
#[cfg(loom)]
mod model;
mod panics;
mod rows;
mod time;
mod wakers;

pub use child::in_child;
#[cfg(loom)]
pub use model::model;
pub use panics::{message, panic_of, print_no_panics_under_miri};
pub use rows::parameters;
pub use time::{Watchdog, give_way, in_time, until, until_some, watched};
pub use wakers::{Counter, Hooks, poll, poll_with, waker_fn};

/// How often to do something. Under an interpreter it is less.
pub const fn sized(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(500) } else { n }
}
