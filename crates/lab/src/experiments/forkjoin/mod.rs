//! Fork-join programs: what a join costs, and how well real shapes of work use two workers.
//!
//! Every program is one generic function over [`ForkJoin`], so that all libraries run the same
//! code. The time is taken inside the pool: it includes the time until the second worker helps, but
//! not the time to wake the first. `serial` is the same program without a library.

mod fib;
mod heat;
mod loops;
mod matmul;
mod nqueens;
mod slices;
mod sort;
mod speedup;
mod tiny;
mod tree;

use crate::adapter::{ForkJoin, SERIAL};
use crate::error::{Error, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::{cores, plural};
use crate::registry::for_each;
use crate::report::Screen;
use crate::store::Record;
use sateen_base::os::process_cpu_time;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The usual numbers of workers, more than cores on many a machine.
const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// The experiment `forkjoin`.
pub(crate) struct ForkJoins;

impl Experiment for ForkJoins {
    fn name(&self) -> &'static str {
        "forkjoin"
    }

    fn about(&self) -> &'static str {
        "Divide and conquer: the cost of a join that has nothing else to do (fib), and how close \
         two workers come to half the time on searches, matrices, trees, stencils, loops and \
         sorting."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = fib::groups(plan, &plan.workers_or(&fib_workers()));
        let workers = plan.workers_or(&WORKERS);
        groups.extend(nqueens::groups(plan, &workers));
        groups.extend(matmul::groups(plan, &workers));
        groups.extend(tree::groups(plan, &workers));
        groups.extend(heat::groups(plan, &workers));
        groups.extend(loops::groups(plan, &workers));
        groups.extend(tiny::groups(plan, &workers));
        groups.extend(slices::groups(plan, &workers));
        groups.extend(sort::groups(plan, &workers));
        groups
    }

    fn verdict(&self, records: &[Record], screen: &Screen) -> Option<String> {
        Some(screen.wrapped(&speedup::text(records)?, 2))
    }
}

/// Returns [`WORKERS`], further powers of two up to the number of cores, and that number.
fn fib_workers() -> Vec<usize> {
    let cores = cores().max(2);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < cores).collect();
    counts.push(cores);
    counts.extend(WORKERS);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// A program that each library runs, on data that the program holds.
pub(crate) trait Program: 'static {
    /// Prepares a run, untimed.
    fn reset(&self) {}
    /// Runs the program. Loops of libraries without a grain of their own take `grain`.
    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, grain: Grain) -> Self::Out;
    /// Runs it without a library; `None` if there is no such form.
    fn serial(&self) -> Option<Self::Out>;
    /// Checks that `out` is right.
    fn check(&self, out: Self::Out) -> Result<(), Error>;
    /// Returns the value to report for a run of `time`, or of so much processor time.
    fn value(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e3
    }
    /// What a run computes.
    type Out: Send;
}

/// How finely a loop without a grain of its own is cut: 64 pieces for each worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    workers: usize,
}

impl Grain {
    /// Returns the iterations in a piece of a loop of `n`.
    pub(crate) fn of(self, n: usize) -> usize {
        (n / (64 * self.workers)).max(1)
    }
}

/// A program and its figure, without the worker count.
pub(crate) struct Case<P> {
    pub(crate) case: &'static str,
    pub(crate) unit: &'static str,
    /// The figure's name, before the slash.
    pub(crate) title: &'static str,
    pub(crate) description: String,
    /// Whether only libraries with loops over slices of their own take part.
    pub(crate) slices: bool,
    /// Whether the processor time is a second figure, `-cpu`.
    pub(crate) cpu: bool,
    /// Makes the program's data. It is called once for all groups, when the first run needs the
    /// data.
    pub(crate) make: fn(bool) -> P,
    /// Whether the group of one worker also has `serial`.
    pub(crate) serial: bool,
}

