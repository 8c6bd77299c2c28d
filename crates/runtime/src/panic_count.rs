//! A panic count for each fiber, on top of the standard library's count for each thread.
//!
//! [`panicking`](std::thread::panicking) tells whether more panics have begun on the calling thread
//! than were caught there. A fiber that waits in a destructor while it unwinds leaves its panic in
//! that count. Then locks held by other fibers of the thread are not poisoned when those panic, and
//! no code can tell whether a cancelled task may unwind. So the fiber takes its panics off the
//! count when it leaves the thread, and puts them back when it returns.
//!
//! The standard library has no call for that. It counts a panic where it begins, and uncounts it
//! where it is caught. A [`Raised`] is a panic on a stack of its own, stopped in a destructor. The
//! thread that began it has counted it; the thread that lets it continue will uncount it.
//!
//! | to | do |
//! |---|---|
//! | take a panic off the count | let a raised one continue that another thread has begun |
//! | put it back | begin one, which is then a raised one |
//! | keep few of them | the *bank*, a thread, begins them if none is left, and ends the surplus |
//!
//! Why the counts are right:
//!
//! 1. Each raised panic has been counted by a thread and not yet uncounted.
//! 2. A worker lets one continue only while its own count is above zero. The fiber whose panic that
//!    is does not run until the worker has put one back.
//! 3. So when that fiber catches its panic, it uncounts what putting it back has counted.
//! 4. The workers' changes thus add up to the fibers' own panics. Further raised panics are in the
//!    bank's count, which lets no more continue than it has begun.
//!
//! Putting back cannot fail: it needs a stack, and the earlier removal has left one behind. That
//! stack is in the bank or under a raised panic, and in the second case the bank lets that panic
//! continue.
//!
//! Several threads share only the bank, with one lock and one condition variable. The counts are
//! the standard library's, one for each thread, and only that thread changes its own. A forked
//! process has its own bank, because the thread of its parent's bank is missing. Panics raised in
//! the parent are lost to the child, so there putting back may need a new stack.

use crate::announce::{self, Announced};
use crate::unwind::CAN_UNWIND;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::thread;
use sateen_base::prim::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of stack for a panic that is begun and caught.
const STACK: usize = 64 * 1024;

/// How many are begun at a time.
const BATCH: usize = 8;
/// The most that are kept in reserve.
const MOST: usize = 2 * BATCH;
/// How long the reserve is kept. While it is not empty, each `panicking` takes a little longer.
const KEEP: Duration = Duration::from_millis(100);

/// A panic that has begun and is stopped in a destructor. It must not be dropped, which would
/// unwind it.
struct Raised(Coroutine<(), (), (), DefaultStack>, Announced);

// SAFETY: its stack holds the frames of `body` and `raise`, and of the unwinder between them. The
// former use nothing of the thread's. The unwinder has read the thread's count before, in `raise`,
// and changes it in `body`.
unsafe impl Send for Raised {}

impl Raised {
    /// Begins one, counted by the calling thread.
    fn new(stack: DefaultStack) -> Self {
        let mut raised = Self(Coroutine::with_stack(stack, body), Announced::new());
        match raised.resume() {
            CoroutineResult::Yield(()) => raised,
            CoroutineResult::Return(()) => sateen_base::abort_with("a panic did not stop"),
        }
    }

    /// Ends it, uncounted by the calling thread.
    fn lower(mut self) -> DefaultStack {
        match self.resume() {
            CoroutineResult::Yield(()) => sateen_base::abort_with("a panic stopped twice"),
            CoroutineResult::Return(()) => self.0.into_stack(),
        }
    }

    fn resume(&mut self) -> CoroutineResult<(), ()> {
        let Self(coroutine, known) = self;
        known.resume(|| coroutine.resume(()))
    }
}

/// Only the catch inside may use thread-locals: the compiler could keep their addresses.
#[inline(never)]
fn body(yielder: &Yielder<(), ()>, (): ()) {
    drop(catch_unwind(AssertUnwindSafe(|| raise(yielder))));
    announce::back();
}

#[inline(never)]
fn raise(yielder: &Yielder<(), ()>) -> ! {
    struct Stop<'a>(&'a Yielder<(), ()>);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            announce::back();
            self.0.suspend(());
        }
    }
    let _stop = Stop(yielder);
    // Without the panic hook, and without an allocation for the payload.
    resume_unwind(Box::new(()))
}

#[derive(Default)]
struct Bank {
    state: Mutex<State>,
    /// Notified when the bank's thread has something to do, or has done it.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_open: bool,
    raised: Vec<Raised>,
    stacks: Vec<DefaultStack>,
    /// A thread waits for a raised panic.
    wants_raised: bool,
    /// A thread waits for a stack.
    wants_stack: bool,
}

