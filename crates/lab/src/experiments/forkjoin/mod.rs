//! Fork-join programs: what a join costs, and how well real shapes of work use two workers.
//!
//! Every program is one generic function over [`ForkJoin`], so that all libraries run the same
//! code. The time is taken inside the pool: waking the first worker is not part of it, getting the
//! second one to help is. `serial` is the same program without a library.

mod fib;
mod loops;
mod matmul;
mod nqueens;
mod sort;
mod tree;

use crate::adapter::{ForkJoin, ForkJoinVisitor, SERIAL, visit_fork_joins};
use crate::error::Error;
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::{cores, plural};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The experiment `forkjoin`.
pub(crate) struct ForkJoins;

impl Experiment for ForkJoins {
    fn name(&self) -> &'static str {
        "forkjoin"
    }

    fn about(&self) -> &'static str {
        "Divide and conquer: what a join costs where it is all there is (fib), and how near two \
         workers come to half the time on searches, matrices, trees, loops and sorting."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = fib::groups(plan, &plan.workers_or(&doubling(cores().max(2))));
        let workers = plan.workers_or(&[1, 2]);
        groups.extend(nqueens::groups(plan, &workers));
        groups.extend(matmul::groups(plan, &workers));
        groups.extend(tree::groups(plan, &workers));
        groups.extend(loops::groups(plan, &workers));
        groups.extend(sort::groups(plan, &workers));
        groups
    }
}

/// 1, 2, 4 … up to `most`, and `most` itself.
fn doubling(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most).collect();
    counts.push(most);
    counts
}

/// A program that is run by each library, on data it holds.
pub(crate) trait Program: 'static {
    /// Before each run, untimed.
    fn reset(&self) {}
    /// The program itself; the library's loops take `grain` where they have no grain of their own.
    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, grain: Grain) -> Self::Out;
    /// Without a library; `None` if there is no such form.
    fn serial(&self) -> Option<Self::Out>;
    /// Fails loudly unless `out` is right.
    fn check(&self, out: Self::Out) -> Result<(), Error>;
    /// The reported value for a run of `elapsed`.
    fn value(&self, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64() * 1e3
    }
    /// What a run computes.
    type Out: Send;
}

/// How finely a loop without a grain of its own is cut: 64 pieces a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    workers: usize,
}

impl Grain {
    /// Iterations in a piece of a loop of `n`.
    pub(crate) fn of(self, n: usize) -> usize {
        (n / (64 * self.workers)).max(1)
    }
}

/// A program and its figure, apart from the worker count.
pub(crate) struct Case<P> {
    pub(crate) case: &'static str,
    pub(crate) unit: &'static str,
    /// The figure's name, before the slash.
    pub(crate) title: &'static str,
    pub(crate) description: String,
    /// Whether only libraries with a sort of their own take part.
    pub(crate) sorting: bool,
    /// Makes the program's data; called once for all groups, when the first run needs it.
    pub(crate) make: fn(bool) -> P,
    /// The `serial` figure joins the group of one worker.
    pub(crate) serial: bool,
}

/// The data of a case, made when first needed.
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

/// One group for each worker count.
pub(crate) fn groups<P: Program + Sync>(
    plan: &Plan,
    workers: &[usize],
    case: &Case<P>,
) -> Vec<Group> {
    let data =
        Rc::new(Lazy { made: std::cell::OnceCell::new(), make: case.make, smoke: plan.smoke });
    let group = |&workers: &usize| {
        let figure = Figure {
            case: case.case.to_owned(),
            config: format!("w{workers}"),
            name: format!("{}/{workers} worker{}", case.title, plural(workers)),
            unit: case.unit,
            trend: Trend::Lower,
            description: case.description.clone(),
        };
        let mut group = Group::new(workers, vec![figure]);
        if case.serial && workers == 1 {
            let data = Rc::clone(&data);
            group.add(SERIAL, move || Ok(Serial(data.get())));
        }
        let data = Rc::clone(&data);
        let add = &mut AddAll { group: &mut group, workers, data, sorting: case.sorting };
        visit_fork_joins(plan.peers, add);
        group
    };
    workers.iter().map(group).collect()
}

struct AddAll<'a, P> {
    group: &'a mut Group,
    workers: usize,
    data: Rc<Lazy<P>>,
    sorting: bool,
}

impl<P: Program + Sync> ForkJoinVisitor for AddAll<'_, P> {
    fn visit<L: ForkJoin>(&mut self) {
        if self.sorting && !L::SORTS {
            return;
        }
        let (data, workers) = (Rc::clone(&self.data), self.workers);
        let open =
            move || Ok(Pooled::<P, L> { data: data.get(), pool: L::build(workers)?, workers });
        self.group.add(L::NAME, open);
        self.group.keep_apart(L::LINGERS);
    }
}

/// A program without a library.
struct Serial<P>(Rc<P>);

impl<P: Program> Session for Serial<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.0.reset();
        let start = Instant::now();
        let out = self.0.serial();
        let elapsed = start.elapsed();
        out.map_or(Ok(()), |out| self.0.check(out))?;
        Ok(vec![self.0.value(elapsed)])
    }
}

/// A program on a library's pool.
struct Pooled<P, L: ForkJoin> {
    data: Rc<P>,
    pool: L::Pool,
    workers: usize,
}

impl<P: Program + Sync, L: ForkJoin> Session for Pooled<P, L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.data.reset();
        let (program, grain) = (&*self.data, Grain { workers: self.workers });
        let (elapsed, out) = L::enter(&self.pool, |ctx| {
            let start = Instant::now();
            let out = program.run::<L>(ctx, grain);
            (start.elapsed(), out)
        });
        self.data.check(out)?;
        Ok(vec![self.data.value(elapsed)])
    }
}
