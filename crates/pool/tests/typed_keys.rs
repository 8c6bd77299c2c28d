//! Entries by key, beside a map.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_pool::{Growth, Key, LockFreeTree, Magazine, Pool, PoolBox, Ref, Strategy};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_key_names_one_entry_for_ever() {
    let mut pool = Pool::<u32>::new(1).expect("memory");
    let mut stale = Vec::new();
    for n in 0..if cfg!(miri) { 12 } else { 100 } {
        let key = pool.insert(n).expect("room");
        assert!(!stale.contains(&key) && pool.contains(key));
        assert_eq!(pool.get_mut(key), Some(&mut { n }));
        assert_eq!(pool.insert(n).expect_err("one is in").into_inner(), n);
        assert!(pool.remove(key) && !pool.remove(key) && pool.take(key).is_none());
        stale.push(key);
        // The key also finds nothing while the block is a box.
        let boxed = pool.try_alloc(n).expect("room");
        assert!(stale.iter().all(|key| !pool.contains(*key) && pool.get(*key).is_none()));
        drop(boxed);
        assert!(stale.iter().all(|key| pool.get_mut(*key).is_none()));
    }
}

#[test]
fn made_up_keys_and_other_pools_keys_find_nothing() {
    let pools =
        [(); if cfg!(miri) { 4 } else { 20 }].map(|()| Pool::<u32>::new(8).expect("memory"));
    let mut keys = Vec::new();
    for (n, pool) in pools.iter().enumerate() {
        for _ in 0..if cfg!(miri) { 10 } else { 50 } {
            let key = pool.insert(0).expect("room");
            assert!(pool.remove(key));
        }
        keys.push(pool.insert(n as u32).expect("room"));
    }
    for (n, key) in keys.iter().enumerate() {
        let found = pools.iter().filter_map(|pool| pool.get(*key)).map(|n| *n).collect::<Vec<_>>();
        assert_eq!(found, [n as u32]);
    }
    let mut random = XorShift::new(5);
    for bits in std::iter::repeat_with(|| random.next_u64())
        .take(if cfg!(miri) { 30 } else { 10_000 })
        .chain([0, 1, 2, 9, u64::MAX])
    {
        for key in [bits, bits | 1, bits & !0xFFFF_FFF0].into_iter().filter_map(Key::from_bits) {
            let found = pools[0].get(key);
            assert!(found.is_none() || key == keys[0], "{key:?}");
        }
    }
    assert!(Key::from_bits(5 << 32).is_none());
}

#[test]
fn the_last_guard_drops_a_removed_entry() {
    let pool = Pool::<std::sync::Arc<()>>::new(1).expect("memory");
    let value = std::sync::Arc::new(());
    let key = pool.insert(value.clone()).expect("room");
    let guards = [pool.get(key), pool.get(key)].map(|guard| guard.expect("live"));
    assert_eq!(Ref::key(&guards[0]), key);
    assert!(pool.take(key).is_none() && pool.contains(key));
    assert!(pool.remove(key) && !pool.remove(key));
    assert!(pool.get(key).is_none() && pool.insert(value.clone()).is_err());
    let [one, two] = guards;
    drop(one);
    assert_eq!(std::sync::Arc::strong_count(&*two), 2);
    drop(two);
    assert_eq!((std::sync::Arc::strong_count(&value), pool.in_use()), (1, 0));
    let next = pool.insert(value.clone()).expect("the block is back");
    assert!(next != key && pool.get(key).is_none());
}

#[test]
fn entries_go_with_their_pool_whatever_was_leaked() {
    let dropped = RefCell::new(Vec::new());
    #[derive(Debug)]
    struct Noted<'a>(u32, &'a RefCell<Vec<u32>>);
    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
            assert_ne!(self.0, 3, "expected");
        }
    }
    // SAFETY: there is one thread only. The reference is for `get`, which requires `Sync`.
    unsafe impl Sync for Noted<'_> {}
    let pool = Pool::<Noted<'_>>::builder(2).grow(Growth::Doubling, 16).build().expect("memory");
    let keys: Vec<_> = (0..8).map(|n| pool.insert(Noted(n, &dropped)).expect("room")).collect();
    std::mem::forget(pool.try_alloc(Noted(100, &dropped)));
    let _ = [keys[0], keys[5]].map(|key| std::mem::forget(pool.get(key)));
    assert!(pool.remove(keys[1]) && pool.remove(keys[5]));
    assert_eq!(*dropped.borrow(), [1]);
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(pool))).is_err();
    let mut seen = dropped.take();
    seen.sort_unstable();
    assert_eq!((panicked, seen), (true, (0..8).collect()));
}

