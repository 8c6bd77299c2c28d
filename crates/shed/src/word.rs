//! The packed words: what a task is doing, what depends on it, and the head of a list.

use crate::index::OptIndex;

/// What a task is doing: three bits of its [`State`].
///
/// | Status | Meaning |
/// |---|---|
/// | `Free` | no task |
/// | `Idle` | created; waits for its predecessors, or, at in-degree 0, for `ready` |
/// | `Ready` | in its channel's list, or in the hands of the thread about to put it there |
/// | `Running` | in a caller's hands |
/// | `Blocked` | has run and waits for `ready` |
/// | `Cancelled` | will not run; waits for predecessors or lies in a list, which counts as one |
/// | `Done` | a kept task that has ended, until its template starts again |
/// | `Freeing` | in the hands of `free`, or, for a milestone, of the thread that ends it |
///
/// | Status | Left by |
/// |---|---|
/// | `Free` | `create` → `Idle` |
/// | `Idle` | `ready`, or the last predecessor's end → `Ready` (a milestone: `Freeing`) |
/// | `Idle` | `cancel` → `Cancelled`; `free` → `Freeing` |
/// | `Ready` | execute → `Running`; `cancel` → `Cancelled` |
/// | `Running` | its end → `Free` (kept tasks: `Done`) |
/// | `Running` | blocking → `Blocked`, or `Ready` if it was woken meanwhile |
/// | `Blocked` | `ready` → `Ready`; `cancel` → `Cancelled` |
/// | `Cancelled` | the last it waits for → `Free` (kept tasks: `Done`) |
/// | `Done` | the template → `Idle`, or `Free` |
/// | `Freeing` | its owner → `Free`; `Done` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    Free,
    Idle,
    Ready,
    Running,
    Blocked,
    Cancelled,
    Done,
    Freeing,
}

/// A task's state word.
///
/// | Bits | Field |
/// |---|---|
/// | 63..32 | generation: goes up by one when the task's slot is freed |
/// | 31..29 | [`Status`] |
/// | 28 | linked: something may depend on it, so its end looks at [`Dependents`] |
/// | 27 | mark, see below |
/// | 26 | poisoned, see below |
/// | 25..0 | in-degree: how many it waits for. `Running`: the runner's number |
///
/// The mark means:
///
/// | Status | Marked |
/// |---|---|
/// | `Idle` | a predecessor has ended: the task becomes ready if all others are removed |
/// | `Ready` | it was blocked before |
/// | `Running` | it was woken, so blocking makes it ready at once |
/// | `Done` | it ended by being cancelled |
///
/// Poisoned are kept tasks, from `Running` until `Done`, if their dependents are to be cancelled
/// when they end; and a milestone whose instance has been dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(pub(crate) u64);

impl State {
    pub(crate) const MAX_IN_DEGREE: u32 = (1 << 26) - 1;
    /// The most predecessors of a task: one more is counted while it is being cancelled.
    pub(crate) const MAX_PREDECESSORS: u32 = Self::MAX_IN_DEGREE - 1;
    const LINKED: u64 = 1 << 28;
    const MARK: u64 = 1 << 27;
    const POISONED: u64 = 1 << 26;
    const STATUS: [Status; 8] = [
        Status::Free,
        Status::Idle,
        Status::Ready,
        Status::Running,
        Status::Blocked,
        Status::Cancelled,
        Status::Done,
        Status::Freeing,
    ];

    #[inline(always)]
    pub(crate) const fn new(generation: u32, status: Status) -> Self {
        Self((generation as u64) << 32 | (status as u64) << 29)
    }

    #[inline(always)]
    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub(crate) const fn status(self) -> Status {
        Self::STATUS[(self.0 >> 29 & 7) as usize]
    }

    #[inline(always)]
    pub(crate) const fn is(self, status: Status) -> bool {
        self.0 >> 29 & 7 == status as u64
    }

    /// Whether this is that generation's task, idle, with nothing to wait for: one comparison.
    #[inline(always)]
    pub(crate) const fn is_idle(self, generation: u32) -> bool {
        self.0 & !Self::LINKED == Self::new(generation, Status::Idle).0
    }

    /// The same task, as linked and as poisoned, with another status, in-degree 0 and no mark.
    #[inline(always)]
    pub(crate) const fn to(self, status: Status) -> Self {
        Self(self.0 & (!0 << 32 | Self::LINKED | Self::POISONED) | (status as u64) << 29)
    }

    /// With another status, all else unchanged.
    #[inline(always)]
    pub(crate) const fn with_status(self, status: Status) -> Self {
        Self(self.0 & !(7 << 29) | (status as u64) << 29)
    }

    #[inline(always)]
    pub(crate) const fn in_degree(self) -> u32 {
        self.0 as u32 & Self::MAX_IN_DEGREE
    }

    /// In-degree: the task waits for this many predecessors. For a running task, the number of its
    /// runner.
    #[inline(always)]
    pub(crate) const fn with_in_degree(self, in_degree: u32) -> Self {
        debug_assert!(in_degree <= Self::MAX_IN_DEGREE);
        Self(self.0 & !(Self::MAX_IN_DEGREE as u64) | in_degree as u64)
    }

