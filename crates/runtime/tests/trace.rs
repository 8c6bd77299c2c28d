//! Traces: what a saved one holds, and what goes wrong.

#![cfg(feature = "trace")]

#[path = "common/traced.rs"]
mod traced;

use sateen_runtime::{Runtime, Spawn, Trace, fork, join, sleep, spawn, spawn_async, yield_now};
use sateen_sync::{Event, Mutex};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use traced::{Read, read};

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

fn saved(trace: &Trace<'_>) -> Read {
    let mut bytes = Vec::new();
    trace.write_to(&mut bytes).expect("a vector takes all");
    read(&bytes)
}

fn quiet(rt: &Runtime) {
    let end = Instant::now() + Duration::from_secs(60);
    while rt.metrics().sleeping < rt.workers() {
        assert!(Instant::now() < end, "the workers do not come to rest");
        std::thread::yield_now();
    }
}

fn skynet(n: u64, size: u64) -> u64 {
    if size == 1 {
        return n;
    }
    let part = size / 10;
    let parts: Vec<_> = (0..10).map(|i| spawn(move || skynet(n + i * part, part))).collect();
    parts.into_iter().map(|part| part.join().expect("no panic")).sum()
}

#[test]
fn a_trace_shows_what_ran_where_and_why() {
    for workers in [1, 2, 4] {
        let rt = runtime(workers);
        let trace = rt.trace();
        assert!(!trace.is_running());
        trace.start();
        let (event, lock) = (Arc::new(Event::new()), Arc::new(Mutex::new(0)));
        let (waited, held) = (Arc::clone(&event), Arc::clone(&lock));
        let waiter = rt.spawn_with(Spawn::new().name("the waiter"), move || {
            waited.wait();
            *held.lock() += 1;
        });
        rt.spawn_with(Spawn::new().name("a name of more than sixteen letters"), move || {
            sleep(Duration::from_millis(1));
            event.set();
            sateen_runtime::blocking(|| ());
        })
        .join()
        .expect("no panic");
        waiter.join().expect("no panic");
        assert_eq!(rt.install(|| skynet(0, 1000)), 499_500);
        quiet(&rt);
        trace.stop();
        let read = saved(&trace);
        assert!(!read.lost);
        assert_eq!(read.workers().len(), workers);

        // A track for each task with a name: its life, and within it states without gaps.
        let waiter = read.tracks_like("the waiter #")[0];
        let life = waiter.slices.iter().find(|slice| slice.depth == 0).expect("a life");
        assert_eq!(life.name, "the waiter");
        let states: Vec<_> = waiter.slices.iter().filter(|slice| slice.depth == 1).collect();
        let names: Vec<&str> = states.iter().map(|state| &*state.name).collect();
        assert!(
            names.starts_with(&["running", "waits for event", "ready", "running"]),
            "{names:?}"
        );
        assert!(states[1].numbers["address"] != 0);
        let sum: u64 = states.iter().map(|state| state.end - state.begin).sum();
        assert_eq!(sum, life.end - life.begin);
        assert_eq!(read.tracks_like("a name of more than sixteen letters #").len(), 1);
        assert!(!read.on_workers("blocking call").is_empty());

        // Every spawn by a task is there, its start too, with an arrow between them.
        assert_eq!(read.on_workers("the waiter").len(), 2);
        let here = |slice: &&traced::Slice| slice.numbers.contains_key("task");
        let starts = read.workers().into_iter().flat_map(|track| &track.slices);
        let starts = starts.filter(|slice| slice.name.contains("trace.rs:")).filter(here).count();
        assert_eq!(starts, 1110);
        let spawns = read.instants("spawn").len();
        assert_eq!(spawns, 1112);
        assert_eq!(read.from.keys().filter(|&&id| id < 1 << 60).count(), spawns);
        // Nothing is under way, so each arrow has an end.
        assert!(read.from.keys().all(|id| read.to.contains_key(id)));
        let wakes = read.instants("wake").len();
        assert!(wakes >= 2, "{wakes}");
        assert!(!read.instants("timers fire").is_empty());
        for counter in ["sleepers", "live fibers"] {
            assert!(!read.track(counter).counts.is_empty(), "{counter}");
        }
    }
}

#[test]
fn counters_follow_what_waits() {
    let rt = runtime(1);
    rt.trace().start();
    rt.install(|| {
        (0..200).for_each(|_| Spawn::new().detach(|| ()).expect("spawned"));
        sleep(Duration::from_millis(1));
    });
    quiet(&rt);
    rt.trace().stop();
    let read = saved(&rt.trace());
    let most = |name| read.track(name).counts.iter().map(|&(_, count)| count).max();
    // Looked at once in 61 pops.
    assert!(most("ready tasks") > Some(100), "{:?}", read.track("ready tasks").counts);
    assert!(most("live fibers") >= Some(1));
    assert_eq!(most("sleepers"), Some(1));
}

