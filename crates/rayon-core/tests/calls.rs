//! Pools that call each other while their threads wait for each other.

mod common;

use common::pool;
use rayon_core::*;
use sateen_testkit::{give_way, panic_of};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

const THREADS: [usize; 3] = [1, 2, 8];

/// Counts, from many threads.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn jobs_of_jobs_call_back() {
    for threads in THREADS {
        let (a, b) = (pool(threads), pool(threads));
        let count = Count::default();
        a.install(|| {
            b.in_place_scope(|s| {
                for _ in 0..4 {
                    s.spawn(|s| {
                        a.install(|| count.add());
                        s.spawn(|_| a.install(|| count.add()));
                    });
                }
            });
        });
        assert_eq!(count.get(), 8);
    }
}

#[test]
fn jobs_that_their_own_thread_has_queued_are_found() {
    for threads in THREADS {
        let (a, b) = (pool(threads), pool(threads));
        let count = Count::default();
        // The only thread of `b` waits for the call into `a`. That waits for a scope whose last
        // job lies in the queue of that very thread, below others that are not waited for.
        let inner = || {
            b.in_place_scope(|s| {
                s.spawn(|s| {
                    s.spawn(|_| count.add());
                    (0..50).for_each(|_| b.spawn(|| ()));
                });
            });
        };
        a.install(|| b.in_place_scope(|s| s.spawn(|_| a.install(inner))));
        assert_eq!(count.get(), 1);
    }
}

#[test]
fn many_jobs_call_back() {
    for threads in THREADS {
        let (a, b) = (pool(threads), pool(threads));
        let count = Count::default();
        a.install(|| {
            b.in_place_scope(|s| {
                for _ in 0..2_000 {
                    s.spawn(|_| a.install(|| count.add()));
                }
            });
        });
        assert_eq!(count.get(), 2_000);
    }
}

#[test]
fn jobs_that_call_back_in_order() {
    for threads in THREADS {
        let (a, b) = (pool(threads), pool(threads));
        let count = Count::default();
        a.install(|| {
            b.in_place_scope_fifo(|s| {
                for _ in 0..20 {
                    s.spawn_fifo(|s| {
                        s.spawn_fifo(|_| a.scope_fifo(|s| s.spawn_fifo(|_| count.add())));
                        a.join(|| count.add(), || count.add());
                    });
                }
            });
        });
        assert_eq!(count.get(), 60);
    }
}

#[test]
fn jobs_that_panic_where_they_call_back() {
    for threads in THREADS {
        let (a, b) = (pool(threads), pool(threads));
        let count = Count::default();
        let text = panic_of(|| {
            a.install(|| {
                b.in_place_scope(|s| {
                    for i in 0..20 {
                        let (a, count) = (&a, &count);
                        s.spawn(move |_| {
                            a.install(|| assert!(i % 2 == 0, "an odd one"));
                            count.add();
                        });
                    }
                });
            });
        });
        assert_eq!((text.as_str(), count.get()), ("an odd one", 10));
        assert_eq!(a.install(|| b.install(|| a.install(|| 1))), 1);
    }
}

#[test]
fn a_pool_that_closes_while_its_thread_helps() {
    for threads in THREADS {
        let (a, b) = (Arc::new(pool(threads)), Arc::new(pool(threads)));
        let (done, end) = std::sync::mpsc::channel();
        let (weak, outer) = (Arc::clone(&b), Arc::clone(&a));
        a.spawn(move || {
            weak.in_place_scope(|s| {
                s.spawn(move |_| {
                    let seven = outer.install(|| 7);
                    // The last handle, perhaps.
                    drop(outer);
                    done.send(seven).expect("a receiver");
                });
            });
        });
        drop((a, b));
        assert_eq!(end.recv(), Ok(7));
    }
}

