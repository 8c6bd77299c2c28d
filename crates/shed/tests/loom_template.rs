//! Runs of a template, while other threads start, cancel or drop its instance.
#![cfg(loom)]

mod loom_common;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use loom_common::*;
use sateen_shed::{Error, Instance, Node, TaskId, Template};
use sateen_testkit::model;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};

type Holder = Arc<Model<Watched>>;
type Installed = Instance<Holder>;

/// A shed with room for one template of two tasks. Its callback touches the payloads of cancelled
/// tasks.
fn room() -> Holder {
    let touch = |_, payload: &mut Watched| _ = payload.add();
    Arc::new(builder(3, 2).on_cancel(touch).build().expect("small"))
}

/// A predecessor, and a successor that waits for it.
fn chain(dropped: &'static std::sync::atomic::AtomicUsize) -> (Template<Watched>, [Node; 2]) {
    let mut template = Template::new();
    let [predecessor, successor] = [(); 2].map(|()| template.task(Watched::new(0, dropped)));
    template.depend(&[successor], &[predecessor]).expect("both are its");
    (template, [predecessor, successor])
}

fn install(template: Template<Watched>, shed: &Holder) -> Installed {
    template.install(shed.clone()).ok().expect("room")
}

/// Executes until no task is ready, and touches each payload. Returns how many it executed.
fn work(shed: &Holder) -> usize {
    let touch = |_, payload: &mut Watched| {
        payload.add();
        sateen_shed::Outcome::Complete
    };
    std::iter::from_fn(|| shed.execute_one(0, touch).expect("channel 0")).count()
}

/// All tasks of a run end, whether cancelled or not, and the next run has all tasks again.
#[test]
fn a_run_is_cancelled_as_it_starts() {
    model(2, || {
        let shed = room();
        let instance = Arc::new(install(chain(drops()).0, &shed));
        let other = {
            let instance = instance.clone();
            thread::spawn(move || instance.cancel())
        };
        // The second start is refused while the first run is cancelled, or is about to be.
        for _ in 0..2 {
            let ran = instance.start().is_ok().then(|| work(&shed));
            assert!(
                ran.is_none_or(|ran| ran == 2) || !instance.is_done() || instance.is_cancelled()
            );
        }
        other.join().unwrap();
        work(&shed);
        assert!(instance.is_done());
        instance.start().expect("the last run has ended");
        assert_eq!((work(&shed), instance.is_done(), instance.is_cancelled()), (2, true, false));
    });
}

/// Two threads start the instance and execute ready tasks. Each run that began is whole, and comes
/// after the one before.
#[test]
fn two_start_it() {
    model(2, || {
        let shed = room();
        let instance = Arc::new(install(chain(drops()).0, &shed));
        let round = |shed: &Holder, instance: &Installed| {
            let started = usize::from(instance.start().is_ok());
            (started, work(shed))
        };
        let other = {
            let (shed, instance) = (shed.clone(), instance.clone());
            thread::spawn(move || round(&shed, &instance))
        };
        let mine = round(&shed, &instance);
        let others = other.join().unwrap();
        let started = mine.0 + others.0;
        assert!(started > 0);
        assert_eq!(mine.1 + others.1 + work(&shed), 2 * started);
        assert!(instance.is_done() && !instance.is_cancelled());
    });
}

/// No thread executes meanwhile. Of two threads that start the instance, one succeeds.
#[test]
fn two_start_it_and_one_does() {
    model(3, || {
        let shed = room();
        let instance = Arc::new(install(chain(drops()).0, &shed));
        let other = {
            let instance = instance.clone();
            thread::spawn(move || instance.start().is_ok())
        };
        let mine = instance.start().is_ok();
        assert!(mine != other.join().unwrap());
        assert_eq!(work(&shed), 2);
    });
}

/// A thread that sees that a run has ended may use the payloads.
#[test]
fn a_run_that_is_done_lends_its_payloads() {
    model(3, || {
        let shed = room();
        let (template, nodes) = chain(drops());
        let mut instance = install(template, &shed);
        instance.start().expect("the first run");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed))
        };
        for node in nodes {
            if let Ok(payload) = instance.payload_mut(node) {
                assert_eq!(payload.add(), 1);
            }
        }
        assert_eq!(other.join().unwrap(), 2);
    });
}