#[test]
fn working_and_idle_sum_to_the_wall_time() {
    let rt = runtime(2);
    rt.broadcast(|_| ());
    let trace = rt.trace();
    for _ in 0..3 {
        trace.start_with(1 << 18);
        let start = Instant::now();
        rt.install(|| {
            while start.elapsed() < Duration::from_millis(100) {
                join(|| skynet(0, 100), || fork([(); 4].map(|()| || yield_now())));
            }
        });
        std::thread::sleep(Duration::from_millis(20));
        let wall = start.elapsed().as_nanos() as u64;
        trace.stop();
        let read = saved(&trace);
        assert!(!read.lost);
        for worker in read.workers() {
            let (covered, first, last) = worker.covered();
            assert_eq!(covered, last - first, "{}: a gap", worker.name);
            // The two clocks are read one after another.
            assert!(covered.abs_diff(wall) < wall / 100, "{}: {covered} of {wall}", worker.name);
            assert!(
                worker.slices.iter().all(|slice| slice.depth > 0
                    || slice.name == "working"
                    || slice.name == "idle")
            );
        }
    }
}

#[test]
fn steals_and_stolen_joins_are_shown() {
    let rt = runtime(2);
    let trace = rt.trace();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        trace.start();
        rt.install(|| {
            let started = Event::new();
            join(|| started.wait(), || started.set());
            join(
                || std::thread::sleep(Duration::from_millis(2)),
                || sleep(Duration::from_millis(4)),
            );
        });
        quiet(&rt);
        trace.stop();
        let read = saved(&trace);
        let shown = |name| !read.instants(name).is_empty();
        if shown("steals a branch") && shown("joins a stolen branch") && shown("wakes a worker") {
            assert!(!read.on_workers("branch").is_empty());
            assert!(!read.on_workers("call").is_empty());
            break;
        }
        assert!(Instant::now() < end, "nothing is stolen");
    }
}

#[test]
fn futures_are_polled_and_woken() {
    let rt = runtime(2);
    let trace = rt.trace();
    trace.start();
    let sleeper = async {
        sateen_runtime::sleep_async(Duration::from_millis(1)).await;
        sateen_runtime::sleep_async(Duration::from_millis(1)).await;
    };
    rt.install(|| spawn_async(sleeper).join()).expect("no panic");
    quiet(&rt);
    trace.stop();
    let read = saved(&trace);
    let polls: Vec<_> = read.on_workers("task");
    assert!(polls.is_empty(), "a task without a place");
    let tracks = read.tracks_like(file!());
    let future = tracks
        .iter()
        .find(|track| track.slices.iter().filter(|slice| slice.name == "running").count() == 3);
    let names: Vec<_> = future.expect("three polls").slices.iter().map(|s| &*s.name).collect();
    assert_eq!(names[..3], ["running", "waits", "ready"]);
}

#[test]
fn the_oldest_are_overwritten_and_that_is_said() {
    let rt = runtime(2);
    let trace = rt.trace();
    trace.start_with(64);
    rt.install(|| skynet(0, 1000));
    quiet(&rt);
    trace.stop();
    let mut bytes = Vec::new();
    let summary = trace.write_to(&mut bytes).expect("a vector takes all");
    assert!(summary.events <= 3 * 64 && summary.overwritten > 1000, "{summary:?}");
    let read = read(&bytes);
    assert!(read.lost);
    let said = read.instants("older events were overwritten");
    assert_eq!(said.iter().map(|said| said.numbers["events"]).sum::<u64>(), summary.overwritten);
}

#[test]
fn no_time_goes_back_where_one_ring_alone_has_lost_events() {
    let rt = runtime(4);
    quiet(&rt);
    let trace = rt.trace();
    trace.start_with(16);
    // Each worker wakes, and then sleeps: few events, which its ring keeps.
    let all = Arc::new(std::sync::Barrier::new(4));
    let wake = |all: Arc<std::sync::Barrier>| rt.spawn(move || _ = all.wait());
    let woken: Vec<_> = (0..4).map(|_| wake(Arc::clone(&all))).collect();
    woken.into_iter().for_each(|task| task.join().expect("no panic"));
    quiet(&rt);
    // This thread's ring loses its oldest.
    (0..100).for_each(|_| rt.spawn(|| ()).join().expect("no panic"));
    assert!(saved(&trace).lost);
}

