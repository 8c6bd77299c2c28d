//! A lock that several threads want.

use super::work::{self, Varied};
use super::{Section, figure};
use crate::adapter::{Counter, SharedLockKind};
use crate::error::{Error, expect, input};
use crate::experiment::{Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use crate::registry::for_each;
use crate::stats::quantile;
use sateen_base::os::process_cpu_time;
use sateen_base::{CachePadded, tsc};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Group `tTHREADS-SECTION`.
pub(super) fn group(plan: &Plan, threads: usize, section: &Section) -> Group {
    let case = format!("t{threads}-{}", section.name);
    let figures = figures(&case, &format!("t{threads}"), threads, section);
    let mut group = Group::new(threads, figures);
    let contest = Contest { threads, section: *section, reads: 0, window: window(plan) };
    for_each!(L in shared_locks(plan.peers) => add::<L>(&mut group, contest));
    group
}

/// The figures that group `uncontended-SECTION` lacks: the same contest with one thread. It leaves
/// out the time per section, because that includes the time between sections.
pub(super) fn alone(plan: &Plan, section: &Section) -> Group {
    let mut figures = figures(&format!("uncontended-{}", section.name), "t1", 1, section);
    figures.remove(0);
    let mut group = Group::new(1, figures);
    let contest = Contest { threads: 1, section: *section, reads: 0, window: window(plan) };
    for_each!(L in shared_locks(plan.peers) => add_rest::<L>(&mut group, contest));
    group
}

/// Returns how long the threads run: long enough for each to get some of the system's time slices.
pub(super) fn window(plan: &Plan) -> Duration {
    Duration::from_millis(match (plan.smoke, plan.short) {
        (true, _) => 1,
        (false, true) => 40,
        (false, false) => 100,
    })
}

/// Returns the figures of a contest, in the order of its values.
pub(super) fn figures(case: &str, config: &str, threads: usize, section: &Section) -> Vec<Figure> {
    let between = section.between.as_nanos();
    let what = format!(
        "{threads} thread{}, {}, {} to {} ns between a thread's own",
        plural(threads),
        section.words(),
        between / 2,
        between * 3 / 2
    );
    let figure = |suffix: &str, name: &str, text: String| Figure {
        name: format!("{name} {}/{threads} thread{}", case.replace('-', " "), plural(threads)),
        ..figure(format!("{case}{suffix}"), config.to_owned(), threads, text)
    };
    let fairness =
        format!("{what}: sections of the least served thread divided by those of the most served");
    let sampled = section.sampled;
    vec![
        figure("", "time per section of", format!("{what}: time per section")),
        Figure {
            unit: "share",
            trend: Trend::Higher,
            ..figure("-fairness", "smallest share over largest of", fairness)
        },
        figure(
            "-p999",
            "99.9 % of waits of",
            format!(
                "{what}: the wait that 999 of 1000 stay below; about one wait in {sampled} is timed"
            ),
        ),
        figure(
            "-cpu",
            "processor time per section of",
            format!(
                "{what}: processor time of the process per section, including the time between"
            ),
        ),
    ]
}

/// Returns the figure of the last value of a contest.
pub(super) fn longest(case: &str, config: &str, threads: usize) -> Figure {
    let what = "the longest of the waits that were timed".to_owned();
    figure(format!("{case}-longest"), config.to_owned(), threads, what)
}

/// Adds a contest for `L`.
pub(super) fn add<L: SharedLockKind>(group: &mut Group, contest: Contest) {
    group.add(L::NAME, move || Ok(Run(move || contest.values::<L>())));
}

/// Adds a contest for `L` without its first figure.
fn add_rest<L: SharedLockKind>(group: &mut Group, contest: Contest) {
    group.add(L::NAME, move || Ok(Run(move || Ok(contest.values::<L>()?.split_off(1)))));
}

/// Threads that want one lock for a while.
#[derive(Clone, Copy)]
pub(super) struct Contest {
    pub(super) threads: usize,
    pub(super) section: Section,
    /// How many of a hundred sections only read. A reader-writer lock lets readers in together.
    pub(super) reads: usize,
    pub(super) window: Duration,
}

/// The result of a contest.
struct Outcome {
    wall: Duration,
    cpu: Duration,
    /// Sections of each thread.
    shares: Vec<u64>,
    /// How many sections have counted.
    writes: u64,
    /// Waits of all threads, in ticks.
    waits: Vec<u64>,
}

impl Contest {
    /// Makes one run. Returns the values of [`figures`], and then the longest wait.
    pub(super) fn values<L: SharedLockKind>(&self) -> Result<Vec<f64>, Error> {
        let lock = CachePadded::new(L::new(Counter { count: 0, state: 1 }));
        let contend = |thread: &mut Thread, stop: &AtomicBool| thread.contend::<L>(&lock, stop);
        let outcome = self.run(&contend)?;
        let counted = L::with(&lock, |counter| counter.count);
        expect("sections counted under the lock", counted, outcome.writes)?;
        Ok(outcome.values())
    }

    /// Makes one run of a lock of any kind.
    fn run(&self, contend: &(dyn Fn(&mut Thread, &AtomicBool) + Sync)) -> Result<Outcome, Error> {
        let cpu = || {
            process_cpu_time().ok_or_else(|| input("this system does not report processor time"))
        };
        let stop = CachePadded::new(AtomicBool::new(false));
        let ready = Barrier::new(self.threads + 1);
        let (section, between) =
            (work::within(self.section.length), work::within(self.section.between));
        let (mut shares, mut writes, mut waits) = (Vec::new(), 0, Vec::new());
        let mut spent = (Duration::ZERO, Ok(Duration::ZERO));
        let member = |i: usize| {
            let mut thread = Thread {
                pace: Varied::new(i as u64 + 1, between),
                section,
                every: self.section.sampled,
                reads: self.reads,
                share: 0,
                writes: 0,
                waits: Vec::with_capacity(1 << 14),
            };
            ready.wait();
            contend(&mut thread, &stop);
            thread
        };
        let member = &member;
        thread::scope(|scope| {
            let members: Vec<_> =
                (0..self.threads).map(|i| scope.spawn(move || member(i))).collect();
            let before = cpu();
            ready.wait();
            let start = Instant::now();
            thread::sleep(self.window);
            stop.store(true, Ordering::Relaxed);
            spent = (start.elapsed(), cpu().and_then(|after| Ok(after.saturating_sub(before?))));
            for member in members {
                let done = member.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
                shares.push(done.share);
                writes += done.writes;
                waits.extend(done.waits);
            }
        });
        Ok(Outcome { wall: spent.0, cpu: spent.1?, shares, writes, waits })
    }
}

impl Outcome {
    fn values(&self) -> Vec<f64> {
        let all = self.shares.iter().sum::<u64>() as f64;
        let least = self.shares.iter().min().copied().unwrap_or(0) as f64;
        let most = self.shares.iter().max().copied().unwrap_or(1) as f64;
        let mut waits: Vec<f64> = self.waits.iter().map(|&w| tsc::nanos(w) as f64).collect();
        waits.sort_unstable_by(f64::total_cmp);
        vec![
            self.wall.as_nanos() as f64 / all,
            least / most,
            quantile(&waits, 0.999),
            self.cpu.as_nanos() as f64 / all,
            waits.last().copied().unwrap_or(0.0),
        ]
    }
}

/// One thread of a contest.
struct Thread {
    pace: Varied,
    section: u32,
    every: usize,
    /// Sections of a hundred that only read.
    reads: usize,
    share: u64,
    /// How many sections of its share have counted.
    writes: u64,
    waits: Vec<u64>,
}

impl Thread {
    fn contend<L: SharedLockKind>(&mut self, lock: &L::Of<Counter>, stop: &AtomicBool) {
        let mut until_sample = self.pace.around(self.every);
        loop {
            let sample = until_sample == 0;
            let asked = if sample { tsc::now() } else { 0 };
            let now = || if sample { tsc::now() } else { 0 };
            let got = if self.reads > 0 && self.pace.percent() < self.reads {
                L::read(lock, |counter| {
                    let got = now();
                    black_box(work::steps(counter.state, self.section));
                    got
                })
            } else {
                self.writes += 1;
                L::with(lock, |counter| {
                    let got = now();
                    counter.count += 1;
                    counter.state = work::steps(counter.state, self.section);
                    got
                })
            };
            self.share += 1;
            if sample {
                self.waits.push(got.saturating_sub(asked));
                until_sample = self.pace.around(self.every);
            } else {
                until_sample -= 1;
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.pace.go();
        }
    }
}
