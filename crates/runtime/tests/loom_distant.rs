//! Models of a loop's half on offer: it runs once, on its thief or on its owner, and its owner has
//! it back whole, with what the thief made of it or with the thief's panic.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use sateen_runtime::models::distant::Distant;
use sateen_runtime::models::join_stack::{JoinStack, Slot};
use sateen_runtime::models::latch::Waiter;
use sateen_runtime::models::offer;
use sateen_runtime::models::request_word::{HUNGRY, RequestWord};
use sateen_runtime::models::sleepers::Sleepers;
use sateen_testkit::model;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A fiber that parks by a condition variable.
struct Parker {
    token: Mutex<bool>,
    wakeup: Condvar,
}

impl Waiter for Parker {
    fn park(&self) {
        let mut token = self.token.lock().unwrap();
        while !*token {
            token = self.wakeup.wait(token).unwrap();
        }
        *token = false;
    }

    fn unpark(&self) {
        *self.token.lock().unwrap() = true;
        self.wakeup.notify_one();
    }
}

/// What the model's user code panics with.
#[derive(Debug, PartialEq, Eq)]
struct Wanted(&'static str);

/// As in `par/lazy.rs`: what has become of the half.
#[derive(Debug, PartialEq, Eq)]
enum Half {
    Left,
    Taken,
    /// The thief works it off, or has panicked.
    Gone,
}

/// The half in its owner's frame. The model checks each access to it.
struct Offered {
    half: UnsafeCell<Half>,
    thief_panics: bool,
    runs: AtomicUsize,
}

impl Offered {
    fn new(thief_panics: bool) -> Self {
        Self { half: UnsafeCell::new(Half::Left), thief_panics, runs: AtomicUsize::new(0) }
    }

    /// As `Offered::run` of `par/lazy.rs`.
    unsafe fn run(this: *mut ()) {
        // SAFETY: the frame is there until the latch is set.
        let this = unsafe { &*this.cast::<Self>() };
        // SAFETY: the thief has it alone, which the model checks.
        this.half.with_mut(|half| unsafe {
            assert_eq!(*half, Half::Left);
            *half = Half::Gone;
        });
        this.runs.fetch_add(1, Relaxed);
        // A switch to another thread may happen here.
        thread::yield_now();
        if this.thief_panics {
            resume_unwind(Box::new(Wanted("the thief's")));
        }
        // SAFETY: as above.
        this.half.with_mut(|half| unsafe { *half = Half::Taken });
    }

    /// The owner looks at it, and ends its frame: the model would see any other access.
    fn end(&self) -> Half {
        // SAFETY: nobody else has it, which the model checks.
        self.half.with_mut(|half| unsafe { std::mem::replace(&mut *half, Half::Gone) })
    }
}

struct Model {
    stack: JoinStack,
    requests: RequestWord,
    sleepers: Sleepers,
    parker: Parker,
    _slots: Vec<Slot>,
}

impl Model {
    fn new(raised: u32) -> Arc<Self> {
        let mut slots: Vec<Slot> = (0..2).map(|_| Slot::new(std::ptr::null_mut())).collect();
        let stack = JoinStack::new();
        // SAFETY: the owner is the caller, and at most two jobs are pushed at once.
        unsafe { stack.move_to(slots.as_mut_ptr()) };
        Arc::new(Self {
            stack,
            requests: RequestWord::new(raised),
            sleepers: Sleepers::new(2, None).with_cores(2, 2),
            parker: Parker { token: Mutex::new(false), wakeup: Condvar::new() },
            _slots: slots,
        })
    }

    /// As `join_distant`. Returns the panic that goes on, and whether a thief had the branch.
    fn join(
        &self,
        a: impl FnOnce(),
        offered: &Offered,
    ) -> (Option<Box<dyn std::any::Any + Send>>, bool) {
        let data = std::ptr::from_ref(offered).cast_mut().cast();
        // SAFETY: what `run` does with a shared reference any thread may do.
        let branch: Distant<Parker> = unsafe { Distant::new(Offered::run, data) };
        let word = || self.requests.word().load(Relaxed);
        // SAFETY: this is the owner's thread, and the branch is popped or awaited below.
        if unsafe { offer::push(&self.stack, branch.job(), word) } && self.requests.has(HUNGRY) {
            _ = offer::answer(&self.stack, &self.requests, &self.sleepers, 0);
        }
        let a = catch_unwind(AssertUnwindSafe(a));
        let owner = || Some((&self.requests, &self.sleepers));
        if self.stack.pop() || offer::reclaim(&self.stack, owner) {
            return (a.err(), false);
        }
        branch.latch().wait_helping(&self.parker, || false);
        // SAFETY: the latch is set.
        let b = unsafe { branch.take_panic() };
        (a.err().or(b), true)
    }

    fn steal_and_run(&self) -> bool {
        let Some((job, _)) = offer::steal(&self.stack, &self.requests) else { return false };
        // SAFETY: stolen, so this thread's to run, once.
        unsafe { ((*job).run)(job) };
        true
    }

    fn thief(this: &Arc<Self>, forces: bool) -> thread::JoinHandle<bool> {
        let model = Arc::clone(this);
        thread::spawn(move || {
            if forces {
                model.stack.force_publish();
            }
            model.steal_and_run()
        })
    }
}

/// In how many explorations the owner had its half back (0), or a thief took it (1). A model that
/// misses one of the two checks little.
#[derive(Clone, Debug, Default)]
struct Seen(std::sync::Arc<[std::sync::atomic::AtomicUsize; 2]>);

impl Seen {
    fn note(&self, stolen: bool) {
        self.0[usize::from(stolen)].fetch_add(1, Relaxed);
    }

    fn check(&self) {
        assert!(
            self.0.iter().all(|count| count.load(Relaxed) > 0),
            "not all was explored: {self:?}"
        );
    }
}

/// One offer, beside a thief. The thief is answered (`HUNGRY` is raised), or forces the half out.
fn one_offer(forces: bool, owner_panics: bool, thief_panics: bool) {
    let seen = Seen::default();
    let note = seen.clone();
    model(3, move || {
        let model = Model::new(if forces { 0 } else { HUNGRY });
        let thief = Model::thief(&model, forces);
        let offered = Offered::new(thief_panics);
        let a = || {
            // The thief may come while the owner works.
            thread::yield_now();
            if owner_panics {
                resume_unwind(Box::new(Wanted("the owner's")));
            }
        };
        let (panic, stolen) = model.join(a, &offered);
        note.note(stolen);
        let wanted = match (owner_panics, stolen && thief_panics) {
            (true, _) => Some("the owner's"),
            (false, true) => Some("the thief's"),
            (false, false) => None,
        };
        let panic = panic.map(|panic| match panic.downcast::<Wanted>() {
            Ok(wanted) => wanted.0,
            // The model has found something in the thief's part.
            Err(panic) => resume_unwind(panic),
        });
        assert_eq!(panic, wanted);
        let half = offered.end();
        assert_eq!(
            half,
            match (stolen, thief_panics) {
                (false, _) => Half::Left,
                (true, false) => Half::Taken,
                (true, true) => Half::Gone,
            }
        );
        assert_eq!(offered.runs.load(Relaxed), usize::from(stolen));
        assert_eq!(thief.join().unwrap(), stolen);
        assert!(model.stack.is_bare());
    });
    seen.check();
}

#[test]
fn an_answered_thief_works_a_half_off() {
    one_offer(false, false, false);
}

#[test]
fn an_answered_thief_panics() {
    one_offer(false, false, true);
}

#[test]
fn an_owner_panics_beside_an_answered_thief() {
    one_offer(false, true, false);
}

#[test]
fn both_panic() {
    one_offer(false, true, true);
}

#[test]
fn a_half_is_forced_out() {
    one_offer(true, false, false);
}

#[test]
fn a_half_is_forced_out_and_both_panic() {
    one_offer(true, true, true);
}

/// An owner that has its half back goes on with it and offers the next from the same place of its
/// stack, while a thief that was after the first takes the second.
#[test]
fn the_next_half_lies_where_the_last_one_was() {
    let seen = [Seen::default(), Seen::default()];
    let note = seen.clone();
    model(3, move || {
        let model = Model::new(0);
        let thief = Model::thief(&model, true);
        let mut taken = 0;
        for note in &note {
            let offered = Offered::new(false);
            let (panic, stolen) = model.join(|| (), &offered);
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
            let half = offered.end();
            assert_eq!(half, if stolen { Half::Taken } else { Half::Left });
            note.note(stolen);
            taken += usize::from(stolen);
        }
        assert_eq!(thief.join().unwrap(), taken == 1);
        assert!(model.stack.is_bare());
    });
    seen.iter().for_each(Seen::check);
}

/// An owner whose half is stolen halves what it has again: the second offer lies above the first.
/// Two thieves take them, and the owner waits for both, the younger one first.
#[test]
fn a_half_is_offered_above_a_stolen_one() {
    let seen = [Seen::default(), Seen::default()];
    let note = seen.clone();
    model(2, move || {
        let model = Model::new(0);
        let thieves = [(); 2].map(|()| Model::thief(&model, true));
        let (outer, inner) = (Offered::new(false), Offered::new(true));
        let mut taken = 0;
        let a = || {
            // As a loop does: no offer lies on another that may be taken.
            if model.stack.is_empty() {
                let (panic, stolen) = model.join(|| (), &inner);
                assert_eq!(panic.is_some(), stolen);
                assert_eq!(inner.end(), if stolen { Half::Gone } else { Half::Left });
                note[1].note(stolen);
                taken += usize::from(stolen);
            }
        };
        let (panic, stolen) = model.join(a, &outer);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        assert_eq!(outer.end(), if stolen { Half::Taken } else { Half::Left });
        note[0].note(stolen);
        taken += usize::from(stolen);
        let got = thieves.into_iter().map(|thief| thief.join().unwrap());
        assert_eq!(got.filter(|got| *got).count(), taken);
        assert!(model.stack.is_bare());
    });
    seen.iter().for_each(Seen::check);
}
