//! Conservation: no block is given out twice and none is lost, although threads panic and end at
//! any time.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_pool::{Growth, Key, LockFreeTree, Magazine, Pool, PoolBox, Strategy};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};

const CANARY: u64 = 0x5A7E_E2C0_FFEE_D00D;
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// One test counts at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Holds its owner on both sides of many bytes, so that a block given out twice shows.
struct Value {
    front: u64,
    owner: AtomicU64,
    text: String,
    back: u64,
}

impl Value {
    fn new(owner: u64) -> Self {
        LIVE.fetch_add(1, Relaxed);
        let owner_word = AtomicU64::new(owner);
        Self { front: CANARY ^ owner, owner: owner_word, text: owner.to_string(), back: !owner }
    }

    #[track_caller]
    fn check(&self) -> u64 {
        let owner = self.owner.load(Relaxed);
        assert_eq!((self.front, self.back), (CANARY ^ owner, !owner));
        assert_eq!(self.text.parse(), Ok(owner));
        owner
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        let owner = self.check();
        assert_ne!(self.owner.swap(u64::MAX, Relaxed), u64::MAX, "dropped twice");
        LIVE.fetch_sub(1, Relaxed);
        if owner.is_multiple_of(61) && !std::thread::panicking() {
            panic!("expected");
        }
    }
}

/// Expected panics print nothing. Other panics still fail the test.
fn survive(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let expected = payload.downcast_ref::<&str>() == Some(&"expected");
        if !expected {
            std::panic::resume_unwind(payload);
        }
    }
}

/// Keys that all threads see. Now and then several threads use the same key at the same time.
struct Board([AtomicU64; 16]);

fn work<S: Strategy + Send + Sync>(pool: &Pool<Value, S>, board: &Board, thread: u64, steps: u64) {
    let mut random = XorShift::new(thread + 1);
    let mut boxes: Vec<(PoolBox<'_, Value, S>, u64)> = Vec::new();
    for step in 0..steps {
        let owner = thread << 32 | step << 4;
        let key = || Key::from_bits(board.0[step as usize % 16].load(Relaxed));
        match random.below(8) {
            0 | 1 => boxes.extend(pool.try_alloc(Value::new(owner)).ok().map(|b| (b, owner))),
            2 => survive(|| {
                let made = pool.try_alloc_with(|| match step % 7 {
                    0 => panic!("expected"),
                    _ => Value::new(owner),
                });
                assert!(made.is_err() || made.is_ok_and(|value| value.check() == owner));
            }),
            3 if !boxes.is_empty() => {
                let (value, owner) = boxes.swap_remove(random.below(boxes.len()));
                assert_eq!(value.check(), owner);
                survive(|| drop(value));
            }
            4 => {
                if let Ok(key) = pool.insert(Value::new(owner)) {
                    let slot = &board.0[random.below(16)];
                    // A thread that replaces a key removes the entry of the old key. AcqRel: it
                    // must know of that entry.
                    let before = Key::from_bits(slot.swap(key.to_bits(), AcqRel));
                    survive(|| _ = before.map(|key| pool.remove(key)));
                }
            }
            5 => survive(|| _ = key().map(|key| pool.remove(key))),
            6 => survive(|| {
                if let Some(value) = key().and_then(|key| pool.take(key)) {
                    value.check();
                }
            }),
            _ => survive(|| {
                if let Some(value) = key().and_then(|key| pool.get(key)) {
                    let owner = value.check();
                    std::hint::black_box(&value.text);
                    assert_eq!(value.check(), owner);
                }
            }),
        }
        if boxes.len() > 20 {
            survive(|| drop(boxes.pop()));
        }
    }
    if thread % 2 == 1 {
        // Half of the threads die while they hold boxes. The drops of those must not panic again.
        panic!("expected");
    }
    boxes.into_iter().for_each(|value| survive(|| drop(value)));
}

fn stress<S: Strategy + Send + Sync>(growth: Option<(Growth, usize)>) {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    assert_eq!(LIVE.load(Relaxed), 0);
    for &threads in if cfg!(miri) { &[4][..] } else { &[1, 2, 8] } {
        let builder = Pool::<Value, S>::builder(40);
        let builder = growth.map_or(builder, |(by, most)| Pool::builder(40).grow(by, most));
        let pool = builder.build().expect("memory");
        let board = Board([(); 16].map(|()| AtomicU64::new(0)));
        // Generations of threads, so that thread numbers and caches change hands.
        for generation in 0..if cfg!(miri) { 2 } else { 4 } {
            std::thread::scope(|s| {
                let workers: Vec<_> = (0..threads)
                    .map(|n| {
                        let (pool, board) = (&pool, &board);
                        s.spawn(move || {
                            work(
                                pool,
                                board,
                                generation * 8 + n,
                                if cfg!(miri) { 96 } else { 40_000 } / threads,
                            )
                        })
                    })
                    .collect();
                for (n, worker) in workers.into_iter().enumerate() {
                    let Err(payload) = worker.join() else { continue };
                    assert_eq!(payload.downcast_ref::<&str>(), Some(&"expected"), "thread {n}");
                }
            });
            // The entries on the board are left.
            let live = board.0.iter().filter_map(|key| Key::from_bits(key.load(Relaxed)));
            let live = live.filter(|key| pool.contains(*key)).count();
            assert_eq!((pool.in_use(), LIVE.load(Relaxed)), (live, live));
        }
        // All blocks can be taken again.
        let most = pool.stats().most;
        let mut pool = pool;
        let keys: Vec<Key> = pool.iter_mut().map(|(key, _)| key).collect();
        keys.into_iter().for_each(|key| survive(|| _ = pool.remove(key)));
        let all: Vec<_> =
            (0..most).map(|n| pool.try_alloc(Value::new(n as u64 * 61 + 1))).collect();
        assert!(all.iter().all(Result::is_ok) && pool.try_alloc_with(|| Value::new(1)).is_err());
        drop(all);
        assert_eq!(LIVE.load(Relaxed), 0);
    }
}

/// Panics that are part of the test are not printed.
fn quietly(f: impl FnOnce()) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&"expected") {
                loud(info);
            }
        }));
    });
    f();
}

#[test]
fn magazine() {
    quietly(|| stress::<Magazine>(None));
}

#[test]
fn magazine_that_grows() {
    quietly(|| stress::<Magazine>(Some((Growth::Doubling, 160))));
}

#[test]
fn lock_free_tree_that_grows() {
    quietly(|| stress::<LockFreeTree>(Some((Growth::Fixed(25), 160))));
}

#[test]
fn lock_free_tree() {
    quietly(|| stress::<LockFreeTree>(None));
}
