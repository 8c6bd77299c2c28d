//! User code that panics: the caller learns of it, and nothing is lost.
#![cfg(not(loom))]

mod common;

use common::{each_layout, room};
use sateen_shed::{Builder, Error, Layout, Outcome, Shed, TaskId, TaskState};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// The payload with which user code panics here.
#[derive(Debug, PartialEq)]
struct Expected;

fn boom() -> ! {
    resume_unwind(Box::new(Expected))
}

/// Runs `f`, which must panic with the expected payload.
#[track_caller]
fn caught<R>(f: impl FnOnce() -> R) {
    sateen_testkit::print_no_panics_under_miri();
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    if !panic.is::<Expected>() {
        resume_unwind(panic);
    }
}

/// Counts the living ones, and may panic when it is dropped.
#[derive(Default)]
struct Bomb {
    name: u32,
    live: Option<Arc<AtomicUsize>>,
    explodes: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            assert_ne!(live.fetch_sub(1, SeqCst), 0, "dropped twice");
        }
        if self.explodes {
            boom();
        }
    }
}

/// A shed of eight tasks, with what its callbacks report and do.
struct Field<L: Layout> {
    shed: Shed<Bomb, L>,
    live: Arc<AtomicUsize>,
    cancelled: Arc<Mutex<Vec<u32>>>,
    explode_ready: Arc<AtomicBool>,
    explode_cancel: Arc<AtomicBool>,
}

impl<L: Layout> Field<L> {
    fn new() -> Self {
        let cancelled = Arc::new(Mutex::new(vec![]));
        let [explode_ready, explode_cancel] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&cancelled);
        let (ready, cancel) = (Arc::clone(&explode_ready), Arc::clone(&explode_cancel));
        let builder: Builder<Bomb> = Shed::builder();
        let shed = builder
            .tasks(8)
            .dependencies(8)
            .channels(2)
            .on_ready(move |_, _| {
                if ready.load(SeqCst) {
                    boom();
                }
            })
            .on_cancel(move |_, bomb| {
                told.lock().expect("no panic inside").push(bomb.name);
                if cancel.load(SeqCst) {
                    boom();
                }
            })
            .layout::<L>()
            .build()
            .expect("small");
        Self { shed, live: Arc::default(), cancelled, explode_ready, explode_cancel }
    }

    fn bomb(&self, name: u32) -> Bomb {
        self.live.fetch_add(1, SeqCst);
        Bomb { name, live: Some(Arc::clone(&self.live)), explodes: false }
    }

    fn create<const N: usize>(&self) -> [TaskId; N] {
        let mut name = 0..;
        let bombs = [(); N].map(|()| self.bomb(name.next().expect("endless")));
        self.shed.create(bombs).expect("room")
    }

    /// Creates tasks. Those numbered in `exploding` panic in their destructor.
    fn create_exploding<const N: usize>(&self, exploding: &[u32]) -> [TaskId; N] {
        let mut name = 0..;
        let bombs = [(); N].map(|()| {
            let name = name.next().expect("endless");
            let mut bomb = self.bomb(name);
            bomb.explodes = exploding.contains(&name);
            bomb
        });
        self.shed.create(bombs).expect("room")
    }

    fn drain(&self) -> Vec<u32> {
        let mut ran = vec![];
        for channel in [0, 1, 0] {
            while let Ok(Some(_)) = self.shed.execute_one(channel, |_, bomb| {
                ran.push(bomb.name);
                Outcome::Complete
            }) {}
        }
        ran
    }

    fn cancelled(&self) -> Vec<u32> {
        std::mem::take(&mut *self.cancelled.lock().expect("no panic inside"))
    }

    /// Checks that no payload is left and that all room is free.
    #[track_caller]
    fn empty(&self) {
        assert_eq!(self.live.load(SeqCst), 0, "payloads that were not dropped");
        assert_eq!(room(&self.shed), (8, 8));
    }
}

