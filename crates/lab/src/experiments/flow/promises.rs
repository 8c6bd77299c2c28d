//! What a worker queue promises besides speed: the rate, no stranded items, no processor time while
//! idle.

use super::ours::BOUND;
use crate::adapter::OURS;
use crate::error::{Error, expect, input};
use crate::experiment::{Figure, Group, Plan, Run, Trend};
use crate::experiments::idle::cpu_over;
use sateen_flow::{Rate, RealClock, SendError, Throttle, WorkerQueue};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the rate is measured and idle workers are watched. Part of the figures' meaning.
const WATCHED: Duration = Duration::from_secs(3);
/// Room in each queue, in items: more than are sent while a handler sleeps.
const CAPACITY: usize = 1 << 16;
/// Workers of which one is blocked, and as many queues.
const WORKERS: usize = 8;
/// How long the handler blocks. Part of the figure's meaning.
const BLOCKED: Duration = Duration::from_secs(1);
/// Items a second that are sent meanwhile.
const STEADY: f64 = 100_000.0;
/// The item whose handler blocks.
const BLOCKER: u64 = 0;

fn wrong(error: impl Display) -> Error {
    input(error.to_string())
}

fn figure(case: &str, config: &str, name: &str, unit: &'static str, description: &str) -> Figure {
    Figure {
        case: case.to_owned(),
        config: config.to_owned(),
        name: name.to_owned(),
        unit,
        trend: Trend::Lower,
        description: description.to_owned(),
    }
}

/// Returns a group with few runs, because each run takes long.
fn seldom(plan: &Plan, threads: usize, figure: Figure) -> Group {
    let mut group = Group::new(threads, vec![figure]);
    group.warmups = 0;
    group.min_runs = if plan.short { 1 } else { 3 };
    group.max_runs = Some(group.min_runs);
    group
}

/// How far the rate is from the wanted one.
pub(super) fn accuracy(plan: &Plan) -> Vec<Group> {
    let rates = [("1k", 1e3), ("100k", 1e5), ("1m", 1e6), ("10m", 1e7)];
    let group = |(config, rate): (&'static str, f64)| {
        let figure = figure(
            "accuracy",
            config,
            &format!("distance from the wanted rate/{config} items a second"),
            "%",
            "a sender and a worker, each held to the rate: how far the items handled in 3 s are \
             from the wanted number",
        );
        let mut group = seldom(plan, 2, figure);
        group.in_tour = config == "100k";
        let watched = plan.size(WATCHED, Duration::from_millis(20));
        group.add(OURS, move || Ok(Run(move || off(rate, watched))));
        group
    };
    rates.map(group).into()
}

