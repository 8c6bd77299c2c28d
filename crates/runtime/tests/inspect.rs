//! A program that is looked at, by itself: what it says, to whom, and that it says so whatever its
//! workers do.

#![cfg(all(feature = "inspect", unix))]

#[path = "common/asked.rs"]
mod asked;

use asked::{Asker, all, folder, runtimes};
use sateen_runtime::{Runtime, Spawn};
use sateen_sync::{Event, Mutex};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// A runtime in a process that can be looked at.
fn runtime(workers: usize) -> Runtime {
    folder();
    Runtime::builder().workers(workers).inspect(true).build().expect("a runtime")
}

fn waits_named<'a>(frame: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    all(frame, "waits").filter(move |wait| wait["name"] == name)
}

#[test]
fn it_says_who_it_is() {
    let _runtime = runtime(1);
    let mut asker = Asker::connect();
    let hello = asker.ask("hello")["hello"].take();
    assert_eq!(hello["pid"], std::process::id());
    assert!(hello["program"].as_str().expect("a name").starts_with("inspect-"), "{hello}");
    assert_eq!(hello["can_trace"], cfg!(feature = "trace"));
}

#[test]
fn a_frame_tells_what_runs_and_what_waits() {
    let runtime = runtime(3);
    let (lock, go) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
    let held = lock.lock();
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let lock = Arc::clone(&lock);
            runtime.spawn_with(Spawn::new().name("frame waits"), move || drop(lock.lock()))
        })
        .collect();
    let stays = Arc::clone(&go);
    let busy = runtime.spawn_with(Spawn::new().name("frame runs"), move || {
        while !stays.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let mut asker = Asker::connect();
    let runs = |frame: &Value| {
        let runs = |worker: &Value| {
            let nanos = worker["runs"]["for_ns"].as_u64();
            worker["runs"]["name"] == "frame runs" && nanos > Some(1_000_000)
        };
        all(frame, "workers").any(runs) && waits_named(frame, "frame waits").count() == 3
    };
    let frame = asker.until("running task and its waiters", runs);
    let wait = waits_named(&frame, "frame waits").next().expect("seen");
    assert_eq!(wait["kind"], "mutex");
    assert!(wait["spawned_at"].as_str().expect("known").contains("tests/inspect.rs:"));
    let mut places = all(&frame, "places");
    let place = places.find(|place| place["address"] == wait["address"]).expect("a queue");
    assert_eq!((&place["waiters"], &place["kind"]), (&3.into(), &"mutex".into()));
    let at = wait["address"].as_str().expect("known");
    assert_eq!(at, format!("{:#x}", &raw const *lock as usize));
    drop(held);
    go.store(true, Ordering::Relaxed);
    waiters.into_iter().for_each(|task| task.join().expect("ended"));
    busy.join().expect("ended");
}

#[test]
fn a_frame_has_all_counts_of_a_worker() {
    let runtime = runtime(1);
    runtime.spawn(|| ()).join().expect("ended");
    let frame = Asker::connect().ask("frame")["frame"].take();
    let names: Vec<&str> = runtime.metrics().total().counts().map(|(name, ..)| name).collect();
    for worker in all(&frame, "workers") {
        let counts = worker["counts"].as_object().expect("an object");
        assert!(names.iter().all(|name| counts[*name].is_u64()), "{worker}");
        assert_eq!(counts.len(), names.len(), "{worker}");
        let stolen = counts["thefts"].as_u64().zip(counts["branches_stolen"].as_u64());
        assert_eq!(worker["steals"].as_u64(), stolen.map(|(tasks, branches)| tasks + branches));
        assert_eq!((&worker["started"], &worker["ended"]), (&counts["started"], &counts["ended"]));
    }
}

#[test]
fn a_report_tells_deadlocks_and_holders() {
    let runtime = runtime(2);
    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let met = Arc::new(AtomicUsize::new(0));
    let lock = |first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>| {
        let (first, second, met) = (Arc::clone(first), Arc::clone(second), Arc::clone(&met));
        runtime.spawn_with(Spawn::new().name("deadlocked"), move || {
            let _first = first.lock();
            met.fetch_add(1, Ordering::Relaxed);
            while met.load(Ordering::Relaxed) < 2 {
                sateen_runtime::yield_now();
            }
            let _second = second.lock();
        })
    };
    let tasks = [lock(&a, &b), lock(&b, &a)];
    let mut asker = Asker::connect();
    asker.until("tasks that wait", |frame| waits_named(frame, "deadlocked").count() == 2);
    let report = asker.ask("report")["report"].take();
    let told = all(&report, "deadlocks").next().expect("a deadlock").as_str().expect("text");
    assert!(told.starts_with("deadlock: task ") && told.contains("\"deadlocked\""), "{told}");
    let address = format!("{:#x}", &raw const *a as usize);
    let held = all(&report, "held").find(|held| held["address"] == address).expect("held");
    assert!(held["by"].as_str().expect("text").contains("\"deadlocked\""), "{held}");
    // Nothing else ends them.
    tasks.iter().for_each(|task| task.cancel());
}

#[test]
fn runtimes_come_and_go_under_the_look() {
    let stop = Arc::new(AtomicBool::new(false));
    let stays = runtime(1);
    let before = runtimes(&Asker::connect().ask("frame")["frame"]).len();
    assert!(before >= 1);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                let runtime = runtime(2);
                runtime.spawn(|| ()).join().expect("ended");
            }
            stop.store(true, Ordering::Relaxed);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut asker = Asker::connect();
                while !stop.load(Ordering::Relaxed) {
                    assert!(asker.ask("frame")["frame"]["runtimes"].is_array());
                    asker.ask("report");
                }
            });
        }
    });
    drop(stays);
}

