//! Nested work when stacks run out. The work for which a scope, a join or a call from outside waits
//! still starts.

use sateen_runtime::{
    JoinError, JoinHandle, PooledStacks, Report, Runtime, Spawn, Stack, StackAllocator, join,
    scope, sleep, spawn, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::{until_some, watched};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Numbers of workers and stacks.
const LIMITS: [(usize, usize); 9] =
    [(1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 3), (2, 4), (2, 8), (4, 8)];
/// Runs `f` many times, with each of [`LIMITS`].
fn at_all_limits(what: &str, times: usize, f: impl Fn() -> usize + Sync, expected: usize) {
    for (workers, stacks) in LIMITS {
        watched(&format!("{what} on {workers} workers with {stacks} stacks"), || {
            for _ in 0..times {
                let builder = Runtime::builder().workers(workers).max_stacks(stacks);
                let rt = builder.build().expect("a runtime");
                assert_eq!(rt.install(&f), expected);
                rt.shutdown().expect("an orderly end");
            }
        });
    }
}

fn nap() {
    sleep(Duration::from_micros(100));
}

/// A tree of scopes, each with `width` spawns that sleep first. Returns the number of spawns.
fn sleepers(depth: usize, width: usize, pause: fn()) -> usize {
    let count = AtomicUsize::new(0);
    scope(|s| {
        for _ in 0..width {
            s.spawn(|_| {
                pause();
                let below = if depth > 1 { sleepers(depth - 1, width, pause) } else { 0 };
                pause();
                count.fetch_add(1 + below, SeqCst);
            });
        }
    });
    count.into_inner()
}

#[test]
fn nested_scopes_whose_spawns_sleep() {
    at_all_limits("a tree of scopes", 10, || sleepers(3, 3, nap), 39);
}

#[test]
fn nested_scopes_whose_spawns_yield() {
    at_all_limits("a tree of scopes", 10, || sleepers(3, 3, yield_now), 39);
}

#[test]
fn a_tree_of_scopes_twelve_levels_deep() {
    fn chain(depth: usize) -> usize {
        let below = AtomicUsize::new(0);
        scope(|s| {
            s.spawn(|_| nap());
            s.spawn(|_| {
                nap();
                below.store(if depth > 1 { chain(depth - 1) } else { 0 }, SeqCst);
            });
            s.spawn(|_| yield_now());
        });
        below.into_inner() + 1
    }
    at_all_limits("a chain of scopes", 3, || chain(12), 12);
}

/// Scopes in branches in tasks. All of them sleep.
#[test]
fn scopes_in_branches_in_tasks() {
    fn mixed(depth: usize) -> usize {
        if depth == 0 {
            nap();
            return 1;
        }
        let task = spawn(move || mixed(depth - 1));
        let (a, b) = join(|| sleepers(1, 2, nap), || mixed(depth - 1));
        a + b + task.join().expect("it has waited for a stack")
    }
    // Each level has twice as many and two more.
    at_all_limits("a mixed tree", 3, || mixed(3), 22);
}

/// Spawns of a scope make further spawns of that scope, from whatever worker they run on.
#[test]
fn spawns_of_spawns() {
    fn more<'a>(s: &sateen_runtime::Scope<'a>, depth: usize, count: &'a AtomicUsize) {
        for _ in 0..2 {
            s.spawn(move |s| {
                nap();
                count.fetch_add(1, SeqCst);
                if depth > 1 {
                    more(s, depth - 1, count);
                }
                nap();
            });
        }
    }
    let run = || {
        let count = AtomicUsize::new(0);
        scope(|s| more(s, 5, &count));
        count.into_inner()
    };
    at_all_limits("spawns of spawns", 5, run, 62);
}

#[test]
fn a_rendezvous_across_a_join() {
    let run = || {
        let (a, b) = (Event::new(), Event::new());
        let meet = |mine: &Event, other: &Event| {
            mine.set();
            other.wait();
        };
        join(|| meet(&a, &b), || meet(&b, &a));
        1
    };
    at_all_limits("a rendezvous", 3, run, 1);
}

/// The two sides take turns, so neither could run on top of the other.
#[test]
fn a_conversation_across_a_join() {
    let run = || {
        let events: [Event; 6] = std::array::from_fn(|_| Event::new());
        let talk = |first: usize| {
            for (index, event) in events.iter().enumerate() {
                if index % 2 == first { event.set() } else { event.wait() }
            }
        };
        join(|| talk(0), || talk(1));
        1
    };
    at_all_limits("a conversation", 3, run, 1);
}

