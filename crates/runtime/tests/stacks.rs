//! Thousands of stacks, and what happens when the system gives no more.

#![cfg(target_os = "linux")]

use sateen_runtime::{
    Builder, JoinError, JoinHandle, PooledStacks, Runtime, Spawn, StackAllocator, StackGuard, sleep,
};
use sateen_sync::Event;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Returns true in the child that runs test `name` alone. Otherwise runs that child, and checks
/// that it succeeded.
fn in_child(name: &str) -> bool {
    if std::env::var_os("SATEEN_TEST_CHILD").is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("SATEEN_TEST_CHILD", "1")
        // Otherwise the heap sometimes takes large steps, which count against limits on memory.
        .env("MALLOC_ARENA_MAX", "1")
        // A backtrace takes memory. If memory has run out, a child that fails would not end.
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("the child runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    false
}

/// The number behind `key` in this process's status.
fn status(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with(key)).expect("a known key");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

fn maps() -> usize {
    std::fs::read_to_string("/proc/self/maps").expect("the maps").lines().count()
}

/// Tasks that wait for one event, and the number of those that have started.
struct Blocked {
    event: Arc<Event>,
    started: Arc<AtomicUsize>,
    handles: Vec<JoinHandle<()>>,
}

impl Blocked {
    fn spawn(runtime: &Runtime, tasks: usize) -> Self {
        let (event, started) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let task = |_| {
            let (event, started) = (Arc::clone(&event), Arc::clone(&started));
            runtime.spawn(move || {
                started.fetch_add(1, SeqCst);
                event.wait();
            })
        };
        let handles = (0..tasks).map(task).collect();
        Self { event, started, handles }
    }

    fn wait_until_started(&self, tasks: usize) {
        while self.started.load(SeqCst) < tasks {
            std::thread::yield_now();
        }
    }

    /// Returns how many tasks ended well. The others were refused a stack.
    fn release(mut self) -> usize {
        self.event.set();
        let ended =
            std::mem::take(&mut self.handles).into_iter().map(|handle| match handle.join() {
                Ok(()) => 1,
                Err(JoinError::OutOfStacks) => 0,
                Err(error) => panic!("{error}"),
            });
        ended.sum()
    }
}

/// A test that fails must not wait for these tasks for ever.
impl Drop for Blocked {
    fn drop(&mut self) {
        self.event.set();
    }
}

/// Tasks with the default stack, of which 32 bits can address about a thousand.
const MANY: usize = if usize::BITS < 64 { 600 } else { 2000 };

fn builder() -> Builder {
    Runtime::builder().workers(2)
}

/// What a program with very many blocked tasks chooses.
const SMALL: usize = 192 << 10;

#[test]
fn many_blocked_tasks_take_little_memory_and_few_maps() {
    if !in_child("many_blocked_tasks_take_little_memory_and_few_maps") {
        return;
    }
    const TASKS: usize = if usize::BITS < 64 { 5_000 } else { 20_000 };
    const LARGE: usize = if usize::BITS < 64 { MANY } else { TASKS };
    // A default stack has a page of the page table nearly for itself. Unoptimised frames may need a
    // second page of their own.
    let second = if cfg!(debug_assertions) { 4096 + 2048 } else { 0 };
    let small = builder().stack_size(SMALL);
    for (builder, tasks, most) in [(builder(), LARGE, 10 * 1024), (small, TASKS, 6 * 1024)] {
        let rt = builder.build().expect("a runtime");
        let memory = || (status("VmRSS") + status("VmPTE")) * 1024;
        let (before, maps_before) = (memory(), maps());
        let blocked = Blocked::spawn(&rt, tasks);
        blocked.wait_until_started(tasks);
        let each = (memory() - before) / tasks;
        assert!(each < most + second, "{each} bytes");
        // Older kernels need two more mappings for each guard.
        let maps = maps() - maps_before;
        assert!(!(1000..=TASKS).contains(&maps), "{maps} mappings");
        assert_eq!(blocked.release(), tasks);
        rt.shutdown().expect("an orderly end");
    }
}

/// Tasks that ask for little stack take little address space, and are no less tasks.
#[test]
fn tasks_with_small_stacks_of_their_own() {
    if !in_child("tasks_with_small_stacks_of_their_own") {
        return;
    }
    const TASKS: usize = 2_000;
    let rt = builder().build().expect("a runtime");
    let (event, before) = (Arc::new(Event::new()), status("VmSize"));
    let small = || Spawn::new().stack_size(32 << 10);
    let wait = |event: &Arc<Event>| {
        let event = Arc::clone(event);
        rt.spawn_with(small(), move || event.wait())
    };
    let tasks: Vec<_> = (0..TASKS).map(|_| wait(&event)).collect();
    while rt.metrics().total().started < TASKS as u64 {
        std::thread::yield_now();
    }
    let each = (status("VmSize") - before) / TASKS;
    assert!(each < 128, "{each} KiB of address space");
    event.set();
    tasks.into_iter().for_each(|task| task.join().expect("ended"));
    // Tasks that do not block use few stacks, one after the other.
    let before = status("VmSize");
    let tasks: Vec<_> = (0..50_000).map(|_| rt.spawn_with(small(), || ())).collect();
    tasks.into_iter().for_each(|task| task.join().expect("ended"));
    let more = status("VmSize").saturating_sub(before);
    assert!(more < 100_000, "{more} KiB of address space");
    rt.shutdown().expect("an orderly end");
}

/// Lowers what the process may map, for good.
fn limit_address_space(bytes: usize) {
    let bytes = bytes as libc::rlim_t;
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the call only reads the limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

/// There is address space for a few hundred stacks. Further tasks are refused, and everything else
/// goes on.
#[test]
fn under_a_memory_limit_spawns_are_refused_and_the_runtime_goes_on() {
    if !in_child("under_a_memory_limit_spawns_are_refused_and_the_runtime_goes_on") {
        return;
    }
    let rt = builder().stack_size(SMALL).build().expect("a runtime");
    assert_eq!(rt.spawn(|| 1).join().expect("runs"), 1);
    limit_address_space(status("VmSize") * 1024 + (100 << 20));
    for _ in 0..3 {
        let refused = rt.metrics().total().out_of_stacks;
        let blocked = Blocked::spawn(&rt, 2000);
        while rt.metrics().total().out_of_stacks == refused {
            std::thread::yield_now();
        }
        // If there was no room for a slab of 64 stacks, smaller slabs were used, up to the
        // headroom. (A worker may have held that much when the limit was set. So there is room for
        // 341 stacks, or for 406.)
        let started = blocked.started.load(SeqCst);
        assert!((200..500).contains(&started), "{started}");
        // Some tasks that were not refused yet start now.
        assert!((started..2000).contains(&blocked.release()));
        assert_eq!(rt.spawn(|| 2).join().expect("the runtime goes on"), 2);
    }
    rt.shutdown().expect("an orderly end");
}

/// Without light guards, as on older kernels.
#[test]
fn ten_thousand_blocked_tasks_whose_guards_are_protected() {
    if !in_child("ten_thousand_blocked_tasks_whose_guards_are_protected") {
        return;
    }
    const TASKS: usize = 10_000;
    let stacks = PooledStacks::new().guard(StackGuard::Protected);
    let rt = builder().stack_size(64 << 10).stack_allocator(stacks).build().expect("a runtime");
    let blocked = Blocked::spawn(&rt, TASKS);
    blocked.wait_until_started(TASKS);
    assert_eq!(blocked.release(), TASKS);
    rt.shutdown().expect("an orderly end");
}

/// Guards that split mappings leave most of the mappings that the limit allows to other code.
#[test]
fn before_maps_run_out_spawns_are_refused() {
    if !in_child("before_maps_run_out_spawns_are_refused") {
        return;
    }
    let most: usize = std::fs::read_to_string("/proc/sys/vm/max_map_count")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .expect("a limit");
    if most > 100_000 {
        return; // This would take too long.
    }
    let stacks = PooledStacks::new().guard(StackGuard::Protected);
    let rt = builder().stack_size(64 << 10).stack_allocator(stacks).build().expect("a runtime");
    let blocked = Blocked::spawn(&rt, most / 2);
    while rt.metrics().total().out_of_stacks == 0 {
        std::thread::yield_now();
    }
    assert!(maps() < most * 3 / 4);
    let started = blocked.started.load(SeqCst);
    assert!((most / 8..most / 3).contains(&started), "{started}");
    assert!((started..most / 2).contains(&blocked.release()));
    rt.shutdown().expect("an orderly end");
}

/// There is address space for a few stacks of the default size: slabs shrink to one stack.
#[test]
fn under_a_memory_limit_slabs_get_smaller() {
    if !in_child("under_a_memory_limit_slabs_get_smaller") {
        return;
    }
    let rt = builder().build().expect("a runtime");
    assert_eq!(rt.spawn(|| 1).join().expect("runs"), 1);
    limit_address_space(status("VmSize") * 1024 + (60 << 20));
    let blocked = Blocked::spawn(&rt, 100);
    while rt.metrics().total().out_of_stacks == 0 {
        std::thread::yield_now();
    }
    // 60 MiB less the 16 that are left to others are room for 17 stacks and a part of one. Each
    // worker may have mapped a slab of four before.
    let started = blocked.started.load(SeqCst);
    assert!((10..=25).contains(&started), "{started}");
    assert!((started..100).contains(&blocked.release()));
    rt.shutdown().expect("an orderly end");
}

/// Each stack counts whole there, and the heap must not run out. (Only where that is set.)
#[test]
fn where_the_system_promises_no_more_than_it_has() {
    let policy = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    if policy.trim() != "2" || !in_child("where_the_system_promises_no_more_than_it_has") {
        return;
    }
    let rt = builder().build().expect("a runtime");
    let blocked = Blocked::spawn(&rt, 100_000);
    while rt.metrics().total().out_of_stacks == 0 {
        std::thread::yield_now();
    }
    assert!(blocked.release() < 100_000);
    assert_eq!(rt.spawn(|| 1).join().expect("the runtime goes on"), 1);
    rt.shutdown().expect("an orderly end");
}

/// There is no address space for the first stack.
#[test]
fn without_memory_for_a_stack_no_runtime_is_built() {
    if !in_child("without_memory_for_a_stack_no_runtime_is_built") {
        return;
    }
    limit_address_space(status("VmSize") * 1024 + (2 << 20));
    let error = builder().build().expect_err("no stack");
    assert!(error.to_string().starts_with("cannot reserve a stack: "), "{error}");
}

/// Locked memory refuses light guards. Each guard then falls back by itself.
#[test]
fn with_all_memory_locked() {
    with_memory_locked("with_all_memory_locked", libc::MCL_ONFAULT);
}

/// The system then gives each stack all its pages at once, as it does for threads.
#[test]
fn with_all_memory_locked_at_once() {
    with_memory_locked("with_all_memory_locked_at_once", 0);
}

fn with_memory_locked(name: &str, how: libc::c_int) {
    if !in_child(name) {
        return;
    }
    // SAFETY: the call takes no pointers.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | how) } != 0 {
        return; // This process may not lock memory.
    }
    let rt = builder().build().expect("a runtime");
    let blocked = Blocked::spawn(&rt, 20);
    blocked.wait_until_started(20);
    assert_eq!(blocked.release(), 20);
    rt.shutdown().expect("an orderly end");
}

#[test]
fn every_allocator_works() {
    fn works(stacks: impl StackAllocator + 'static) {
        let rt = builder().stack_allocator(stacks).build().expect("a runtime");
        for _ in 0..5 {
            let blocked = Blocked::spawn(&rt, 100);
            blocked.wait_until_started(100);
            assert_eq!(blocked.release(), 100);
        }
        rt.shutdown().expect("an orderly end");
    }
    // SAFETY: the tasks need little stack.
    unsafe {
        works(PooledStacks::new().unguarded());
        works(PooledStacks::new().unguarded().high_water(0));
    }
    for guard in [StackGuard::Light, StackGuard::Protected] {
        works(PooledStacks::new().guard(guard));
        works(PooledStacks::new().guard(guard).high_water(0));
    }
}

/// A task that asks for little runs on its worker's stack if there is no other.
#[test]
fn a_small_stack_of_its_own_is_no_condition() {
    let rt = builder().workers(1).max_stacks(1).build().expect("a runtime");
    let small = || Spawn::new().stack_size(32 << 10);
    let tasks: Vec<_> = (0..100).map(|i| rt.spawn_with(small(), move || i)).collect();
    for (i, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.join().expect("ran"), i);
    }
}

