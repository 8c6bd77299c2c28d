//! Models of cancellation. A cancelled task that waits is woken and ends, whenever the mark comes.
//! Its canceller has its count of the fiber before the task has ended.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use loom_common::ParkingFiber;
use sateen_base::prim::Ordering::{Acquire, Release};
use sateen_base::prim::searched::AtomicBool;
use sateen_runtime::models::consent::Consent;
use sateen_runtime::models::flag::Flag;
use sateen_runtime::models::started_on::StartedOn;
use sateen_runtime::models::task_state::{Cancel, Claim, TaskState};
use sateen_testkit::model;

struct Fiber {
    parking: ParkingFiber,
    /// Whether the task or one of its branches is published as running on this fiber.
    runs: AtomicBool,
    /// A thread without a count of the fiber takes one only while the fiber's keeper exists and has
    /// not ended.
    there: UnsafeCell<bool>,
}

impl Fiber {
    fn new() -> Self {
        Self {
            parking: ParkingFiber::new(),
            runs: AtomicBool::new(false),
            there: UnsafeCell::new(false),
        }
    }

    /// Makes the fiber, as its worker does before a task starts on it or a branch runs there.
    fn make(&self) -> &Self {
        // SAFETY: no other thread knows of the fiber yet. The model checks this.
        self.there.with_mut(|there| unsafe { *there = true });
        self
    }

    /// Takes a count, which keeps the memory. (In the model the memory stays anyway.)
    fn count(&self) -> &Self {
        // SAFETY: no thread writes it at this time. The model checks this.
        assert!(self.there.with(|there| unsafe { *there }));
        self
    }

    /// As a primitive does, waits for something that never comes, until `task` is cancelled.
    fn wait_until_cancelled(&self, task: &TaskState) {
        while !task.is_cancelled() {
            self.parking.park();
        }
    }
}

struct Model {
    task: TaskState,
    started_on: StartedOn<Fiber>,
    starter: Fiber,
    /// The fiber on which a stolen branch runs.
    other: Fiber,
}

// SAFETY: `there` is written when no thread touches the fiber any more. The model checks this.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            task: TaskState::new(),
            started_on: StartedOn::new(),
            starter: Fiber::new(),
            other: Fiber::new(),
        })
    }

    /// Cancels as `Header::cancel` does.
    fn cancel(&self) {
        let Cancel::Deliver { started, shared } = self.task.cancel() else { return };
        let mut runners = [None, None];
        if started {
            // SAFETY: the pointer is null, or leads to a fiber of this model.
            if let Some(fiber) = unsafe { self.started_on.wait().as_ref() } {
                runners[0] = Some(fiber.count());
                if shared && self.other.runs.load(Acquire) {
                    runners[1] = Some(self.other.count());
                }
            }
        }
        self.task.cancel_delivered();
        // The call may run user code, and the task may have ended by now.
        runners.into_iter().flatten().for_each(|fiber| fiber.parking.unpark());
    }

    /// Runs the task as `run_queued` does.
    fn run(&self) {
        assert_eq!(self.task.claim_from_queue(true), Claim::Run);
        if self.task.is_cancelled() {
            self.started_on.set_never();
        } else {
            self.started_on.set(self.starter.make());
            self.starter.wait_until_cancelled(&self.task);
        }
        self.task.complete();
        // SAFETY: the task has ended, and with it perhaps the runtime.
        self.starter.there.with_mut(|there| unsafe { *there = false });
    }
}

/// The cancellation comes before the claim, between claim and start, or before or during the wait.
/// The task ends.
#[test]
fn a_cancelled_task_ends() {
    model(3, || {
        let model = Model::new();
        let canceller = thread::spawn({
            let model = Arc::clone(&model);
            move || model.cancel()
        });
        model.run();
        canceller.join().unwrap();
    });
}

/// A branch that waits on another fiber is woken too, whether it was stolen before or is being
/// stolen.
#[test]
fn a_stolen_branch_is_cancelled() {
    model(3, || {
        let model = Model::new();
        assert_eq!(model.task.claim_from_queue(true), Claim::Run);
        model.started_on.set(model.starter.make());
        let canceller = thread::spawn({
            let model = Arc::clone(&model);
            move || model.cancel()
        });
        model.other.make().runs.store(true, Release);
        model.task.share();
        model.other.wait_until_cancelled(&model.task);
        canceller.join().unwrap();
    });
}

/// A branch may be interrupted only once its joiner has come and consents. The mark and the consent
/// come in any order.
#[test]
fn a_branch_ends_once_its_joiner_consents() {
    model(2, || {
        let model = Model::new();
        let consent = Arc::new(Consent::new());
        assert_eq!(model.task.claim_from_queue(true), Claim::Run);
        model.started_on.set(model.starter.make());
        model.other.make().runs.store(true, Release);
        model.task.share();
        let canceller = thread::spawn({
            let model = Arc::clone(&model);
            move || model.cancel()
        });
        let joiner = thread::spawn({
            let (model, consent) = (Arc::clone(&model), Arc::clone(&consent));
            move || {
                consent.give();
                if model.task.is_cancelled() {
                    model.other.parking.unpark();
                }
            }
        });
        while !(model.task.is_cancelled() && consent.is_given()) {
            model.other.parking.park();
        }
        canceller.join().unwrap();
        joiner.join().unwrap();
    });
}

/// A thread that finds a token cancelled sees what the canceller did before.
#[test]
fn a_raised_flag_publishes() {
    struct Token(Flag, UnsafeCell<bool>);
    // SAFETY: the cell is written before the flag is raised, and read afterwards. The model checks
    // this.
    unsafe impl Sync for Token {}
    // SAFETY: as above.
    unsafe impl Send for Token {}
    model(3, || {
        let token = Arc::new(Token(Flag::new(), UnsafeCell::new(false)));
        let canceller = thread::spawn({
            let token = Arc::clone(&token);
            move || {
                // SAFETY: the flag is not raised yet.
                token.1.with_mut(|written| unsafe { *written = true });
                assert!(token.0.raise());
            }
        });
        if token.0.is_raised() {
            // SAFETY: the flag is raised.
            assert!(token.1.with(|written| unsafe { *written }));
            assert!(!token.0.raise(), "twice");
        }
        canceller.join().unwrap();
    });
}
