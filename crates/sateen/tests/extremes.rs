//! Constructors that return a `Result`, with extreme arguments: no panic, no allocation above what
//! was asked, and one line of error that names the value.
//!
//! Sizes are 0, each power of two and its neighbours, and the greatest. This program's allocator
//! refuses requests above [`LARGEST`], so a constructor that asks for more must report that.

use sateen::flow::{Graph, ManualClock, Rate, RealClock, SharedThrottle, Throttle, WorkerQueue};
use sateen::pool::{BlockPool, Growth, Key, LockFreeTree, Magazine, Pool};
use sateen::shed::{Growing, Sharded, Shed, Template};
use sateen::{MAX_WORKERS, Runtime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Display;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The largest request that the allocator grants.
const LARGEST: usize = 8 << 20;
/// What a constructor may take beside what it was asked for.
const BESIDE: usize = 1 << 20;

struct Counting;

/// Bytes in use, and the most since the count began.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    fn add(pointer: *mut u8, bytes: usize) -> *mut u8 {
        if !pointer.is_null() {
            MOST.fetch_max(IN_USE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
        }
        pointer
    }
}

// SAFETY: hands everything on to the system's allocator, or refuses.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        Self::add(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        Self::add(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 0, the powers of two and their neighbours, and the greatest.
fn sizes() -> Vec<usize> {
    let near = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + 1];
    let mut sizes: Vec<usize> = (0..usize::BITS).flat_map(near).collect();
    sizes.extend([isize::MAX as usize, usize::MAX - 1, usize::MAX]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What went wrong.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    /// Calls `make`, which was asked for about `asked` bytes. An error must name `value`.
    fn check<R, E: Display>(
        &mut self,
        what: &str,
        value: impl Display,
        asked: usize,
        make: impl FnOnce() -> Result<R, E>,
    ) {
        let before = IN_USE.load(Relaxed);
        MOST.store(before, Relaxed);
        let made = catch_unwind(AssertUnwindSafe(make));
        let took = MOST.load(Relaxed).saturating_sub(before);
        let mut wrong = |how: &str| self.0.push(format!("{what}({value}): {how}"));
        if took > asked.saturating_mul(2).saturating_add(BESIDE) {
            wrong(&format!("took {took} bytes"));
        }
        match made {
            Err(_) => wrong("panics"),
            Ok(Ok(made)) => {
                if catch_unwind(AssertUnwindSafe(|| drop(made))).is_err() {
                    wrong("panics when it is dropped");
                }
            }
            Ok(Err(error)) => {
                let text = error.to_string();
                // Memory that is not there is told in bytes.
                let named = text.contains(&value.to_string()) || text.contains("bytes");
                if text.is_empty() || text.lines().count() != 1 || !named {
                    wrong(&format!("says {text:?}"));
                }
            }
        }
    }
}

fn pools(found: &mut Complaints) {
    for n in sizes() {
        let bytes = |each: usize| n.saturating_mul(each);
        found.check("Pool<u8>", n, bytes(16), || Pool::<u8>::new(n));
        found.check("Pool<[u64; 999]>", n, bytes(8_000), || Pool::<[u64; 999]>::new(n));
        found.check("Pool<u8, LockFreeTree>", n, bytes(16), || {
            Pool::<u8, LockFreeTree>::builder(n).build()
        });
        for (capacity, most) in [(1, n), (n, n), (n, usize::MAX), (n, 1 << 20)] {
            for by in [Growth::Doubling, Growth::Fixed(n), Growth::Fixed(1)] {
                let value = if most > u32::MAX as usize { most } else { n };
                found.check("Pool that grows", value, capacity.saturating_mul(16), || {
                    Pool::<u64>::builder(capacity).grow(by, most).build()
                });
            }
        }
        for (capacity, size, align) in [(n, 1, 1), (1, n, 1), (1, 1, n), (n, n, n), (3, 8, n)] {
            found.check("BlockPool", n, bytes(64), || {
                BlockPool::<Magazine>::new(capacity, size, align)
            });
        }
    }
    let pool = Pool::<u64>::new(1).expect("a pool");
    let full = [pool.insert(1), pool.insert(2)].map(|key: Result<Key, _>| key.is_ok());
    assert_eq!(full, [true, false]);
}