#[test]
fn thousands_of_tasks_are_counted_and_some_are_told() {
    const TASKS: usize = 5_000;
    let runtime = runtime(2);
    let event = Arc::new(Event::new());
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let event = Arc::clone(&event);
            runtime.spawn(move || event.wait())
        })
        .collect();
    let address = format!("{:#x}", &raw const *event as usize);
    let is_whole = |frame: &Value| {
        all(frame, "places").any(|it| it["address"] == address && it["waiters"] == TASKS)
    };
    let frame = Asker::connect().until("queue of all", is_whole);
    let one = |it: &&Value| it["tasks"]["waiting"].as_u64() == Some(TASKS as u64);
    let ours = runtimes(&frame).iter().find(one).expect("our runtime");
    assert_eq!(ours["waits"].as_array().expect("a list").len(), 100);
    event.set();
    tasks.into_iter().for_each(|task| task.join().expect("ended"));
}

#[test]
fn names_are_told_whatever_they_are() {
    let runtime = runtime(1);
    let event = Arc::new(Event::new());
    let long = "ä".repeat(1000);
    let names = ["\u{1b}[31m\"\\\n\0", "\u{202e}turned", &long, "x".repeat(64).leak()];
    let tasks: Vec<_> = names
        .iter()
        .map(|name| {
            let event = Arc::clone(&event);
            runtime.spawn_with(Spawn::new().name(*name), move || event.wait())
        })
        .collect();
    let shown = [names[0], names[1], &long[..64], names[3]];
    let are_there = |frame: &Value| shown.iter().all(|it| waits_named(frame, it).count() == 1);
    let frame = Asker::connect().until("names", are_there);
    let cut = |name: &str| waits_named(&frame, name).next().expect("seen")["name_cut"] == true;
    assert_eq!(shown.map(cut), [false, false, true, false]);
    event.set();
    tasks.into_iter().for_each(|task| task.join().expect("ended"));
}