/// The first example of the guide's page on blocking.
#[test]
fn a_branch_that_waits_for_the_other() {
    let run = || {
        let event = Event::new();
        join(|| event.wait(), || event.set());
        1
    };
    at_all_limits("a branch", 3, run, 1);
}

#[test]
fn a_spawn_that_waits_for_the_scopes_others() {
    let run = || {
        let event = Event::new();
        scope(|s| {
            s.spawn(|_| event.set());
            s.spawn(|_| event.wait());
            s.spawn(|_| event.wait());
        });
        1
    };
    at_all_limits("a scope", 3, run, 1);
}

#[test]
fn a_scopes_body_that_waits_for_its_spawns() {
    let run = || {
        let event = Event::new();
        scope(|s| {
            s.spawn(|_| event.set());
            event.wait();
        });
        1
    };
    at_all_limits("a scope's body", 3, run, 1);
}

/// Every stack is held by a task that only the scope would wake.
#[test]
fn a_scope_that_wakes_waiting_tasks() {
    for (workers, stacks) in LIMITS {
        watched(&format!("waiting tasks, {workers} workers, {stacks} stacks"), || {
            let builder = Runtime::builder().workers(workers).max_stacks(stacks);
            let rt = builder.build().expect("a runtime");
            let (event, begun) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
            let wait = || {
                let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
                rt.spawn(move || {
                    begun.fetch_add(1, SeqCst);
                    event.wait();
                })
            };
            let tasks: Vec<_> = (0..stacks).map(|_| wait()).collect();
            while begun.load(SeqCst) < stacks {
                std::thread::yield_now();
            }
            rt.scope(|s| s.spawn(|_| event.set()));
            tasks.into_iter().for_each(|task| task.join().expect("woken"));
            rt.shutdown().expect("an orderly end");
        });
    }
}

/// A task that wakes up again and again does not keep nested work from starting.
#[test]
fn a_rendezvous_beside_a_ticker() {
    watched("a rendezvous beside a ticker", || {
        let rt = Runtime::builder().workers(1).max_stacks(2).build().expect("a runtime");
        let stop = Arc::new(AtomicUsize::new(0));
        let ticker = rt.spawn({
            let stop = Arc::clone(&stop);
            move || {
                while stop.load(SeqCst) == 0 {
                    nap();
                }
            }
        });
        let event = Event::new();
        rt.install(|| join(|| event.wait(), || event.set()));
        stop.store(1, SeqCst);
        ticker.join().expect("stopped");
    });
}

/// Gives out at most this many stacks, even if all tasks stand still.
struct AtMost(PooledStacks, usize, AtomicUsize);

impl AtMost {
    fn new(most: usize) -> Self {
        Self(PooledStacks::new(), most, AtomicUsize::new(0))
    }
}

impl StackAllocator for AtMost {
    fn allocate(&self, size: usize) -> std::io::Result<Stack> {
        if self.2.fetch_add(1, SeqCst) >= self.1 {
            self.2.fetch_sub(1, SeqCst);
            return Err(std::io::Error::other("no more"));
        }
        self.0.allocate(size)
    }
    unsafe fn deallocate(&self, stack: Stack) {
        self.2.fetch_sub(1, SeqCst);
        // SAFETY: this passes the contract on to the caller.
        unsafe { self.0.deallocate(stack) }
    }
}

/// Takes reports until one is as wanted.
fn until(rt: &Runtime, wanted: impl Fn(&Report) -> bool) -> Report {
    until_some(|| Some(rt.report()).filter(&wanted))
}

/// A task whose scope has two more spawns than there are stacks. The spawns wait for an event.
fn waits_in_vain(rt: &Runtime, stacks: usize, event: &Arc<Event>) -> JoinHandle<()> {
    let event = Arc::clone(event);
    rt.spawn(move || {
        scope(|s| {
            for _ in 0..stacks + 2 {
                s.spawn(|_| event.wait());
            }
        });
    })
}

