//! What a task that keeps its thread runs while it waits: only what it waits for.
//!
//! In a runtime that [keeps threads](crate::Builder::keep_threads), unrelated work must not run on
//! top of a wait: it might want a lock that a frame below holds. Work *under* the wait may. Its end
//! is needed for the end of the wait in any case, so no new dependency arises.
//!
//! What is under a wait shows in the chain of activations: each [`Running`] says which piece of
//! work it is (`what`), and which activation waits for it (`caller`). A thief reads the tag of a
//! join stack, which is the activation that its jobs belong to, and climbs from there. It does so
//! under the stack's lock, with a job there that the owner can not pop. So the job's frame is
//! there, and with it each activation of the chain, because each waits for the next.
//!
//! Proof: `README.md`, "Helping".

use crate::context::here;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::forked;
use crate::idle::Private;
use crate::join_stack::Job;
use crate::latch::Latch;
use crate::offer;
use crate::runtime::CalledJob;
use crate::shared::Shared;
use crate::standoff;
use crate::task::Running;
use crate::trace;
use crate::worker::{HUNGRY, Owner, spin_for};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{spin_loop, thread};
use sateen_base::tsc;
use std::ops::Range;

/// Links of the chain that a thief climbs under a victim's lock. Deeper work is left to others.
const LINKS: usize = 32;
/// Rounds of search between two looks at the clock, and between two yields.
const ROUNDS_PER_LOOK: u32 = 4;
const ROUNDS_PER_YIELD: u32 = 8;
/// Pauses between two rounds.
const PAUSES: u32 = 8;
/// How long a victim may leave a request unanswered.
const ANSWER_TIMEOUT: Duration = Duration::from_micros(5);

/// The work under a wait.
pub(crate) struct Under {
    /// The addresses of the pieces that the waiter waits for.
    pieces: Range<usize>,
    /// Each worker has a share. Two workers may wait for a share of each other's, so the waiter
    /// runs each share and each call that comes, and what its worker has queued before.
    shares: bool,
}

impl Under {
    /// Each call, each share.
    const ANYTHING: Self = Self { pieces: 0..0, shares: true };

    /// The `pieces`, which the caller waits for until all are done, whatever happens.
    pub(crate) fn pieces<T>(pieces: &[T]) -> Self {
        let range = pieces.as_ptr_range();
        Self { pieces: range.start.addr()..range.end.addr(), shares: false }
    }

    /// The pieces of a broadcast.
    pub(crate) fn shares<T>(pieces: &[T]) -> Self {
        Self::pieces(pieces).with_shares(true)
    }

    /// A scope that may have `shares`.
    pub(crate) fn with_shares(self, shares: bool) -> Self {
        Self { shares, ..self }
    }

    /// One piece.
    pub(crate) fn piece<T>(piece: &T) -> Self {
        Self::pieces(std::slice::from_ref(piece))
    }

    /// Whether the work of `activation` is under the wait.
    ///
    /// # Safety
    /// It is null, or it stays until this returns, as does each one that waits for it.
    unsafe fn covers(&self, activation: *const Running) -> bool {
        // SAFETY: by contract.
        unsafe { leads_to(activation, &self.pieces) }
    }
}

/// Whether the work of `activation` is one of the `pieces`, or under one.
///
/// # Safety
/// It is null, or it stays until this returns, as does each one that waits for it.
pub(crate) unsafe fn leads_to(mut activation: *const Running, pieces: &Range<usize>) -> bool {
    for _ in 0..LINKS {
        if activation.is_null() {
            break;
        }
        // SAFETY: by contract. These two do not change.
        let (what, caller) = unsafe { ((*activation).what, (*activation).caller) };
        if pieces.contains(&what.addr()) {
            return true;
        }
        activation = caller;
    }
    false
}

/// Waits briefly for `latch`, for the end of the pieces `under` it. A task that keeps its thread in
/// a runtime made for that helps meanwhile.
pub(crate) fn spin(latch: &Latch<Fiber>, under: &Under) {
    match here() {
        Some((worker, fiber)) if fiber.helps() => worker.help_until(fiber, latch, under),
        _ => spin_for(latch),
    }
    if !latch.is_done() {
        trace::waits_for_stolen();
    }
}