#[test]
fn a_trace_begins_anew_and_can_be_saved_while_it_runs() {
    let rt = runtime(2);
    let trace = rt.trace();
    assert_eq!(saved(&trace).workers().len(), 0);
    for events in [1 << 10, 1 << 10, 1 << 12] {
        trace.start_with(events);
        rt.spawn_with(Spawn::new().name("old"), || ()).join().expect("no panic");
    }
    trace.start();
    rt.spawn_with(Spawn::new().name("new"), || ()).join().expect("no panic");
    let read = saved(&trace);
    assert_eq!((read.on_workers("old").len(), read.on_workers("new").len()), (0, 1));
    // While workers write.
    let over = Event::new();
    std::thread::scope(|s| {
        s.spawn(|| {
            while !over.is_set() {
                rt.install(|| skynet(0, 100));
            }
        });
        for _ in 0..20 {
            saved(&trace);
            trace.start_with(256);
            saved(&trace);
        }
        trace.stop();
        over.set();
    });
    assert!(!trace.is_running());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let rt = runtime(1);
    let trace = rt.trace();
    trace.start();
    rt.spawn(|| ()).join().expect("no panic");
    let folder = std::env::temp_dir();
    let error = trace.save(&folder).expect_err("a folder");
    assert_eq!(error.path, folder);
    assert!(
        error.to_string().starts_with(&format!("cannot write the trace `{}`", folder.display()))
    );
    if std::path::Path::new("/dev/full").exists() {
        let error = trace.save("/dev/full").expect_err("a device");
        assert!(error.to_string().contains("`/dev/full`: it is not a regular file"), "{error}");
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let error = trace.write_to(full).expect_err("a full disk");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    // It goes on.
    assert!(trace.is_running());
    assert!(saved(&trace).workers().len() == 1);
}

/// A writer that does what a writer should not.
struct Hostile<F>(F);

impl<F: FnMut()> Write for Hostile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_may_do_what_it_likes() {
    let rt = runtime(2);
    let trace = rt.trace();
    trace.start();
    rt.install(|| skynet(0, 10));
    let write = |f: &mut dyn FnMut()| trace.write_to(Hostile(f)).map(|_| ());
    // In a task, it waits, spawns, saves, starts and stops.
    rt.install(|| {
        let mut first = true;
        write(&mut || {
            if std::mem::take(&mut first) {
                sleep(Duration::from_millis(1));
                spawn(|| ()).join().expect("no panic");
                saved(&rt.trace());
                rt.trace().start_with(16);
                rt.trace().stop();
            }
        })
        .expect("no error");
    });
    trace.start();
    let panics = catch_unwind(AssertUnwindSafe(|| write(&mut || panic!("a writer's own"))));
    assert!(panics.is_err());
    rt.install(|| skynet(0, 10));
    assert!(!saved(&trace).workers().is_empty());
}

#[test]
fn a_runtime_that_is_one_thread_is_traced_too() {
    let rt = Runtime::current_thread().expect("a runtime");
    rt.trace().start();
    let event = Arc::new(Event::new());
    let set = Arc::clone(&event);
    rt.run(move || {
        drop(sateen_runtime::spawn_local(move || set.set()));
        event.wait();
    });
    rt.trace().stop();
    let read = saved(&rt.trace());
    assert_eq!(read.workers().len(), 1);
    assert!(!read.instants("wake").is_empty());
}

/// What an event costs. `SATEEN_COST_ROUNDS=21` measures it, if the build is optimised and the
/// machine does nothing else; without it one round only counts.
#[test]
fn the_cost_of_an_event() {
    let rounds = std::env::var("SATEEN_COST_ROUNDS").ok().and_then(|n| n.parse().ok());
    let tasks: u32 = if rounds.is_some() { 200_000 } else { 1000 };
    let rt = runtime(1);
    let run = || {
        rt.install(|| {
            let start = Instant::now();
            for _ in 0..tasks {
                spawn(|| ()).join().expect("no panic");
            }
            start.elapsed()
        })
    };
    let trace = rt.trace();
    let mut costs: Vec<f64> = (0..rounds.unwrap_or(1))
        .map(|_| {
            trace.stop();
            let off = run();
            trace.start();
            let on = run();
            let summary = trace.write_to(io::sink()).expect("a sink takes all");
            let events = (summary.events + summary.overwritten) as f64;
            // A spawn, a start and an end each, and a few besides.
            let each = events / f64::from(tasks);
            assert!((3.0..3.2).contains(&each), "{each} events a task");
            (on.as_nanos() as f64 - off.as_nanos() as f64) / events
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    println!("{:.1} ns an event", costs[costs.len() / 2]);
}

/// A path that is gone when this is dropped.
#[cfg(unix)]
struct Temporary(std::path::PathBuf);

#[cfg(unix)]
impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("sateen-trace-{}-{name}", std::process::id())))
    }

    fn pipe(name: &str) -> Self {
        let path = Self::new(name);
        let text = std::ffi::CString::new(path.0.as_os_str().as_encoded_bytes()).expect("no zero");
        // SAFETY: a string that ends in zero.
        assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0, "a pipe");
        path
    }
}