each_layout!(a_task_that_panics_counts_as_cancelled);
fn a_task_that_panics_counts_as_cancelled<L: Layout>() {
    let field = Field::<L>::new();
    let [a, b, c, d, e] = field.create();
    field.shed.depend(&[b], &[a]).expect("idle");
    field.shed.depend(&[c], &[b, d]).expect("idle");
    field.shed.ready(&[a, e]).expect("idle");
    caught(|| field.shed.execute_one(0, |_, _| boom()));
    // `c` still waits for `d`.
    assert_eq!(field.cancelled(), [0, 1, 2]);
    for task in [a, b] {
        assert_eq!(field.shed.state(task), Err(Error::StaleTask(task)));
    }
    assert_eq!(field.shed.state(c), Ok(TaskState::Cancelled));
    assert_eq!(field.shed.state(e), Ok(TaskState::Ready));
    field.shed.ready(&[d]).expect("idle");
    assert_eq!(field.drain(), [3, 4]);
    field.empty();
}

each_layout!(what_is_left_of_a_batch_is_ready_again);
fn what_is_left_of_a_batch_is_ready_again<L: Layout>() {
    let field = Field::<L>::new();
    let [a, b, c, d, e] = field.create();
    field.shed.depend(&[e], &[b]).expect("idle");
    field.shed.ready(&[a, b, c, d]).expect("idle");
    caught(|| {
        field.shed.execute_batch(0, 9, |_, bomb| {
            if bomb.name == 1 {
                boom();
            }
            Outcome::Complete
        })
    });
    assert_eq!(field.cancelled(), [1, 4]);
    assert_eq!(field.shed.state(c), Ok(TaskState::Ready));
    assert_eq!(field.shed.state(d), Ok(TaskState::Ready));
    assert_eq!(field.drain(), [2, 3]);
    field.empty();
}

each_layout!(a_destructor_that_panics_does_not_keep_the_slot);
fn a_destructor_that_panics_does_not_keep_the_slot<L: Layout>() {
    let field = Field::<L>::new();
    field.shed.ready(&field.create_exploding::<1>(&[0])).expect("idle");
    caught(|| field.shed.execute_one(0, |_, _| Outcome::Complete));
    assert_eq!(field.drain(), [0; 0]);
    field.empty();

    let [predecessor, successor] = field.create_exploding(&[0]);
    field.shed.depend(&[successor], &[predecessor]).expect("idle");
    field.shed.ready(&[predecessor]).expect("idle");
    caught(|| field.shed.execute_batch(0, 4, |_, _| Outcome::Complete));
    // The task had run, so its successor is ready.
    assert_eq!(field.drain(), [1]);
    assert_eq!(field.cancelled(), [0; 0]);
    field.empty();
}

each_layout!(a_destructor_that_panics_does_not_end_that_of_the_shed);
fn a_destructor_that_panics_does_not_end_that_of_the_shed<L: Layout>() {
    let field = Field::<L>::new();
    field.create_exploding::<4>(&[1]);
    let live = Arc::clone(&field.live);
    caught(|| drop(field));
    assert_eq!(live.load(SeqCst), 0);
}

each_layout!(a_batch_goes_on_after_a_destructor_that_panics);
fn a_batch_goes_on_after_a_destructor_that_panics<L: Layout>() {
    let field = Field::<L>::new();
    let names = field.create_exploding::<4>(&[1]);
    field.shed.ready(&names).expect("idle");
    caught(|| field.shed.execute_batch(0, 9, |_, _| Outcome::Complete));
    assert_eq!(field.drain(), [2, 3]);
    assert_eq!(field.cancelled(), [0; 0]);
    field.empty();
}

