//! Operations drawn from bytes, on a queue and its sequential twin. Tests pass random bytes, the
//! fuzzer its own.

use arbitrary::Unstructured;
use sateen_queue::mpmc::{Bounded, Unbounded};
use sateen_queue::{PopError, PushError, spsc};
use std::collections::VecDeque;

/// A number below `n`, or 0 after the last byte.
fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

/// Items own memory, so that a memory checker notices an item dropped twice or never.
type Item = Box<u64>;

/// The operations of all queues.
trait Queue {
    fn push(&mut self, item: Item) -> Result<(), PushError<Item>>;
    fn push_from(&mut self, items: &mut std::vec::IntoIter<Item>) -> Result<usize, PushError<()>>;
    fn pop(&mut self) -> Result<Item, PopError>;
    fn pop_into(&mut self, into: &mut Vec<Item>, max: usize) -> Result<usize, PopError>;
    fn close(&mut self) -> bool;
    fn len(&self) -> usize;
    /// An operation that only this kind of queue has.
    fn special(&mut self, u: &mut Unstructured<'_>, twin: &mut Twin);
}

struct Twin {
    items: VecDeque<u64>,
    capacity: usize,
    closed: bool,
    /// The number of the next item.
    next: u64,
}

impl Twin {
    fn room(&self) -> usize {
        self.capacity - self.items.len()
    }

    fn make(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn nothing(&self) -> PopError {
        if self.closed { PopError::Closed } else { PopError::Empty }
    }
}

/// Applies the operations in `bytes` to a queue of some kind and to its twin. Panics where they
/// differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let capacity = 1 + below(&mut u, 9);
    // The queue starts a few positions before its words wrap around.
    let before = below(&mut u, 150) as u64;
    match below(&mut u, 3) {
        0 => {
            let queue = Bounded::starting_at(capacity, 0u64.wrapping_sub(before / 8));
            drive(queue, capacity, &mut u);
        }
        1 => drive(Unbounded::starting_at(named_slot((1 << 63) - 2 - before)), usize::MAX, &mut u),
        _ => {
            let halves = spsc::starting_at(capacity, usize::MAX - before as usize);
            drive(halves, capacity, &mut u);
        }
    }
}

/// `position`, or the one before it if `position` names no slot. The last of each 64 positions
/// names none.
fn named_slot(position: u64) -> u64 {
    position - u64::from(position % 64 == 63)
}

fn drive(mut queue: impl Queue, capacity: usize, u: &mut Unstructured<'_>) {
    let mut twin = Twin { items: VecDeque::new(), capacity, closed: false, next: 0 };
    while !u.is_empty() {
        step(&mut queue, &mut twin, u);
        assert_eq!(queue.len(), twin.items.len());
    }
    // The queue drops the items that are left.
}

fn step(queue: &mut impl Queue, twin: &mut Twin, u: &mut Unstructured<'_>) {
    match below(u, 16) {
        0..5 => {
            let item = twin.make();
            match queue.push(Box::new(item)) {
                Ok(()) => {
                    assert!(!twin.closed && twin.room() > 0);
                    twin.items.push_back(item);
                }
                Err(refused) => {
                    assert_eq!(
                        (refused.is_closed(), refused.is_full()),
                        (twin.closed, !twin.closed)
                    );
                    assert!(twin.closed || twin.room() == 0);
                    assert_eq!(*refused.into_inner(), item);
                }
            }
        }
        5..8 => {
            let count = below(u, 80);
            let numbers: Vec<u64> = (0..count).map(|_| twin.make()).collect();
            let items: Vec<Item> = numbers.iter().copied().map(Box::new).collect();
            let mut items = items.into_iter();
            let fits = count.min(twin.room());
            let expected = match () {
                () if count == 0 => Ok(0),
                () if twin.closed => Err(PushError::Closed(())),
                () if fits == 0 => Err(PushError::Full(())),
                () => Ok(fits),
            };
            // With an empty batch, any answer but a count above 0 is allowed.
            let answer = queue.push_from(&mut items);
            if count == 0 {
                assert!(!matches!(answer, Ok(1..)));
                return;
            }
            assert_eq!(answer, expected);
            let put = answer.unwrap_or(0);
            assert!(items.map(|item| *item).eq(numbers[put..].iter().copied()));
            twin.items.extend(&numbers[..put]);
        }
        8..11 => {
            let expected = twin.items.pop_front().ok_or(twin.nothing());
            assert_eq!(queue.pop().map(|item| *item), expected);
        }
        11..13 => {
            let max = below(u, 80);
            let mut got = Vec::new();
            let there = max.min(twin.items.len());
            let expected = if there == 0 && max > 0 { Err(twin.nothing()) } else { Ok(there) };
            assert_eq!(queue.pop_into(&mut got, max), expected);
            assert!(got.into_iter().map(|item| *item).eq(twin.items.drain(..there)));
        }
        13 if below(u, 8) == 0 => {
            assert_eq!(queue.close(), !twin.closed);
            twin.closed = true;
        }
        _ => queue.special(u, twin),
    }
}

impl Queue for Bounded<Item> {
    fn push(&mut self, item: Item) -> Result<(), PushError<Item>> {
        Self::push(self, item)
    }
    fn push_from(&mut self, items: &mut std::vec::IntoIter<Item>) -> Result<usize, PushError<()>> {
        Self::push_from(self, items)
    }
    fn pop(&mut self) -> Result<Item, PopError> {
        Self::pop(self)
    }
    fn pop_into(&mut self, into: &mut Vec<Item>, max: usize) -> Result<usize, PopError> {
        Self::pop_into(self, into, max)
    }
    fn close(&mut self) -> bool {
        Self::close(self)
    }
    fn len(&self) -> usize {
        Self::len(self)
    }

