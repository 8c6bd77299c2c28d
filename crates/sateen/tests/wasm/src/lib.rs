//! What compiles for `wasm32-unknown-unknown`, and what it gives there. `run.js` calls the cases by
//! number; a case that panics traps.

use sateen::channel::{TryRecvError, bounded, unbounded};
use sateen::prelude::*;
use sateen::sync::{Mutex, RwLock, Semaphore};

const CASES: &[(&str, fn())] = &[
    ("join and fork", || {
        assert_eq!(sateen::join(|| 1, || 2), (1, 2));
        assert_eq!(sateen::fork([1, 2, 3].map(|x| move || x * x)), [1, 4, 9]);
        assert_eq!((sateen::current_num_threads(), sateen::worker_index()), (1, None));
    }),
    ("scope", || {
        let total = Mutex::new(0);
        let mut parts = [1, 2, 3];
        sateen::scope(|s| {
            for part in &mut parts {
                s.spawn(|s| {
                    *part *= 10;
                    s.spawn(|_| *total.lock() += 1);
                });
            }
        });
        assert_eq!((parts, total.into_inner()), ([10, 20, 30], 3));
    }),
    ("loops", || {
        let squares = sateen::par_map(&[1, 2, 3], |x| x * x);
        assert_eq!(squares, [1, 4, 9]);
        let sum = sateen::par_reduce(0..100_000, || 0u64, |i| i as u64, |a, b| a + b);
        assert_eq!(sum, 4_999_950_000);
        let mut data = [1; 10];
        sateen::par_chunks_mut(&mut data, 4, |index, chunk| chunk.fill(index));
        assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
    }),
    ("iterators", || {
        let odd: Vec<u32> = (0..100_000u32).into_par_iter().filter(|n| n % 2 == 1).collect();
        assert_eq!((odd.len(), odd[49_999]), (50_000, 99_999));
        assert_eq!((0..1000).into_par_iter().find_any(|n| *n == 700), Some(700));
        assert_eq!("a b c".par_split_whitespace().count(), 3);
        let bridged: u32 = (0..10u32).collect::<Vec<_>>().into_iter().par_bridge().sum();
        assert_eq!(bridged, 45);
    }),
    ("sorts", || {
        let mut numbers: Vec<u32> = (0..50_000u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        let mut other = numbers.clone();
        sateen::par_sort(&mut numbers);
        other.par_sort_unstable_by(|a, b| b.cmp(a));
        other.reverse();
        assert!(numbers == expected && other == expected);
    }),
    ("locks", || {
        let lock = RwLock::new(1);
        assert_eq!(*lock.read() + *lock.read(), 2);
        *lock.write() += 1;
        assert!(lock.try_write().is_some());
        let permits = Semaphore::new(1);
        let held = permits.acquire(1).unwrap();
        assert!(permits.try_acquire(1).is_err());
        drop(held);
    }),
    ("channels", || {
        let (sender, receiver) = bounded(2);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert!(sender.try_send(3).is_err());
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 3);
        let (sender, receiver) = unbounded::<i32>();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }),
    ("futures", || assert_eq!(sateen::block_on(async { 7 }), 7)),
    ("pools and queues", || {
        let pool = sateen::pool::Pool::<u64>::new(2).unwrap();
        let boxed = pool.try_alloc(7).unwrap();
        assert_eq!(*boxed, 7);
        drop(boxed);
        let queue = sateen::queue::SegQueue::new();
        queue.push(1);
        assert_eq!(queue.pop(), Some(1));
        let worker = sateen::deque::Worker::new_lifo();
        worker.push(1);
        assert_eq!(worker.pop(), Some(1));
    }),
];

/// How many cases there are.
#[unsafe(no_mangle)]
pub extern "C" fn cases() -> usize {
    CASES.len()
}

/// The name of a case: where it lies.
#[unsafe(no_mangle)]
pub extern "C" fn name(case: usize) -> *const u8 {
    CASES[case].0.as_ptr()
}

/// The name of a case: its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn name_len(case: usize) -> usize {
    CASES[case].0.len()
}

/// What the panic of a case said.
static MESSAGE: Mutex<String> = Mutex::new(String::new());

/// Runs a case.
#[unsafe(no_mangle)]
pub extern "C" fn run(case: usize) {
    std::panic::set_hook(Box::new(|info| *MESSAGE.lock() = info.to_string()));
    CASES[case].1();
}

/// What the panic of a case said: where it lies.
#[unsafe(no_mangle)]
pub extern "C" fn message() -> *const u8 {
    MESSAGE.lock().as_ptr()
}

/// What the panic of a case said: its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn message_len() -> usize {
    MESSAGE.lock().len()
}

/// Waits for what nobody can do: this has to trap, and not to hang.
#[unsafe(no_mangle)]
pub extern "C" fn wait_for_nobody() {
    let lock = Mutex::new(());
    let _held = lock.lock();
    drop(lock.lock());
}
