//! What a runtime keeps does not grow with the number of tasks that have ended. Each kind of
//! runtime has a process of its own. There one task that goes on starts work in each way, and what
//! is allocated after a tenth of the rounds is compared with what is at the end.
#![cfg(all(target_os = "linux", not(any(miri, sateen_tsan))))]

mod common;

use common::OneQueue;
use sateen_runtime::{
    Builder, CancelToken, Priority, Runtime, Spawn, blocking, fork, join, par_for, policy, scope,
    sleep, spawn, spawn_async, spawn_local, timeout, yield_now,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Bytes by which what is allocated may grow: pools and caches fill.
const MOST: usize = 1 << 20;
/// The same for the memory of the process, which has stacks, too.
const MOST_RESIDENT: usize = 8 << 20;

/// Rounds of one way before the first look at the memory, and before the second.
fn rounds() -> (usize, usize) {
    let rounds = std::env::var("SATEEN_GROWTH_ROUNDS").map(|n| n.parse().expect("a number"));
    let rounds = rounds.unwrap_or(60_000);
    (rounds / 10, rounds)
}

/// Counts the bytes that are allocated.
struct Counted;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator, with a count beside it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Relaxed);
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// One way: one round of it, and how many times fewer rounds a slow one has.
struct Way(&'static str, fn(usize), usize);

const WAYS: &[Way] = &[
    Way("spawn, join", |_| spawn(|| ()).join().expect("ran"), 1),
    Way("two spawns, joined in order", |_| twice(Spawn::new(), Spawn::new()), 1),
    Way("high priority", |_| once(Spawn::new().priority(Priority::High)), 1),
    Way("low priority", |_| once(Spawn::new().priority(Priority::Low)), 1),
    Way(
        "all priorities",
        |i| {
            let one = [Priority::Low, Priority::High, Priority::Normal][i % 3];
            twice(Spawn::new().priority(one), Spawn::new());
        },
        1,
    ),
    Way("with a name", |_| once(Spawn::new().name("a name")), 1),
    Way("with names without end", |i| once(Spawn::new().name(format!("task {i}"))), 4),
    Way("on its worker", |_| once(Spawn::new().on_worker(0)), 2),
    Way("with a token", |_| once(Spawn::new().token(&CancelToken::new())), 2),
    Way(
        "with a property",
        |i| {
            let task = Spawn::new().property(1).spawn(|| ());
            task.set_property(i as u64);
            task.join().expect("ran");
        },
        1,
    ),
    Way(
        "cancelled",
        |_| {
            let task = spawn(|| ());
            task.cancel();
            drop(task.join());
        },
        1,
    ),
    Way("dispatched", |_| once(Spawn::new().dispatch()), 2),
    Way("on a small stack", |_| once(Spawn::new().stack_size(64 << 10)), 4),
    Way(
        "detached",
        |_| {
            drop(spawn(|| ()));
            yield_now();
        },
        2,
    ),
    Way("a future", |_| spawn_async(async {}).join().expect("ran"), 2),
    Way("join", |_| _ = join(|| (), || ()), 1),
    Way("fork", |_| _ = fork([|| (), || ()]), 1),
    Way("scope", |_| scope(|s| s.spawn(|_| ())), 1),
    Way("loop", |_| par_for(0..4, |_| ()), 2),
    Way("timeout", |_| timeout(Duration::from_secs(100), || ()).expect("in time"), 1),
    Way("sleep", |_| sleep(Duration::from_nanos(1)), 10),
    Way(
        "joined with a limit",
        |_| {
            let task = spawn(|| ()).join_timeout(Duration::from_secs(100));
            task.unwrap_or_else(|_| panic!("in time")).expect("ran");
        },
        2,
    ),
    Way("blocking", |_| blocking(|| ()), 50),
];

fn once(settings: Spawn) {
    settings.spawn(|| ()).join().expect("ran");
}

/// The first is not the youngest when it is joined.
fn twice(first: Spawn, second: Spawn) {
    let (first, second) = (first.spawn(|| ()), second.spawn(|| ()));
    first.join().expect("ran");
    second.join().expect("ran");
}

type Set = fn(Builder) -> Builder;

/// The settings of the runtimes.
const SETTINGS: &[(&str, Set)] = &[
    ("work stealing", |b| b),
    ("two workers", |b| b.workers(2)),
    ("sharing", |b| b.policy(policy::work_sharing())),
    ("round robin", |b| b.policy(policy::round_robin())),
    ("custom", |b| b.policy(policy::custom(|_| Box::new(OneQueue::default())))),
    ("keeping threads", |b| b.keep_threads(true)),
];

/// Bytes of memory that the process uses.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    text.split(' ').nth(1).expect("resident").parse::<usize>().expect("a number") * 4096
}