fn sheds(found: &mut Complaints) {
    for n in sizes() {
        let value = n as u64;
        // A head of a list, of which a channel has several, has lines of its own.
        let bytes = n.saturating_mul(1_024);
        let builder = || Shed::<u64>::builder();
        found.check("shed: tasks", n, bytes, || builder().tasks(value).build());
        found.check("shed: dependencies", n, bytes, || builder().dependencies(value).build());
        found.check("shed: channels", n, bytes, || {
            builder().channels(value).fifo_all().progress(true).build()
        });
        found.check("shed: all", n, bytes.saturating_mul(4), || {
            let all = builder().tasks(value).dependencies(value).channels(value);
            all.layout::<Sharded>().build()
        });
        found.check("shed: growing", n, bytes.saturating_mul(4), || {
            let all = builder().tasks(value).dependencies(value);
            all.layout::<Growing<Sharded>>().build()
        });
        found.check("shed: fifo", n as u16, 1 << 20, || builder().fifo(n as u16).build());
        found.check("shed: size", n, 0, || builder().tasks(value).required_size());
        let mut buffer = vec![MaybeUninit::uninit(); n.min(4_097) + Shed::<u64>::ALIGN];
        let aligned = buffer.as_ptr().align_offset(Shed::<u64>::ALIGN);
        found.check("shed: in a buffer", n, 0, || {
            builder().tasks(value).build_in(&mut buffer[aligned..]).map(drop)
        });
        let shed = builder().tasks(2).build().expect("a shed");
        found.check("template", n as u16, 4_096, || {
            let mut template = Template::new();
            let task = template.task(1);
            template.set_channel(task, n as u16)?;
            template.set_tag(task, value)?;
            let instance = template.install(&shed).map_err(|refused| refused.error);
            instance.map(drop)
        });
        found.check("template: tasks", "", 1 << 20, || {
            let mut template = Template::new();
            let tasks: Vec<_> = (0..n.min(1_025)).map(|_| template.task(1)).collect();
            template.depend(&tasks[1.min(tasks.len())..], &tasks[..1.min(tasks.len())]).ok();
            template.install(&shed).map(drop).map_err(|refused| refused.error)
        });
    }
}

fn rates(found: &mut Complaints) {
    let near = |rate: f64| [rate.next_down(), rate, rate.next_up(), -rate];
    let mut all: Vec<f64> = (0..=1_024).map(|power| f64::from(power - 512).exp2()).collect();
    all.extend([0.0, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::EPSILON, 5e-324]);
    all.extend([Rate::LEAST, Rate::MOST]);
    for rate in all.into_iter().flat_map(near) {
        found.check("Rate", format!("{rate:?}"), 0, || Rate::per_second(rate));
        let Ok(rate) = Rate::per_second(rate) else { continue };
        for n in sizes() {
            let n = n as u64;
            let clock = ManualClock::new();
            found.check("Throttle", n, 0, || {
                let throttle = Throttle::new(rate, clock.clone()).burst(n)?.batch(n)?;
                Ok::<_, sateen::flow::ThrottleError>(throttle).inspect(|throttle| {
                    _ = [0, n, u64::MAX].map(|n| throttle.clone().try_take(n));
                })
            });
            found.check("SharedThrottle", n, 0, || {
                let throttle = SharedThrottle::new(rate, clock.clone()).batch(n)?.burst(n)?;
                _ = [0, n, u64::MAX].map(|n| throttle.try_take(n));
                Ok::<_, sateen::flow::ThrottleError>(())
            });
        }
    }
    found.check("Rate", "NaN", 0, || Rate::per_second(f64::NAN));
}

fn queue() -> sateen::flow::WorkerQueueBuilder<u64> {
    WorkerQueue::builder()
}

