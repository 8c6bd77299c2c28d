//! The strategy with one flag for each block, under the model checker.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::Watched;
use sateen_pool::LockFreeFlags;
use sateen_testkit::model;

/// Three threads use two blocks.
#[test]
fn taken_and_given() {
    model(2, || {
        let pool = Arc::new(Watched::<LockFreeFlags>::new(2));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    if let Some(block) = pool.take() {
                        pool.give(block);
                    }
                })
            })
            .collect();
        let mine = pool.take();
        others.into_iter().for_each(|other| other.join().unwrap());
        mine.into_iter().for_each(|block| pool.give(block));
        assert_eq!(pool.rest(), [0, 1]);
    });
}

/// There are as many blocks as threads. Each thread gets one, although none comes back meanwhile.
#[test]
fn enough_for_all() {
    model(3, || {
        let pool = Arc::new(Watched::<LockFreeFlags>::new(2));
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take().expect("two are free"))
        };
        let mine = pool.take().expect("two are free");
        assert_ne!(mine, other.join().unwrap());
        assert_eq!(pool.rest(), []);
    });
}
