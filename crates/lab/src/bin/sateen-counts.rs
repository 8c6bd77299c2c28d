//! Hot paths, one at a time, as often as asked: `sateen-counts PATH TIMES`. `scripts/instructions`
//! runs it under callgrind with two numbers of times and divides what is more.

#![forbid(unsafe_code)]

use sateen::pool::Pool;
use sateen::shed::{Outcome, Shed};
use sateen::{Runtime, channel, deque, fork, join, scope, spawn, sync, yield_now};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A path: its name, how often it takes some forty million instructions, and what runs it this many
/// times inside a runtime of one worker.
type Path = (&'static str, usize, fn(usize));

const PATHS: [Path; 14] = [
    ("join", 800_000, joins),
    ("fork-ten", 120_000, forks),
    ("scope-ten", 12_000, scopes),
    ("spawn-join", 120_000, spawns),
    ("yield", 80_000, yields),
    ("mutex", 2_000_000, locks),
    ("rwlock", 1_200_000, reads_and_writes),
    ("channel", 200_000, sends),
    ("channel-blocking", 20_000, blocking_sends),
    ("deque", 1_200_000, pushes),
    ("pool", 800_000, boxes),
    ("shed-task", 40_000, shed_tasks),
    ("wake", 24_000, wakes),
    ("timeout", 120_000, timeouts),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names = || PATHS.map(|(name, often, _)| format!("{name} {often}")).join("\n");
    let (path, times) = match &arguments[..] {
        [] => {
            println!("{}", names());
            return ExitCode::SUCCESS;
        }
        [name, times] => (PATHS.iter().find(|path| path.0 == name), times.parse().ok()),
        _ => (None, None),
    };
    let (Some(&(.., run)), Some(times)) = (path, times) else {
        eprintln!("PATH TIMES is wanted, not `{}`. Paths:\n{}", arguments.join(" "), names());
        return ExitCode::FAILURE;
    };
    let runtime = match Runtime::builder().workers(1).build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.install(|| run(times));
    ExitCode::SUCCESS
}

fn joins(times: usize) {
    for i in 0..times {
        black_box(join(|| black_box(i), || black_box(i)));
    }
}

fn forks(times: usize) {
    for i in 0..times {
        black_box(fork([i; 10].map(|x| move || black_box(x))));
    }
}

fn scopes(times: usize) {
    let done = AtomicUsize::new(0);
    for _ in 0..times {
        scope(|s| {
            for _ in 0..10 {
                s.spawn(|_| _ = done.fetch_add(1, Ordering::Relaxed));
            }
        });
    }
    assert_eq!(done.into_inner(), 10 * times);
}

fn spawns(times: usize) {
    for i in 0..times {
        assert_eq!(spawn(move || i).join().ok(), Some(i));
    }
}

/// Two tasks that yield to each other.
fn yields(times: usize) {
    let other = spawn(move || (0..times).for_each(|_| yield_now()));
    (0..times).for_each(|_| yield_now());
    assert!(other.join().is_ok());
}

fn locks(times: usize) {
    let mutex = sync::Mutex::new(0);
    for _ in 0..times {
        *black_box(&mutex).lock() += 1;
    }
    assert_eq!(mutex.into_inner(), times);
}

fn reads_and_writes(times: usize) {
    let lock = sync::RwLock::new(0);
    for _ in 0..times {
        *black_box(&lock).write() += 1;
        black_box(*black_box(&lock).read());
    }
    assert_eq!(lock.into_inner(), times);
}

fn sends(times: usize) {
    let (sender, receiver) = channel::bounded(64);
    for i in 0..times {
        assert_eq!(sender.send(i), Ok(()));
        assert_eq!(receiver.recv(), Ok(i));
    }
}

/// A channel of one item, whose ends wait for each other in turn.
fn blocking_sends(times: usize) {
    let (sender, receiver) = channel::bounded(1);
    let other = spawn(move || (0..times).for_each(|i| assert_eq!(sender.send(i), Ok(()))));
    (0..times).for_each(|i| assert_eq!(receiver.recv(), Ok(i)));
    assert!(other.join().is_ok());
}

fn pushes(times: usize) {
    let owner = deque::Worker::new_lifo();
    for i in 0..times {
        owner.push(i);
        assert_eq!(owner.pop(), Some(i));
    }
}

fn boxes(times: usize) {
    let pool = <Pool<usize>>::new(1000).expect("a pool of a thousand numbers");
    for i in 0..times {
        black_box(pool.try_alloc(i).expect("one block at a time"));
    }
}

/// A chain of two tasks: created, tied, made ready, executed.
fn shed_tasks(times: usize) {
    let shed = Shed::builder().tasks(16).dependencies(16).build().expect("a small shed");
    for i in 0..times {
        let [first, second] = shed.create([i, i]).expect("room for two");
        assert!(shed.depend(&[second], &[first]).is_ok() && shed.ready(&[first]).is_ok());
        while shed.execute_one(0, |_, _| Outcome::Complete).is_ok_and(|ran| ran.is_some()) {}
    }
}

/// Two tasks that wake each other in turn.
fn wakes(times: usize) {
    let turns = Arc::new([sync::Semaphore::new(0), sync::Semaphore::new(0)]);
    let wait_and_wake = |turns: &[sync::Semaphore; 2], own: usize| {
        turns[own].acquire(1).expect("it is never closed").forget();
        turns[1 - own].add_permits(1);
    };
    let theirs = Arc::clone(&turns);
    let other = spawn(move || (0..times).for_each(|_| wait_and_wake(&theirs, 1)));
    turns[0].add_permits(1);
    (0..times).for_each(|_| wait_and_wake(&turns, 0));
    assert!(other.join().is_ok());
}

fn timeouts(times: usize) {
    for i in 0..times {
        assert_eq!(sateen::timeout(Duration::from_secs(9), || black_box(i)), Ok(i));
    }
}
