//! Each item is dropped once, however loops end: early, by a panic, or by a cancellation, and
//! nested in one another.
#![cfg(not(loom))]

mod common;

use common::{Census, Citizen, Draw, everywhere, panics_with};
use sateen::iter::plumbing::{
    Consumer, Folder, Reducer, UnindexedConsumer, UnindexedProducer, bridge_unindexed,
};
use sateen::prelude::*;
use sateen::{CancelToken, JoinError, Runtime, Spawn, sleep};
use sateen_base::unwind::discard;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::panicking;
use std::time::Duration;

const LEN: usize = 3000;

/// What has a destructor that panics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Explodes {
    Consumers,
    Reducers,
    Items,
}

/// Collects until there are enough.
struct Enough<'a> {
    seen: &'a AtomicUsize,
    enough: usize,
    explodes: Explodes,
    /// This many reducers do not explode.
    fuse: &'a AtomicUsize,
    /// Whether folders say that they are full. Otherwise they refuse more, and consumers say it.
    folders_tell: bool,
}

impl Enough<'_> {
    fn is_full(&self) -> bool {
        self.seen.load(SeqCst) >= self.enough
    }
}

impl Drop for Enough<'_> {
    fn drop(&mut self) {
        assert!(panicking() || self.explodes != Explodes::Consumers, "a consumer");
    }
}

impl<'a> Consumer<Citizen> for Enough<'a> {
    type Folder = Collects<'a>;
    type Reducer = Append<'a>;
    type Result = Vec<Citizen>;

    fn split_at(self, _index: usize) -> (Self, Self, Append<'a>) {
        let Self { seen, enough, explodes, fuse, folders_tell } = *ManuallyDrop::new(self);
        let twin = || Self { seen, enough, explodes, fuse, folders_tell };
        (twin(), twin(), Append(explodes, fuse))
    }

    fn into_folder(self) -> Collects<'a> {
        Collects { all: Vec::new(), consumer: ManuallyDrop::new(self) }
    }

    fn full(&self) -> bool {
        self.is_full()
    }

    fn extend_folder(&mut self, _folder: &mut Collects<'a>, _count: usize) -> bool {
        self.folders_tell || !self.is_full()
    }
}

struct Collects<'a> {
    all: Vec<Citizen>,
    consumer: ManuallyDrop<Enough<'a>>,
}

impl Folder<Citizen> for Collects<'_> {
    type Result = Vec<Citizen>;

    fn consume(mut self, item: Citizen) -> Self {
        self.all.push(item);
        self.consumer.seen.fetch_add(1, SeqCst);
        self
    }

    fn complete(self) -> Vec<Citizen> {
        self.all
    }

    fn full(&self) -> bool {
        self.consumer.folders_tell && self.consumer.is_full()
    }
}

struct Append<'a>(Explodes, &'a AtomicUsize);

impl Drop for Append<'_> {
    fn drop(&mut self) {
        let is_last = self.1.fetch_sub(1, SeqCst) == 0;
        assert!(panicking() || self.0 != Explodes::Reducers || !is_last, "a reducer");
    }
}

impl Reducer<Vec<Citizen>> for Append<'_> {
    fn reduce(self, mut left: Vec<Citizen>, mut right: Vec<Citizen>) -> Vec<Citizen> {
        std::mem::forget(self);
        left.append(&mut right);
        left
    }
}

/// What a loop has made is not lost where the destructor of something that is left panics.
#[test]
fn what_was_made_outlives_the_destructors_of_what_is_left() {
    use Explodes::{Consumers, Items, Reducers};
    everywhere(|| {
        let census = Census::default();
        for (explodes, folders_tell) in
            [Consumers, Reducers, Items].map(|e| [(e, true), (e, false)]).into_iter().flatten()
        {
            for (enough, fuse) in (0..40).map(|n| ([0, 1, 100, LEN / 2][n % 4], n / 4)) {
                let (seen, fuse) = (AtomicUsize::new(0), AtomicUsize::new(fuse));
                // Two would meet.
                let last = |n| explodes == Items && n == LEN - 1;
                let make = |n| if last(n) { census.bomb(n) } else { census.citizen(n) };
                let items: Vec<Citizen> = (0..LEN).map(make).collect();
                let end = Enough { seen: &seen, enough, explodes, fuse: &fuse, folders_tell };
                // It need not panic: there may be nothing left.
                discard(catch_unwind(AssertUnwindSafe(|| drop(items.into_par_iter().drive(end)))));
                census.assert_all_gone();
            }
        }
    });
}

/// An end whose folders have an item from the start, and which never wants more.
struct Content<'a>(&'a Census);

impl Consumer<Citizen> for Content<'_> {
    type Folder = Has;
    type Reducer = First;
    type Result = Citizen;

    fn split_at(self, _index: usize) -> (Self, Self, First) {
        (Self(self.0), self, First)
    }

    fn into_folder(self) -> Has {
        Has(self.0.citizen(0))
    }

    fn full(&self) -> bool {
        true
    }
}

impl UnindexedConsumer<Citizen> for Content<'_> {
    fn split_off_left(&self) -> Self {
        Self(self.0)
    }

    fn to_reducer(&self) -> First {
        First
    }
}

struct Has(Citizen);

impl Folder<Citizen> for Has {
    type Result = Citizen;

    fn consume(self, _item: Citizen) -> Self {
        self
    }

    fn complete(self) -> Citizen {
        self.0
    }

    fn full(&self) -> bool {
        true
    }
}

struct First;

impl Reducer<Citizen> for First {
    fn reduce(self, left: Citizen, _right: Citizen) -> Citizen {
        left
    }
}

