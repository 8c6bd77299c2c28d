//! The short forms: a worker waits for a stolen branch, above something that its next job wants.

use crate::{MOMENT, Pools, until};
use rayon::join;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, OnceLock, RwLock};
use std::thread::{self, sleep};

/// Issue 592: a lock is held over a join, and the job wants the same lock.
pub(crate) fn lock_over_a_join(pools: &Pools) {
    let lock = Mutex::new(0);
    pools.outer.scope(|s| {
        let mut held = lock.lock().unwrap();
        pools.join_above(s, || *lock.lock().unwrap() += 1);
        *held += 1;
    });
    assert_eq!(lock.into_inner().unwrap(), 2, "sections that ran");
}

thread_local! {
    static BUFFER: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// Issue 1083: a value of the thread is borrowed over a join, and the job borrows that of its
/// thread.
pub(crate) fn borrow_over_a_join(pools: &Pools) {
    pools.outer.scope(|s| {
        BUFFER.with_borrow_mut(|buffer| {
            pools.join_above(s, || BUFFER.with_borrow_mut(|buffer| buffer.push(1)));
            buffer.push(2);
        });
    });
}

/// Issue 1142: two workers hold a lock each, and each waits above a job that wants the other's.
pub(crate) fn two_locks_crosswise(pools: &Pools) {
    let locks = [Mutex::new(0), Mutex::new(0)];
    let (both, flags) = (Barrier::new(2), [AtomicBool::new(false), AtomicBool::new(false)]);
    let (locks, both, flags) = (&locks, &both, &flags);
    pools.outer.scope(|s| {
        for i in 0..2 {
            s.spawn(move |s| {
                let mut held = locks[i].lock().unwrap();
                both.wait();
                join(
                    || {
                        s.spawn(move |_| *locks[1 - i].lock().unwrap() += 1);
                        if until(|| flags[i].load(Ordering::Acquire)) {
                            pools.stolen.fetch_add(1, Ordering::Relaxed);
                        }
                    },
                    || {
                        flags[i].store(true, Ordering::Release);
                        sleep(2 * MOMENT);
                    },
                );
                *held += 1;
            });
        }
    });
    let sections = locks.each_ref().map(|lock| *lock.lock().unwrap());
    assert_eq!(sections, [2, 2], "sections that ran");
}

/// Issue 1174: jobs of a pool hold a lock while they wait for another pool.
pub(crate) fn lock_over_another_pool(pools: &Pools) {
    let lock = Mutex::new(0);
    let jobs = 2 * pools.threads;
    pools.outer.scope(|s| {
        for _ in 0..jobs {
            s.spawn(|_| {
                let mut held = lock.lock().unwrap();
                pools.driver.scope(|d| d.spawn(|_| sleep(MOMENT / 4)));
                *held += 1;
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), jobs, "sections that ran");
}

/// Issue 1205: a reader joins, a thread waits to write, and the job reads, which has to wait behind
/// the writer.
pub(crate) fn readers_behind_a_writer(pools: &Pools) {
    let lock = RwLock::new(0);
    thread::scope(|t| {
        pools.outer.scope(|s| {
            let read = lock.read().unwrap();
            t.spawn(|| *lock.write().unwrap() += 1);
            // While somebody waits to write, nobody else may read.
            until(|| lock.try_read().is_err());
            pools.join_above(s, || drop(lock.read().unwrap()));
            drop(read);
        });
    });
    assert_eq!(lock.into_inner().unwrap(), 1, "writers that ran");
}

/// A cell's initialiser joins, and the job wants the cell's value.
pub(crate) fn initialiser_that_joins(pools: &Pools) {
    let cell = OnceLock::new();
    pools.outer.scope(|s| {
        cell.get_or_init(|| {
            pools.join_above(s, || assert_eq!(*cell.get_or_init(|| 1), 2, "the cell's value"));
            2
        });
    });
    assert_eq!(cell.get(), Some(&2), "the cell's value");
}

/// A value of the thread is set during a join, and the job must not see it.
pub(crate) fn value_of_a_thread(pools: &Pools) {
    pools.outer.scope(|s| {
        let before = CURRENT.replace(1);
        pools.join_above(s, || assert_eq!(CURRENT.get(), 0, "the value that a job meets"));
        assert_eq!((before, CURRENT.replace(before)), (0, 1), "the value around a join");
    });
}

/// Two branches wait for each other, under a lock that nobody else wants.
pub(crate) fn barrier_between_branches(pools: &Pools) {
    let (lock, both) = (Mutex::new(()), Barrier::new(2));
    let leaders = pools.outer.install(|| {
        let _held = lock.lock().unwrap();
        let (a, b) = join(|| both.wait().is_leader(), || both.wait().is_leader());
        u32::from(a) + u32::from(b)
    });
    assert_eq!(leaders, 1, "leaders of a barrier");
}
