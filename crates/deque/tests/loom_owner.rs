//! The owner and thieves race for the last items, in stages that use real fences.
#![cfg(loom)]

mod loom_common;
use loom_common::*;
use sateen_deque::{Cached, Padded, Plain, Stage, Worker};
use sateen_testkit::model;

/// The owner takes both of two items while a thief tries to take both. This covers the handshake
/// and the race for the last item.
fn last_items<S: Stage>(lifo: bool) {
    model(4, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let t = thief(w.stealer(), 2);
        let mine = pop(&w, 2);
        all_once(&w, 2, [mine, t.join().unwrap()]);
    });
}

/// Items come and go at the same index while a thief looks.
fn pushed_again<S: Stage>(lifo: bool) {
    model(3, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let t = thief(w.stealer(), 2);
        let mut mine = pop(&w, 1);
        push(&w, 2..3);
        mine.extend(pop(&w, 2));
        all_once(&w, 3, [mine, t.join().unwrap()]);
    });
}

/// The thief is there before the items. It must see the contents of the item it takes, whichever
/// store of the owner announced that item.
fn pushed_under_watch<S: Stage>(lifo: bool) {
    model(3, move || {
        let w: Worker<Item, S> = deque(lifo);
        let t = thief(w.stealer(), 1);
        push(&w, 0..2);
        let mine = pop(&w, 1);
        all_once(&w, 2, [mine, t.join().unwrap()]);
    });
}

/// Two thieves and the owner race for two items.
fn two_thieves<S: Stage>(lifo: bool) {
    model(3, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let (a, b) = (thief(w.stealer(), 1), thief(w.stealer(), 1));
        let mine = pop(&w, 1);
        all_once(&w, 2, [mine, a.join().unwrap(), b.join().unwrap()]);
    });
}

#[test]
fn plain_lifo() {
    last_items::<Plain>(true);
    pushed_again::<Plain>(true);
}

#[test]
fn plain_fifo() {
    last_items::<Plain>(false);
}

#[test]
fn padded_lifo() {
    last_items::<Padded>(true);
    pushed_again::<Padded>(true);
}

#[test]
fn cached_lifo() {
    last_items::<Cached>(true);
    pushed_again::<Cached>(true);
    pushed_under_watch::<Cached>(true);
}

#[test]
fn cached_fifo() {
    last_items::<Cached>(false);
    pushed_again::<Cached>(false);
    pushed_under_watch::<Cached>(false);
}

#[test]
fn cached_lifo_two_thieves() {
    two_thieves::<Cached>(true);
}

#[test]
fn cached_fifo_two_thieves() {
    two_thieves::<Cached>(false);
}
