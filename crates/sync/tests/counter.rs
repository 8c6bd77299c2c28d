//! The counters beside their sequential twin, and under threads that start and end.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_sync::counter::{LocalCounter, StripedCounter};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread;

/// `full`, or fewer where every step is interpreted.
const fn steps(full: u64) -> u64 {
    if cfg!(miri) { full / 50 } else { full }
}

/// Random operations give the same total as a `u64`. Some come from threads that end at once.
fn like_a_number<const STRIPES: usize>() {
    let mut rng = XorShift::new(STRIPES as u64 + 1);
    let mut counter = StripedCounter::<STRIPES>::with_stripes();
    let mut twin = 0_u64;
    for _ in 0..steps(3000) {
        let n = rng.next_u64() >> rng.below(64);
        match rng.below(32) {
            0 => {
                counter.reset();
                twin = 0;
            }
            1 => assert_eq!(counter.take(), std::mem::take(&mut twin)),
            2 => {
                thread::scope(|s| drop(s.spawn(|| counter.add(n)).join()));
                twin = twin.wrapping_add(n);
            }
            3..16 => {
                counter.add(n);
                twin = twin.wrapping_add(n);
            }
            16..24 => {
                counter.increment();
                twin = twin.wrapping_add(1);
            }
            _ => {
                counter.sub(n);
                twin = twin.wrapping_sub(n);
            }
        }
        assert_eq!(counter.sum(), twin);
    }
}

#[test]
fn striped_is_like_a_number() {
    like_a_number::<0>();
    like_a_number::<1>();
    like_a_number::<64>();
}

/// Waves of threads start and end. Stripes change hands, and more threads live than there are
/// stripes.
fn waves<const STRIPES: usize>(threads: u64) {
    let counter = StripedCounter::<STRIPES>::with_stripes();
    let (waves, each) = (steps(50).max(2), steps(2000));
    for wave in 1..=waves {
        thread::scope(|s| {
            for _ in 0..threads {
                s.spawn(|| (0..each).for_each(|_| counter.increment()));
            }
        });
        assert_eq!(counter.sum(), wave * threads * each);
    }
}

#[test]
fn nothing_is_lost_when_threads_end() {
    waves::<64>(8);
    waves::<2>(8);
    waves::<0>(4);
}

/// Threads end while others start, so that no wave separates the owners of a stripe.
#[test]
fn stripes_change_hands_at_any_time() {
    let counter = StripedCounter::new();
    let each = steps(500);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..each.min(100) {
                    let one = || (0..each).for_each(|_| counter.increment());
                    thread::scope(|inner| drop(inner.spawn(one).join()));
                }
            });
        }
    });
    assert_eq!(counter.sum(), 4 * each.min(100) * each);
}

static AT_THE_END: StripedCounter = StripedCounter::new();

/// Destructors of thread-locals run before or after the thread gives its number back.
#[test]
fn additions_while_a_thread_ends() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            AT_THE_END.add(10);
        }
    }
    thread_local! {
        static BEFORE: Last = const { Last };
        static AFTER: Last = const { Last };
    }
    let threads = steps(200);
    for _ in 0..threads {
        thread::scope(|s| {
            s.spawn(|| {
                BEFORE.with(|_| ());
                AT_THE_END.increment();
                AFTER.with(|_| ());
            });
        });
    }
    // A scope waits for the closures of its threads, but not for destructors of their
    // thread-locals.
    thread::spawn(|| ()).join().expect("no panic");
    while AT_THE_END.sum() < threads * 21 {
        thread::yield_now();
    }
    assert_eq!(AT_THE_END.sum(), threads * 21);
}

/// A sum contains all that happened before it and nothing that begins after it. Sums never go down.
#[test]
fn sums_beside_additions_lie_between() {
    let counter = StripedCounter::<2>::with_stripes();
    let (begun, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let (threads, each) = (4, steps(20_000));
    thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                for _ in 0..each {
                    begun.fetch_add(1, Ordering::Relaxed);
                    fence(Ordering::Release);
                    counter.increment();
                    done.fetch_add(1, Ordering::Release);
                }
            });
        }
        let mut before = 0;
        loop {
            let low = done.load(Ordering::Acquire);
            let sum = counter.sum();
            fence(Ordering::Acquire);
            let high = begun.load(Ordering::Relaxed);
            assert!(low <= sum && sum <= high, "{low} {sum} {high}");
            assert!(before <= sum, "{before} {sum}");
            before = sum;
            if low == threads * each {
                break;
            }
            thread::yield_now();
        }
    });
}

#[test]
fn a_local_counter_flushes_once() {
    let total = AtomicU64::new(u64::MAX);
    let get = || total.load(Ordering::Relaxed);
    let mine = LocalCounter::new(&total);
    mine.add(2);
    assert_eq!((mine.pending(), get()), (2, u64::MAX));
    mine.flush();
    assert_eq!((mine.pending(), get()), (0, 1));
    mine.add(u64::MAX);
    mine.increment();
    mine.add(5);
    drop(mine);
    assert_eq!(get(), 6);
    // The counter is dropped by a panic, in the thread to which it was sent.
    let mine = LocalCounter::new(&total);
    let caught = thread::scope(|s| {
        s.spawn(move || {
            mine.add(4);
            std::panic::resume_unwind(Box::new(()));
        })
        .join()
    });
    assert!(caught.is_err());
    assert_eq!(get(), 10);
}

#[test]
fn they_show_their_count() {
    let counter: StripedCounter<3> = StripedCounter::default();
    counter.add(4);
    assert_eq!(format!("{counter:?}"), "StripedCounter { sum: 4, .. }");
    let total = AtomicU64::new(0);
    let mine = LocalCounter::new(&total);
    mine.increment();
    assert_eq!(format!("{mine:?}"), "LocalCounter { pending: 1, .. }");
}
