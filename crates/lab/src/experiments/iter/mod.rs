//! Parallel iterators: the same loops by each library, and by plain iterators.
//!
//! A case is a [`Work`]: its data, and one call of [`Iterators`]. What plain iterators compute is
//! what every run must compute. A run's result is checked and dropped after its time is taken.

mod cases;
mod serial;

use crate::adapter::{ForkJoin, Iterators, SERIAL};
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use crate::registry::for_each;
use serial::Serial;
use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Instant;

/// The experiment `iter`.
pub(crate) struct Iter;

impl Experiment for Iter {
    fn name(&self) -> &'static str {
        "iter"
    }

    fn about(&self) -> &'static str {
        "Parallel iterators as users write them: sums, maps, filters, searches, sorts, and loops \
         so short that starting them counts. With peers, the same text with rayon's iterators."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        cases::groups(plan, &plan.workers_or(&[1, 2, 8]))
    }
}

/// A case.
trait Work: 'static {
    /// Second part of the identity.
    const CASE: &'static str;
    /// What a run does.
    const WHAT: &'static str;
    /// What runs share.
    type Data: Sync + 'static;
    /// What a run changes. It is made before, and not timed.
    type Changed: Send;
    type Out: PartialEq + Send + 'static;

    fn data(smoke: bool) -> Self::Data;
    fn prepare(data: &Self::Data) -> Self::Changed;
    /// How many calls a run has. The figure is the time of one of them: in milliseconds if there is
    /// only one, else in microseconds.
    fn calls(_smoke: bool) -> u32 {
        1
    }
    fn call<L: Iterators>(data: &Self::Data, changed: Self::Changed) -> Self::Out;
}

/// The data of a case, and what each call must return. Both are made when a run first needs them.
struct Known<W: Work> {
    smoke: bool,
    made: OnceCell<(W::Data, W::Out)>,
}

impl<W: Work> Known<W> {
    fn get(&self) -> &(W::Data, W::Out) {
        self.made.get_or_init(|| {
            let data = W::data(self.smoke);
            let out = W::call::<Serial>(&data, W::prepare(&data));
            (data, out)
        })
    }

    /// Makes a run. `enter` calls its argument where the loops shall run.
    fn run<L: Iterators>(
        &self,
        enter: impl FnOnce(&mut (dyn FnMut() + Send)),
    ) -> Result<Vec<f64>, Error> {
        let (data, expected) = self.get();
        let calls = W::calls(self.smoke);
        let (mut changed, mut out) = (Some(W::prepare(data)), None);
        // With the way to the workers, as a caller on a plain thread sees it. A library that wakes
        // a worker ahead of the work would otherwise do so before the clock starts.
        let start = Instant::now();
        enter(&mut || {
            out = changed.take().map(|changed| W::call::<L>(data, changed));
            for _ in 1..calls {
                let changed = W::prepare(data);
                out = Some(W::call::<L>(data, changed));
            }
        });
        let nanoseconds = start.elapsed().as_nanos() as f64;
        expect(
            "whether the result is that of plain iterators",
            out.as_ref() == Some(expected),
            true,
        )?;
        let unit = if calls == 1 { 1e6 } else { 1e3 };
        Ok(vec![nanoseconds / unit / f64::from(calls)])
    }
}

/// Returns one group for each worker count.
fn groups<W: Work>(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let known = Rc::new(Known::<W> { smoke: plan.smoke, made: OnceCell::new() });
    let group = |&workers: &usize| {
        let figure = Figure {
            case: W::CASE.to_owned(),
            config: format!("w{workers}"),
            name: format!("time of {}/{workers} worker{}", W::CASE, plural(workers)),
            unit: if W::calls(false) == 1 { "ms" } else { "µs" },
            trend: Trend::Lower,
            description: W::WHAT.to_owned(),
        };
        let mut group = Group::new(workers, vec![figure]);
        if workers == 1 {
            let known = Rc::clone(&known);
            group.add(SERIAL, move || {
                let known = Rc::clone(&known);
                Ok(Run(move || known.run::<Serial>(|loops| loops())))
            });
        }
        for_each!(L in iterators(plan.peers) => add::<W, L>(&mut group, workers, &known));
        group
    };
    workers.iter().map(group).collect()
}

fn add<W: Work, L: ForkJoin + Iterators>(group: &mut Group, workers: usize, known: &Rc<Known<W>>) {
    let known = Rc::clone(known);
    group.add(L::NAME, move || {
        let (pool, known) = (L::build(workers)?, Rc::clone(&known));
        Ok(Run(move || known.run::<L>(|loops| L::enter(&pool, |_| loops()))))
    });
}