#[test]
fn iteration_finds_each_entry_once() {
    let mut pool = Pool::<u32>::builder(4).grow(Growth::Fixed(5), 99).build().expect("memory");
    let keys: Vec<_> = (0..60).map(|n| pool.insert(n).expect("room")).collect();
    let gone = |n: usize| n.is_multiple_of(3);
    assert!((0..60).filter(|n| gone(*n)).all(|n| pool.remove(keys[n])));
    let found: HashMap<Key, u32> = pool
        .iter_mut()
        .map(|(key, value)| {
            *value += 1000;
            (key, *value)
        })
        .collect();
    let expected = (0..60).filter(|n| !gone(*n)).map(|n| (keys[n], n as u32 + 1000));
    assert_eq!(found, expected.collect());
}

/// Random operations on a pool and on a map, with the same answers.
fn model<S: Strategy>(seed: u64, growth: Option<(Growth, usize)>) {
    let builder = Pool::<u64, S>::builder(12);
    let builder = match growth {
        Some((by, most)) => builder.grow(by, most),
        None => builder,
    };
    let (mut pool, most) = (builder.build().expect("memory"), growth.map_or(12, |g| g.1));
    let mut random = XorShift::new(seed);
    let mut below = |n: usize| random.below(n);
    for round in 0..if cfg!(miri) { 2 } else { 20 } {
        let mut entries: HashMap<Key, u64> = HashMap::new();
        let mut live: BTreeSet<Key> = BTreeSet::new();
        let mut boxes = Vec::new();
        let mut ever: Vec<Key> = Vec::new();
        for step in 0..if cfg!(miri) { 60 } else { 400 } {
            let value = round * 1000 + step;
            let in_use = live.len() + boxes.len();
            let any = (!ever.is_empty()).then(|| ever[below(ever.len())]);
            match (below(8), any) {
                (0 | 1, _) => match pool.insert(value) {
                    Ok(key) => {
                        assert!(in_use < most && entries.insert(key, value).is_none());
                        live.insert(key);
                        ever.push(key);
                    }
                    Err(full) => assert_eq!((full.into_inner(), in_use), (value, most)),
                },
                (2, _) => match pool.try_alloc(value) {
                    Ok(boxed) => boxes.push((boxed, value)),
                    Err(full) => assert_eq!((full.into_inner(), in_use), (value, most)),
                },
                (3, _) if !boxes.is_empty() => {
                    let (boxed, value) = boxes.swap_remove(below(boxes.len()));
                    if below(2) == 0 {
                        assert_eq!(PoolBox::into_inner(boxed), value);
                    } else {
                        let key = PoolBox::into_key(boxed);
                        assert!(entries.insert(key, value).is_none());
                        live.insert(key);
                        ever.push(key);
                    }
                }
                (4, Some(key)) => assert_eq!(pool.remove(key), live.remove(&key)),
                (5, Some(key)) => {
                    let expected = live.remove(&key).then(|| entries[&key]);
                    assert_eq!(pool.take(key).map(PoolBox::into_inner), expected);
                }
                (_, Some(key)) => {
                    let expected = live.contains(&key).then(|| entries[&key]);
                    assert_eq!(pool.get(key).map(|value| *value), expected);
                    assert_eq!(pool.contains(key), expected.is_some());
                }
                (_, None) => {}
            }
            assert_eq!(pool.in_use(), live.len() + boxes.len());
        }
        assert!(boxes.iter().all(|(boxed, value)| **boxed == *value));
        drop(boxes);
        let left: BTreeSet<Key> = pool.iter_mut().map(|(key, _)| key).collect();
        assert_eq!(left, live);
        assert!(live.iter().all(|key| pool.remove(*key)));
    }
}

#[test]
fn random_operations_match_a_map() {
    for seed in 1..if cfg!(miri) { 2 } else { 4 } {
        model::<Magazine>(seed, None);
        model::<Magazine>(seed, Some((Growth::Doubling, 40)));
        model::<LockFreeTree>(seed, Some((Growth::Fixed(3), 40)));
        model::<LockFreeTree>(seed, Some((Growth::Fixed(28), 40)));
    }
}