#[test]
fn what_cannot_start_is_told_and_can_be_cancelled() {
    for (workers, stacks) in [(1, 1), (1, 2), (2, 2), (2, 3)] {
        watched(&format!("{workers} workers with {stacks} stacks"), || {
            let builder = Runtime::builder().workers(workers);
            let rt = builder.stack_allocator(AtMost::new(stacks)).build().expect("a runtime");
            let event = Arc::new(Event::new());
            let task = waits_in_vain(&rt, stacks, &event);
            let report = until(&rt, |report| report.blocked.is_some_and(|b| b.queued > 0));
            assert_eq!(
                (report.busy, report.fibers.iter().filter(|f| !f.partial).count() >= 1),
                (0, true)
            );
            let queued = report.blocked.map_or(0, |blocked| blocked.queued);
            assert_eq!(report.waiting_for_stacks, queued);
            assert!((2..=3).contains(&queued), "{report}");
            let text = report.to_string();
            assert!(text.contains(&format!("no stack for {queued} queued jobs")), "{text}");
            assert!(text.contains(&format!("{queued} queued jobs wait for a stack")), "{text}");
            // The spawns start one after another, and end where they would wait.
            task.cancel();
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
            // The event for which the spawns wait may also come.
            let task = waits_in_vain(&rt, stacks, &event);
            until(&rt, |report| report.blocked.is_some_and(|b| b.queued > 0));
            event.set();
            task.join().expect("set");
            assert_eq!(rt.report().waiting_for_stacks, 0);
            rt.shutdown().expect("an orderly end");
        });
    }
}

/// Two pieces of work need each other, and one of them is a task. That task fails and says so.
#[test]
fn spawns_fail_before_anything_is_told() {
    watched("a refused spawn", || {
        let builder = Runtime::builder().workers(1);
        let rt = builder.stack_allocator(AtMost::new(1)).build().expect("a runtime");
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let waits = rt.spawn(move || inner.wait());
        let inner = Arc::clone(&event);
        let never = rt.spawn(move || inner.set());
        assert!(matches!(never.join(), Err(JoinError::OutOfStacks)));
        assert_eq!(rt.report().waiting_for_stacks, 0);
        event.set();
        waits.join().expect("set");
    });
}

/// Sleeping tasks hold all stacks. Nothing counts as blocked, and no worker is too busy to report.
#[test]
fn while_sleepers_hold_the_stacks_the_others_are_counted() {
    watched("a report", || {
        let builder = Runtime::builder().workers(1);
        let rt = builder.stack_allocator(AtMost::new(1)).build().expect("a runtime");
        let stop = Arc::new(AtomicUsize::new(0));
        let inner = Arc::clone(&stop);
        let task = rt.spawn(move || {
            scope(|s| {
                s.spawn(|_| ());
                s.spawn(|_| ());
                s.spawn(|_| {
                    while inner.load(SeqCst) == 0 {
                        sleep(Duration::from_millis(5));
                    }
                });
            });
        });
        let report = until(&rt, |report| report.waiting_for_stacks == 2);
        assert!(report.blocked.is_none() && report.busy == 0, "{report}");
        stop.store(1, SeqCst);
        task.join().expect("stopped");
    });
}

#[test]
fn what_cannot_start_is_printed() {
    const CHILD: &str = "SATEEN_TEST_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "what_cannot_start_is_printed", "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the child runs");
        // The child waits for ever. Its message comes before that.
        let mut child = output;
        let errors = child.stderr.take().expect("piped");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(errors));
        let told = watched("a child", || {
            lines.map_while(Result::ok).find(|line| line.contains("no stack for "))
        });
        child.kill().expect("it waits");
        drop(child.wait());
        let told = told.expect("a line");
        assert!(told.contains("all blocked, no timer pending"), "{told}");
        return;
    }
    let builder = Runtime::builder().workers(2).report_blocked(true);
    let rt = builder.stack_allocator(AtMost::new(2)).build().expect("a runtime");
    let task = waits_in_vain(&rt, 2, &Arc::new(Event::new()));
    drop(task.join());
}

/// The owner gets the thread back, although a task is left that cannot start.
#[test]
fn a_thread_that_is_a_runtime_goes_on() {
    watched("a thread", || {
        let builder = Runtime::builder().stack_allocator(AtMost::new(1));
        let rt = builder.current_thread().expect("a runtime");
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let task = rt.spawn_local(move || {
            scope(|s| {
                s.spawn(|_| inner.wait());
                s.spawn(|_| inner.wait());
            });
        });
        assert_eq!(rt.run_until_idle(), None);
        assert!(!task.is_finished());
        let never = rt.spawn_local(|| ());
        assert_eq!(rt.run_until_idle(), None);
        assert!(matches!(never.join(), Err(JoinError::OutOfStacks)));
        event.set();
        rt.run_until(task).expect("set");
    });
}

