//! The eventcount: its operations one by one, and conservation under load.
#![cfg(not(loom))]

use sateen_base::fence::{heavy, is_asymmetric, light};
use sateen_sync::EventCount;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn announce_and_cancel() {
    let count = EventCount::new(3);
    assert!(!count.has_sleepers());
    count.announce(1);
    assert!(count.has_sleepers());
    assert_eq!((count.sleepers(), count.announced()), (1, 1));
    assert!(count.cancel(1));
    assert!(!count.has_sleepers());
    assert_eq!(count.notify_one(), None);
    assert!(!count.notify(1));
}

#[test]
fn notified_between_announce_and_sleep() {
    let count = EventCount::new(2);
    count.announce(1);
    assert_eq!(count.notify_one(), Some(1));
    assert_eq!(count.notify_one(), None);
    assert!(!count.has_sleepers(), "one that was notified is no sleeper any more");
    assert!(count.sleep(1, None), "must not sleep");
    count.announce(1);
    assert!(count.notify(1));
    assert!(!count.cancel(1), "the notification is handed to the caller");
    count.announce(1);
    assert!(count.cancel(1));
}

#[test]
fn a_time_out_leaves_the_announcement() {
    let count = EventCount::new(1);
    count.announce(0);
    let start = Instant::now();
    assert!(!count.sleep(0, Some(Duration::from_millis(5))));
    assert!(start.elapsed() >= Duration::from_millis(5));
    assert!(!count.sleep(0, Some(Duration::ZERO)));
    assert_eq!(count.sleepers(), 1);
    assert_eq!(count.notify_one(), Some(0));
    assert!(count.sleep(0, Some(Duration::ZERO)));
}

#[test]
fn one_slot_is_notified_after_all_others() {
    let count = EventCount::new(130);
    for spared in [0, 64, 129] {
        assert_eq!(count.notify_one_but(spared), None);
        for slot in [0, 64, 129] {
            count.announce(slot);
        }
        let order: Vec<_> = (0..4).map(|_| count.notify_one_but(spared)).collect();
        let others = [0, 64, 129].into_iter().filter(|slot| *slot != spared).map(Some);
        assert_eq!(order, others.chain([Some(spared), None]).collect::<Vec<_>>());
        for slot in [0, 64, 129] {
            assert!(count.sleep(slot, None));
        }
    }
}

#[test]
fn every_slot_can_be_notified() {
    let most = if cfg!(miri) { 100 } else { EventCount::MAX_SLOTS };
    for slots in [0, 1, 2, 3, 4, 8, 63, 64, 65, most] {
        let count = EventCount::new(slots);
        assert_eq!(count.slots(), slots);
        let step = (slots / 100).max(1);
        let mut announced: Vec<_> = (0..slots).rev().step_by(step).collect();
        for &slot in &announced {
            count.announce(slot);
        }
        assert_eq!(count.sleepers(), announced.len());
        announced.sort_unstable();
        for &slot in &announced {
            assert_eq!(count.notify_one(), Some(slot));
            assert!(count.sleep(slot, None));
        }
        assert_eq!(count.notify_one(), None);
        assert_eq!(count.sleepers(), 0);
    }
}

#[test]
fn misuse_is_told() {
    let says = |f: &dyn Fn(), text: &str| {
        let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        let message = panic.downcast_ref::<String>().expect("a formatted message");
        assert!(message.contains(text), "{message:?} lacks {text:?}");
    };
    says(&|| drop(EventCount::new(65_536)), "65536 slots wanted");
    let count = EventCount::new(1);
    says(&|| _ = count.cancel(0), "slot 0 is not announced");
    says(&|| _ = count.sleep(0, None), "slot 0 is not announced");
    says(&|| _ = count.notify(1), "no slot 1");
    says(&|| count.announce(1), "out of bounds");
    count.announce(0);
    says(&|| count.announce(0), "slot 0 is announced already");
    assert!(count.cancel(0));
}

/// Workers sleep when there is nothing to do, and publishers wake one worker for each piece of
/// work. All work is done, and no worker sleeps for ever. As many notifications are taken as were
/// given.
fn all_work_is_done(sleeper_fence: fn(), publisher_fence: fn(), timed: bool) {
    const WORKERS: usize = 5;
    const PUBLISHERS: usize = 3;
    const PIECES: usize = sateen_testkit::sized(20_000);
    let count = EventCount::new(WORKERS);
    let (work, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (given, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let notify = || {
        publisher_fence();
        if count.has_sleepers() && count.notify_one().is_some() {
            given.fetch_add(1, Ordering::Relaxed);
        }
    };
    let total = PUBLISHERS * PIECES;
    thread::scope(|s| {
        for slot in 0..WORKERS {
            let (count, work, done, taken) = (&count, &work, &done, &taken);
            s.spawn(move || {
                while done.load(Ordering::Acquire) < total {
                    let piece = work
                        .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| n.checked_sub(1));
                    if piece.is_ok() {
                        if done.fetch_add(1, Ordering::AcqRel) + 1 == total {
                            // Every worker must learn of the end.
                            fence(Ordering::SeqCst);
                            (0..WORKERS).for_each(|slot| {
                                taken.fetch_sub(usize::from(count.notify(slot)), Ordering::Relaxed);
                            });
                        }
                        continue;
                    }
                    count.announce(slot);
                    sleeper_fence();
                    let busy =
                        work.load(Ordering::Acquire) > 0 || done.load(Ordering::Acquire) >= total;
                    let notified = if busy {
                        !count.cancel(slot)
                    } else if timed {
                        count.sleep(slot, Some(Duration::from_micros(20))) || !count.cancel(slot)
                    } else {
                        count.sleep(slot, None)
                    };
                    taken.fetch_add(usize::from(notified), Ordering::Relaxed);
                }
            });
        }
        for _ in 0..PUBLISHERS {
            s.spawn(|| {
                for piece in 0..PIECES {
                    work.fetch_add(1, Ordering::Release);
                    notify();
                    if piece % 64 == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(done.into_inner(), total);
    assert_eq!(work.into_inner(), 0);
    assert_eq!(count.sleepers(), 0);
    assert_eq!(given.into_inner(), taken.into_inner());
}

#[test]
fn stress_with_full_fences() {
    let full = || fence(Ordering::SeqCst);
    all_work_is_done(full, full, false);
}

#[test]
fn stress_with_time_outs() {
    let full = || fence(Ordering::SeqCst);
    all_work_is_done(full, full, true);
}

#[test]
fn stress_with_asymmetric_fences() {
    if is_asymmetric() {
        all_work_is_done(|| _ = heavy(), light, false);
    }
}