/// Runs `round` as often as the way says. Returns a complaint if the memory grows.
fn grows(name: &str, round: &dyn Fn(usize), part: usize) -> Option<String> {
    let (first, second) = rounds();
    (0..first / part).for_each(round);
    let (live, before) = (LIVE.load(Relaxed), resident());
    (first / part..second / part).for_each(round);
    let (live, grown) =
        (LIVE.load(Relaxed).saturating_sub(live), resident().saturating_sub(before));
    let too_much = live > MOST || grown > MOST_RESIDENT;
    too_much.then(|| format!("{name}: {live} bytes allocated, {grown} more resident"))
}

fn only() -> String {
    std::env::var("SATEEN_GROWTH_ONLY").unwrap_or_default()
}

/// Runs each way in a runtime with this setting.
fn all_ways(setting: &str, set: Set) -> Vec<String> {
    let rt = set(Runtime::builder().workers(1)).build().expect("a runtime");
    let ways = WAYS.iter().map(|Way(way, round, part)| (format!("{setting}: {way}"), round, part));
    // There a yield lets nothing start, so all of them are still to come.
    let starts = |name: &str| name != "keeping threads: detached";
    let chosen = ways.filter(|(name, ..)| name.contains(&only()) && starts(name));
    chosen.filter_map(|(name, round, part)| rt.install(|| grows(&name, round, *part))).collect()
}

/// One worker is busy while another ends tasks, whose properties have changed.
fn beside_a_busy_worker() -> Option<String> {
    let custom = policy::custom(|_| Box::new(OneQueue::default()));
    let rt = Runtime::builder().workers(2).policy(custom).build().expect("a runtime");
    let done = Arc::new(AtomicBool::new(false));
    let over = done.clone();
    let busy = rt.spawn_with(Spawn::new().on_worker(1), move || {
        while !over.load(Relaxed) {
            std::thread::yield_now();
        }
    });
    let round = |i| {
        let task = Spawn::new().property(1).spawn(|| ());
        task.set_property(i as u64);
        task.join().expect("ran");
    };
    let ends = rt.spawn_with(Spawn::new().on_worker(0), move || grows("beside", &round, 2));
    let found = ends.join().expect("ran");
    done.store(true, Relaxed);
    busy.join().expect("ran");
    found
}

fn from_outside() -> Vec<String> {
    let rt = Runtime::builder().workers(1).build().expect("a runtime");
    let spawns = grows("spawn from outside", &|_| rt.spawn(|| ()).join().expect("ran"), 20);
    let calls = grows("install", &|_| rt.install(|| ()), 20);
    let here = Runtime::current_thread().expect("a runtime");
    let local = |_| spawn_local(|| ()).join().expect("ran");
    let local = here.run(|| grows("a thread's own", &local, 1));
    [spawns, calls, local, beside_a_busy_worker()].into_iter().flatten().collect()
}

/// Runs this binary again for each setting: other tests would allocate, too.
#[test]
fn nothing_grows_with_the_number_of_past_tasks() {
    let run = |setting: &str| {
        let set = SETTINGS.iter().find(|(name, _)| *name == setting);
        set.map_or_else(from_outside, |(name, set)| all_ways(name, *set))
    };
    common::in_children(
        "nothing_grows_with_the_number_of_past_tasks",
        SETTINGS.iter().map(|(name, _)| *name).chain(["outside"]),
        |setting| {
            let found = run(setting);
            assert!(found.is_empty(), "{}", found.join("\n"));
        },
    );
}