/// A source that can only be halved, and whose destructor panics.
struct Bombs {
    _bomb: Citizen,
}

impl UnindexedProducer for Bombs {
    type Item = Citizen;

    fn split(self) -> (Self, Option<Self>) {
        (self, None)
    }

    fn fold_with<F: Folder<Citizen>>(self, folder: F) -> F {
        folder
    }
}

/// The result of an end that wants nothing is not lost where the source's destructor panics.
#[test]
fn a_full_end_outlives_the_destructor_of_its_source() {
    everywhere(|| {
        let census = Census::default();
        let source = Bombs { _bomb: census.bomb(1) };
        panics_with("a bomb", || bridge_unindexed(source, Content(&census)));
        census.assert_all_gone();
    });
}

/// What a strike in a loop does.
#[derive(Clone, Copy, Debug)]
enum Strike {
    Panic,
    EvilPayload,
    Cancel,
    Wait,
}

/// A payload that panics when it is dropped.
struct Evil;

impl Drop for Evil {
    fn drop(&mut self) {
        if !panicking() {
            panic_any(Self);
        }
    }
}

/// Loops in loops, up to a depth, with a strike at a drawn call.
struct Plan {
    census: Census,
    token: CancelToken,
    calls: AtomicUsize,
    at: usize,
    strike: Strike,
    /// Which end each depth has.
    ends: [u64; DEPTH],
    len: usize,
}

const DEPTH: usize = 3;
const ENDS: u64 = 12;

impl Plan {
    fn call(&self) {
        if self.calls.fetch_add(1, SeqCst) != self.at {
            return;
        }
        match self.strike {
            Strike::Panic | Strike::EvilPayload if panicking() => {}
            Strike::Panic => panic_any("wanted"),
            Strike::EvilPayload => panic_any(Evil),
            Strike::Cancel => self.token.cancel(),
            Strike::Wait => {}
        }
        // Here a task that was cancelled unwinds.
        sleep(Duration::from_micros(20));
    }

    /// A loop over items, each of which runs a loop of the next depth.
    fn nest(&self, depth: usize) {
        let Some(end) = self.ends.get(depth) else { return self.call() };
        let some = |n: usize| n % 7 != 6;
        let all: Vec<Citizen> = (0..self.len).map(|n| self.census.citizen(n)).collect();
        let each = |citizen: Citizen| {
            self.nest(depth + 1);
            citizen
        };
        let items = all.into_par_iter();
        match end {
            0 => items.for_each(|citizen| drop(each(citizen))),
            1 => assert_eq!(items.map(each).collect::<Vec<_>>().len(), self.len),
            2 => drop(items.map(each).filter(|c| some(c.number)).collect::<Vec<_>>()),
            3 => drop(items.map(each).find_any(|c| !some(c.number))),
            4 => drop(items.map(each).find_first(|c| !some(c.number))),
            5 => drop(items.map(each).find_last(|c| !some(c.number))),
            6 => _ = items.map(each).try_for_each(|c| some(c.number).then_some(())),
            7 => drop(
                items.map(|c| some(c.number).then(|| each(c))).while_some().collect::<Vec<_>>(),
            ),
            8 => drop(items.map(each).chunks(3).collect::<Vec<_>>()),
            9 => {
                let push = |mut all: Vec<Citizen>, c| {
                    all.push(each(c));
                    all
                };
                let folded = items.fold(Vec::new, push).reduce(Vec::new, |mut a, mut b| {
                    a.append(&mut b);
                    a
                });
                assert_eq!(folded.len(), self.len);
            }
            10 => {
                let more: Vec<Citizen> =
                    (0..self.len / 2).map(|n| self.census.citizen(n)).collect();
                let zipped = items.map(each).zip(more).map(|(a, _)| a).rev();
                assert_eq!(zipped.collect::<Vec<_>>().len(), self.len / 2);
            }
            _ => {
                let two = |c: Citizen| [each(c.clone()), c];
                drop(items.flat_map_iter(two).take_any(self.len).collect::<Vec<_>>());
            }
        }
    }
}

/// On any number of workers, whatever ends the loops.
#[test]
fn nested_loops_end_early_panic_and_are_cancelled() {
    for workers in [1, 2, 8] {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        let mut ends = [0; 3];
        for seed in 0..400 {
            let mut draw = Draw::new(seed * 31 + workers as u64);
            let strikes = [Strike::Panic, Strike::EvilPayload, Strike::Cancel, Strike::Wait];
            let plan = Arc::new(Plan {
                census: Census::default(),
                token: CancelToken::new(),
                calls: AtomicUsize::new(0),
                at: draw.below(200) as usize,
                strike: strikes[draw.below(4) as usize],
                ends: std::array::from_fn(|_| draw.below(ENDS)),
                len: 1 + draw.below(12) as usize,
            });
            let spawn = Spawn::new().token(&plan.token);
            let result = runtime
                .spawn_with(spawn, {
                    let plan = Arc::clone(&plan);
                    move || plan.nest(0)
                })
                .join();
            match &result {
                Ok(()) => ends[0] += 1,
                Err(JoinError::Cancelled) => ends[1] += 1,
                Err(JoinError::Panicked(payload)) => {
                    assert!(payload.downcast_ref::<String>().is_none(), "an assertion of the test");
                    ends[2] += 1;
                }
                Err(error) => panic!("{error}"),
            }
            discard(result);
            plan.census.assert_all_gone();
        }
        runtime.shutdown().expect("an orderly end");
        assert!(ends.iter().all(|count| *count > 10), "returned, cancelled, panicked: {ends:?}");
    }
}
