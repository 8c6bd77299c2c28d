//! The tree without a lock under the model checker: words of two bits, so eight blocks make three levels.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::{Watched, model};
use sateen_pool::LockFreeTree;

type Tree = Watched<LockFreeTree>;

/// `capacity` blocks, all taken but `free`, and every level above says so.
fn full_but(capacity: usize, free: &[usize]) -> Arc<Tree> {
    let pool = Arc::new(Tree::new(capacity));
    assert_eq!(pool.rest().len(), capacity);
    free.iter().for_each(|block| pool.give(*block));
    pool
}

/// Alone again: nothing is lost, and what is left comes by way of the levels.
fn check(pool: &Tree, left: &[usize]) {
    assert!(pool.pool.strategy().is_complete());
    assert_eq!(pool.rest(), left);
}

/// Two threads empty and refill a leaf, so that its bit above comes and goes.
#[test]
fn two_take_and_give() {
    model(3, || {
        let pool = full_but(4, &[0, 2]);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                let block = pool.take().expect("one for each");
                pool.give(block);
            })
        };
        let mine = pool.take().expect("one for each");
        other.join().unwrap();
        pool.give(mine);
        check(&pool, &[0, 2]);
    });
}

/// While a leaf is found empty and its bit above is cleared, a block comes back there. Who gave it finds it
/// again, unless the other has it.
#[test]
fn given_while_the_leaf_is_cleared() {
    model(3, || {
        let pool = full_but(4, &[0]);
        // Taken by the leaf alone: its bit above still says that it may have more.
        assert_eq!(pool.take(), Some(0));
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take())
        };
        pool.give(0);
        let mine = pool.take();
        let theirs = other.join().unwrap();
        assert_eq!(mine.or(theirs), Some(0), "free throughout, and not found");
        assert!(mine.is_none() || theirs.is_none());
        pool.give(0);
        check(&pool, &[0]);
    });
}

/// The same a level higher: the root's bit.
#[test]
fn given_while_the_level_above_is_cleared() {
    model(2, || {
        let pool = full_but(8, &[0]);
        assert_eq!(pool.take(), Some(0));
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take())
        };
        pool.give(0);
        let mine = pool.take();
        let theirs = other.join().unwrap();
        assert_eq!(mine.or(theirs), Some(0), "free throughout, and not found");
        pool.give(0);
        check(&pool, &[0]);
    });
}

/// Who gave a block finds it though another, who gave one of the same leaf before, has not yet said so above.
#[test]
fn a_late_giver_hides_nothing() {
    model(3, || {
        let pool = full_but(4, &[]);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.give(2))
        };
        pool.give(3);
        let mine = pool.take().expect("given, and nobody else takes");
        other.join().unwrap();
        check(&pool, &[5 - mine]);
    });
}

/// Two clear, one gives.
#[test]
fn two_clear_while_one_gives() {
    model(2, || {
        let pool = full_but(4, &[2]);
        assert_eq!(pool.take(), Some(2));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || pool.take())
            })
            .collect();
        pool.give(2);
        let found = others.into_iter().filter_map(|other| other.join().unwrap()).count();
        assert!(found < 2);
        assert!(pool.pool.strategy().is_complete());
        if found == 1 {
            pool.give(2);
        }
        check(&pool, &[2]);
    });
}