/// [`spin`] for a wait that says only to a helper what is under it.
pub(crate) fn spin_for_scope(latch: &Latch<Fiber>, under: impl FnOnce() -> Under) {
    match here() {
        Some((worker, fiber)) if fiber.helps() => worker.help_until(fiber, latch, &under()),
        _ => spin_for(latch),
    }
}

/// For the end of a wait: helps once, if the caller may. Returns whether it did.
pub(crate) fn once(under: &Under) -> bool {
    helper().is_some_and(|(worker, fiber)| worker.help_again(fiber, under))
}

/// [`once`] for a wait that says only to a helper what is under it.
pub(crate) fn once_for_scope(under: impl FnOnce() -> Under) -> bool {
    helper().is_some_and(|(worker, fiber)| worker.help_again(fiber, &under()))
}

/// The caller, if it is a task that helps.
fn helper() -> Option<(&'static Owner, &'static Fiber)> {
    here().filter(|(_, fiber)| fiber.helps())
}

/// A wait begins in which [`once`] and [`park`] are called, and not [`spin`].
pub(crate) fn begin() {
    helper().inspect(|(_, fiber)| fiber.begin_helping());
}

/// Parks the caller, who waits for a call: if it helps, until something may have come to help with.
/// The call runs on `target`, or else on a thread that is no worker.
pub(crate) fn park(target: Option<&Shared>) {
    match helper() {
        Some((worker, fiber)) => worker.nap(fiber, target),
        None => sateen_sync::park::park(),
    }
}

/// Something to run on top of a wait.
enum Taken {
    Entry(Entry),
    #[cfg(feature = "compat")]
    Job(crate::compat::Unstarted),
}

impl Owner {
    /// Helps until `latch` is set, or until there has been nothing to help with for as long as an
    /// idle worker searches.
    #[cold]
    fn help_until(&self, fiber: &Fiber, latch: &Latch<Fiber>, under: &Under) {
        fiber.begin_helping();
        let shared = self.shared();
        let ticks = if shared.sleep.lacks_cores() { 0 } else { shared.spin_ticks };
        let mut timeout = tsc::ticks(ANSWER_TIMEOUT);
        let (mut since, mut rounds) = (tsc::now(), 0u32);
        while !latch.is_done() {
            if self.help(fiber, under) {
                (since, rounds) = (tsc::now(), 0);
                continue;
            }
            rounds += 1;
            if rounds.is_multiple_of(ROUNDS_PER_LOOK) {
                let waited = tsc::now().saturating_sub(since);
                if waited > timeout {
                    timeout = u64::MAX;
                    self.force_others();
                }
                if waited > ticks {
                    return;
                }
            }
            if rounds.is_multiple_of(ROUNDS_PER_YIELD) {
                thread::yield_now();
            }
            for _ in 0..PAUSES {
                if latch.is_done() {
                    return;
                }
                spin_loop();
            }
        }
    }

    /// [`Owner::help`] between two sleeps. A victim that computes for long answers no request, so
    /// its branches are made public without it.
    fn help_again(&self, fiber: &Fiber, under: &Under) -> bool {
        self.help(fiber, under)
            || (self.force_others() == Private::Published && self.help(fiber, under))
    }

    /// Runs one piece of work that is `under` the caller's wait, if there is one.
    #[cold]
    fn help(&self, fiber: &Fiber, under: &Under) -> bool {
        fiber.waits_for_pieces(&under.pieces);
        if !fiber.may_help() {
            return false;
        }
        if under.shares && self.run_queued(fiber) {
            return true;
        }
        match self.take_called(under) {
            Some(taken) => {
                self.run_taken(fiber, taken);
                true
            }
            None => self.help_with_branch(fiber, under),
        }
    }

    /// Sleeps in a wait in which there is nothing to help with, for work that `target` runs. In a
    /// standoff it runs a call instead, whatever that is.
    #[cold]
    pub(crate) fn nap(&self, fiber: &Fiber, target: Option<&Shared>) {
        if target.is_some_and(Shared::is_orphan) {
            // What could run it was left in the parent.
            forked::end_process();
        }
        let Some((target, patience)) = target.zip(fiber.patience()) else { return fiber.nap() };
        let anything = || fiber.may_help().then(|| self.take_called(&Under::ANYTHING))?;
        let (patience, taken) = standoff::enter(self, fiber, target, patience, anything);
        fiber.set_patience(patience);
        match taken {
            Some(taken) => self.run_taken(fiber, taken),
            None => {
                fiber.nap();
                standoff::leave(self);
            }
        }
    }

