//! Models of a scope's own list: each spawn runs once and its shell is freed once, whichever of the
//! scope and the taker of the entry comes first.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use sateen_runtime::models::own_list::{Left, OwnList, Shell};
use sateen_testkit::model;

/// A spawn, with what is in its shell, and how often it has run and been freed.
struct Spawn {
    shell: Shell,
    /// Freed by a write, which loom checks against each other access.
    contents: UnsafeCell<u32>,
    runs: AtomicUsize,
    frees: AtomicUsize,
}

impl Spawn {
    fn new() -> Self {
        Self {
            shell: Shell::new(),
            contents: UnsafeCell::new(1),
            runs: AtomicUsize::new(0),
            frees: AtomicUsize::new(0),
        }
    }

    fn run(&self) {
        // SAFETY: the caller has the contents.
        assert_eq!(self.contents.with(|contents| unsafe { *contents }), 1, "run after a free");
        self.runs.fetch_add(1, Relaxed);
    }

    fn free(&self) {
        // SAFETY: nobody else touches it.
        self.contents.with_mut(|contents| unsafe { *contents = 0 });
        self.frees.fetch_add(1, Relaxed);
    }
}

struct Model {
    list: OwnList,
    spawns: [Spawn; 2],
}

// SAFETY: what is not Sync in it is what the model checks.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn new(spawns: usize) -> Arc<Self> {
        let model = Arc::new(Self { list: OwnList::new(), spawns: [Spawn::new(), Spawn::new()] });
        for spawn in &model.spawns[..spawns] {
            // SAFETY: it stays as long as the model.
            unsafe { model.list.link(&raw const spawn.shell) };
        }
        model
    }

    /// Does what the taker of an entry does.
    fn take(&self, index: usize) {
        let spawn = &self.spawns[index];
        match spawn.shell.take() {
            Ok(()) => {
                // SAFETY: it is in the list.
                unsafe { self.list.unlink(&raw const spawn.shell) };
                spawn.run();
                spawn.free();
            }
            Err(Left::Free) => spawn.free(),
            Err(Left::Alone) => {}
        }
    }

    /// Does what the scope does before it waits.
    fn empty(&self) {
        while let Some(shell) = self.list.take_youngest() {
            let mine = |spawn: &&Spawn| std::ptr::eq(&raw const spawn.shell, shell);
            let spawn = self.spawns.iter().find(mine).expect("one of the model's");
            spawn.run();
            if spawn.shell.emptied() == Left::Free {
                spawn.free();
            }
        }
    }

    fn check(&self, spawns: usize) {
        for spawn in &self.spawns[..spawns] {
            assert_eq!((spawn.runs.load(Relaxed), spawn.frees.load(Relaxed)), (1, 1));
        }
    }
}

/// The scope and the taker of the entry want the same spawn.
#[test]
fn one_spawn_for_the_scope_or_the_taker() {
    model(3, || {
        let model = Model::new(1);
        let taker = thread::spawn({
            let model = Arc::clone(&model);
            move || model.take(0)
        });
        model.empty();
        taker.join().unwrap();
        model.check(1);
    });
}

/// Two takers and the scope unlink neighbours.
#[test]
fn neighbours_leave_the_list_at_once() {
    model(2, || {
        let model = Model::new(2);
        let takers = [0, 1].map(|index| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.take(index))
        });
        model.empty();
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        model.check(2);
    });
}
