//! An operation that can be selected: what a selection asks of senders and receivers.

use super::token::Token;
use super::wait::{Share, Wait};
use sateen_base::prim::time::Instant;
use std::pin::Pin;

/// A half of a channel that lives. No other that lives at the same time has the same.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfId {
    /// The sending half of the channel at that address.
    Sending(usize),
    /// The receiving half.
    Receiving(usize),
    /// Of nothing: never selected.
    Never,
}

/// A sender or a receiver, in a selection. Public for the macro alone.
#[doc(hidden)]
pub trait Handle {
    /// Which half of which channel it is: clones have the same.
    fn half(&self) -> HalfId;

    /// Chooses the operation if it is possible now; who knows the type of the item completes it.
    fn try_select(&self, token: &mut Token) -> bool;

    /// Undoes a choice. Drops no items: the caller may be on a thread to which they may not go.
    fn waive(&self, token: &mut Token);

    /// Whether it is possible now.
    fn is_ready(&self) -> bool;

    /// Whether it is possible only while somebody waits at the other end: two who only look never meet.
    fn meets(&self) -> bool {
        false
    }

    /// When the clock makes it possible.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Waits, so that others may claim the operation; `None` if it is possible now.
    fn wait(&self, share: Share) -> Option<Pin<Box<dyn Wait + '_>>>;

    /// Waits to be told that it is possible; `None` if it is now.
    fn watch(&self) -> Option<Pin<Box<dyn Wait + '_>>>;
}
