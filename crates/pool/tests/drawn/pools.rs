//! Bytes that say what is done to a pool and to its sequential twin. The operations use blocks,
//! boxes, and entries by key.

use arbitrary::Unstructured;
use sateen_pool::{Growth, Key, LockFreeTree, Magazine, Pool, PoolBox, Ref, Strategy};
use std::collections::HashMap;

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

/// Values own memory, so that a memory checker notices a value dropped twice or never.
type Value = Box<u64>;

/// Does what `bytes` say to a pool of some strategy and to its twin. Panics where they differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    match below(&mut u, 2) {
        0 => drive::<Magazine>(&mut u),
        _ => drive::<LockFreeTree>(&mut u),
    }
}

/// What lies in the pool: values by key, and values that are boxed or held by guards.
struct Twin {
    live: HashMap<Key, u64>,
    /// Every key that was ever given.
    ever: Vec<Key>,
    most: usize,
    next: u64,
}

fn drive<S: Strategy>(u: &mut Unstructured<'_>) {
    let capacity = 1 + below(u, 140);
    let builder = Pool::<Value, S>::builder(capacity);
    let (builder, most) = match below(u, 3) {
        0 => (builder, capacity),
        1 => (builder.grow(Growth::Doubling, capacity + 70), capacity + 70),
        _ => (builder.grow(Growth::Fixed(8 + below(u, 70)), capacity + 33), capacity + 33),
    };
    let pool = builder.build().expect("a small pool");
    let mut twin = Twin { live: HashMap::new(), ever: Vec::new(), most, next: 0 };
    let mut boxes: Vec<(PoolBox<'_, Value, S>, u64)> = Vec::new();
    let mut guards: Vec<(Ref<'_, Value, S>, u64)> = Vec::new();
    while !u.is_empty() {
        step(&pool, u, &mut twin, &mut boxes, &mut guards);
        assert!(boxes.iter().all(|(boxed, value)| ***boxed == *value));
        assert!(guards.iter().all(|(guard, value)| ***guard == *value));
        let held = |key: &Key| !twin.live.contains_key(key);
        let mut removed: Vec<Key> =
            guards.iter().map(|(guard, _)| Ref::key(guard)).filter(held).collect();
        removed.sort_unstable();
        removed.dedup();
        assert_eq!(pool.in_use(), twin.live.len() + boxes.len() + removed.len());
    }
    drop((boxes, guards));
    assert_eq!(pool.in_use(), twin.live.len());
    // The values that are left are dropped with the pool.
}

fn step<'p, S: Strategy>(
    pool: &'p Pool<Value, S>,
    u: &mut Unstructured<'_>,
    twin: &mut Twin,
    boxes: &mut Vec<(PoolBox<'p, Value, S>, u64)>,
    guards: &mut Vec<(Ref<'p, Value, S>, u64)>,
) {
    twin.next += 1;
    let value = twin.next;
    let any = (!twin.ever.is_empty()).then(|| twin.ever[below(u, twin.ever.len())]);
    let guarded = |key: Key, guards: &[(Ref<'_, Value, S>, u64)]| {
        guards.iter().any(|(guard, _)| Ref::key(guard) == key)
    };
    match (below(u, 12), any) {
        (0..4, _) => match pool.insert(Box::new(value)) {
            Ok(key) => {
                assert!(!twin.ever.contains(&key));
                twin.live.insert(key, value);
                twin.ever.push(key);
            }
            Err(full) => {
                assert_eq!((*full.into_inner(), pool.in_use()), (value, twin.most));
            }
        },
        (4 | 5, _) => match pool.try_alloc(Box::new(value)) {
            Ok(boxed) => boxes.push((boxed, value)),
            Err(full) => {
                assert_eq!((*full.into_inner(), pool.in_use()), (value, twin.most));
            }
        },
        (6, _) if !boxes.is_empty() => {
            let (boxed, value) = boxes.swap_remove(below(u, boxes.len()));
            match below(u, 3) {
                0 => assert_eq!(*PoolBox::into_inner(boxed), value),
                1 => drop(boxed),
                _ => {
                    let key = PoolBox::into_key(boxed);
                    assert!(!twin.ever.contains(&key));
                    twin.live.insert(key, value);
                    twin.ever.push(key);
                }
            }
        }
        (7, Some(key)) => assert_eq!(pool.remove(key), twin.live.remove(&key).is_some()),
        (8, Some(key)) => {
            let expected = twin.live.get(&key).copied().filter(|_| !guarded(key, guards));
            let taken = pool.take(key).map(|boxed| *PoolBox::into_inner(boxed));
            assert_eq!(taken, expected);
            if taken.is_some() {
                twin.live.remove(&key);
            }
        }
        (9 | 10, Some(key)) => {
            let found = pool.get(key);
            assert_eq!(found.as_ref().map(|guard| ***guard), twin.live.get(&key).copied());
            assert_eq!(pool.contains(key), found.is_some());
            if let (Some(guard), true) = (found, guards.len() < 8) {
                let value = **guard;
                guards.push((guard, value));
            }
        }
        (_, _) if !guards.is_empty() => drop(guards.swap_remove(below(u, guards.len()))),
        _ => {}
    }
}