/// The instance is dropped while its run ends. The later of the two threads frees what it holds,
/// once.
#[test]
fn an_instance_is_dropped_during_a_run() {
    model(2, || {
        let (shed, dropped) = (room(), drops());
        let mut template = chain(dropped).0;
        // If the plan is not dropped, the model fails.
        let done = loom::sync::Arc::new(AtomicUsize::new(0));
        let count = done.clone();
        template.on_done(move || _ = count.fetch_add(1, Ordering::Relaxed));
        let instance = install(template, &shed);
        instance.start().expect("the first run");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed))
        };
        drop(instance);
        let ran = other.join().unwrap() + work(&shed);
        assert!(ran <= 2);
        assert_eq!((dropped.load(Relaxed), done.load(Ordering::Relaxed)), (2, 1));
        let [a, b, c] = shed.create([0; 3].map(|n| Watched::new(n, dropped))).ok().expect("room");
        shed.depend(&[a], &[b, c]).expect("both are free");
    });
}

/// A running task is cancelled. It runs on and ends as it would otherwise. Its successor is
/// cancelled, unless it was told before.
#[test]
fn a_task_ends_as_it_is_cancelled() {
    model(3, || {
        let shed = room();
        let (template, [predecessor, _]) = chain(drops());
        let instance = install(template, &shed);
        let predecessor = instance.task(predecessor).expect("its");
        instance.start().expect("the first run");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed))
        };
        let cancelled = shed.cancel(predecessor);
        let ran = other.join().unwrap() + work(&shed);
        assert!(instance.is_done());
        match cancelled {
            Ok(will_not_run) => {
                assert_eq!((ran, instance.is_cancelled()), (usize::from(!will_not_run), true));
            }
            Err(error) => {
                assert_eq!(
                    (error, ran, instance.is_cancelled()),
                    (Error::Kept(predecessor), 2, false)
                );
            }
        }
    });
}

/// Two tasks end at once. The thread that ends the last of them starts the next run, while the
/// other is still leaving the first one.
#[test]
fn who_ends_a_run_starts_the_next() {
    model(2, || {
        let shed = room();
        let dropped = drops();
        let mut template = Template::new();
        for _ in 0..2 {
            template.task(Watched::new(0, dropped));
        }
        let installed = Arc::new(OnceLock::<Weak<Installed>>::new());
        let (this, runs) = (installed.clone(), std::sync::atomic::AtomicUsize::new(1));
        template.on_done(move || {
            let instance = this.get().and_then(Weak::upgrade).expect("it lives");
            if runs.fetch_add(1, Relaxed) < 2 {
                instance.start().expect("the last run has ended");
            }
        });
        let instance = Arc::new(install(template, &shed));
        installed.set(Arc::downgrade(&instance)).expect("once");
        instance.start().expect("the first run");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed))
        };
        let mine = work(&shed);
        assert_eq!(mine + other.join().unwrap() + work(&shed), 4);
        assert!(instance.is_done());
    });
}

/// A thread that knows the name of an instance's task finds the task whole, however it learned the
/// name.
#[test]
fn an_installed_task_is_whole_for_who_knows_its_name() {
    model(3, || {
        let (shed, dropped) = (room(), drops());
        // Takes both slots that are taken at once, so that none is kept for the next task.
        let both = shed.create([(); 2].map(|()| Watched::new(0, dropped)));
        let [first, _] = both.ok().expect("room");
        shed.free(&[first]).expect("idle");
        // The name of the task that will have this slot next.
        let name = TaskId::from_bits(first.to_bits() + (1 << 32));
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.tag(name))
        };
        let mut template = Template::new();
        let node = template.task(Watched::new(0, dropped));
        template.set_tag(node, 7).expect("its");
        let instance = install(template, &shed);
        assert_eq!(instance.task(node), Ok(name));
        let tag = other.join().unwrap();
        assert!(tag == Ok(Some(7)) || tag.is_err(), "{tag:?}");
    });
}
