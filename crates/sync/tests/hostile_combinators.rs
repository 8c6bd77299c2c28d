//! Combinators whose members, results and panics have destructors that panic.
#![cfg(not(loom))]

use sateen_sync::block_on;
use sateen_sync::combinators::{OneOf2, all_or_errors, first_ok, join_all, race, try_join_all};
use sateen_testkit::poll;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};

/// Counts its drop, and panics with its name.
#[derive(Debug)]
struct Bomb<'a>(&'static str, &'a AtomicUsize);

impl Drop for Bomb<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
        panic_any(self.0);
    }
}

/// A future that does as `F` says, and panics when it is dropped.
struct Member<'a, F>(F, #[expect(dead_code, reason = "dropped")] Bomb<'a>);

impl<F: Future + Unpin> Future for Member<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

/// A future that panics with `payload`.
async fn panicking<T>(payload: &'static str) -> T {
    panic_any(payload)
}

/// The text with which `f` panics.
fn panic_of<R>(f: impl FnOnce() -> R) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    Some(payload.downcast_ref::<&'static str>().expect("a text"))
}

/// A payload whose destructor panics.
struct Evil;

impl Drop for Evil {
    fn drop(&mut self) {
        panic!("a payload's destructor");
    }
}

#[test]
fn of_a_member_that_panics_twice_the_first_panic_goes_on() {
    let drops = AtomicUsize::new(0);
    let bad = Member(Box::pin(panicking::<()>("poll")), Bomb("drop", &drops));
    assert_eq!(panic_of(|| block_on(join_all((bad, ready(()))))), Some("poll"));
    assert_eq!(drops.load(SeqCst), 1);

    // The second panic has a payload that panics: nothing of that may cost the others their polls.
    struct EvilMember;
    impl Future for EvilMember {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic_any("poll")
        }
    }
    impl Drop for EvilMember {
        fn drop(&mut self) {
            panic_any(Evil);
        }
    }
    let polled = AtomicUsize::new(0);
    let other = async {
        polled.fetch_add(1, SeqCst);
    };
    assert_eq!(panic_of(|| block_on(join_all((EvilMember, other)))), Some("poll"));
    assert_eq!(polled.load(SeqCst), 1);
}

#[test]
fn a_result_whose_future_panics_when_dropped_may_panic_too() {
    let drops = AtomicUsize::new(0);
    let bad = Member(ready(Bomb("result", &drops)), Bomb("future", &drops));
    assert_eq!(panic_of(|| block_on(join_all((bad, ready(()))))), Some("future"));
    assert_eq!(drops.load(SeqCst), 2);
}

#[test]
fn losers_that_panic_when_dropped_cost_no_result() {
    let drops = AtomicUsize::new(0);
    let loser = |name| Member(pending::<u8>(), Bomb(name, &drops));
    let won = catch_unwind(AssertUnwindSafe(|| {
        block_on(race((loser("one"), ready('a'), loser("two"), loser("three"))))
    }));
    assert!(matches!(won, Ok(sateen_sync::combinators::OneOf4::B('a'))));
    assert_eq!(drops.load(SeqCst), 3, "all are dropped");

    // A panic that has won goes on, not one of a loser.
    assert_eq!(panic_of(|| block_on(race((loser("a"), panicking::<u8>("won"))))), Some("won"));

    let loser = || Member(pending::<Result<u8, u8>>(), Bomb("loser", &drops));
    let ok = catch_unwind(AssertUnwindSafe(|| {
        block_on(first_ok((loser(), ready(Ok::<_, u8>(1)), loser())))
    }));
    assert!(matches!(ok, Ok(Ok(sateen_sync::combinators::OneOf3::B(1)))));
    let failed = catch_unwind(AssertUnwindSafe(|| {
        block_on(try_join_all((loser(), ready(Err::<u8, _>(2)), loser())))
    }));
    assert!(matches!(failed, Ok(Err(2))));
}

#[test]
fn a_race_that_a_loser_ended_badly_is_over() {
    let drops = AtomicUsize::new(0);
    let mut race = pin!(race((Member(pending::<u8>(), Bomb("loser", &drops)), ready(1))));
    assert!(matches!(
        catch_unwind(AssertUnwindSafe(|| poll(race.as_mut()))),
        Ok(Poll::Ready(OneOf2::B(1)))
    ));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(race.as_mut()).is_ready())).is_err());
    assert_eq!(drops.load(SeqCst), 1);
}

#[test]
fn errors_that_panic_when_dropped_cost_no_success() {
    let drops = AtomicUsize::new(0);
    let no = |name| ready(Err::<u8, _>(Bomb(name, &drops)));
    let ok =
        catch_unwind(AssertUnwindSafe(|| block_on(first_ok([no("one"), no("two"), ready(Ok(3))]))));
    assert!(matches!(ok, Ok(Ok(3))));
    assert_eq!(drops.load(SeqCst), 2);
}

#[test]
fn values_that_panic_when_dropped_cost_no_error() {
    let drops = AtomicUsize::new(0);
    let yes = |name| ready(Ok::<_, u8>(Bomb(name, &drops)));
    let failed = catch_unwind(AssertUnwindSafe(|| {
        block_on(all_or_errors([yes("one"), yes("two"), ready(Err(1)), ready(Err(2))]))
    }));
    assert!(matches!(failed, Ok(Err(errors)) if errors == [1, 2]));
    assert_eq!(drops.load(SeqCst), 2);
    let failed = catch_unwind(AssertUnwindSafe(|| {
        block_on(try_join_all([yes("one"), yes("two"), ready(Err(1))]))
    }));
    assert!(matches!(failed, Ok(Err(1))));
    assert_eq!(drops.load(SeqCst), 4);
}

#[test]
fn results_beside_a_panic_may_panic_when_dropped() {
    sateen_testkit::print_no_panics_under_miri();
    let drops = AtomicUsize::new(0);
    let bomb = |name| ready(Bomb(name, &drops));
    let all = join_all((bomb("one"), panicking::<u8>("member"), bomb("two")));
    assert_eq!(panic_of(|| block_on(all)), Some("member"));
    assert_eq!(drops.load(SeqCst), 2);
    let no = |name| ready(Err::<u8, _>(Bomb(name, &drops)));
    let all = first_ok((no("one"), panicking::<Result<u8, Bomb<'_>>>("member"), no("two")));
    assert_eq!(panic_of(|| block_on(all).is_ok()), Some("member"));
    assert_eq!(drops.load(SeqCst), 4);
    let yes = |name| ready(Ok::<_, u8>(Bomb(name, &drops)));
    let all = all_or_errors((yes("one"), panicking::<Result<u8, u8>>("member"), yes("two")));
    assert_eq!(panic_of(|| block_on(all).is_ok()), Some("member"));
    assert_eq!(drops.load(SeqCst), 6);
}

/// Members and results that are left at once, also while the thread unwinds.
#[test]
fn what_is_left_of_a_dropped_combinator_may_panic() {
    for unwinding in [false, true] {
        let drops = AtomicUsize::new(0);
        let never = |name| Member(pending::<Bomb<'_>>(), Bomb(name, &drops));
        let bomb = |name| ready(Bomb(name, &drops));
        let mut all = Box::pin(join_all((never("a"), bomb("b"), never("c"), bomb("d"))));
        assert!(poll(all.as_mut()).is_pending());
        let panic = panic_of(|| {
            let _dropped = all;
            if unwinding {
                panic_any("the reason");
            }
        });
        assert_eq!(panic, Some(if unwinding { "the reason" } else { "a" }));
        assert_eq!(drops.load(SeqCst), 4);
    }
}
