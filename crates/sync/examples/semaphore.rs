//! A semaphore made from the wait queue, used by threads and by futures at once.
//!
//! Run with `cargo run --release -p sateen-sync --example semaphore`.

use sateen_sync::{Mutex, WaitQueue, park};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;

/// Lets a limited number of callers in at a time. Waiting, suspending and awaiting come with the
/// queue.
struct Semaphore {
    permits: AtomicUsize,
    queue: WaitQueue,
}

impl Semaphore {
    const fn new(permits: usize) -> Self {
        Self { permits: AtomicUsize::new(permits), queue: WaitQueue::new() }
    }

    fn try_acquire(&self) -> bool {
        let less = |permits: usize| permits.checked_sub(1);
        self.permits.fetch_update(Ordering::Acquire, Ordering::Relaxed, less).is_ok()
    }

    /// The condition to wait for. It is checked under the queue's lock, so the loops below lose no
    /// wake-up.
    fn free(&self) -> bool {
        self.permits.load(Ordering::Relaxed) > 0
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            self.queue.wait_unless(|| self.free());
        }
    }

    async fn acquire_async(&self) {
        while !self.try_acquire() {
            self.queue.wait_unless_async(|| self.free()).await;
        }
    }

    fn release(&self) {
        self.permits.fetch_add(1, Ordering::Release);
        self.queue.notify_one();
    }
}

/// The smallest executor: it runs one future on one thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = park::current_waker();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        park::park();
    }
}

/// How many guests are inside now, and the maximum so far.
#[derive(Default)]
struct Room {
    inside: usize,
    most: usize,
    visits: usize,
}

fn main() {
    const PERMITS: usize = 3;
    const GUESTS: usize = 8;
    const VISITS: usize = 1_000;

    let semaphore = Semaphore::new(PERMITS);
    let room = Mutex::new(Room::default());
    let visit = || {
        {
            let mut room = room.lock();
            room.inside += 1;
            room.visits += 1;
            room.most = room.most.max(room.inside);
        }
        thread::yield_now();
        room.lock().inside -= 1;
        semaphore.release();
    };

    thread::scope(|scope| {
        for guest in 0..GUESTS {
            let (semaphore, visit) = (&semaphore, &visit);
            scope.spawn(move || {
                for _ in 0..VISITS {
                    // Guests with even numbers block their thread, the others await. All wait in
                    // one queue.
                    if guest % 2 == 0 {
                        semaphore.acquire();
                    } else {
                        block_on(semaphore.acquire_async());
                    }
                    visit();
                }
            });
        }
    });

    let room = room.into_inner();
    println!("{} visits, at most {} of {PERMITS} at a time", room.visits, room.most);
    assert_eq!(room.visits, GUESTS * VISITS);
    assert!(room.most <= PERMITS && room.inside == 0);
}
