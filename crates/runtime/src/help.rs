//! Helping: while a task that keeps its thread waits, it runs the work that it waits for.
//!
//! In a runtime that [keeps threads](crate::Builder::keep_threads), unrelated work must not run on
//! top of a wait: it may need a lock that a frame below holds. Work *under* the wait may run. The
//! wait cannot end without it in any case, so no new dependency arises.
//!
//! The chain of activations shows what is under a wait. Each [`Running`] names the piece of work
//! that it runs (`what`) and the activation that waits for it (`caller`). A thief reads the tag of
//! a join stack, which is the activation that its jobs belong to, and follows the chain from there.
//! It does so under the stack's lock, while the stack has a job that the owner cannot pop. So the
//! job's frame stays valid, and each activation of the chain too, because each waits for the next.
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

/// Most links of the chain that a thief follows under a victim's lock. Deeper work is left to
/// others.
const LINKS: usize = 32;
/// Rounds of search between two readings of the clock, and between two yields.
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
    /// Whether each worker has a share. Two workers may wait for each other's shares, so the waiter
    /// runs every share and every call that arrives, and what its worker has queued before.
    shares: bool,
}

impl Under {
    /// Every call and every share.
    const ANYTHING: Self = Self { pieces: 0..0, shares: true };

    /// The `pieces`. The caller always waits until all of them are done.
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
    /// `activation` is null or stays valid until this returns, as does each activation that waits
    /// for it.
    unsafe fn covers(&self, activation: *const Running) -> bool {
        // SAFETY: by contract.
        unsafe { leads_to(activation, &self.pieces) }
    }
}

/// Whether the work of `activation` is one of the `pieces`, or under one.
///
/// # Safety
/// `activation` is null or stays valid until this returns, as does each activation that waits for
/// it.
pub(crate) unsafe fn leads_to(mut activation: *const Running, pieces: &Range<usize>) -> bool {
    for _ in 0..LINKS {
        if activation.is_null() {
            break;
        }
        // SAFETY: by contract. These two fields never change.
        let (what, caller) = unsafe { ((*activation).what, (*activation).caller) };
        if pieces.contains(&what.addr()) {
            return true;
        }
        activation = caller;
    }
    false
}

/// Waits briefly for `latch`, which is set when the pieces `under` it are done. A task that keeps
/// its thread in a runtime of that kind helps meanwhile.
pub(crate) fn spin(latch: &Latch<Fiber>, under: &Under) {
    match here() {
        Some((worker, fiber)) if fiber.helps() => worker.help_until(fiber, latch, under),
        _ => spin_for(latch),
    }
    if !latch.is_done() {
        trace::waits_for_stolen();
    }
}

/// [`spin`] that computes what is under the wait only if the caller helps.
pub(crate) fn spin_for_scope(latch: &Latch<Fiber>, under: impl FnOnce() -> Under) {
    match here() {
        Some((worker, fiber)) if fiber.helps() => worker.help_until(fiber, latch, &under()),
        _ => spin_for(latch),
    }
}

/// Helps once at the end of a wait, if the caller may. Returns whether it did.
pub(crate) fn once(under: &Under) -> bool {
    helper().is_some_and(|(worker, fiber)| worker.help_again(fiber, under))
}

/// [`once`] that computes what is under the wait only if the caller helps.
pub(crate) fn once_for_scope(under: impl FnOnce() -> Under) -> bool {
    helper().is_some_and(|(worker, fiber)| worker.help_again(fiber, &under()))
}

/// The caller, if it is a task that helps.
fn helper() -> Option<(&'static Owner, &'static Fiber)> {
    here().filter(|(_, fiber)| fiber.helps())
}

/// Begins a wait that calls [`once`] and [`park`] but not [`spin`].
pub(crate) fn begin() {
    helper().inspect(|(_, fiber)| fiber.begin_helping());
}

/// Parks the caller, who waits for a call. If the caller helps, it returns when there may be
/// something to help with. The call runs on `target`, or else on a thread that is not a worker.
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
    /// Helps until `latch` is set, or until it has found nothing for as long as an idle worker
    /// searches.
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

    /// [`Owner::help`] between two sleeps. A victim in a long computation answers no request, so
    /// its branches are made public without its help.
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

    /// Sleeps in a wait that has nothing to help with, for work that `target` runs. In a standoff
    /// it runs any call instead.
    #[cold]
    pub(crate) fn nap(&self, fiber: &Fiber, target: Option<&Shared>) {
        if target.is_some_and(Shared::is_orphan) {
            // The threads that could run it stayed in the parent process.
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

    /// Runs the next entry of the worker's own queue, because the share of a broadcast comes after
    /// these.
    fn run_queued(&self, fiber: &Fiber) -> bool {
        let queued = self.take_from_policy();
        queued.is_some_and(|entry| {
            fiber.unhindered(|| self.execute(fiber, entry));
            true
        })
    }

    /// Takes a call from elsewhere, a share of a broadcast or scope, or a job of a scope that a
    /// task of another runtime has opened here.
    fn take_called(&self, under: &Under) -> Option<Taken> {
        // SAFETY: here and below, the list keeps the job. Calls and shares are `CalledJob`s, so the
        // field that is read exists. The caller waits for the job, and so does each one further up.
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
            // SAFETY: the queue keeps the job. If this returns an opener, the scope waits for the
            // job.
            Work::Scoped(job) => unsafe { crate::scope::share_opener(job) }
                // SAFETY: the opener waits for its scope, and so does each further up.
                .is_some_and(|opener| under.shares || unsafe { under.covers(opener) }),
            _ => false,
        };
        let called = self.shared().aside.take_called(call);
        let taken = called.or_else(|| self.take_pinned(share)).map(Taken::Entry);
        #[cfg(feature = "compat")]
        let taken = taken.or_else(|| {
            // SAFETY: the opener is in the frame of its scope, and each one further up waits.
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
        // SAFETY: the tag is an activation. It waits for the job that the lock keeps there, and so
        // does each one further up.
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

    /// Whether it may run something on top: it is not unwinding, and more than half of its stack is
    /// left.
    fn may_help(&self) -> bool {
        !thread::panicking() && self.has_half_left()
    }
}