/// The data of a case, made at first use.
struct Lazy<P> {
    made: std::cell::OnceCell<Rc<P>>,
    make: fn(bool) -> P,
    smoke: bool,
}

impl<P> Lazy<P> {
    fn get(&self) -> Rc<P> {
        Rc::clone(self.made.get_or_init(|| Rc::new((self.make)(self.smoke))))
    }
}

/// Returns one group for each worker count.
pub(crate) fn groups<P: Program + Sync>(
    plan: &Plan,
    workers: &[usize],
    case: &Case<P>,
) -> Vec<Group> {
    let data =
        Rc::new(Lazy { made: std::cell::OnceCell::new(), make: case.make, smoke: plan.smoke });
    let group = |&workers: &usize| {
        let figure = |suffix: &str, title: String, description: String| Figure {
            case: format!("{}{suffix}", case.case),
            config: format!("w{workers}"),
            name: format!("{title}/{workers} worker{}", plural(workers)),
            unit: case.unit,
            trend: Trend::Lower,
            description,
        };
        let mut figures = vec![figure("", case.title.to_owned(), case.description.clone())];
        if case.cpu {
            let description = format!("{}: processor time of the process", case.description);
            figures.push(figure("-cpu", format!("processor {}", case.title), description));
        }
        let (mut group, cpu) = (Group::new(workers, figures), case.cpu);
        // More workers than cores are for those who ask for them, and the other programs too.
        let shown = ["fib", "nqueens", "for-skewed"].contains(&case.case);
        group.in_tour = shown && workers <= cores().max(2);
        if case.serial && workers == 1 {
            let data = Rc::clone(&data);
            group.add(SERIAL, move || Ok(Serial { data: data.get(), cpu }));
        }
        for_each!(L in fork_joins(plan.peers) => {
            if L::SLICES || !case.slices {
                add::<P, L>(&mut group, workers, cpu, &data);
            }
        });
        group
    };
    workers.iter().map(group).collect()
}

fn add<P: Program + Sync, L: ForkJoin>(
    group: &mut Group,
    workers: usize,
    cpu: bool,
    data: &Rc<Lazy<P>>,
) {
    let data = Rc::clone(data);
    group.add(L::NAME, move || {
        Ok(Pooled::<P, L> { data: data.get(), pool: L::build(workers)?, workers, cpu })
    });
    group.keep_apart(L::LINGERS);
}

/// Runs `f`. Returns its result and how long it took, then its processor time if `cpu`.
fn timed<R>(cpu: bool, f: impl FnOnce() -> R) -> Result<(R, Vec<Duration>), Error> {
    let spent =
        || process_cpu_time().ok_or_else(|| input("this system does not report processor time"));
    let before = if cpu { Some(spent()?) } else { None };
    let start = Instant::now();
    let out = f();
    let mut times = vec![start.elapsed()];
    if let Some(before) = before {
        times.push(spent()?.saturating_sub(before));
    }
    Ok((out, times))
}

/// A program without a library.
struct Serial<P> {
    data: Rc<P>,
    cpu: bool,
}

impl<P: Program> Session for Serial<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.data.reset();
        let (out, times) = timed(self.cpu, || self.data.serial())?;
        out.map_or(Ok(()), |out| self.data.check(out))?;
        Ok(times.into_iter().map(|time| self.data.value(time)).collect())
    }
}

/// A program on a library's pool.
struct Pooled<P, L: ForkJoin> {
    data: Rc<P>,
    pool: L::Pool,
    workers: usize,
    cpu: bool,
}

impl<P: Program + Sync, L: ForkJoin> Session for Pooled<P, L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.data.reset();
        let (program, cpu, grain) = (&*self.data, self.cpu, Grain { workers: self.workers });
        let done = L::enter(&self.pool, |ctx| timed(cpu, || program.run::<L>(ctx, grain)));
        let (out, times) = done?;
        self.data.check(out)?;
        Ok(times.into_iter().map(|time| self.data.value(time)).collect())
    }
}