/// Here the system refuses stacks, not a limit of the runtime. This runs in a child process,
/// because it limits the memory of the process.
#[cfg(target_os = "linux")]
#[test]
fn a_tree_of_scopes_when_the_system_gives_no_more() {
    const NAME: &str = "a_tree_of_scopes_when_the_system_gives_no_more";
    if std::env::var_os("SATEEN_TEST_CHILD").is_none() {
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env("SATEEN_TEST_CHILD", "1")
            .env("MALLOC_ARENA_MAX", "1")
            .env("RUST_BACKTRACE", "0")
            .output()
            .expect("the child runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        return assert!(output.status.success(), "{}: {errors}", output.status);
    }
    watched(NAME, || {
        let rt = Runtime::builder().workers(2).build().expect("a runtime");
        assert_eq!(rt.install(|| 1), 1);
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        let size = status.lines().find(|line| line.starts_with("VmSize")).expect("a size");
        let size = size.split_whitespace().nth(1).and_then(|n| n.parse::<libc::rlim_t>().ok());
        let limit = size.expect("a number") * 1024 + (60 << 20);
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: the call only reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        assert_eq!(rt.install(|| sleepers(12, 2, nap)), 8190);
        rt.shutdown().expect("an orderly end");
    });
}

/// The policies differ in which work moves between workers, and in what a suspended task keeps.
#[test]
fn under_every_policy() {
    use sateen_runtime::policy;
    type Make = fn() -> policy::Scheduling;
    let policies: [(&str, Make); 3] = [
        ("work stealing", policy::work_stealing),
        ("work sharing", policy::work_sharing),
        ("round robin", policy::round_robin),
    ];
    let all = policies.into_iter().flat_map(|policy| [(policy, false), (policy, true)]);
    for ((name, make), strict) in all {
        for (workers, stacks) in LIMITS {
            let what = format!("{name} on {workers} workers with {stacks} stacks, {strict}");
            watched(&what, || {
                let builder = Runtime::builder().workers(workers).max_stacks(stacks);
                let rt = builder.strict(strict).policy(make()).build().expect("a runtime");
                assert_eq!(rt.install(|| sleepers(3, 2, nap)), 14);
                let event = Event::new();
                rt.install(|| join(|| event.wait(), || event.set()));
                rt.shutdown().expect("an orderly end");
            });
        }
    }
}

/// One worker has no stack for new work, and another one sleeps with a stack. Work from outside
/// goes to the other one.
#[test]
fn nothing_is_refused_while_a_sleeper_has_a_stack() {
    watched("tasks from outside", || {
        let rt = Runtime::builder().workers(2).max_stacks(2).build().expect("a runtime");
        let event = Arc::new(Event::new());
        let wait = Arc::clone(&event);
        let task = rt.spawn(move || wait.wait());
        // The rounds meet the workers on their way to sleep, in a nap, and asleep.
        for round in 0..1000 {
            if round % 7 == 0 {
                sateen_testkit::until(|| rt.metrics().sleeping > 0);
            }
            assert!(rt.spawn(|| ()).join().is_ok(), "refused in round {round}");
            (0..round % 7).for_each(|_| std::thread::yield_now());
        }
        event.set();
        task.join().expect("nobody cancels it");
        rt.shutdown().expect("an orderly end");
    });
}

/// A worker sleeps with a stack to spare. Another one needs a stack for a task that only it may
/// start.
#[test]
fn a_sleeper_gives_away_the_stack_that_it_has_to_spare() {
    watched("a task of one worker", || {
        let rt = Runtime::builder().workers(2).max_stacks(3).build().expect("a runtime");
        // The waiting task has its own stack, so the worker then has one more than it needs to go
        // on.
        let two_stacks = |worker: usize| {
            let event = Arc::new(Event::new());
            let on_worker = || Spawn::new().on_worker(worker);
            let waits = {
                let event = Arc::clone(&event);
                rt.spawn_with(on_worker(), move || event.wait())
            };
            rt.spawn_with(on_worker(), move || event.set()).join().expect("a stack is free");
            waits.join().expect("nobody cancels it");
        };
        two_stacks(1);
        while rt.metrics().sleeping < 2 {
            std::thread::yield_now();
        }
        two_stacks(0);
        rt.shutdown().expect("an orderly end");
    });
}
