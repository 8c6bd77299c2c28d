//! An operation that can be selected: what a selection asks of senders and receivers.

use super::token::Token;
use super::wait::{Case, Wait};
use sateen_base::prim::time::Instant;
use std::pin::Pin;

/// A half of a channel. No two halves that exist at the same time have the same identity.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfId {
    /// The sending half of the channel at this address.
    Sending(usize),
    /// The receiving half.
    Receiving(usize),
    /// Of no channel: never selected.
    Never,
}

/// A sender or a receiver in a selection. Public for the macros alone.
pub trait Handle {
    /// Which half of which channel it is: clones have the same.
    fn half(&self) -> HalfId;

    /// Chooses the operation if it is possible now. The caller that knows the type of the item
    /// completes it.
    fn try_select(&self, token: &mut Token) -> bool;

    /// Undoes a choice. Drops no items: the caller may be on a thread to which they may not go.
    fn abort(&self, token: &mut Token);

    /// Whether it is possible now.
    fn is_ready(&self) -> bool;

    /// Whether it is possible only while a peer waits at the other end. Two callers that only look
    /// would never meet.
    fn meets(&self) -> bool {
        false
    }

    /// When the clock makes it possible.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Waits, so that a peer may claim the case; `None` if the operation is possible now.
    fn wait(&self, case: Case) -> Option<Pin<Box<dyn Wait + '_>>>;

    /// Waits to be told that the operation is possible; `None` if it is now.
    fn watch(&self) -> Option<Pin<Box<dyn Wait + '_>>>;
}
