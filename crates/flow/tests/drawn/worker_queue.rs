//! Bytes that say how a worker queue is built and what is done to it. Each item ends once: it is
//! handled, given back, or dropped by the overflow rule.

use arbitrary::Unstructured;
use sateen_flow::{Handled, Overflow, Refusal, WorkerQueue, WorkerQueueBuilder};
use sateen_sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

/// An item owns memory, so that a memory checker notices an item dropped twice or never.
#[derive(Debug)]
struct Item {
    number: u64,
    /// How often the item is still to come again.
    again: u8,
    panics: bool,
    _owned: Box<u64>,
}

/// How often each item was seen when it ended.
#[derive(Clone, Default)]
struct Ends(Arc<Mutex<HashMap<u64, u32>>>);

impl Ends {
    fn note(&self, number: u64) {
        *self.0.lock().entry(number).or_default() += 1;
    }
}

/// The payload with which handlers panic.
struct Expected;

/// Does what `bytes` say, and panics if an item is lost or comes twice.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let ends = Ends::default();
    let overflow = [Overflow::Block, Overflow::Error, Overflow::DropOldest, Overflow::DropNewest];
    let overflow = overflow[below(&mut u, 4)];
    let keyed = below(&mut u, 3) == 0;
    let builder: WorkerQueueBuilder<Item> = WorkerQueue::builder()
        .workers(1 + below(&mut u, 3))
        .queues(1 + below(&mut u, 3))
        .capacity([0, 1, 2, 7, 64][below(&mut u, 5)])
        .steal(below(&mut u, 2) == 0)
        .keyed(keyed)
        .overflow(overflow);
    let dead = ends.clone();
    let builder = builder.dead_letter(move |letter| dead.note(letter.item.number));
    let queue = builder
        .start({
            let ends = ends.clone();
            move |_, item: &mut Item| {
                if item.panics {
                    // Unlike `panic!`, this prints nothing.
                    std::panic::resume_unwind(Box::new(Expected));
                }
                if item.again > 0 {
                    item.again -= 1;
                    return Handled::Again(Duration::ZERO);
                }
                ends.note(item.number);
                Handled::Done
            }
        })
        .expect("a small queue");
    let (mut sent, mut back) = (0, 0);
    let mut next = 0;
    while !u.is_empty() {
        let mut make = |u: &mut Unstructured<'_>| {
            next += 1;
            let again = below(u, 8).saturating_sub(5) as u8;
            Item { number: next, again, panics: below(u, 12) == 0, _owned: Box::new(next) }
        };
        let refused = match below(&mut u, 12) {
            0..4 => queue.send(make(&mut u)).err(),
            4..8 => queue.try_send(make(&mut u)).err(),
            8 if keyed => queue.sender().send_keyed(&below(&mut u, 3), make(&mut u)).err(),
            9 if below(&mut u, 10) == 0 => {
                let items = queue.abort();
                back += items.len() as u64;
                items.iter().for_each(|item| ends.note(item.number));
                continue;
            }
            10 => {
                std::thread::yield_now();
                continue;
            }
            _ => continue,
        };
        sent += 1;
        if let Some(refused) = refused {
            assert!(matches!(refused.reason, Refusal::Closed | Refusal::Full), "{refused:?}");
            ends.note(refused.item.number);
        }
    }
    queue.close();
    let stats = queue.stats();
    assert_eq!(stats.in_queue, 0, "{stats:?}");
    drop(queue);
    let ends = ends.0.lock();
    assert!(ends.values().all(|ends| *ends == 1), "an item came twice: {ends:?}");
    let dropped = sent - ends.len() as u64;
    let may_drop = matches!(overflow, Overflow::DropOldest | Overflow::DropNewest);
    assert!(may_drop || dropped == 0, "{dropped} items are lost, {back} were given back");
    assert!(!may_drop || dropped == stats.dropped, "{dropped} items are gone: {stats:?}");
}
