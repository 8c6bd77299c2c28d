//! A multicore runtime: fork-join, background tasks, futures, loops, graphs, channels, locks and
//! pools on one set of worker threads.
//!
//! ```
//! use sateen::{join, par_map, spawn};
//!
//! // Two branches: another worker may steal the second.
//! let (a, b) = join(|| 20 + 1, || 20 + 1);
//! // A loop, cut as finely as other workers are idle.
//! let squares = par_map(&[1, 2, 3], |x| x * x);
//! // A task in the background, which may block.
//! let handle = spawn(move || a + b);
//! assert_eq!(handle.join()?, 42);
//! assert_eq!(squares, [1, 4, 9]);
//! # Ok::<(), sateen::JoinError>(())
//! ```
//!
//! # Which part do I need?
//!
//! | You want | Take |
//! |---|---|
//! | fork-join: two or more computations, results back | [`join`], [`fork`] |
//! | any number of tasks that borrow | [`scope`] |
//! | a parallel loop | [`par_for`], [`par_map`], [`par_reduce`], [`par_fold`], [`par_chunks_mut`] |
//! | iterators that run in parallel, with rayon's names | [`prelude`], [`iter`] |
//! | a parallel sort | [`par_sort`], [`par_sort_unstable`] |
//! | work in the background, with a handle | [`spawn`]; [`Spawn`] for names, priorities, workers |
//! | a future on the same workers | [`spawn_async`]; [`block_on`] waits for one anywhere |
//! | calls that block their thread: files, sockets, C libraries | [`blocking()`] |
//! | to wait for some time, or no longer than that | [`sleep()`], [`timeout`] |
//! | to cancel | [`JoinHandle::cancel`], [`CancelToken`] |
//! | locks, events and more to wait on | [`sync`]; [`sync::spin`] for spinlocks and futex locks |
//! | messages | [`channel`] |
//! | queues that refuse instead of waiting | feature `queue`: [`queue`] |
//! | tasks that depend on each other, as closures | feature `flow`: [`flow::Graph`] |
//! | the same by the million, as data | feature `shed`: [`shed`]; `flow`: [`flow::RunOn`] |
//! | items through workers, at a rate, with back-pressure | `flow`: [`flow::WorkerQueue`] |
//! | memory of one size, boxed or by key | feature `pool`: [`pool`] |
//! | a work-stealing deque for a scheduler of your own | feature `deque`: [`deque`] |
//! | a runtime with settings | [`Runtime::builder`] |
//! | a runtime that is this thread, for a window or an event loop | [`Runtime::current_thread`] |
//! | another order of tasks | [`policy`] |
//! | to see what waits for what | [`Runtime::report`] |
//! | to see how busy the workers are, for dashboards | [`Runtime::metrics`] |
//! | to see what ran where and when | feature `trace`; see [the guide](guide::see_it_run) |
//! | to look at a program that runs, or hangs | feature `inspect`, and `sateen-top` |
//!
//! # WebAssembly
//!
//! On `wasm32-unknown-unknown` there are no threads. Fork-join, loops, iterators, sorts, scopes,
//! locks, channels, pools and sheds compile there, and run on the calling thread. A scope's spawn
//! runs where it is made. What needs a thread or a stack of its own is absent: tasks, runtimes,
//! `blocking`, sleeping, policies, `flow`. A wait that nobody can end panics, and so does a time
//! limit, as there is no clock.
//!
//! # What to know first
//!
//! * **A task may block** in locks, channels, joins and sleeps of this crate: it is suspended, and
//!   its worker goes on. Everything else that blocks holds up a worker; [`blocking()`] prevents
//!   that.
//! * **A task has 2 MiB of stack**, as a thread has. With 100,000 blocked tasks set a smaller size:
//!   see [stacks](guide::stacks).
//! * **With `panic = "abort"` nothing unwinds:** a cancelled task runs on to its end. See [the
//!   guide](guide::panic_abort).
//! * **Memory safety has one exception, in two forms:** two uses of thread-locals in tasks that
//!   wait. See [blocking](guide::blocking#thread-locals).
//!
//! The [`guide`] has all of this in reading order, beginning with [first steps](guide::start). If
//! you know rayon, crossbeam or tokio, begin with [switching](guide::switching).
//!
//! # Features
//!
//! Fork-join, loops, iterators, tasks, locks, channels, timers and blocking calls are always there;
//! no feature is on by default.
//!
//! | Feature | What it adds |
//! |---|---|
//! | `full` | all below, except `lock_api_05` and `asan` |
//! | `flow` | graphs, worker queues, throttles: [`flow`]; and `shed` |
//! | `shed` | tasks with dependencies, as data: [`shed`] |
//! | `pool`, `deque`, `queue` | the modules [`pool`], [`deque`] and [`queue`] |
//! | `wait_times` | how long the items of a worker queue wait, in its `Stats` |
//! | `local` | primitives for one thread, without atomics: `sync::local` |
//! | `primitives` | what primitives are built from: parking hook, wait queues, timers |
//! | `lock_api_05` | raw mutexes implement `lock_api` 0.5, too, which needs Rust 1.95 |
//! | `asan` | AddressSanitizer knows the stacks of tasks, in programs that are built with it |
//! | `tracing` | spans of the crate `tracing` follow tasks; see [the guide](guide::see_it_run) |
//! | `trace` | traces for Perfetto: `Runtime::trace`, or `SATEEN_TRACE=file` |
//! | `inspect` | `sateen-top` can look at the program: `SATEEN_INSPECT=1` |
//!
//! # For those who change it
//!
//! This crate is the facade, layer 6 of the workspace: re-exports and the guide, no code. Below are
//! all library crates; above is the lab. Invariants and proofs are with the crates that hold them.
//! `ARCHITECTURE.md` in the repository is the map.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The guide is of all parts.
#![cfg_attr(not(feature = "full"), allow(rustdoc::broken_intra_doc_links))]
#![forbid(unsafe_code)]