    /// Runs the next piece of the worker's own queue: the share of a broadcast comes after these.
    fn run_queued(&self, fiber: &Fiber) -> bool {
        let queued = self.take_from_policy();
        queued.is_some_and(|entry| {
            fiber.unhindered(|| self.execute(fiber, entry));
            true
        })
    }

    /// Takes a call from elsewhere, a share of a broadcast or of a scope, or a job of a scope that
    /// a task of another runtime has opened here.
    fn take_called(&self, under: &Under) -> Option<Taken> {
        // SAFETY: here and below, the list keeps the job, and starts with what is read: calls and
        // shares come in as `CalledJob`s. Its caller waits for it, and so does each further up.
        let covers = |job: *const Job| unsafe { under.covers(CalledJob::caller_of(job)) };
        let call = |entry: Entry| match entry.decode() {
            Work::Job(job) => under.shares || covers(job),
            _ => false,
        };
        let share = |entry: Entry| match entry.decode() {
            Work::Here(job) => {
                // SAFETY: as for `covers`.
                under.shares
                    || under.pieces.contains(&unsafe { CalledJob::piece_of(job) })
                    || covers(job)
            }
            // SAFETY: the queue keeps the job. Its scope waits for it if this says who opened it.
            Work::Scoped(job) => unsafe { crate::scope::share_opener(job) }
                // SAFETY: the opener waits for its scope, and so does each further up.
                .is_some_and(|opener| under.shares || unsafe { under.covers(opener) }),
            _ => false,
        };
        let called = self.shared().aside.take_called(call);
        let taken = called.or_else(|| self.take_pinned(share)).map(Taken::Entry);
        #[cfg(feature = "compat")]
        let taken = taken.or_else(|| {
            // SAFETY: the opener is in the frame of its scope, and each further up waits.
            let wanted = |opener| under.shares || unsafe { under.covers(opener) };
            self.shared().outside_scopes.take(wanted).map(Taken::Job)
        });
        taken
    }

    /// Runs what was taken, on top of the wait.
    fn run_taken(&self, fiber: &Fiber, taken: Taken) {
        fiber.unhindered(|| match taken {
            Taken::Entry(entry) => self.execute(fiber, entry),
            #[cfg(feature = "compat")]
            Taken::Job(job) => {
                self.counters.taken.bump();
                self.note_started();
                job.run();
            }
        });
    }

    /// Runs one job of another worker's join stack.
    fn help_with_branch(&self, fiber: &Fiber, under: &Under) -> bool {
        // SAFETY: the tag is an activation. It waits for the job that the lock keeps there, as does
        // each one further up.
        let wanted = |tag: *const ()| unsafe { under.covers(tag.cast()) };
        let workers = &self.shared().workers;
        let count = workers.len();
        let start = self.random(count);
        for i in 0..count {
            let victim = workers.get((start + i) % count);
            let Some(victim) = victim.filter(|victim| victim.index() != self.index()) else {
                continue;
            };
            let stolen = victim.current_fiber().and_then(|running| {
                offer::steal_if(running.join_stack(), victim.requests(), wanted)
            });
            let Some((job, caller)) = stolen else {
                victim.request(HUNGRY);
                continue;
            };
            self.counters.branches_stolen.bump();
            trace::stole_branch(self, victim.index());
            fiber.unhindered(|| {
                // SAFETY: stolen, so ours to run, once; its caller waits until it has run.
                unsafe { Running::branch(fiber, caller.cast(), job.cast(), || ((*job).run)(job)) };
            });
            return true;
        }
        false
    }
}

impl Fiber {
    /// Whether it helps while it waits.
    #[inline]
    pub(crate) fn helps(&self) -> bool {
        self.keeps_thread() && self.shared().keeps_threads
    }

    /// Whether it may run something on top: it does not unwind, and more than half of its stack is
    /// left.
    fn may_help(&self) -> bool {
        !thread::panicking() && self.has_half_left()
    }
}