    fn special(&mut self, _: &mut Unstructured<'_>, twin: &mut Twin) {
        let item = twin.make();
        match self.force_push(Box::new(item)) {
            Ok(out) => {
                let expected = (twin.room() == 0).then(|| twin.items.pop_front()).flatten();
                assert!(!twin.closed && out.map(|item| *item) == expected);
                twin.items.push_back(item);
            }
            Err(refused) => assert!(twin.closed && *refused.into_inner() == item),
        }
    }
}

impl Queue for Unbounded<Item> {
    fn push(&mut self, item: Item) -> Result<(), PushError<Item>> {
        Self::push(self, item)
    }
    fn push_from(&mut self, items: &mut std::vec::IntoIter<Item>) -> Result<usize, PushError<()>> {
        Self::push_from(self, items)
    }
    fn pop(&mut self) -> Result<Item, PopError> {
        Self::pop(self)
    }
    fn pop_into(&mut self, into: &mut Vec<Item>, max: usize) -> Result<usize, PopError> {
        Self::pop_into(self, into, max)
    }
    fn close(&mut self) -> bool {
        Self::close(self)
    }
    fn len(&self) -> usize {
        Self::len(self)
    }

    fn special(&mut self, u: &mut Unstructured<'_>, twin: &mut Twin) {
        let max = 1 + below(u, 80);
        match self.pop_batch(max) {
            None => assert!(twin.items.is_empty()),
            Some(batch) => {
                let there = batch.len();
                assert!((1..=max.min(twin.items.len())).contains(&there));
                // The rest of the batch is dropped with it.
                let taken = below(u, there + 1);
                let taken: Vec<u64> = batch.take(taken).map(|item| *item).collect();
                assert!(
                    taken
                        .iter()
                        .eq(twin.items.drain(..there).collect::<Vec<_>>()[..taken.len()].iter())
                );
            }
        }
    }
}

impl Queue for (spsc::Producer<Item>, spsc::Consumer<Item>) {
    fn push(&mut self, item: Item) -> Result<(), PushError<Item>> {
        self.0.push(item)
    }
    fn push_from(&mut self, items: &mut std::vec::IntoIter<Item>) -> Result<usize, PushError<()>> {
        self.0.push_from(items)
    }
    fn pop(&mut self) -> Result<Item, PopError> {
        self.1.pop()
    }
    fn pop_into(&mut self, into: &mut Vec<Item>, max: usize) -> Result<usize, PopError> {
        self.1.pop_into(into, max)
    }
    fn close(&mut self) -> bool {
        self.0.close()
    }
    fn len(&self) -> usize {
        assert_eq!(self.0.len(), self.1.len());
        self.0.len()
    }

    fn special(&mut self, _: &mut Unstructured<'_>, twin: &mut Twin) {
        assert_eq!((self.0.is_closed(), self.1.is_closed()), (twin.closed, twin.closed));
        assert_eq!(
            (self.0.is_full(), self.1.is_empty()),
            (twin.room() == 0, twin.items.is_empty())
        );
    }
}