pub use sateen_runtime::{
    PanicPayload, Scope, block_on, current_num_threads, fork, join, par_chunks_mut, par_fold,
    par_for, par_map, par_reduce, par_sort, par_sort_unstable, scope, worker_index,
};

// What needs a thread or a stack of its own.
cfg_if::cfg_if! {
    if #[cfg(not(target_family = "wasm"))] {
        #[cfg(all(feature = "trace", feature = "tracing"))]
        pub use sateen_runtime::TraceLayer;
        #[cfg(feature = "trace")]
        pub use sateen_runtime::{Trace, TraceError, TraceSummary};
        pub use sateen_runtime::{
            Blocked, BlockedWorker, BuildError, Builder, CancelToken, Cancelled, CurrentTask,
            CurrentThread, Deadlock, Elapsed, FiberInfo, FiberLocal, FiberLocalError, FiberState,
            JoinError, JoinHandle, MAX_WORKERS, Metrics, Polled, PooledStacks, Priority,
            ReadyTimes, RemainingFiber, Report, Runtime, ShutdownError, Sleep, Spawn, Spawner,
            Stack, StackAllocator, StackGuard, TaskId, Timeout, WaitOwner, WaitsFor, WhyRemaining,
            WorkerMetrics, WorkerThread, blocking, check_cancelled, current_task, fiber_local,
            fiber_number, has_ready_work, no_suspend, policy, poll_requests, sleep, sleep_async,
            sleep_until, sleep_until_async, spawn, spawn_async, spawn_local, stack_used, timeout,
            timeout_async, yield_now,
        };
    }
}

