//! With how many iterations a loop begins: one, or more if the last loop from its place was quick.

use sateen_runtime::Runtime;
use sateen_runtime::iter::{Lazy, Piece};
use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    /// How many iterations each chunk had. The runtime has one thread.
    static CHUNKS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A loop of so many iterations, each of which takes some time.
struct Timed;

impl Piece for Timed {
    type Rest = (usize, Duration);
    type State = ();
    type Seam = ();
    type Output = ();

    fn begin(_: &Self::Rest) {}

    fn left(rest: &Self::Rest) -> usize {
        rest.0
    }

    fn give_up((): &mut (), _: Self::Rest) {}

    fn work((): &mut (), (left, each): Self::Rest, count: usize) -> Option<Self::Rest> {
        CHUNKS.with_borrow_mut(|chunks| chunks.push(count));
        let start = Instant::now();
        while start.elapsed() < each * u32::try_from(count).expect("a small chunk") {}
        (left > count).then_some((left - count, each))
    }

    fn halve((left, each): Self::Rest) -> (Self::Rest, (), Self::Rest) {
        ((left / 2, each), (), (left - left / 2, each))
    }

    fn go_on((): &mut (), (): ()) {}

    fn append((): &mut (), (): (), (): ()) {}

    fn end((): ()) {}
}

fn on_one_thread(f: impl FnOnce() + Send) {
    let runtime = Runtime::builder().workers(1).substitutes(0).build().expect("a runtime");
    runtime.install(f);
}

/// Runs a loop. Returns its first chunk.
fn first_chunk(lazy: Lazy, iterations: usize, each: Duration) -> usize {
    CHUNKS.take();
    lazy.run::<Timed>((iterations, each));
    let chunks = CHUNKS.take();
    assert_eq!(chunks.iter().sum::<usize>(), iterations);
    chunks[0]
}

/// Runs quick loops until one has made its mark: the system may stop any of them in between.
fn be_quick(wanted: usize) {
    let quick = || first_chunk(Lazy::at_least(1), 1000, Duration::ZERO) == wanted;
    assert!((0..1000).any(|_| quick()), "no loop began with {wanted}");
}

#[test]
fn a_loop_after_quick_ones_begins_with_eight() {
    on_one_thread(|| {
        assert_eq!(first_chunk(Lazy::at_least(1), 1000, Duration::ZERO), 1);
        be_quick(8);
    });
}

#[test]
fn a_loop_after_a_slow_one_begins_with_one() {
    const SLOW: Duration = Duration::from_micros(20);
    on_one_thread(|| {
        be_quick(8);
        let first = first_chunk(Lazy::at_least(1), 100, SLOW);
        assert!(first <= 8, "{first} slow iterations");
        assert_eq!(first_chunk(Lazy::at_least(1), 100, SLOW), 1);
    });
}

/// This one may be slow, and nobody can take part of a chunk.
#[test]
fn a_first_chunk_is_at_most_an_eighth() {
    on_one_thread(|| {
        for iterations in 1..100 {
            be_quick(8);
            let first = first_chunk(Lazy::at_least(1), iterations, Duration::ZERO);
            assert!(first <= iterations.div_ceil(8), "{first} of {iterations}");
        }
    });
}

#[test]
fn a_grain_is_kept() {
    on_one_thread(|| {
        be_quick(8);
        assert_eq!(first_chunk(Lazy::in_chunks(3), 1000, Duration::ZERO), 3);
    });
}
