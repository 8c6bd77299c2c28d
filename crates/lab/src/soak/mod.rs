//! `sateen soak`: everything at once, with ledgers, for any time.
//!
//! * `args`: the options, and what is refused.
//! * `activities`: what goes on; `world`: what it goes on in.
//! * `ledger`: what goes in and must come out.
//! * `faults`: failures on purpose.
//! * `watch`: notices an activity that makes no progress.
//!
//! A *world* is a runtime with random settings that lives for about two seconds. All activities run
//! on it at once, each driven by a thread. Then all of them end, the runtime too, and the ledgers
//! must balance. The next world follows.

mod activities;
mod args;
mod faults;
mod ledger;
mod watch;
mod world;

pub(crate) use args::SoakArgs;

use crate::error::{Error, expect, input};
use crate::proc::{Holdings, holdings};
use crate::report::{Grid, Screen, Tint, ViewArgs};
use crate::{interrupt, report};
use activities::Activity;
use args::Settings;
use faults::{Faults, Kind};
use ledger::Ledger;
use sateen::{Runtime, policy};
use sateen_base::XorShift;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use watch::Watch;
use world::World;

/// How long a world lasts.
const WORLD: Duration = Duration::from_secs(2);
/// How much more memory may be resident at the end than after the first worlds: allocators keep
/// some.
const SLACK_KIB: u64 = 256 * 1024;
/// After this many worlds the process has what it needs.
const WARM: u64 = 5;

/// Runs `sateen soak`.
///
/// # Errors
/// An option makes no sense, an item was lost, a result is wrong, an activity hangs, or the process
/// grows.
pub(crate) fn run(args: &SoakArgs) -> Result<(), Error> {
    let names: Vec<&str> = activities::ALL.iter().map(|(name, _)| *name).collect();
    let settings = args.settings(&names)?;
    let stopped = Arc::new(AtomicBool::new(false));
    interrupt::raise(&stopped)?;
    let chosen = |name: &str| settings.only.is_empty() || settings.only.iter().any(|o| o == name);
    let jobs: Vec<Job> = activities::ALL
        .into_iter()
        .filter(|(name, _)| chosen(name))
        .map(|(name, activity)| Job { name, activity, ledger: Arc::default() })
        .collect();
    let start = Instant::now();
    let faults = Faults::begin(&settings.faults, settings.seed);
    let mut random = XorShift::new(settings.seed);
    let (mut worlds, mut warm) = (0, Holdings::default());
    while start.elapsed() < settings.time && !stopped.load(Relaxed) {
        let left = settings.time.saturating_sub(start.elapsed());
        one_world(&settings, &jobs, &mut random, left.min(WORLD))?;
        worlds += 1;
        if worlds == WARM {
            warm = holdings().unwrap_or_default();
        }
    }
    let struck = faults.words();
    drop(faults);
    let held = holdings().unwrap_or_default();
    print_ledgers(&jobs, start.elapsed())?;
    report::print(&format!("{worlds} worlds; at the end {}", held.words()))?;
    if worlds > WARM {
        report::print(&format!("after {WARM} worlds {}", warm.words()))?;
    }
    if !struck.is_empty() {
        report::print(&format!("faults: {struck}"))?;
    }
    if worlds > WARM {
        flat(warm, held)?;
    }
    if stopped.load(Relaxed) { Err(interrupt::ended()) } else { Ok(()) }
}

/// An activity with its ledger.
struct Job {
    name: &'static str,
    activity: Activity,
    ledger: Arc<Ledger>,
}

/// Runs all activities on one runtime, from its start to its end.
fn one_world(
    settings: &Settings,
    jobs: &[Job],
    random: &mut XorShift,
    time: Duration,
) -> Result<(), Error> {
    let seed = random.next_u64();
    let workers = [settings.workers, 1 + random.below(settings.workers)][random.below(2)];
    let policies =
        [policy::work_stealing, policy::work_stealing, policy::work_sharing, policy::round_robin];
    let policy = policies[random.below(policies.len())];
    let fails = |kinds: &[Kind]| kinds.iter().any(|kind| settings.faults.contains(kind));
    let runtime = loop {
        match Runtime::builder().workers(workers).policy(policy()).build() {
            Ok(runtime) => break runtime,
            Err(_) if fails(&[Kind::Memory, Kind::Threads]) => {}
            Err(e) => return Err(input(format!("a runtime of {workers} workers: {e}"))),
        }
    };
    let over = AtomicBool::new(false);
    let watch = Watch::new(jobs.len());
    let results: Vec<Result<(), Error>> = thread::scope(|s| {
        let threads: Vec<_> = jobs
            .iter()
            .enumerate()
            .map(|(i, job)| {
                let own = XorShift::new(seed.wrapping_add(i as u64));
                let (runtime, over, watch) = (&runtime, &over, &watch);
                let faults = &settings.faults;
                s.spawn(move || {
                    let world = World { runtime, ledger: &job.ledger, over, faults };
                    let result = (job.activity)(&world, own);
                    watch.ended(i);
                    // The other activities need not go on.
                    over.fetch_or(result.is_err(), Relaxed);
                    result.map_err(|e| named(job.name, seed, workers, &e))
                })
            })
            .collect();
        watch.until(time, &over, jobs, &runtime);
        let lost = || Err(Error::Wrong("an activity's thread panicked".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    results.into_iter().collect::<Result<(), Error>>()?;
    runtime.shutdown().map_err(|e| Error::Wrong(format!("the end of a world: {e}")))?;
    drop(runtime);
    for job in jobs {
        let [made, destroyed] = job.ledger.items();
        expect(&format!("items destroyed by {}", job.name), destroyed, made)?;
    }
    Ok(())
}

fn named(name: &str, seed: u64, workers: usize, e: &Error) -> Error {
    Error::Wrong(format!("{name} (seed {seed}, {workers} workers): {e}"))
}

/// Checks that the process holds no more than before.
fn flat(before: Holdings, after: Holdings) -> Result<(), Error> {
    let grown = |what: &str, before: u64, after: u64| {
        Err(Error::Wrong(format!("{what} grew from {before} to {after}")))
    };
    if after.threads > before.threads {
        return grown("threads", before.threads as u64, after.threads as u64);
    }
    if after.descriptors > before.descriptors {
        return grown("descriptors", before.descriptors as u64, after.descriptors as u64);
    }
    if after.resident_kib > before.resident_kib + SLACK_KIB {
        return grown("resident KiB", before.resident_kib, after.resident_kib);
    }
    Ok(())
}

fn print_ledgers(jobs: &[Job], time: Duration) -> Result<(), Error> {
    let head = ["activity", "operations", "a second", "items made", "destroyed"];
    let mut table = Grid::new(&head, 1..head.len());
    let mut sums = [0_u64; 3];
    let row = |name: &str, [operations, made, destroyed]: [u64; 3]| {
        let rate = operations as f64 / time.as_secs_f64();
        [
            name.to_owned(),
            operations.to_string(),
            format!("{rate:.0}"),
            made.to_string(),
            destroyed.to_string(),
        ]
    };
    for job in jobs {
        let [made, destroyed] = job.ledger.items();
        let counts = [job.ledger.operations(), made, destroyed];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        table.add(row(job.name, counts).into(), Tint::Plain, Vec::new());
    }
    table.add(row("all", sums).into(), Tint::Plain, Vec::new());
    report::print(&table.text(&Screen::of(ViewArgs::default())))
}