/// An allocator that gives more than it was asked for: no task is moved on for ever.
#[test]
fn an_allocator_that_gives_more() {
    struct Generous(PooledStacks);
    impl StackAllocator for Generous {
        fn allocate(&self, size: usize) -> std::io::Result<sateen_runtime::Stack> {
            self.0.allocate(size.max(8 << 20))
        }
        unsafe fn deallocate(&self, stack: sateen_runtime::Stack) {
            // SAFETY: this passes the contract on to the caller.
            unsafe { self.0.deallocate(stack) }
        }
    }
    fn deep(depth: usize) -> usize {
        let frame = std::hint::black_box([1_u8; 1024]);
        if depth == 0 {
            return 0;
        }
        let (below, one) = sateen_runtime::join(|| deep(depth - 1), || usize::from(frame[5]));
        below + one
    }
    let stacks = Generous(PooledStacks::new());
    let rt = builder().stack_allocator(stacks).build().expect("a runtime");
    for _ in 0..20 {
        let task = rt.spawn_with(Spawn::new().stack_size(32 << 10), || 7);
        assert_eq!(task.join().expect("ran"), 7);
    }
    assert_eq!(rt.install(|| deep(20_000)), 20_000);
}

/// An allocator that gives smaller stacks than it was asked for, or none after the first few.
#[test]
fn allocators_that_fail() {
    struct Failing(PooledStacks, AtomicUsize, usize);
    impl StackAllocator for Failing {
        fn allocate(&self, size: usize) -> std::io::Result<sateen_runtime::Stack> {
            if self.1.fetch_add(1, SeqCst) < self.2 {
                return self.0.allocate(size);
            }
            self.0.allocate(size / 2)
        }
        unsafe fn deallocate(&self, stack: sateen_runtime::Stack) {
            // SAFETY: this passes the contract on to the caller.
            unsafe { self.0.deallocate(stack) }
        }
    }
    let failing = |good| Failing(PooledStacks::new(), AtomicUsize::new(0), good);
    let error = builder().stack_allocator(failing(0)).build().expect_err("no first stack");
    assert!(error.to_string().starts_with("cannot reserve a stack: asked for "), "{error}");
    // One stack for the check of the allocator, one for the task that blocks, and one for the
    // others.
    let rt = builder().workers(1).stack_allocator(failing(3)).build().expect("a runtime");
    let blocked = Blocked::spawn(&rt, 1);
    blocked.wait_until_started(1);
    assert_eq!(rt.spawn(|| 1).join().expect("on the second stack"), 1);
    let more = Blocked::spawn(&rt, 3);
    while rt.metrics().total().out_of_stacks == 0 {
        std::thread::yield_now();
    }
    assert_eq!(more.release(), 1);
    assert_eq!(blocked.release(), 1);
    rt.shutdown().expect("an orderly end");
}