each_layout!(destructors_that_panic_while_tasks_are_cancelled_or_freed);
fn destructors_that_panic_while_tasks_are_cancelled_or_freed<L: Layout>() {
    let field = Field::<L>::new();
    for exploding in 0..3 {
        let [a, b, c] = field.create_exploding(&[exploding]);
        field.shed.depend(&[b], &[a]).expect("idle");
        field.shed.depend(&[c], &[b]).expect("idle");
        caught(|| field.shed.cancel(a));
        // Tasks after the one whose callback panics are not reported, but they are cancelled.
        assert_eq!(field.cancelled(), Vec::from_iter(0..=exploding));
        field.empty();
    }
    for exploding in 0..3 {
        let names = field.create_exploding::<3>(&[exploding]);
        caught(|| field.shed.free(&names));
        for name in names {
            if let Ok(state) = field.shed.state(name) {
                assert_eq!(state, TaskState::Idle, "{name}");
                field.shed.free(&[name]).expect("idle");
            }
        }
        field.empty();
    }
}

each_layout!(a_panic_in_on_ready_comes_after_the_tasks_are_ready);
fn a_panic_in_on_ready_comes_after_the_tasks_are_ready<L: Layout>() {
    let field = Field::<L>::new();
    let [a, b, c, d] = field.create();
    field.shed.set_channel(&[b, d], 1).expect("idle");
    field.explode_ready.store(true, SeqCst);
    caught(|| field.shed.ready(&[a, b, c, d]));
    field.explode_ready.store(false, SeqCst);
    for task in [a, b, c, d] {
        assert_eq!(field.shed.state(task), Ok(TaskState::Ready));
    }
    assert_eq!(field.drain().len(), 4);
    field.empty();

    let [predecessor, left, right, end] = field.create();
    field.shed.set_channel(&[right], 1).expect("idle");
    field.shed.depend(&[left, right], &[predecessor]).expect("idle");
    field.shed.depend(&[end], &[left, right]).expect("idle");
    field.shed.ready(&[predecessor]).expect("idle");
    field.explode_ready.store(true, SeqCst);
    caught(|| field.shed.execute_one(0, |_, _| Outcome::Complete));
    field.explode_ready.store(false, SeqCst);
    assert_eq!(field.shed.state(left), Ok(TaskState::Ready));
    assert_eq!(field.shed.state(right), Ok(TaskState::Ready));
    assert_eq!(field.drain(), [1, 2, 3]);
    field.empty();
}

each_layout!(a_panic_in_on_cancel_loses_no_payload);
fn a_panic_in_on_cancel_loses_no_payload<L: Layout>() {
    let field = Field::<L>::new();
    let [a, b, c, d] = field.create();
    field.shed.depend(&[b, c], &[a]).expect("idle");
    field.shed.depend(&[d], &[b]).expect("idle");
    field.explode_cancel.store(true, SeqCst);
    caught(|| field.shed.cancel(a));
    assert_eq!(field.cancelled(), [0]);
    field.explode_cancel.store(false, SeqCst);
    for task in [a, b, c, d] {
        assert_eq!(field.shed.state(task), Err(Error::StaleTask(task)));
    }
    field.empty();

    // A cancelled task that lies in a list is ended by the thread that finds it there.
    let [a, b] = field.create();
    field.shed.depend(&[b], &[a]).expect("idle");
    field.shed.ready(&[a]).expect("idle");
    assert_eq!(field.shed.cancel(a), Ok(true));
    field.explode_cancel.store(true, SeqCst);
    caught(|| field.shed.execute_one(0, |task, _| panic!("{task} was cancelled")));
    assert_eq!(field.cancelled(), [0, 1]);
    field.explode_cancel.store(false, SeqCst);
    assert_eq!(field.drain(), [0; 0]);
    field.empty();
}

each_layout!(payloads_that_panic_while_they_are_made);
fn payloads_that_panic_while_they_are_made<L: Layout>() {
    let field = Field::<L>::new();
    for made in 0..4 {
        let mut ids = [TaskId::NONE; 5];
        let bombs = || (0..).map(|i| if i == made { boom() } else { field.bomb(i) });
        caught(|| field.shed.create_all(&mut bombs(), &mut ids));
        assert_eq!(ids, [TaskId::NONE; 5]);
        caught(|| field.shed.create_some(&mut bombs(), &mut ids));
        assert_eq!(ids, [TaskId::NONE; 5]);
        field.empty();
    }
}