#[test]
fn a_line_that_is_no_request_gets_a_line_that_says_so() {
    let _runtime = runtime(1);
    let mut asker = Asker::connect();
    let lines: [(&[u8], &str); 9] = [
        (b"\n", "the line is no request"),
        (b"GET / HTTP/1.1\r\n", "the line is no request"),
        (b"\xff\xfe\x00\n", "the line is no request"),
        (b"{}\n", "the line is no request"),
        (b"{\"version\":1}\n", "`` is none of hello, frame"),
        (b"{\"version\":1,\"command\":\"\\u001b[2J\"}\n", "`\\u{1b}[2J` is none of"),
        (b"{\"version\":2,\"command\":\"frame\"}\n", "version 2 is asked for, and this program"),
        (b"{\"version\":1,\"command\":\"trace stop\"}\n", "`trace stop` needs a `file`"),
        (b"{\"version\":-1,\"command\":\"frame\"}\n", "the line is no request"),
    ];
    for (line, expected) in lines {
        asker.send(line);
        let answer = asker.line().expect("an answer");
        let text = answer["error"].as_str().expect("an error");
        assert!(text.starts_with(expected), "{text}");
    }
    // In pieces, and several at once.
    for piece in [&b"{\"version\""[..], b":1,\"command\":\"hello\"}", b"\n{\"version\":1,"] {
        asker.send(piece);
        // By now the piece was read.
        assert!(Asker::connect().ask("hello")["hello"].is_object());
    }
    asker.send(b"\"command\":\"report\"}\n{\"version\":1,\"command\":\"hello\"}\n");
    assert!(asker.line().expect("an answer")["hello"].is_object());
    assert!(asker.line().expect("an answer")["report"].is_object());
    assert!(asker.line().expect("an answer")["hello"].is_object());
    // A line without an end ends the connection.
    asker.send(&[b' '; 5000]);
    let text = asker.line().expect("an answer")["error"].take();
    assert_eq!(text, "a line has at most 4095 bytes");
    assert!(asker.line().is_none());
    assert!(Asker::connect().ask("frame")["frame"].is_object(), "others are served");
}

#[test]
fn what_is_drawn_from_a_seed_ends_nothing() {
    let _runtime = runtime(1);
    let mut seed = 7_u64;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let pieces: [&[u8]; 8] =
        [b"{", b"\"version\":1", b",", b"\"command\":", b"\"frame\"", b"}", b"[[[[[[", b"\xf0\x28"];
    for _ in 0..200 {
        let mut line: Vec<u8> = (0..draw(12)).flat_map(|_| pieces[draw(8)].to_vec()).collect();
        line.push(b'\n');
        let mut asker = Asker::connect();
        asker.send(&line);
        assert!(asker.line().is_some());
    }
}

#[test]
fn a_reader_that_does_not_read_is_left() {
    let _runtime = runtime(1);
    let mut lazy = Asker::connect();
    // Far more answers than a socket holds.
    lazy.send(&b"{\"version\":1,\"command\":\"frame\"}\n".repeat(100));
    let frames = b"{\"version\":1,\"command\":\"frame\"}\n".repeat(50_000);
    let sent = thread::spawn(move || {
        use std::io::Write;
        _ = lazy.raw().write_all(&frames);
        lazy
    });
    assert!(Asker::connect().ask("frame")["frame"].is_object(), "others are served");
    drop(sent.join().expect("no panic"));
}

#[cfg(feature = "trace")]
#[test]
fn it_starts_a_trace_and_saves_it() {
    let runtime = runtime(1);
    let mut asker = Asker::connect();
    assert_eq!(asker.ask("trace start")["trace"]["running"], true);
    runtime.spawn(|| ()).join().expect("ended");
    let file = folder().join("a.pftrace");
    let stop = format!(
        "{{\"version\":1,\"command\":\"trace stop\",\"file\":{:?}}}\n",
        file.to_str().expect("UTF-8")
    );
    asker.send(stop.as_bytes());
    let answer = asker.line().expect("an answer");
    assert!(answer["trace"]["events"].as_u64() > Some(0), "{answer}");
    assert!(std::fs::metadata(&file).expect("there").len() > 0);
    asker.send(stop.replace("a.pftrace", "no/such/folder").as_bytes());
    let answer = asker.line().expect("an answer");
    assert!(answer["error"].as_str().expect("text").starts_with("cannot write the trace"));
}

#[cfg(not(feature = "trace"))]
#[test]
fn without_traces_it_says_so() {
    let _runtime = runtime(1);
    let answer = Asker::connect().ask("trace start");
    assert!(answer["error"].as_str().expect("text").starts_with("this program cannot trace"));
}
