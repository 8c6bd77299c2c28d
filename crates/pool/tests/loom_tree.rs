//! The tree without a lock under the model checker. Words have two bits, so eight blocks make three
//! levels.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::Watched;
use sateen_pool::LockFreeTree;
use sateen_testkit::model;

type Tree = Watched<LockFreeTree>;

/// A pool of `capacity` blocks. All are taken, and all levels say so. Searches start at the first
/// leaf, so only the levels above lead to a block that comes back elsewhere.
fn full(capacity: usize) -> Arc<Tree> {
    let pool = Arc::new(Tree::new(capacity));
    assert_eq!(pool.rest().len(), capacity);
    pool.pool.strategy().start_at(0);
    pool
}

/// As `full`, but the levels above still say that a block may be free where `passing` came and
/// went.
fn full_after(capacity: usize, passing: usize) -> Arc<Tree> {
    let pool = full(capacity);
    pool.give(passing);
    assert_eq!(pool.take(), Some(passing));
    pool.pool.strategy().start_at(0);
    pool
}

/// Checks the pool when this thread is alone again. No block is lost, and the levels lead to all
/// that are left.
fn check(pool: &Tree, left: &[usize]) {
    assert!(pool.pool.strategy().is_complete());
    assert_eq!(pool.rest(), left);
}

/// Two threads empty and refill leaves, so that the bits above these leaves come and go.
#[test]
fn two_take_and_give() {
    model(3, || {
        let pool = full(4);
        [0, 2].into_iter().for_each(|block| pool.give(block));
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

/// A thread finds a leaf empty and clears the bit above it, and meanwhile a block comes back there.
/// The thread that gave it finds it again, unless the other thread has it.
#[test]
fn found_while_its_bit_is_cleared() {
    model(3, || {
        let pool = full_after(4, 2);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take())
        };
        let giver = {
            let pool = pool.clone();
            thread::spawn(move || {
                pool.give(2);
                let back = pool.take();
                assert!(back.is_some() || !pool.pool.strategy().is_free(2), "there all the time");
                back
            })
        };
        let theirs = other.join().unwrap();
        let back = giver.join().unwrap();
        assert_eq!(back.xor(theirs), Some(2), "lost");
        pool.give(2);
        check(&pool, &[2]);
    });
}

/// The same while the other thread finds a block further on. No thread then looks again where that
/// one cleared the bit.
#[test]
fn given_while_its_bit_is_cleared() {
    model(3, || {
        let pool = full_after(8, 2);
        pool.give(6);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take())
        };
        pool.give(2);
        let theirs = other.join().unwrap().expect("6 at least");
        check(&pool, &[8 - theirs]);
    });
}

/// The same with the root's bit.
#[test]
fn given_while_two_levels_are_cleared() {
    model(3, || {
        let pool = full_after(8, 4);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.take())
        };
        pool.give(4);
        let left = match other.join().unwrap() {
            Some(_) => vec![],
            None => vec![4],
        };
        check(&pool, &left);
    });
}

/// A thread gives a block and finds it again. Another thread gave a block of the same leaf before,
/// and has not set the bits above yet.
#[test]
fn a_late_giver_hides_nothing() {
    model(3, || {
        let pool = full(4);
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

/// The same one level higher, while a third thread clears the root's bit.
#[test]
fn a_late_giver_hides_nothing_higher_up() {
    // One preemption makes the giver late. More preemptions take minutes.
    model(1, || {
        let pool = full_after(8, 4);
        let run = |f: fn(&Tree) -> Option<usize>| {
            let pool = pool.clone();
            thread::spawn(move || f(&pool))
        };
        let clearing = run(|pool| pool.take());
        let late = run(|pool| {
            pool.give(4);
            None
        });
        let giver = run(|pool| {
            pool.give(5);
            let back = pool.take();
            assert!(back.is_some() || !pool.pool.strategy().is_free(5), "there all the time");
            back
        });
        let taken = [clearing, late, giver].map(|thread| thread.join().unwrap());
        let left: Vec<usize> = [4, 5].into_iter().filter(|b| !taken.contains(&Some(*b))).collect();
        check(&pool, &left);
    });
}
