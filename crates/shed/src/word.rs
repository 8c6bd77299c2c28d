//! The packed words: what a task is doing, and who waits for it.

use sateen_base::canary;

/// What a task is doing: three bits of its [`State`].
///
/// | Status | Meaning | Left by |
/// |---|---|---|
/// | `Free` | no task | `create` → `Idle` |
/// | `Idle` | created; waits for `pending` others, or, at 0, for `ready` | `ready`, or the last it waits for → `Ready` (a milestone: `Freeing`); `cancel` → `Cancelled`; `free` → `Freeing` |
/// | `Ready` | in the list of its channel, or in the hands of who is about to put it there | execute → `Running`; `cancel` → `Cancelled` |
/// | `Running` | in a caller's hands; `pending` is the runner's number, if that can tell who calls | its end → `Free` (kept tasks: `Done`); blocked → `Blocked`, or `Ready` if it was woken meanwhile |
/// | `Blocked` | has run and waits for `ready` | `ready` → `Ready`; `cancel` → `Cancelled` |
/// | `Cancelled` | will not run; its place is kept while it waits for `pending` others or lies in a list (counted as one) | the last of them → `Free` (kept: `Done`) |
/// | `Done` | a kept task that has ended, until its template starts again | the template → `Idle`, or `Free` |
/// | `Freeing` | in the hands of `free`, or, for a milestone, of who ends it | → `Free`; `Done` |
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
/// | 63..32 | generation: goes up by one when the task's place is freed |
/// | 31..29 | [`Status`] |
/// | 28 | linked: something may depend on it, so its end looks at [`Dependents`] |
/// | 27 | mark. `Idle`: something it depended on has ended (a removed dependency then leaves it ready, not idle); `Ready`: was blocked before; `Running`: woken, so that blocking makes it ready at once; `Done`: ended by being cancelled |
/// | 26 | poisoned, for kept tasks, from `Running` until `Done`: who depends on it is to be cancelled when it ends. For an instance's milestone: nobody has the instance any more |
/// | 25..0 | pending: how many it waits for; `Running`: who runs it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(pub(crate) u64);

impl State {
    pub(crate) const MOST_PENDING: u32 = (1 << 26) - 1;
    /// Most others that a task waits for: one more is counted while it is being cancelled.
    pub(crate) const MOST_OPEN: u32 = Self::MOST_PENDING - 1;
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

    /// The same task (linked or not, poisoned or not) with another status, nothing pending and no mark.
    #[inline(always)]
    pub(crate) const fn to(self, status: Status) -> Self {
        Self(self.0 & (!0 << 32 | Self::LINKED | Self::POISONED) | (status as u64) << 29)
    }

    /// With another status, all else as it is.
    #[inline(always)]
    pub(crate) const fn with_status(self, status: Status) -> Self {
        Self(self.0 & !(7 << 29) | (status as u64) << 29)
    }

    #[inline(always)]
    pub(crate) const fn pending(self) -> u32 {
        self.0 as u32 & Self::MOST_PENDING
    }

    /// With `pending` others to wait for, or, for a running task, run by `pending`.
    #[inline(always)]
    pub(crate) const fn with_pending(self, pending: u32) -> Self {
        debug_assert!(pending <= Self::MOST_PENDING);
        Self(self.0 & !(Self::MOST_PENDING as u64) | pending as u64)
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

/// Who depends on a task: a list of dependencies, pushed to by `depend`, taken whole by who ends the task.
///
/// | Bits | Field |
/// |---|---|
/// | 63..34 | the task's generation, its lower 30 bits: another's word counts as an empty list |
/// | 33 | poisoned: who depends on it is to be cancelled when it ends (kept tasks: [`State`] says so) |
/// | 32 | closed: the list has been taken; nothing can be added |
/// | 31..0 | first dependency of the list, plus one; 0 for none |
///
/// A word is not reset when a place gets a new task (that would touch a further cache line for each), only in each 2^29th generation: to
/// what the task before would have left. So a word of a task 2^30 earlier is never taken for this one's, and who looks at a
/// word and is overtaken by fewer than 2^30 generations never finds the same word there again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependents(pub(crate) u64);

impl Dependents {
    const GENERATION: u32 = (1 << 30) - 1;
    const CLOSED: u64 = 1 << 32;
    const POISONED: u64 = 1 << 33;

    #[inline(always)]
    pub(crate) const fn new(generation: u32, first: u32) -> Self {
        Self(((generation & Self::GENERATION) as u64) << 34 | first as u64)
    }

    #[inline(always)]
    pub(crate) const fn closed(generation: u32) -> Self {
        Self(Self::new(generation, 0).0 | Self::CLOSED)
    }

    /// Whether a place's words begin anew with this generation.
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
    pub(crate) const fn first(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn with_first(self, first: u32) -> Self {
        Self(self.0 & !0xFFFF_FFFF | first as u64)
    }
}

/// The first of a list of indices: the index plus one, 0 for none, under a tag that each push changes.
///
/// | Bits | Field |
/// |---|---|
/// | 63..32 | tag: counts what is pushed; who pops and was overtaken by pushes of 2^32 in all exactly, during one exchange, would go wrong |
/// | 31..0 | index of the first, plus one; all ones is a mark |
///
/// Marked is the outbox of a channel that hands out the oldest first, while one thread turns its inbox round (that thread's store ends it), and
/// for ever the inbox that a channel would have if it did.
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
    pub(crate) const fn first(self) -> u32 {
        self.0 as u32
    }

    /// How many were pushed since the word was 0, if only pushes changed it.
    #[inline(always)]
    pub(crate) const fn tag(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// After a push of `count`.
    #[inline(always)]
    pub(crate) fn pushed(self, first: u32, count: u32) -> Self {
        let step = if canary!("list-tag") {
            0
        } else if canary!("reserve_count") {
            1
        } else {
            count
        };
        Self((self.tag().wrapping_add(step) as u64) << 32 | first as u64)
    }

    /// After a pop.
    #[inline(always)]
    pub(crate) const fn popped(self, first: u32) -> Self {
        Self(self.0 >> 32 << 32 | first as u64)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_as_many_as_can_be_may_be_cancelled() {
        let state = State::new(7, Status::Idle).link().with_pending(State::MOST_OPEN);
        let cancelled = state.to(Status::Cancelled).with_pending(state.pending() + 1);
        assert!(cancelled.is(Status::Cancelled) && cancelled.linked() && !cancelled.poisoned());
        assert_eq!((cancelled.generation(), cancelled.pending()), (7, State::MOST_OPEN + 1));
    }
}
