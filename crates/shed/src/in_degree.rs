//! How the end of a task changes what waits for it.

use crate::layout::Layout;
use crate::shed::Shed;
use crate::word::{State, Status};
use sateen_base::abort_with;
use sateen_base::prim::Ordering;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Complete,
    /// Its successors are cancelled too.
    Cancelled,
    /// Its successors never depended on it.
    Removed,
}

/// What lowering a successor's in-degree has led to.
pub(crate) enum Lowered {
    /// It waits for others still, or for `ready`.
    Waits,
    /// It is `Ready`, and the caller's to put into its list.
    Ready,
    /// It was cancelled, or is a milestone, and is now the caller's to end.
    Over,
}

impl<T, L: Layout> Shed<T, L> {
    /// Lowers the in-degree of a successor: `by` of its predecessors have ended.
    #[inline(always)]
    pub(crate) fn lower(&self, successor: u32, how: How, by: u32) -> Lowered {
        let word = &self.memory.slot(successor).state;
        let seen = State(word.load(Ordering::Relaxed));
        if seen.is(Status::Idle) && how == How::Complete && seen.in_degree() > by {
            let new = seen.with_in_degree(seen.in_degree() - by).mark();
            // Ordering: as in `lower_slow`.
            if word.compare_exchange(seen.0, new.0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Lowered::Waits;
            }
        }
        self.lower_slow(successor, how, by)
    }

    #[cold]
    fn lower_slow(&self, successor: u32, how: How, by: u32) -> Lowered {
        let word = &self.memory.slot(successor).state;
        let mut seen = State(word.load(Ordering::Relaxed));
        loop {
            let Some(left) = seen.in_degree().checked_sub(by) else {
                abort_with("a task of the shed was told of more ends than it waits for");
            };
            let (new, lowered) = match (seen.status(), how) {
                (Status::Idle, _) if left > 0 => {
                    let new = seen.with_in_degree(left);
                    (if how == How::Complete { new.mark() } else { new }, Lowered::Waits)
                }
                (Status::Idle, How::Complete) if self.is_milestone(successor) => {
                    // From here on it is this thread's, whatever others do with guessed names.
                    (seen.to(Status::Freeing), Lowered::Over)
                }
                (Status::Idle, How::Complete) => (seen.to(Status::Ready), Lowered::Ready),
                // Without this dependency, the last of the others would have made it ready.
                (Status::Idle, _) if seen.marked() => (seen.to(Status::Ready), Lowered::Ready),
                (Status::Idle, _) => (seen.with_in_degree(0), Lowered::Waits),
                (Status::Cancelled, _) => {
                    let lowered = if left == 0 { Lowered::Over } else { Lowered::Waits };
                    (seen.with_in_degree(left), lowered)
                }
                _ => abort_with("a task of the shed runs before what it depends on has ended"),
            };
            // Ordering: Release and Acquire. The thread that lowers the in-degree last sees all
            // that the predecessors did, and so does the thread that executes the successor.
            match word.compare_exchange_weak(seen.0, new.0, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return lowered,
                Err(now) => seen = State(now),
            }
        }
    }

    /// Cancels a task whose predecessor was cancelled. `true`: this call did so, and its caller
    /// owns the payload until it lowers the in-degree.
    pub(crate) fn cancel_dependent(&self, successor: u32) -> bool {
        let word = &self.memory.slot(successor).state;
        let mut seen = State(word.load(Ordering::Relaxed));
        // It waits for the caller, so it is idle, or cancelled already.
        while seen.is(Status::Idle) {
            // Ordering: Acquire, with the Release of `create`, for the payload.
            match word.compare_exchange_weak(
                seen.0,
                seen.to(Status::Cancelled).with_in_degree(seen.in_degree()).0,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => seen = State(now),
            }
        }
        false
    }
}