    #[inline(always)]
    pub(crate) const fn linked(self) -> bool {
        self.0 & Self::LINKED != 0
    }

    #[inline(always)]
    pub(crate) const fn link(self) -> Self {
        Self(self.0 | Self::LINKED)
    }

    #[inline(always)]
    pub(crate) const fn marked(self) -> bool {
        self.0 & Self::MARK != 0
    }

    #[inline(always)]
    pub(crate) const fn mark(self) -> Self {
        Self(self.0 | Self::MARK)
    }

    #[inline(always)]
    pub(crate) const fn poisoned(self) -> bool {
        self.0 & Self::POISONED != 0
    }

    #[inline(always)]
    pub(crate) const fn poison(self) -> Self {
        Self(self.0 | Self::POISONED)
    }
}

/// What depends on a task: a list of dependencies that `depend` pushes to, and that the thread
/// which ends the task takes whole.
///
/// | Bits | Field |
/// |---|---|
/// | 63..34 | lower 30 bits of the task's generation: another task's word is an empty list |
/// | 33 | poisoned: the task's end cancels the dependents (kept tasks: see [`State`]) |
/// | 32 | closed: the list has been taken, and nothing can be added |
/// | 31..0 | first dependency of the list |
///
/// A word is not reset when a slot gets a new task: that would touch one more cache line for each.
/// Only in each 2^29th generation it is set to what the task before would have left. So a task
/// never takes a word of 2^30 generations earlier for its own. And a thread that has read a word
/// never finds the same word there again after fewer than 2^30 generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependents(pub(crate) u64);

impl Dependents {
    const GENERATION: u32 = (1 << 30) - 1;
    const CLOSED: u64 = 1 << 32;
    const POISONED: u64 = 1 << 33;

    #[inline(always)]
    pub(crate) const fn new(generation: u32, first: OptIndex) -> Self {
        Self(((generation & Self::GENERATION) as u64) << 34 | first.to_bits() as u64)
    }

    #[inline(always)]
    pub(crate) const fn closed(generation: u32) -> Self {
        Self(Self::new(generation, OptIndex::NONE).0 | Self::CLOSED)
    }

    /// Whether the words of a slot start again with this generation.
    #[inline(always)]
    pub(crate) const fn begins_anew(generation: u32) -> bool {
        generation & (Self::GENERATION >> 1) == 0
    }

    #[inline(always)]
    pub(crate) const fn is_of(self, generation: u32) -> bool {
        self.0 >> 34 == (generation & Self::GENERATION) as u64
    }

    #[inline(always)]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    #[inline(always)]
    pub(crate) const fn is_poisoned(self) -> bool {
        self.0 & Self::POISONED != 0
    }

    #[inline(always)]
    pub(crate) const fn poison(self) -> Self {
        Self(self.0 | Self::POISONED)
    }

    #[inline(always)]
    pub(crate) const fn first(self) -> OptIndex {
        OptIndex::from_bits(self.0 as u32)
    }

    #[inline(always)]
    pub(crate) const fn with_first(self, first: u32) -> Self {
        Self(self.0 & !0xFFFF_FFFF | OptIndex::some(first).to_bits() as u64)
    }
}

/// The head of a list of indices, under a tag that each push changes.
///
/// | Bits | Field |
/// |---|---|
/// | 63..32 | tag: counts what is pushed. An exchange overtaken by exactly 2^32 would go wrong |
/// | 31..0 | the first index; all ones is a mark |
///
/// Two heads are marked. One is the outbox of a channel that hands out the oldest task first, while
/// a thread reverses its inbox: that thread's store removes the mark. The other is the inbox that
/// any other channel would have if it did so: it stays marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(pub(crate) u64);

impl Head {
    const MARK: u64 = 0xFFFF_FFFF;

    #[inline(always)]
    pub(crate) const fn is_marked(self) -> bool {
        self.0 & Self::MARK == Self::MARK
    }

    #[inline(always)]
    pub(crate) const fn marked(self) -> Self {
        Self(self.0 | Self::MARK)
    }

    #[inline(always)]
    pub(crate) const fn first(self) -> OptIndex {
        OptIndex::from_bits(self.0 as u32)
    }

    /// How many were pushed since the word was 0, if only pushes changed it.
    #[inline(always)]
    pub(crate) const fn tag(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// After a push of `count`, of which `first` is first.
    #[inline(always)]
    pub(crate) fn pushed(self, first: OptIndex, count: u32) -> Self {
        Self((self.tag().wrapping_add(count) as u64) << 32 | first.to_bits() as u64)
    }

    /// After a pop that left `first` as the first.
    #[inline(always)]
    pub(crate) const fn popped(self, first: OptIndex) -> Self {
        Self(self.0 >> 32 << 32 | first.to_bits() as u64)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_most_predecessors_can_be_cancelled() {
        let state = State::new(7, Status::Idle).link().with_in_degree(State::MAX_PREDECESSORS);
        let cancelled = state.to(Status::Cancelled).with_in_degree(state.in_degree() + 1);
        assert!(cancelled.is(Status::Cancelled) && cancelled.linked() && !cancelled.poisoned());
        assert_eq!(cancelled.generation(), 7);
        assert_eq!(cancelled.in_degree(), State::MAX_PREDECESSORS + 1);
    }
}
