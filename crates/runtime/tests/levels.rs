//! Loops of which thieves take each half on offer. A frame of the loop waits for each, on one
//! stack.

use sateen_runtime::iter::{Lazy, Piece};
use sateen_runtime::{Builder, Runtime, sleep};
use sateen_testkit::watched;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// What has become of a loop's halves.
#[derive(Default)]
struct Halves {
    offered: AtomicUsize,
    /// Others have begun so many of them.
    taken: AtomicUsize,
    /// Iterations that the owner did.
    kept: AtomicUsize,
}

/// A part: its owner's, of any length, or one of the halves, of one iteration.
struct Rest {
    halves: Arc<Halves>,
    left: usize,
    /// How many halves had been offered at the owner's last iteration.
    seen: usize,
    is_half: bool,
}

/// A loop whose owner goes on when its half was taken, and ends when it has offered none.
struct Chain;

impl Piece for Chain {
    type Rest = Rest;
    /// Iterations, and something that takes room in each frame.
    type State = (usize, [u64; 32]);
    type Seam = ();
    type Output = usize;

    fn begin(_: &Rest) -> Self::State {
        (0, [1; 32])
    }

    fn left(rest: &Rest) -> usize {
        rest.left
    }

    fn give_up(_: &mut Self::State, _: Rest) {}

    fn work((done, room): &mut Self::State, mut rest: Rest, _: usize) -> Option<Rest> {
        *done += 1;
        black_box(room);
        if rest.is_half {
            rest.halves.taken.fetch_add(1, SeqCst);
            return None;
        }
        rest.halves.kept.fetch_add(1, SeqCst);
        let offered = rest.halves.offered.load(SeqCst);
        while rest.halves.taken.load(SeqCst) < offered {
            sleep(Duration::from_micros(20));
        }
        if offered == rest.seen {
            return None;
        }
        rest.seen = offered;
        Some(rest)
    }

    fn halve(rest: Rest) -> (Rest, (), Rest) {
        rest.halves.offered.fetch_add(1, SeqCst);
        let half = Rest { halves: rest.halves.clone(), left: 1, seen: 0, is_half: true };
        (rest, (), half)
    }

    fn go_on(_: &mut Self::State, (): ()) {}

    fn append((done, _): &mut Self::State, (): (), half: usize) {
        *done += half;
    }

    fn end((done, _): Self::State) -> usize {
        done
    }
}

/// Runs a chain where the caller is. Returns how many halves were taken.
fn chain() -> usize {
    let halves = Arc::new(Halves::default());
    let rest = Rest { halves: halves.clone(), left: usize::MAX, seen: 0, is_half: false };
    let done = Lazy::in_chunks(1).run::<Chain>(rest);
    let taken = halves.taken.load(SeqCst);
    assert_eq!(halves.offered.load(SeqCst), taken);
    assert_eq!(done, taken + halves.kept.load(SeqCst));
    taken
}

fn on(builder: Builder, f: impl FnOnce() -> usize + Send) -> usize {
    let runtime = builder.build().expect("a runtime");
    let mut taken = 0;
    watched("a loop of which thieves take each half", || taken = runtime.install(f));
    taken
}

#[test]
fn a_loop_ends_its_offers_before_the_end_of_its_stack() {
    let mut last = 0;
    for kib in [64, 192, 1024] {
        for workers in [1, 2, 8] {
            let builder = Runtime::builder().workers(workers).stack_size(kib << 10);
            let taken = on(builder, chain);
            assert!(taken > last, "{taken} halves in {kib} KiB");
        }
        let builder = Runtime::builder().workers(2).stack_size(kib << 10).keep_threads(true);
        last = on(builder, chain);
    }
    assert!(last > 30, "{last} halves in 1 MiB");
}

fn chain_on_a_used_stack() -> usize {
    let mut used = [1_u8; 140 << 10];
    black_box(&mut used);
    chain()
}

/// What the caller has on the stack already does not make a loop one worker's.
#[test]
fn a_loop_offers_a_half_from_a_stack_that_is_almost_full() {
    let builder = Runtime::builder().workers(2).stack_size(192 << 10).keep_threads(true);
    assert_eq!(on(builder, chain_on_a_used_stack), 1);
}

/// A caller that may leave its thread gives the loop a stack of its own.
#[test]
fn a_loop_that_begins_on_a_stack_that_is_almost_full_goes_to_another() {
    let taken = on(Runtime::builder().workers(2).stack_size(192 << 10), chain_on_a_used_stack);
    assert!(taken > 30, "{taken} halves");
}
