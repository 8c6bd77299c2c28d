//! Operations drawn from bytes, on some channels and their twins. Selections and futures perform
//! some of them.

use arbitrary::Unstructured;
use sateen_queue::channel::{
    Receiver, Select, Sender, TryRecvError, TrySendError, bounded, unbounded,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

type Item = Box<u64>;

/// A future that was begun on a channel, with the channel's number.
enum Begun<'a> {
    Receive(Pin<Box<dyn Future<Output = Option<u64>> + 'a>>),
    /// This variant also has the item.
    Send(Pin<Box<dyn Future<Output = bool> + 'a>>, u64),
}

struct Channel {
    /// `None` once all senders are gone.
    tx: Option<Sender<Item>>,
    rx: Receiver<Item>,
    items: RefCell<VecDeque<u64>>,
    capacity: usize,
}

impl Channel {
    fn new(u: &mut Unstructured<'_>) -> Self {
        // Without a buffer no operation succeeds, because with one thread no two sides meet.
        let capacity = [0, 1, 2, 3, usize::MAX][below(u, 5)];
        let (tx, rx) = if capacity == usize::MAX { unbounded() } else { bounded(capacity) };
        Self { tx: Some(tx), rx, items: RefCell::default(), capacity }
    }

    fn is_full(&self) -> bool {
        self.items.borrow().len() == self.capacity
    }

    fn nothing(&self) -> TryRecvError {
        if self.tx.is_some() { TryRecvError::Empty } else { TryRecvError::Disconnected }
    }

    fn step(&mut self, u: &mut Unstructured<'_>, next: &mut u64) {
        *next += 1;
        match (below(u, 5), &self.tx) {
            (0 | 1, Some(tx)) => match tx.try_send(Box::new(*next)) {
                Ok(()) => {
                    assert!(!self.is_full());
                    self.items.borrow_mut().push_back(*next);
                }
                Err(TrySendError::Full(back)) => assert!(self.is_full() && *back == *next),
                Err(error) => panic!("{error:?}: the receiver is there"),
            },
            (2, Some(tx)) if self.capacity > 0 => {
                let room = self.capacity - self.items.borrow().len();
                let count = below(u, 6).min(room) as u64;
                let items: Vec<Item> = (*next..*next + count).map(Box::new).collect();
                assert_eq!(tx.send_all(items).ok(), Some(count as usize));
                self.items.borrow_mut().extend(*next..*next + count);
                *next += count;
            }
            (3, _) => {
                let max = below(u, 6);
                let there = max.min(self.items.borrow().len());
                let mut got = Vec::new();
                let answer = self.rx.try_recv_into(&mut got, max);
                match answer {
                    Ok(count) => assert_eq!(count, there),
                    Err(error) => assert!(max > 0 && there == 0 && error == self.nothing()),
                }
                assert!(
                    got.into_iter().map(|item| *item).eq(self.items.borrow_mut().drain(..there))
                );
            }
            _ => {
                let expected = self.items.borrow_mut().pop_front().ok_or(self.nothing());
                assert_eq!(self.rx.try_recv().map(|item| *item), expected);
            }
        }
        assert_eq!(self.rx.len(), self.items.borrow().len());
    }
}

/// Applies the operations in `bytes` to three channels and to their twins. Panics where they
/// differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let mut channels = [(); 3].map(|()| Channel::new(&mut u));
    let mut next = 0;
    while !u.is_empty() {
        match below(&mut u, 16) {
            0..8 => {
                let channel = below(&mut u, channels.len());
                channels[channel].step(&mut u, &mut next);
            }
            8..12 => select(&mut u, &channels, &mut next),
            12..15 => futures(&mut u, &channels, &mut next),
            _ if below(&mut u, 8) == 0 => {
                let channel = below(&mut u, channels.len());
                channels[channel].tx = None;
            }
            _ => {}
        }
    }
}

/// Selects among some operations, and expects one that is possible now, if there is any.
fn select(u: &mut Unstructured<'_>, channels: &[Channel], next: &mut u64) {
    *next += 1;
    let mut operations = Vec::new();
    let mut select = if below(u, 2) == 0 { Select::new() } else { Select::new_biased() };
    for _ in 0..1 + below(u, 4) {
        let at = below(u, channels.len());
        match &channels[at].tx {
            Some(tx) if below(u, 2) == 0 => {
                select.send(tx);
                operations.push((at, true));
            }
            _ => {
                select.recv(&channels[at].rx);
                operations.push((at, false));
            }
        }
    }
    let possible = |&(at, sends): &(usize, bool)| {
        let channel = &channels[at];
        // A receiver without senders and items learns of that at once.
        if sends {
            !channel.is_full()
        } else {
            !channel.items.borrow().is_empty() || channel.tx.is_none()
        }
    };
    let possible: Vec<bool> = operations.iter().map(possible).collect();
    let Ok(selected) = select.try_select() else {
        return assert!(possible.iter().all(|possible| !possible));
    };
    assert!(possible[selected.index()]);
    let (at, sends) = operations[selected.index()];
    let Channel { tx, rx, items, .. } = &channels[at];
    if sends {
        let tx = tx.as_ref().expect("it was added");
        assert!(selected.send(tx, Box::new(*next)).is_ok());
        items.borrow_mut().push_back(*next);
    } else {
        assert_eq!(selected.recv(rx).ok().map(|item| *item), items.borrow_mut().pop_front());
    }
}

/// Begins some futures on one channel, polls them in any order and drops the rest.
fn futures(u: &mut Unstructured<'_>, channels: &[Channel], next: &mut u64) {
    let at = below(u, channels.len());
    let Channel { tx, rx, items, capacity } = &channels[at];
    let mut items = items.borrow_mut();
    let Some(tx) = tx.as_ref().filter(|_| *capacity > 0) else { return };
    let mut begun: Vec<Begun<'_>> = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..below(u, 12) {
        match below(u, 6) {
            0 => {
                begun.push(Begun::Receive(Box::pin(async move {
                    rx.recv_async().await.ok().map(|item| *item)
                })));
            }
            1 => {
                *next += 1;
                let item = *next;
                let send = async move { tx.send_async(Box::new(item)).await.is_ok() };
                begun.push(Begun::Send(Box::pin(send), item));
            }
            2 if !begun.is_empty() => drop(begun.swap_remove(below(u, begun.len()))),
            _ if !begun.is_empty() => {
                let which = below(u, begun.len());
                // If several futures wait, one of them is woken for each item or slot. The others
                // may go on waiting.
                let receives = |future: &Begun<'_>| matches!(future, Begun::Receive(_));
                let receivers = begun.iter().filter(|future| receives(future)).count();
                let senders = begun.len() - receivers;
                let done = match &mut begun[which] {
                    Begun::Receive(future) => match future.as_mut().poll(&mut cx) {
                        Poll::Ready(item) => {
                            assert_eq!(item, items.pop_front());
                            true
                        }
                        Poll::Pending => {
                            assert!(items.is_empty() || receivers > 1);
                            false
                        }
                    },
                    Begun::Send(future, item) => match future.as_mut().poll(&mut cx) {
                        Poll::Ready(sent) => {
                            assert!(sent && items.len() < *capacity);
                            items.push_back(*item);
                            true
                        }
                        Poll::Pending => {
                            assert!(items.len() == *capacity || senders > 1);
                            false
                        }
                    },
                };
                if done {
                    drop(begun.swap_remove(which));
                }
            }
            _ => {}
        }
    }
}
