//! Workers that a task blocks in the system: a substitute takes over what they have not started.
#![cfg(target_os = "linux")]

mod common;

use common::threads_named;
use sateen_runtime::{Runtime, Spawn, spawn};
use sateen_testkit::watched;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("the threads").count()
}

/// Tasks that read from sockets of `std` until the other side closes.
#[test]
fn more_clients_than_workers_are_answered() {
    watched("an echo server", || {
        let rt = Runtime::builder().workers(2).build().expect("a runtime");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let echo = |mut stream: TcpStream| {
            let mut text = [0; 5];
            while stream.read_exact(&mut text).is_ok() && stream.write_all(&text).is_ok() {}
        };
        let mut clients = Vec::new();
        for number in 0..4 {
            let mut client = TcpStream::connect(address).expect("a connection");
            let (server, _) = listener.accept().expect("a connection");
            drop(rt.spawn(move || echo(server)));
            // All clients before this one are still connected.
            let text = format!("no. {number}");
            client.write_all(text.as_bytes()).expect("a write");
            let mut answer = [0; 5];
            client.read_exact(&mut answer).expect("an answer");
            assert_eq!(answer, text.as_bytes());
            clients.push(client);
        }
        drop(clients);
        rt.shutdown().expect("an orderly end");
    });
}

/// All workers wait by means of `std` for a task that is queued behind them.
#[test]
fn blocked_tasks_are_released_by_a_queued_one() {
    watched("tasks that wait for a queued one", || {
        for workers in [1, 2] {
            let rt = Runtime::builder().workers(workers).build().expect("a runtime");
            for _ in 0..3 {
                let barrier = Arc::new(Barrier::new(workers + 1));
                let wait = |_| {
                    let barrier = Arc::clone(&barrier);
                    rt.spawn(move || _ = barrier.wait())
                };
                let tasks: Vec<_> = (0..=workers).map(wait).collect();
                tasks.into_iter().for_each(|task| task.join().expect("no panic"));
            }
            rt.shutdown().expect("an orderly end");
        }
    });
}

/// A blocked worker's own queue, which only others can see to.
#[test]
fn what_a_blocked_worker_has_spawned_is_run() {
    watched("a worker that spawns and blocks", || {
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        let task = rt.spawn(|| {
            let (send, receive) = mpsc::channel();
            drop(spawn(move || send.send(7).expect("a receiver")));
            receive.recv().expect("a sender")
        });
        assert_eq!(task.join().expect("no panic"), 7);
        rt.shutdown().expect("an orderly end");
    });
}

/// The monitor waits for a core, and makes the substitute's thread. That one does not wait.
#[test]
fn a_substitute_has_the_policy_of_a_worker() {
    watched("a substitute's policy", || {
        // SAFETY: takes no pointers.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        let task = rt.spawn(move || {
            let (send, receive) = mpsc::channel();
            drop(spawn(move || send.send(policy()).expect("a receiver")));
            (policy(), receive.recv().expect("a sender"))
        });
        let (of_worker, of_substitute) = task.join().expect("no panic");
        assert_eq!(of_worker, of_substitute);
        rt.shutdown().expect("an orderly end");
    });
}

/// Ten thousand tasks that want one lock of `std` do not become ten thousand threads.
#[test]
fn many_that_want_one_lock() {
    watched("ten thousand on one lock", || {
        let before = threads();
        let rt = Runtime::builder().workers(2).build().expect("a runtime");
        let lock = Arc::new(Mutex::new(0));
        let held = lock.lock().expect("not poisoned");
        let add = |_| {
            let lock = Arc::clone(&lock);
            rt.spawn(move || *lock.lock().expect("not poisoned") += 1)
        };
        let tasks: Vec<_> = (0..10_000).map(add).collect();
        std::thread::sleep(Duration::from_millis(100));
        // Workers, substitutes, monitor, timekeeper, and what other tests have.
        assert!(threads() < before + 40, "{} threads", threads());
        drop(held);
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
        assert_eq!(*lock.lock().expect("not poisoned"), 10_000);
        rt.shutdown().expect("an orderly end");
    });
}

/// The monitor is woken by a worker that has just found work, and lets it run first.
#[test]
fn the_monitor_preempts_no_worker() {
    watched("the monitor's policy", || {
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        rt.spawn(|| ()).join().expect("no panic");
        let policies = || {
            let policy = |thread: std::path::PathBuf| {
                let id = thread.file_name()?.to_str()?.parse().ok()?;
                // SAFETY: takes no pointers.
                Some(unsafe { libc::sched_getscheduler(id) })
            };
            threads_named("sateen-monitor").into_iter().filter_map(policy).collect::<Vec<_>>()
        };
        // It sets the policy at its first step. With filtered system calls it does not, nor where
        // the test runs with another policy than the usual one.
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        // SAFETY: takes no pointers.
        let usual = unsafe { libc::sched_getscheduler(0) } == libc::SCHED_OTHER;
        if usual && status.contains("Seccomp:\t0") {
            while !policies().contains(&libc::SCHED_BATCH) {
                std::thread::yield_now();
            }
        }
        rt.shutdown().expect("an orderly end");
    });
}

#[test]
fn a_report_names_the_task_that_blocks() {
    watched("a report", || {
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        let (send, receive) = mpsc::channel::<()>();
        let task = rt.spawn_with(Spawn::new().name("reader"), move || receive.recv().is_err());
        let other = rt.spawn(|| ());
        other.join().expect("no panic");
        let report = rt.report();
        assert_eq!(report.blocked_workers.len(), 1, "{report}");
        let blocked = &report.blocked_workers[0];
        assert_eq!((blocked.worker, blocked.name.as_deref()), (0, Some("reader")));
        assert!(blocked.location.is_some_and(|location| location.file().ends_with("monitor.rs")));
        let text = report.to_string();
        assert!(text.contains("\"reader\" (spawned at ") && text.contains("worker 0"), "{text}");
        drop(send);
        assert!(task.join().expect("no panic"));
        while !rt.report().blocked_workers.is_empty() {
            std::thread::yield_now();
        }
        rt.shutdown().expect("an orderly end");
    });
}
