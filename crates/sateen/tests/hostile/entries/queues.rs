//! Channels, queues, deques, pools.

use super::{Entry, entry};
use crate::cell::{Bomb, Item};
use sateen::channel::{bounded, select, unbounded};
use sateen::deque::Worker;
use sateen::pool::Pool;
use sateen::queue::{ArrayQueue, SegQueue, mpmc, spsc};

pub(super) static ALL: &[Entry] = &[
    entry("channel: items left, receiver first", |c| {
        let (sender, receiver) = bounded(4);
        (0..3).for_each(|_| _ = sender.try_send(c.bomb()));
        c.end(receiver);
        c.end(sender);
    }),
    entry("channel: items left, sender first", |c| {
        let (sender, receiver) = unbounded();
        (0..40).for_each(|_| _ = sender.send(c.bomb()));
        c.end(sender);
        c.end(receiver);
    }),
    entry("channel: item refused", |c| {
        let (sender, receiver) = bounded(1);
        drop(receiver);
        c.end(sender.send(c.bomb()));
    }),
    entry("channel: batch sent to nobody", |c| {
        // The compiler refuses a user's own iterator here: it is no `TrustedItems`.
        let (sender, receiver) = unbounded();
        let items: Vec<Bomb> = (0..5).map(|_| c.bomb()).collect();
        drop(receiver);
        c.end(sender.send_all(items).is_ok());
    }),
    entry("channel: select with a hostile item", |c| {
        let (sender, receiver) = bounded(1);
        let sent = select! {
            send(sender, c.bomb()) -> result => result.is_ok(),
            recv(receiver) -> item => item.is_ok(),
        };
        assert!(sent);
        c.end(receiver);
    }),
    entry("ArrayQueue: items left", |c| {
        let queue = ArrayQueue::new(4);
        (0..4).for_each(|_| _ = queue.push(c.bomb()));
        c.end(queue);
    }),
    entry("ArrayQueue: item pushed out", |c| {
        let queue = ArrayQueue::new(1);
        (0..2).for_each(|_| drop::<Option<Bomb>>(queue.force_push(c.bomb())));
    }),
    entry("SegQueue: items left", |c| {
        let queue = SegQueue::new();
        (0..100).for_each(|_| queue.push(c.bomb()));
        c.end(queue);
    }),
    entry("mpmc: batch without room", |c| {
        let queue = mpmc::Bounded::new(4);
        let items: Vec<Bomb> = (0..9).map(|_| c.bomb()).collect();
        let mut items = items.into_iter();
        _ = queue.push_from(&mut items);
        drop(items);
        c.end(queue);
    }),
    entry("spsc: items left", |c| {
        let (mut producer, consumer) = spsc::bounded(4);
        (0..3).for_each(|_| _ = producer.push(c.bomb()));
        c.end(consumer);
        c.end(producer);
    }),
    entry("deque: items left", |c| {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        (0..70).for_each(|_| worker.push(c.bomb()));
        c.end(worker);
        drop(stealer);
    }),
    entry("Pool: value dropped", |c| {
        let pool = Pool::<Bomb>::new(4).expect("a pool");
        c.end(pool.try_alloc(c.bomb()));
    }),
    entry("Pool: entries left", |c| {
        let pool = Pool::<Bomb>::new(4).expect("a pool");
        (0..3).for_each(|_| _ = pool.insert(c.bomb()));
        c.end(pool);
    }),
    entry("Pool: value made in place", |c| {
        let pool: Pool<Item> = Pool::new(4).expect("a pool");
        let made = pool.try_alloc_with(|| {
            c.strike();
            c.item()
        });
        drop(made);
        _ = pool.insert_with(|_| {
            c.strike();
            c.item()
        });
    }),
];