pub mod sync {
    //! Locks, events and channels that block a thread, suspend a task, or are awaited.
    //!
    //! | You need | Take | Known from |
    //! |---|---|---|
    //! | one at a time | [`Mutex`]; [`ReentrantMutex`] lets its holder in again | `std` |
    //! | many readers or one writer | [`RwLock`] | `std`, `parking_lot` |
    //! | at most *n* at a time | [`Semaphore`] | tokio |
    //! | a flag to wait for | [`Event`]; [`AutoEvent`] wakes one waiter a `set` | Windows |
    //! | a value made once | [`OnceLock`], [`Lazy`], [`Once`] | `std` |
    //! | rounds of *n* that meet | [`Barrier`] | `std` |
    //! | a condition under a mutex | [`Condvar`] | `std`, `parking_lot` |
    //! | the end of a group | [`WaitGroup`] | crossbeam |
    //! | one value, once | [`oneshot`]; for more, [`channel`](crate::channel) | tokio |
    //! | several futures at once | `join_all` and others, driven by [`block_on`] | `futures` |
    //!
    //! Each blocks for ever, with a time limit, or as a future (`_async`). A wait inside a task
    //! suspends the task; on any other thread it blocks the thread. A future works under any
    //! executor.
    //!
    //! ```
    //! use sateen::sync::Mutex;
    //! let total = Mutex::new(0);
    //! sateen::scope(|s| {
    //!     for _ in 0..3 {
    //!         s.spawn(|_| *total.lock() += 1);
    //!     }
    //! });
    //! assert_eq!(*total.lock(), 3);
    //! ```
    //!
    //! # Beside those
    //!
    //! | Module | What |
    //! |---|---|
    //! | [`poison`] | the locks with a memory of panics, like those of `std` |
    //! | `local` (feature `local`) | the same for runtimes that are one thread, without atomics |
    //! | [`timer`] | sleeping and time limits |
    //! | [`park`] | waits that cancelling does not end |
    //! | [`counter`] | counters to which threads add without disturbing each other |
    //! | [`spin`] | spinlocks, for threads |
    //!
    //! # For building primitives
    //!
    //! The feature `primitives` adds the hook through which everything blocks (`park::Blocker`),
    //! the queue of waiters under every primitive (`WaitQueue`), waiting for changes that are made
    //! without a lock (`WaitPoint`), sleeping workers (`EventCount`), and timers.
    //! [`RawMutex`] and [`RawRwLock`] are raw locks for [`lock_api`].
    //!
    //! # Features
    //!
    //! `local` and `primitives` add what is said above. `lock_api_05` implements version 0.5 of
    //! `lock_api` beside 0.4.

    #[cfg(feature = "local")]
    pub use sateen_sync::local;
    pub use sateen_sync::{
        Acquire, AcquireError, AutoEvent, AutoEventWait, Barrier, BarrierWait, BarrierWaitResult,
        Condvar, CondvarWait, ContextId, Event, EventWait, Lazy, Lock, MappedMutexGuard,
        MappedReentrantMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex,
        MutexGuard, Once, OnceLock, OnceState, RawMutex, RawRwLock, ReentrantMutex,
        ReentrantMutexGuard, RwLock, RwLockAsync, RwLockFuture, RwLockReadGuard,
        RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore, SemaphoreGuard, WaitGroup,
        WaitTimeoutResult, block_on, counter, lock_api, oneshot, poison, spin,
    };
    #[cfg(feature = "primitives")]
    pub use sateen_sync::{EventCount, WaitPoint, WaitQueue, park, timer, wait_queue};

    #[cfg(not(feature = "primitives"))]
    pub mod timer {
        //! Sleeping and time limits, for threads, tasks and futures.
        pub use sateen_sync::timer::{
            Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async,
            timeout_async,
        };
    }

    #[cfg(not(feature = "primitives"))]
    pub mod park {
        //! Waits that cancelling does not end, and who waits.
        pub use sateen_sync::park::{Cancelled, context_id, uninterrupted};
    }
}

#[cfg(feature = "deque")]
pub mod deque {
    //! Work-stealing deques with the names of `crossbeam-deque`, for schedulers of your own.
    //!
    //! One thread owns a [`Worker`]. Any number of threads steal from it through a [`Stealer`].
    //! An [`Injector`] is a queue that all threads share. To change from `crossbeam-deque`, change
    //! the `use` line.
    //!
    //! ```
    //! use sateen::deque::{Steal, Worker};
    //!
    //! let worker = Worker::new_lifo();
    //! let stealer = worker.stealer();
    //! worker.push("first");
    //! worker.push("second");
    //! assert_eq!(stealer.steal(), Steal::Success("first")); // thieves take the oldest
    //! assert_eq!(worker.pop(), Some("second")); // a LIFO owner takes the newest
    //! ```
    //!
    //! Tasks of a [`Runtime`](crate::Runtime) need no deque of yours: see [`spawn`](crate::spawn).