#[cfg(unix)]
impl Drop for Temporary {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[cfg(unix)]
#[test]
fn paths_may_vanish_and_be_refused() {
    let rt = runtime(2);
    let trace = rt.trace();
    trace.start();
    rt.install(|| skynet(0, 1000));
    // To open a pipe by its path may take for ever. One that is open takes all, also from a task,
    // which keeps its worker.
    let pipe = Temporary::pipe("pipe");
    let error = trace.save(&pipe.0).expect_err("a pipe");
    assert!(error.to_string().contains("-pipe`: it is not a regular file"), "{error}");
    let open = || std::fs::File::options().write(true).open(&pipe.0).expect("a reader");
    for in_task in [false, true] {
        let reader = std::thread::spawn({
            let path = pipe.0.clone();
            move || read(&std::fs::read(path).expect("readable")).workers().len()
        });
        let (out, write) = (open(), |out| trace.write_to(out).map(drop));
        let written = if in_task { rt.install(|| write(out)) } else { write(out) };
        written.expect("a reader");
        assert_eq!(reader.join().expect("it decodes"), 2);
    }
    // Or it goes away.
    let reader = std::thread::spawn({
        let path = pipe.0.clone();
        move || drop(std::fs::File::open(path).expect("readable"))
    });
    let out = open();
    reader.join().expect("no panic");
    let error = trace.write_to(out).expect_err("no reader");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    // The folder goes before, and the file while it is written.
    let folder = Temporary::new("folder");
    std::fs::create_dir(&folder.0).expect("a folder");
    let file = folder.0.join("file");
    trace.save(&file).expect("it is there");
    std::fs::remove_dir_all(&folder.0).expect("it is there");
    assert!(trace.save(&file).is_err());
    std::fs::create_dir(&folder.0).expect("a folder");
    std::thread::scope(|s| {
        s.spawn(|| while std::fs::remove_file(&file).is_err() {});
        trace.save(&file).expect("what is open stays");
    });
    std::fs::remove_dir_all(&folder.0).expect("it is there");
    // A folder where nobody may write.
    if cfg!(target_os = "linux") {
        assert!(trace.save("/proc/sateen").is_err());
    }
    assert_eq!(saved(&trace).workers().len(), 2);
}

#[test]
fn many_threads_start_stop_and_save_at_once() {
    let (rt, other) = (runtime(2), runtime(1));
    std::thread::scope(|s| {
        for n in 0..8 {
            let (rt, other) = (&rt, &other);
            s.spawn(move || {
                for round in 0..20 {
                    let runtime = if n % 4 == 3 { other } else { rt };
                    let trace = runtime.trace();
                    match (n + round) % 4 {
                        0 => trace.start_with(1 << (round % 8)),
                        1 => trace.stop(),
                        2 => drop(saved(&trace)),
                        _ => assert_eq!(runtime.install(|| skynet(0, 10)), 45),
                    }
                }
            });
        }
    });
    rt.trace().start();
    rt.install(|| skynet(0, 10));
    assert_eq!(saved(&rt.trace()).workers().len(), 2);
}

#[test]
fn a_runtime_may_end_while_it_is_saved() {
    // It is shut down by another thread, in the midst.
    let rt = runtime(2);
    rt.trace().start();
    rt.install(|| skynet(0, 100));
    let (begun, over) = (Event::new(), Event::new());
    std::thread::scope(|s| {
        s.spawn(|| {
            begun.wait();
            rt.shutdown().expect("not one of its workers");
            over.set();
        });
        let mut bytes = Vec::new();
        let write = |piece: &[u8]| {
            begun.set();
            over.wait();
            bytes.extend_from_slice(piece);
        };
        rt.trace().write_to(Each(write)).expect("no error");
        assert_eq!(read(&bytes).workers().len(), 2);
    });
    assert_eq!(saved(&rt.trace()).workers().len(), 2);
    // Its own task saves it, and then lets go of the last of it, while the trace runs.
    let rt = Arc::new(runtime(1));
    rt.trace().start();
    let own = Arc::clone(&rt);
    let task = rt.spawn(move || {
        let workers = saved(&own.trace()).workers().len();
        drop(own);
        workers
    });
    drop(rt);
    assert_eq!(task.join().expect("no panic"), 1);
}

/// Passes on each piece that is written.
struct Each<F>(F);

impl<F: FnMut(&[u8])> Write for Each<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