/// If Valgrind is installed, it does not complain about a switch of stacks. On other processors it
/// is not told of them; see `crates/base/src/os/valgrind.rs`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn valgrind_knows_the_stacks() {
    if std::env::var_os("SATEEN_TEST_CHILD").is_some() {
        let rt = builder().build().expect("a runtime");
        let blocked = Blocked::spawn(&rt, 20);
        blocked.wait_until_started(20);
        assert_eq!(blocked.release(), 20);
        return;
    }
    let output = Command::new("valgrind")
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "valgrind_knows_the_stacks", "--test-threads=1"])
        .env("SATEEN_TEST_CHILD", "1")
        .output();
    let Ok(output) = output else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(!errors.contains("switching stacks"), "{errors}");
    assert!(errors.contains("ERROR SUMMARY: 0 errors"), "{errors}");
}

/// Sleepers hold all the stacks, and only their timers wake them.
#[test]
fn tasks_wait_for_the_stacks_of_sleepers() {
    for (workers, stacks) in [(1, 1), (1, 4), (2, 4)] {
        let runtime = builder().workers(workers).max_stacks(stacks).build().expect("a runtime");
        let nap = || sleep(Duration::from_millis(2));
        let tasks: Vec<_> = (0..50).map(|_| runtime.spawn(nap)).collect();
        for task in tasks {
            task.join().expect("it has waited for a stack");
        }
        // This is longer than the runtime keeps spawns waiting that no worker could start.
        let long = || sleep(Duration::from_millis(100));
        let tasks: Vec<_> = (0..stacks + 1).map(|_| runtime.spawn(long)).collect();
        for task in tasks {
            task.join().expect("it has waited for a stack");
        }
    }
}