    pub use sateen_deque::{Asymmetric, Cached, Injector, Stage, Steal, Stealer, Worker};
}

#[cfg(feature = "pool")]
pub mod pool {
    //! Pools of memory blocks of one size, and values in them.
    //!
    //! | You need | Take |
    //! |---|---|
    //! | values with one owner each | [`Pool::try_alloc`], which returns a [`PoolBox`] |
    //! | values that many find by a number | [`Pool::insert`], which returns a [`Key`] |
    //! | raw memory of one size | [`BlockPool`] |
    //! | raw memory of several sizes, without a limit | [`HeapSizes`] |
    //! | blocks that stay close together | a pool with the strategy [`LockFreeTree`] |
    //!
    //! The memory of a pool is taken once, when the pool is made. Nothing is allocated after that,
    //! unless the pool may [grow](Builder::grow).
    //!
    //! ```
    //! use sateen::pool::Pool;
    //!
    //! let pool = Pool::<String>::new(1000)?;
    //! let boxed = pool.try_alloc("mine alone".to_owned())?; // Dropping it returns the block.
    //! let key = pool.insert("everybody's".to_owned())?;
    //! assert_eq!(pool.get(key).as_deref(), Some(&"everybody's".to_owned()));
    //! assert!(pool.remove(key) && pool.get(key).is_none());
    //! # drop(boxed);
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use sateen_pool::{
        ArcPoolBox, BlockPool, BoxIn, BuildError, Builder, Full, Growth, HeapSizes, Key,
        LockFreeTree, Magazine, Pool, PoolBox, PoolRef, Ref, Stats, Strategy,
    };
}

#[cfg(feature = "queue")]
pub mod queue {
    //! Queues between threads that never wait: a push to a full queue gives the item back, and a
    //! pop from an empty one says so.
    //!
    //! | You have | Take | Known from |
    //! |---|---|---|
    //! | one producer, one consumer | [`spsc`] | `rtrb` |
    //! | many of each, a limit | [`mpmc::Bounded`], [`ArrayQueue`] | `crossbeam-queue` |
    //! | many of each, no limit | [`mpmc::Unbounded`], [`SegQueue`] | `crossbeam-queue` |
    //! | to wait for items or room | [`channel`](crate::channel) | `crossbeam-channel` |
    //!
    //! All are first in, first out. `push_from` and `pop_into` take batches with one reservation.
    //! After `close`, pops go on until nothing is left.
    //!
    //! ```
    //! let queue = sateen::queue::mpmc::Unbounded::new();
    //! std::thread::scope(|s| {
    //!     s.spawn(|| (0..1000).for_each(|i| queue.push(i).unwrap()));
    //!     s.spawn(|| {
    //!         let mut taken = 0;
    //!         while taken < 1000 {
    //!             taken += queue.pop().is_ok() as u32;
    //!         }
    //!     });
    //! });
    //! assert!(queue.is_empty());
    //! ```

    pub use sateen_queue::{ArrayQueue, PopError, PushError, SegQueue, TrustedItems, mpmc, spsc};
}