fn off(rate: f64, watched: Duration) -> Result<Vec<f64>, Error> {
    let limit = Rate::per_second(rate).map_err(wrong)?;
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    let builder = WorkerQueue::builder().workers(1).queues(1).capacity(CAPACITY);
    let queue = builder.receive_rate(limit).clock(RealClock::new()).start(move |_, _: &mut u64| {
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    let queue = queue.map_err(wrong)?;
    let sender = queue.sender();
    let mut throttle = Throttle::new(limit, RealClock::new());
    // At a high rate the clock is not read for each item.
    let (start, mut sent) = (Instant::now(), 0u64);
    let at_once = (rate as u64 / 10_000).clamp(1, 64);
    while start.elapsed() < watched {
        for _ in 0..at_once {
            throttle.wait();
            sender.send(sent).map_err(wrong)?;
            sent += 1;
        }
    }
    let (elapsed, in_time) = (start.elapsed(), handled.load(Ordering::Relaxed));
    queue.close();
    expect("number of items handled", handled.load(Ordering::Relaxed), sent)?;
    let wanted = rate * elapsed.as_secs_f64();
    Ok(vec![100.0 * (in_time as f64 - wanted).abs() / wanted])
}

/// How long items wait while one of the workers is blocked.
pub(super) fn stranded(plan: &Plan) -> Group {
    let figure = figure(
        "stranded",
        "t8",
        "longest wait of an item while one worker is blocked/8 workers",
        "ms",
        "8 workers with 8 queues, 100,000 items a second, while one handler blocks for 1 s: \
         longest wait of any other item",
    );
    // No thread computes.
    let mut group = seldom(plan, 2, figure);
    let blocked = plan.size(BLOCKED, Duration::from_millis(20));
    for (name, steal) in [(OURS, true), (BOUND, false)] {
        group.add(name, move || Ok(Run(move || longest_wait(steal, blocked))));
    }
    group
}

fn longest_wait(steal: bool, blocked: Duration) -> Result<Vec<f64>, Error> {
    let start = Instant::now();
    // Nanoseconds since the start. An item holds the time when it was sent.
    let now = move || start.elapsed().as_nanos() as u64;
    let (longest, handled) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (of_all, count) = (Arc::clone(&longest), Arc::clone(&handled));
    let builder = WorkerQueue::builder().workers(WORKERS).queues(WORKERS).capacity(CAPACITY);
    let queue = builder.steal(steal).start(move |_, sent: &mut u64| {
        count.fetch_add(1, Ordering::Relaxed);
        if *sent == BLOCKER {
            thread::sleep(blocked);
        } else {
            of_all.fetch_max(now().saturating_sub(*sent), Ordering::Relaxed);
        }
    });
    let queue = queue.map_err(wrong)?;
    let sender = queue.sender();
    let mut throttle = Throttle::new(Rate::per_second(STEADY).map_err(wrong)?, RealClock::new());
    // Sends some items before, so that all workers are awake.
    let middle = now() + blocked.as_nanos() as u64 / 10;
    let end = middle + blocked.as_nanos() as u64;
    let (mut sent, mut is_blocked) = (0u64, false);
    while now() < end || !is_blocked {
        let item = if !is_blocked && now() >= middle { BLOCKER } else { now().max(1) };
        is_blocked |= item == BLOCKER;
        sender.send(item).map_err(wrong)?;
        sent += 1;
        throttle.wait();
    }
    drop(sender);
    queue.close();
    expect("number of items handled", handled.load(Ordering::Relaxed), sent)?;
    Ok(vec![longest.load(Ordering::Relaxed) as f64 / 1e6])
}

/// Processor time of a worker queue without items.
pub(super) fn idle(plan: &Plan) -> Group {
    let figure = figure(
        "idle-cpu",
        "t8",
        "processor time of idle workers/8 workers",
        "ms",
        "processor time of the process, 3 s with 8 workers that have handled something before, a \
         sender that waits for room, and a sender and a worker held to an item a second",
    );
    let mut group = seldom(plan, 1, figure);
    let watched = plan.size(WATCHED, Duration::from_millis(40));
    group.add(OURS, move || Ok(Run(move || idle_cpu(watched))));
    group
}

fn idle_cpu(watched: Duration) -> Result<Vec<f64>, Error> {
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    let builder = WorkerQueue::builder().workers(WORKERS).queues(WORKERS).capacity(CAPACITY);
    let idle = builder.start(move |_, _: &mut u64| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let idle = idle.map_err(wrong)?;
    (0..1000).try_for_each(|item| idle.send(item)).map_err(wrong)?;
    // A queue whose only worker is blocked meanwhile, so that its sender waits for room.
    let builder = WorkerQueue::builder().workers(1).queues(1).capacity(1);
    let full = builder.start(move |_, _: &mut u64| thread::sleep(watched * 2)).map_err(wrong)?;
    // A queue whose ends both wait for their throttle.
    let seldom = Rate::per_second(3.0 / watched.as_secs_f64()).map_err(wrong)?;
    let builder = WorkerQueue::builder().workers(1).queues(1).receive_rate(seldom);
    let slow = builder.start(|_, _: &mut u64| ()).map_err(wrong)?;
    (0..2).try_for_each(|item| slow.send(item)).map_err(wrong)?;
    let ended = AtomicBool::new(false);
    let milliseconds = thread::scope(|scope| {
        let waits = thread::Builder::new()
            .spawn_scoped(scope, || (0..3).try_for_each(|item| full.send(item)));
        let waits = waits.map_err(wrong)?;
        let sends = thread::Builder::new().spawn_scoped(scope, || {
            let mut throttle = Throttle::new(seldom, RealClock::new());
            while !ended.load(Ordering::Relaxed) {
                throttle.wait();
                slow.send(0)?;
            }
            Ok::<_, SendError<u64>>(())
        });
        sends.map_err(wrong)?;
        thread::sleep(Duration::from_millis(20));
        let milliseconds = cpu_over(watched)?;
        ended.store(true, Ordering::Relaxed);
        slow.abort();
        full.abort();
        // The send was refused, or had succeeded before.
        let _ = waits.join();
        Ok::<_, Error>(milliseconds)
    })?;
    idle.close();
    expect("number of items handled", handled.load(Ordering::Relaxed), 1000)?;
    Ok(vec![milliseconds])
}