/// Hundreds of thousands of tasks take memory besides stacks. There must be room for that.
#[test]
fn far_more_tasks_than_stacks_leave_room_for_themselves() {
    if !in_child("far_more_tasks_than_stacks_leave_room_for_themselves") {
        return;
    }
    const TASKS: usize = 1_000_000;
    let rt = builder().stack_size(SMALL).build().expect("a runtime");
    assert_eq!(rt.spawn(|| 1).join().expect("runs"), 1);
    // Addresses of 32 bits are such a limit.
    if let Ok(bytes) = usize::try_from(8_000_000 * 1024_u64) {
        limit_address_space(bytes);
    }
    let blocked = Blocked::spawn(&rt, TASKS);
    while rt.metrics().total().out_of_stacks == 0 {
        std::thread::yield_now();
    }
    let started = blocked.started.load(SeqCst);
    assert!(started > if usize::BITS < 64 { 5_000 } else { 20_000 }, "{started}");
    assert!((started..TASKS).contains(&blocked.release()));
    assert_eq!(rt.spawn(|| 2).join().expect("the runtime goes on"), 2);
    rt.shutdown().expect("an orderly end");
}

/// The runtime still exists, and a waker of an ended task is held. So all parts of the runtime
/// still exist.
#[test]
fn a_runtime_that_has_ended_gives_its_stacks_back() {
    if !in_child("a_runtime_that_has_ended_gives_its_stacks_back") {
        return;
    }
    let rt = builder().build().expect("a runtime");
    let before = status("VmSize");
    let waker = rt.spawn(sateen_sync::park::current_waker).join().expect("a waker");
    let blocked = Blocked::spawn(&rt, MANY);
    blocked.wait_until_started(MANY);
    assert!(status("VmSize") > before + 400_000);
    assert_eq!(blocked.release(), MANY);
    rt.shutdown().expect("an orderly end");
    assert!(status("VmSize") < before + 20_000, "{} KiB", status("VmSize") - before);
    drop(waker);
}

/// A task that does not end keeps the slab of its stack, and no other slab.
#[test]
fn a_runtime_that_is_given_up_gives_the_other_stacks_back() {
    if !in_child("a_runtime_that_is_given_up_gives_the_other_stacks_back") {
        return;
    }
    let rt = builder().build().expect("a runtime");
    let before = status("VmSize");
    let never = Arc::new(Event::new());
    let inner = Arc::clone(&never);
    let resists = rt.spawn(move || sateen_sync::park::uninterrupted(|| inner.wait()));
    let blocked = Blocked::spawn(&rt, MANY);
    blocked.wait_until_started(MANY);
    assert_eq!(blocked.release(), MANY);
    rt.shutdown_timeout(Duration::from_millis(1)).expect_err("one remains");
    // 64 stacks, and some that are small.
    assert!(status("VmSize") < before + 300_000, "{} KiB", status("VmSize") - before);
    // The rest of the end also goes well.
    never.set();
    drop(resists.join());
    rt.shutdown().expect("an orderly end");
    assert!(status("VmSize") < before + 20_000, "{} KiB", status("VmSize") - before);
}