impl Bank {
    /// The bank of this process. Its thread may not have been started yet.
    fn of_this_process() -> &'static Self {
        static BANK: PerProcess<Bank> = PerProcess::new();
        BANK.get(Self::default)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a raised panic; `None` if there is no memory or thread for one.
    fn withdraw(&'static self) -> Option<Raised> {
        let mut state = self.lock();
        if !state.is_open {
            let name = Some("sateen-panics".to_owned());
            os::start_thread(name, None, Box::new(move || self.serve())).ok()?;
            state.is_open = true;
        }
        loop {
            if let Some(raised) = state.raised.pop() {
                return Some(raised);
            }
            if state.stacks.is_empty() {
                state.stacks.push(DefaultStack::new(STACK).ok()?);
            }
            state.wants_raised = true;
            self.changed.notify_all();
            state = self.wait(state);
        }
    }

    /// Deposits a panic that the caller has raised.
    fn deposit(&self, raised: Raised) {
        let mut state = self.lock();
        state.raised.push(raised);
        // Wakes threads that want a stack, and the bank, whose reserve has changed.
        self.changed.notify_all();
    }

    /// Takes a stack. There is one for each thread that has left one here.
    fn take_stack(&self) -> DefaultStack {
        let mut state = self.lock();
        loop {
            if let Some(stack) = state.stacks.pop().or_else(|| DefaultStack::new(STACK).ok()) {
                return stack;
            }
            if !state.is_open {
                sateen_base::abort_with(
                    "no memory for a panic that was begun before the process forked",
                );
            }
            state.wants_stack = true;
            self.changed.notify_all();
            state = self.wait(state);
        }
    }

    fn leave_stack(&self, stack: DefaultStack) {
        let mut state = self.lock();
        if state.stacks.len() < MOST {
            state.stacks.push(stack);
            self.changed.notify_all();
        }
    }

    /// The main loop of the bank's thread. Its own count is the number of raised panics beyond
    /// those of fibers.
    fn serve(&self) {
        let mut count = 0_usize;
        let mut state = self.lock();
        loop {
            if state.wants_raised && state.raised.is_empty() {
                let some = state.stacks.len().min(BATCH);
                let stacks: Vec<_> = state.stacks.drain(..some).collect();
                drop(state);
                let raised: Vec<_> = stacks.into_iter().map(Raised::new).collect();
                count += raised.len();
                state = self.lock();
                state.raised.extend(raised);
                state.wants_raised = false;
                self.changed.notify_all();
                continue;
            }
            let surplus = state.wants_stack && state.stacks.is_empty() || state.raised.len() > MOST;
            if surplus && count > 0 && !state.raised.is_empty() {
                count -= self.lower_one(&mut state);
                continue;
            }
            if state.raised.is_empty() {
                state = self.wait(state);
                continue;
            }
            let waited = self.changed.wait_timeout(state, KEEP);
            let over;
            (state, over) = waited.unwrap_or_else(PoisonError::into_inner);
            while over.timed_out() && count > 0 && !state.raised.is_empty() {
                count -= self.lower_one(&mut state);
            }
        }
    }

    /// Lets one panic continue. On the bank's thread only.
    fn lower_one(&self, state: &mut State) -> usize {
        let Some(raised) = state.raised.pop() else { return 0 };
        state.stacks.push(raised.lower());
        state.wants_stack = false;
        self.changed.notify_all();
        1
    }
}

/// The number of the calling thread's panics that were taken off its count.
#[must_use]
pub(crate) struct Hidden(usize);

impl Hidden {
    /// Takes all panics off the count. If there is no memory or thread for that, they stay, and
    /// other fibers on the thread appear to panic.
    #[inline]
    pub(crate) fn take() -> Self {
        let mut hidden = Self(0);
        // If unwinding is impossible, it is a panic hook that waits. Raising a panic would end the
        // process before the hook has printed its own.
        if CAN_UNWIND && thread::panicking() {
            hidden.take_slow();
        }
        hidden
    }

    #[cold]
    fn take_slow(&mut self) {
        while thread::panicking() {
            let bank = Bank::of_this_process();
            let Some(raised) = bank.withdraw() else { return };
            bank.leave_stack(raised.lower());
            self.0 += 1;
        }
    }

    /// Puts them back, on the same thread.
    #[inline]
    pub(crate) fn put_back(self) {
        for _ in 0..self.0 {
            let bank = Bank::of_this_process();
            bank.deposit(Raised::new(bank.take_stack()));
        }
    }
}
