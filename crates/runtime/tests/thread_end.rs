//! Runtimes that run on the current thread, while that thread's locals are destroyed.

use sateen_runtime::{CurrentThread, Runtime, yield_now};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::cell::{Cell, RefCell};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

fn here() -> CurrentThread {
    Runtime::current_thread().expect("a runtime")
}

/// Records that it is gone.
struct Borrowed(Option<Arc<AtomicBool>>);

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.0.iter().for_each(|gone| gone.store(true, SeqCst));
    }
}

/// Counts each drop that happens after the value it belongs to is gone.
struct Looks(Arc<AtomicBool>, Arc<AtomicUsize>);

impl Drop for Looks {
    fn drop(&mut self) {
        self.1.fetch_add(usize::from(self.0.load(SeqCst)), SeqCst);
    }
}

thread_local! {
    static RUNTIME: RefCell<Option<CurrentThread>> = const { RefCell::new(None) };
    static LENT: RefCell<Borrowed> = const { RefCell::new(Borrowed(None)) };
}

/// When the thread gets the two locals: the runtime's, and the one that a task borrows.
#[derive(Clone, Copy)]
enum Order {
    RuntimeFirst,
    LentFirst,
    /// The task is the first to use the lent local.
    LentInTask,
    /// As before, and the runtime's local comes last.
    RuntimeAfterTask,
}

/// A task waits while it borrows one local, and the runtime is in the other. Returns how often the
/// task went on after its local was gone, and how many closures were dropped before they started.
fn end_with_a_task_inside(order: Order) -> (usize, usize) {
    let (late, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&late), Arc::clone(&dropped));
    let thread = std::thread::spawn(move || {
        if matches!(order, Order::LentFirst) {
            LENT.set(Borrowed(None));
        }
        if !matches!(order, Order::RuntimeAfterTask) {
            RUNTIME.set(None);
        }
        if matches!(order, Order::RuntimeFirst) {
            LENT.set(Borrowed(None));
        }
        let gone = Arc::new(AtomicBool::new(false));
        let runtime = here();
        let event = Arc::new(Event::new());
        drop(runtime.spawn_local(move || {
            LENT.with(|lent| {
                lent.borrow_mut().0 = Some(Arc::clone(&gone));
                let _looks = Looks(gone, counts.0);
                event.wait();
            });
        }));
        runtime.run_until_idle();
        let unstarted = Looks(Arc::new(AtomicBool::new(true)), counts.1);
        drop(runtime.spawn_local(move || drop(unstarted)));
        RUNTIME.set(Some(runtime));
    });
    thread.join().expect("no panic");
    (late.load(SeqCst), dropped.load(SeqCst))
}

#[test]
fn no_task_goes_on_when_its_threads_locals_go() {
    let _dog = Watchdog::new("a runtime in a thread-local");
    use Order::*;
    for order in [RuntimeFirst, LentFirst, LentInTask, RuntimeAfterTask] {
        assert_eq!(end_with_a_task_inside(order), (0, 1));
    }
}

/// The end of one thread changes nothing for other threads, nor for earlier drops.
#[test]
fn elsewhere_a_drop_ends_what_waits() {
    let ended = Rc::new(Cell::new(0));
    for _ in 0..2 {
        end_with_a_task_inside(Order::RuntimeFirst);
        let runtime = here();
        let (ends, event) = (Rc::clone(&ended), Arc::new(Event::new()));
        struct Ends(Rc<Cell<u32>>);
        impl Drop for Ends {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let ends = Ends(ends);
        drop(runtime.spawn_local(move || {
            let _ends = ends;
            event.wait();
        }));
        runtime.run_until_idle();
    }
    assert_eq!(ended.get(), 2);
}

/// Runs its closure when the thread's locals are destroyed.
struct AtEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

thread_local! { static AT_END: RefCell<AtEnd> = const { RefCell::new(AtEnd(None)) } }

fn at_end(f: impl FnOnce() + 'static) {
    AT_END.with_borrow_mut(|at_end| at_end.0 = Some(Box::new(f)));
}

#[test]
fn one_that_is_made_at_the_end_works() {
    let _dog = Watchdog::new("a runtime in a thread-local's destructor");
    let done = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&done);
    let thread = std::thread::spawn(move || {
        at_end(move || {
            let runtime = here();
            counts.fetch_add(runtime.run(|| 1), SeqCst);
            let (event, looks) = (Arc::new(Event::new()), Looks(Arc::new(true.into()), counts));
            drop(runtime.spawn_local(move || {
                let _looks = looks;
                event.wait();
            }));
            runtime.run_until_idle();
        });
    });
    thread.join().expect("no panic");
    assert_eq!(done.load(SeqCst), 2);
}

/// This runs in a child process, because a panic in a thread-local's destructor ends the process.
#[test]
fn one_that_is_older_cannot_run_at_the_end() {
    const NAME: &str = "one_that_is_older_cannot_run_at_the_end";
    if std::env::var_os("SATEEN_TEST_CHILD").is_some() {
        let thread = std::thread::spawn(|| {
            at_end(|| ());
            let runtime = here();
            drop(runtime.spawn_local(yield_now));
            at_end(move || _ = runtime.run_until_idle());
        });
        drop(thread.join());
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", NAME, "--nocapture"])
        .env("SATEEN_TEST_CHILD", "1")
        .output()
        .expect("the child runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    let reason = "a runtime cannot run while its thread's locals are destroyed";
    assert!(!output.status.success() && errors.contains(reason), "{errors}");
}
