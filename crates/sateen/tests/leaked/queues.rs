//! Queues, channels, pools.

use crate::{Round, Row, forget_pending, kept, round, row};
use sateen::channel::{Receiver, Select, Sender, TryRecvError, bounded, unbounded};
use sateen::pool::{Growth, Pool};
use sateen::queue::mpmc::Unbounded;
use std::mem::forget;
use std::sync::Arc;

pub(crate) static ALL: &[Row] = &[
    row("mpmc::Unbounded: batch at a segment's front", |leaks| batches(leaks, 0)),
    row("mpmc::Unbounded: batch before a segment's end", |leaks| batches(leaks, 61)),
    row("mpmc::Unbounded: batch of large items", |leaks| {
        let queue = kept(Unbounded::new());
        for _ in 0..leaks {
            // Three items a segment.
            (0..3).for_each(|_| _ = queue.push([0u64; 128]));
            forget(queue.pop_batch(1));
            (0..2).for_each(|_| assert!(queue.pop().is_ok()));
        }
        round(300, || queue.push([1; 128]).is_ok() && queue.pop().is_ok())
    }),
    row("channel: receive future, unbounded", |leaks| receive_futures(leaks, unbounded())),
    row("channel: receive future, bounded", |leaks| receive_futures(leaks, bounded(64))),
    row("channel: receive future, rendezvous", |leaks| {
        let (sender, receiver) = kept(bounded::<u32>(0));
        (0..leaks).for_each(|_| forget_pending(receiver.recv_async()));
        // Each send goes to one of them, as their places stay in line.
        round(1_000, || _ = sender.try_send(1))
    }),
    row("channel: send future, bounded", |leaks| {
        let (sender, receiver) = kept(bounded::<u32>(64));
        (0..64).for_each(|_| assert!(sender.try_send(0).is_ok()));
        (0..leaks).for_each(|_| forget_pending(sender.send_async(0)));
        round(1_000, || receiver.try_recv().is_ok() && sender.try_send(1).is_ok())
    }),
    row("channel: send future, rendezvous", |leaks| {
        let (sender, receiver) = kept(bounded::<u32>(0));
        (0..leaks).for_each(|_| forget_pending(sender.send_async(0)));
        round(1_000, || _ = receiver.try_recv())
    }),
    row("channel: chosen operation, then looks", |leaks| {
        let (_, receiver) = kept(promises(leaks));
        round(300, || assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty)))
    }),
    row("channel: chosen operation, then items", |leaks| {
        let (sender, receiver) = kept(promises(leaks));
        round(1_000, || sender.try_send(1).is_ok() && receiver.try_recv().is_ok())
    }),
    row("Pool: box", |leaks| {
        let pool = kept(Pool::<u64>::new(20_000).expect("a pool"));
        (0..leaks).for_each(|n| forget(pool.try_alloc(n as u64)));
        round(1_000, || pool.try_alloc(1).is_ok())
    }),
    row("Pool that grows: box", |leaks| {
        let pool = Pool::<u64>::builder(16).grow(Growth::Doubling, 1 << 20).build();
        let pool = kept(pool.expect("a pool"));
        // As many in either case, so that the pool has grown as far: only some are forgotten.
        let boxes: Vec<_> = (0..15_000).map(|n| pool.try_alloc(n)).collect();
        boxes.into_iter().take(leaks).for_each(forget);
        round(1_000, || pool.try_alloc(1).is_ok())
    }),
    row("Pool: counted box", |leaks| {
        let pool = Arc::new(Pool::<u64>::new(20_000).expect("a pool"));
        (0..leaks).for_each(|n| forget(pool.try_alloc_arc(n as u64)));
        round(1_000, move || pool.try_alloc_arc(1).is_ok())
    }),
    row("Pool: reference to an entry", |leaks| {
        let pool = kept(Pool::<u64>::new(20_000).expect("a pool"));
        let key = pool.insert(1).expect("room");
        (0..leaks).for_each(|_| forget(pool.get(key)));
        round(1_000, move || pool.get(key).is_some())
    }),
    row("Pool: reference to a removed entry", |leaks| {
        let pool = kept(Pool::<u64>::new(20_000).expect("a pool"));
        for n in 0..leaks {
            let key = pool.insert(n as u64).expect("room");
            forget(pool.get(key));
            assert!(pool.remove(key));
        }
        round(1_000, || pool.insert(1).is_ok_and(|key| pool.remove(key)))
    }),
];

/// Each segment has 63 items. One of them, `at` from its front, is forgotten in a batch.
fn batches(leaks: usize, at: usize) -> Round {
    let queue = kept(Unbounded::new());
    for _ in 0..leaks {
        (0..63).for_each(|_| _ = queue.push(0u64));
        (0..at).for_each(|_| assert!(queue.pop().is_ok()));
        forget(queue.pop_batch(1));
        (at + 1..63).for_each(|_| assert!(queue.pop().is_ok()));
    }
    round(1_000, || queue.push(1).is_ok() && queue.pop().is_ok())
}

fn receive_futures(leaks: usize, channel: (Sender<u32>, Receiver<u32>)) -> Round {
    let (sender, receiver) = kept(channel);
    (0..leaks).for_each(|_| forget_pending(receiver.recv_async()));
    round(1_000, || sender.try_send(1).is_ok() && receiver.try_recv().is_ok())
}

/// A channel of which a selection has promised that many items. One more is promised in either
/// case.
fn promises(leaks: usize) -> (Sender<u32>, Receiver<u32>) {
    let (sender, receiver) = bounded(16_384);
    for _ in 0..leaks + 1 {
        let mut select = Select::new();
        select.send(&sender);
        forget(select.try_select().expect("room"));
    }
    (sender, receiver)
}