fn worker_queues(found: &mut Complaints) {
    for n in sizes() {
        let builder = || queue().workers(1);
        let bytes = n.saturating_mul(64);
        found.check("worker queue: capacity", n, bytes, || builder().capacity(n).start(|_, _| ()));
        found.check("worker queue: queues", n, bytes.saturating_mul(8), || {
            builder().capacity(1).queues(n).start(|_, _| ())
        });
        found.check("worker queue: queues and capacity", n, bytes.saturating_mul(n), || {
            let n = n.min(if n > 1 << 20 { n } else { 64 });
            builder().capacity(n).queues(n.min(1_024)).start(|_, _| ())
        });
        // A thread each.
        if n <= 65 || n >= 1 << 16 {
            found.check("worker queue: workers", n, n.saturating_mul(32 << 10), || {
                builder().workers(n).start(|_, _| ())
            });
        }
        found.check("worker queue: throttle", n, 0, || {
            let queue = builder().receive_burst(n as u64).receive_batch(n as u64);
            queue.start(|_, _| ())
        });
    }
    let long = "n".repeat(1 << 16);
    for name in ["", "a", "\0", "a\0b", "\u{1b}[31m\n", &long] {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        found.check("worker queue: name", name.escape_debug(), 1 << 20, || {
            queue().workers(2).name(name).start(|_, _| ())
        });
        found.check("worker queue: name of tasks", name.escape_debug(), 1 << 20, || {
            queue().workers(2).name(name).on(&runtime).start(|_, _| ())
        });
    }
    for (n, long) in [Duration::ZERO, Duration::MAX].into_iter().enumerate() {
        found.check("worker queue: limit", n, 0, || {
            let queue = queue().workers(1).clock(RealClock::new()).start(|_, _| ());
            let queue = queue.expect("a queue");
            queue.close();
            queue.close_timeout(long)
        });
    }
    found.check("graph", "", 1 << 16, || {
        let runtime = Runtime::builder().workers(1).build().map_err(|error| error.to_string())?;
        Graph::new().run(&runtime).map_err(|error| error.to_string())
    });
}

fn runtimes(found: &mut Complaints) {
    let builder = || Runtime::builder().workers(1);
    for n in sizes() {
        // Some kilobytes each; and a thread, which is refused.
        if n <= 1_025 || n > MAX_WORKERS {
            found.check("runtime: workers", n, n.saturating_mul(16 << 10), || {
                let none = move |_| Err(std::io::Error::other(format!("none of {n}")));
                Runtime::builder().workers(n).spawn_handler(none).build()
            });
        }
        found.check("runtime: stack size", n, 1 << 20, || builder().stack_size(n).build());
        found.check("runtime: stacks", n, 1 << 20, || builder().max_stacks(n).build());
        found.check("runtime: strict stacks", n, 64 << 20, || {
            builder().strict(true).substitutes(0).max_stacks(n).build()
        });
        found.check("runtime: blocking threads", n, 1 << 20, || {
            builder().blocking_threads(n).build()
        });
        found.check("current thread: stack size", n, 1 << 20, || {
            Runtime::builder().stack_size(n).current_thread()
        });
        found.check("current thread: stacks", n, 1 << 20, || {
            Runtime::builder().max_stacks(n).current_thread()
        });
    }
    for (n, long) in [Duration::ZERO, Duration::MAX].into_iter().enumerate() {
        found.check("runtime: times", n, 1 << 20, || {
            let runtime = builder().spin(long).blocking_keep_alive(long).build();
            let runtime = runtime.expect("a runtime");
            runtime.install(|| sateen::blocking(|| ()));
            runtime.shutdown_timeout(long)
        });
    }
    let long = "n".repeat(1 << 16);
    for name in ["", "a", "\0", "a\0b", "\u{1b}[31m\n", &long] {
        let own = name.to_owned();
        found.check("runtime: name", name.escape_debug(), 1 << 20, || {
            builder().thread_name(move |_| own.clone()).build()
        });
    }
}

#[test]
fn extremes_are_made_or_refused() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut found = Complaints::default();
    for part in [pools, sheds, rates, worker_queues, runtimes] {
        part(&mut found);
    }
    _ = std::panic::take_hook();
    let count = found.0.len();
    assert!(count == 0, "{count} wrong:\n{}", found.0.join("\n"));
}