/// Each step calls the next pool of the ring in another way, from as many places as `wide` says.
fn around(ring: &[ThreadPool], step: usize, steps: usize, count: &Count) {
    if step == steps {
        return count.add();
    }
    let next = &ring[step % ring.len()];
    let go = || around(ring, step + 1, steps, count);
    match (step * 7 + step / 3) % 6 {
        0 => next.install(go),
        1 => next.in_place_scope(|s| s.spawn(|s| s.spawn(|_| go()))),
        2 => next.scope(|s| s.spawn(|_| go())),
        3 => _ = next.broadcast(|context| (context.index() == 0).then(go)),
        4 => next.in_place_scope(|s| {
            s.spawn_broadcast(|_, context| _ = (context.index() == 0).then(go));
        }),
        _ => next.scope(|s| {
            s.spawn_broadcast(|_, context| _ = (context.index() == 0).then(go));
        }),
    }
}

#[test]
fn three_pools_in_a_ring() {
    for threads in THREADS {
        for steps in (1..25).step_by(4) {
            let ring = [0; 3].map(|_| pool(threads));
            let count = Count::default();
            around(&ring, 0, steps, &count);
            ring[1].install(|| around(&ring, 0, steps, &count));
            assert_eq!(count.get(), 2);
        }
    }
}

#[test]
fn three_pools_in_a_ring_from_many_places() {
    for threads in THREADS {
        let ring = [0; 3].map(|_| pool(threads));
        let count = Count::default();
        std::thread::scope(|t| {
            for first in 0..6 {
                let (ring, count) = (&ring, &count);
                t.spawn(move || around(ring, first, first + 7, count));
            }
        });
        assert_eq!(count.get(), 6);
    }
}

/// All threads of all pools of a ring call the next pool at the same time, each with `call`.
fn all_at_once(pools: usize, call: impl Fn(&ThreadPool, &Count) + Sync) {
    for threads in [1, 2, 5] {
        let ring: Vec<_> = (0..pools).map(|_| pool(threads)).collect();
        let (all, count) = (Barrier::new(pools * threads), Count::default());
        std::thread::scope(|t| {
            for i in 0..pools {
                let (own, next) = (&ring[i], &ring[(i + 1) % pools]);
                let (all, count, call) = (&all, &count, &call);
                t.spawn(move || {
                    own.broadcast(|_| {
                        all.wait();
                        call(next, count);
                    });
                });
            }
        });
        assert_eq!(count.get(), pools * threads);
    }
}

#[test]
fn calls_that_cross() {
    for pools in [2, 3] {
        all_at_once(pools, |next, count| next.install(|| count.add()));
        all_at_once(pools, |next, count| next.scope(|s| s.spawn(|_| count.add())));
        all_at_once(pools, |next, count| next.in_place_scope(|s| s.spawn(|_| count.add())));
        all_at_once(pools, |next, count| {
            let one = |index| {
                if index == 0 {
                    count.add()
                }
            };
            next.in_place_scope(|s| s.spawn_broadcast(|_, context| one(context.index())));
        });
        all_at_once(pools, |next, count| {
            join(|| next.install(|| ()), || next.install(|| count.add()));
        });
    }
}

#[test]
fn a_lock_across_a_call_to_a_busy_pool() {
    // The pool's threads wait, but not in a circle. So nothing runs on top of them that wants the
    // lock.
    for threads in [1, 2, 8] {
        let (a, b, lock) = (pool(threads), pool(1), Mutex::new(()));
        a.scope(|s| {
            for _ in 0..20 {
                s.spawn(|_| {
                    let held = lock.lock().unwrap();
                    b.install(give_way);
                    drop(held);
                });
            }
        });
    }
}

#[test]
fn a_broadcast_beside_a_call_that_waits() {
    let (a, b) = (pool(2), pool(1));
    let both = Barrier::new(2);
    let first = || {
        b.install(|| {
            both.wait();
            give_way();
            a.broadcast(|_| ());
        });
    };
    let second = || {
        both.wait();
        b.install(|| ());
    };
    std::thread::scope(|t| {
        t.spawn(|| a.install(first));
        t.spawn(|| a.install(second));
    });
}
