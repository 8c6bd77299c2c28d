//! A reentrant mutex lets in again only the context that holds it, on the thread where that context
//! locked it.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{Runtime, Spawn, join, spawn, yield_now};
use sateen_sync::{Event, ReentrantMutex, park};
use std::cell::Cell;
use std::future::poll_fn;
use std::mem::forget;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;

type Shared = Arc<ReentrantMutex<Cell<u32>>>;

fn shared() -> Shared {
    Arc::new(ReentrantMutex::new(Cell::new(0)))
}

fn lets_in(mutex: &Shared) -> bool {
    mutex.try_lock().is_some()
}

#[test]
fn a_number_that_is_claimed_lets_nobody_in() {
    let (mutex, both) = (shared(), std::sync::Barrier::new(2));
    let number = 1 << 40;
    // SAFETY: the threads give wrong identities to reports, and no code here asks for a report.
    #[allow(unused_unsafe, reason = "the promise is for reports alone")]
    let claim = || unsafe { park::set_context_id(number) };
    thread::scope(|s| {
        s.spawn(|| {
            claim();
            let guard = mutex.lock();
            both.wait();
            both.wait();
            drop(guard);
        });
        claim();
        both.wait();
        let inside = lets_in(&mutex);
        both.wait();
        assert!(!inside, "two threads are inside");
    });
}

/// The first poll takes the lock for good. The second poll runs on another worker.
#[test]
fn a_future_that_moves_is_not_let_in_again() {
    with_runtime(2, |rt| {
        let (mutex, moved) = (shared(), Arc::new(Event::new()));
        let (send, polled) = mpsc::channel();
        let mut first = None;
        let future = rt.spawn_async(poll_fn({
            let (mutex, moved) = (mutex.clone(), moved.clone());
            move |cx| {
                let here = sateen_runtime::worker_index();
                let Some(before) = first else {
                    forget(mutex.lock());
                    assert!(lets_in(&mutex), "while one poll lasts it holds the lock");
                    first = Some(here);
                    send.send((here.expect("a worker"), cx.waker().clone())).expect("it waits");
                    return Poll::Pending;
                };
                assert_ne!(before, here, "the first worker is busy");
                moved.set();
                Poll::Ready(lets_in(&mutex))
            }
        }));
        let (worker, waker) = polled.recv().expect("a first poll");
        let busy = Arc::new(Event::new());
        let blocker = rt.spawn_with(Spawn::new().on_worker(worker), {
            let (moved, busy) = (moved.clone(), busy.clone());
            move || {
                busy.set();
                while !moved.is_set() {
                    thread::yield_now();
                }
            }
        });
        busy.wait();
        waker.wake();
        assert!(!future.join().expect("a second poll"), "two workers are inside");
        blocker.join().expect("it saw the second poll");
    });
}

#[test]
fn a_branch_is_let_in_only_where_its_task_is() {
    with_runtime(2, |rt| {
        rt.install(|| {
            let (mutex, stolen) = (shared(), AtomicBool::new(false));
            let _guard = mutex.lock();
            let here = || sateen_runtime::worker_index();
            let mine = here();
            // The branch runs in place, so it has the same context.
            let ((), inside) = join(|| (), || (here(), lets_in(&mutex)));
            assert_eq!(inside.0 == mine, inside.1);
            // The branch is stolen, so it has another context.
            let wait = || {
                while !stolen.load(SeqCst) {
                    thread::yield_now();
                }
            };
            let ((), (thief, inside)) = join(wait, || {
                let seen = (here(), lets_in(&mutex));
                stolen.store(true, SeqCst);
                seen
            });
            assert!(thief != mine && !inside, "two workers are inside");
        });
    });
}

#[test]
fn a_task_stays_who_it_is_while_others_run() {
    at_all_counts(|rt| {
        let mutex = shared();
        let tasks = [(); 8].map(|()| {
            let mutex = mutex.clone();
            rt.spawn(move || {
                let guard = mutex.lock();
                let before = guard.get();
                for _ in 0..5 {
                    yield_now();
                    let again = mutex.lock();
                    again.set(again.get() + 1);
                }
                assert_eq!(guard.get(), before + 5, "another task was inside");
            })
        });
        tasks.into_iter().for_each(|task| task.join().expect("alone"));
        assert!(lets_in(&mutex));
    });
}

/// The mutex lets in neither tasks that run there afterwards nor the thread.
#[test]
fn nobody_follows_one_that_is_gone() {
    at_all_counts(|rt| {
        let mutex = shared();
        let leak = mutex.clone();
        rt.spawn(move || forget(leak.lock())).join().expect("leaked");
        for _ in 0..20 {
            let mutex = mutex.clone();
            assert!(!rt.spawn(move || lets_in(&mutex)).join().expect("asked"));
        }
        assert!(!lets_in(&mutex));
    });
    let mutex = shared();
    thread::scope(|s| drop(s.spawn(|| forget(mutex.lock()))));
    for _ in 0..20 {
        thread::scope(|s| drop(s.spawn(|| assert!(!lets_in(&mutex)))));
    }
}

#[test]
fn fibers_that_are_threads_are_not_one() {
    let rt = Runtime::builder().workers(1).strict(true).build().expect("a runtime");
    let mutex = shared();
    let (held, done) = (Arc::new(Event::new()), Arc::new(Event::new()));
    let holder = rt.spawn({
        let (mutex, held, done) = (mutex.clone(), held.clone(), done.clone());
        move || {
            let _guard = mutex.lock();
            held.set();
            done.wait();
            assert!(lets_in(&mutex));
        }
    });
    held.wait();
    let asked = mutex.clone();
    assert!(!rt.spawn(move || lets_in(&asked)).join().expect("asked"), "two threads are inside");
    done.set();
    holder.join().expect("still inside");
}

#[test]
fn a_runtime_of_the_calling_thread() {
    let rt = Runtime::current_thread().expect("a runtime");
    let (mutex, go_on) = (shared(), Arc::new(Event::new()));
    let guard = mutex.lock();
    let (asked, wait) = (mutex.clone(), go_on.clone());
    let task = rt.run(move || {
        assert!(!lets_in(&asked), "the thread is inside, its tasks are not");
        let other = asked.clone();
        spawn(move || {
            wait.wait();
            forget(other.lock());
            yield_now();
            assert!(lets_in(&other), "the task is");
        })
    });
    assert!(lets_in(&mutex));
    drop(guard);
    go_on.set();
    rt.run_until(task).expect("it was let in");
    assert!(!lets_in(&mutex));
}