pub mod channel {
    //! Channels with the names and the behaviour of `crossbeam-channel`, for threads, tasks and
    //! futures on the same channel.
    //!
    //! | You want | Take |
    //! |---|---|
    //! | senders that wait when receivers do not keep up | [`bounded(n)`](bounded) |
    //! | senders that never wait, whatever memory it takes | [`unbounded`] |
    //! | to know that a receiver was there when `send` returns | `bounded(0)` |
    //! | the first of several operations | [`select!`], [`Select`] |
    //! | times as items | [`at`], [`after`], [`tick`] |
    //! | one value, once | [`sync::oneshot`](crate::sync::oneshot) |
    //!
    //! A thread that waits blocks, a task is suspended, and a future is pending
    //! ([`Sender::send_async`], [`Receiver::recv_async`]). Each item goes to one receiver. To
    //! change from `crossbeam-channel`, change the `use` line. The guide has a page on
    //! [channels](crate::guide::channels).
    //!
    //! ```
    //! use sateen::channel::bounded;
    //!
    //! let (sender, receiver) = bounded(16);
    //! sateen::spawn(move || (0..100).for_each(|i| sender.send(i).unwrap()));
    //! assert_eq!(receiver.iter().sum::<i32>(), 4950);
    //! ```

    pub use sateen_queue::channel::{
        IntoIter, Iter, ReadyTimeoutError, Receiver, RecvError, RecvFuture, RecvStream,
        RecvTimeoutError, Select, SelectTimeoutError, SelectedOperation, SendError, SendFuture,
        SendSink, SendTimeoutError, Sender, TryIter, TryReadyError, TryRecvError, TrySelectError,
        TrySendError, Unsent, after, at, bounded, never, select, select_biased, tick, unbounded,
    };
}

#[cfg(feature = "shed")]
pub mod shed {
    //! A *shed* is a scheduler of tasks with dependencies: a data structure without threads of its
    //! own.
    //!
    //! | You want | Take |
    //! |---|---|
    //! | closures with results, and no more | [`flow::Graph`](crate::flow::Graph) |
    //! | the workers of a runtime to execute the tasks | [`flow::RunOn`](crate::flow::RunOn) |
    //! | to execute tasks on threads of your own | [`Shed::builder`], then [`Shed::execute_one`] |
    //! | the same graph of tasks again and again | [`Template`] |

    pub use sateen_shed::{
        BuildError, Builder, Central, Error, Full, Growing, Instance, Layout, Node, NotInstalled,
        OtherSizes, Outcome, Progress, Sharded, Shed, ShedIn, ShedRef, Snapshot, StillRunning,
        TaskId, TaskState, Template, TemplateError, set_runner_hook,
    };
}

#[cfg(all(feature = "flow", not(target_family = "wasm")))]
pub mod flow {
    //! Sheds on a runtime's workers, graphs of tasks with results, throttles and worker queues.
    //!
    //! A *shed* is a scheduler of tasks with dependencies: a data structure without threads of its
    //! own.
    //!
    //! | You have | Take |
    //! |---|---|
    //! | closures, what comes after what, and results | [`Graph`] |
    //! | millions of tasks with payloads of one type | a shed, built by [`RunOn::run_on`] |
    //! | items that any thread sends and some workers handle | [`WorkerQueue`] |
    //! | one loop that must hold to a rate | [`Throttle`] |
    //! | many threads that must hold to a rate together | [`SharedThrottle`] |
    //!
    //! ```
    //! use sateen::Runtime;
    //! use sateen::flow::Graph;
    //!
    //! let mut g = Graph::new();
    //! let input = g.task(|| 6);
    //! let answer = g.task_with(&input, |n| n * 7);
    //! g.run(&Runtime::builder().workers(2).build()?)?;
    //! assert_eq!(*g.result(&answer)?, 42);
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    #[cfg(feature = "wait_times")]
    pub use sateen_flow::WaitTimes;
    pub use sateen_flow::{
        Clock, CloseError, DeadLetter, DeadReason, Driven, Graph, GraphError, Hand, Handle,
        Handled, Hanging, Inputs, ManualClock, Map, On, Output, Overflow, Rate, RealClock, Refusal,
        Retry, RunError, RunOn, SendError, Sender, SharedThrottle, StartError, Stats, Tasks,
        Throttle, ThrottleError, WaitError, WorkerQueue, WorkerQueueBuilder, WorkerStats,
    };
}

pub use sateen_iter::{
    array, collections, iter, option, prelude, range, range_inclusive, result, slice, str, string,
    vec,
};

pub mod guide;
