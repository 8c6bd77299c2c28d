//! Loops whose own code is hostile, at each moment at which a loop calls it, on the owner's side
//! and on the thief's. Whatever it does, each item is dropped once, and a loop that returns has all
//! of them, in order.

use sateen_base::unwind::{discard, run_to_end};
use sateen_runtime::iter::{Lazy, Piece};
use sateen_runtime::{
    Builder, CancelToken, JoinError, Runtime, Spawn, join, par_for, scope, sleep, yield_now,
};
use sateen_testkit::watched;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// When a loop calls the code of a [`Piece`], or drops one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Begin,
    IsFull,
    GiveUp,
    Work,
    Halve,
    GoOn,
    Append,
    End,
    DropItem,
    DropState,
    DropRest,
    DropSeam,
    DropOutput,
}

const MOMENTS: [Moment; 13] = [
    Moment::Begin,
    Moment::IsFull,
    Moment::GiveUp,
    Moment::Work,
    Moment::Halve,
    Moment::GoOn,
    Moment::Append,
    Moment::End,
    Moment::DropItem,
    Moment::DropState,
    Moment::DropRest,
    Moment::DropSeam,
    Moment::DropOutput,
];

/// What the code does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Panic,
    EvilPayload,
    Cancel,
    Yield,
    /// A wait, at which a task that was cancelled unwinds.
    Sleep,
    /// Cancels, then waits.
    End,
    Nest,
    Spawn,
    /// Forgets a result.
    Leak,
}

const ACTS: [Act; 9] = [
    Act::Panic,
    Act::EvilPayload,
    Act::Cancel,
    Act::Yield,
    Act::Sleep,
    Act::End,
    Act::Nest,
    Act::Spawn,
    Act::Leak,
];

struct Evil;

impl Drop for Evil {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic_any(Self);
        }
    }
}

/// At this moment, the call of this number, on this side, does so.
#[derive(Clone, Copy, Debug)]
struct Strike {
    moment: Moment,
    call: u64,
    side: Side,
    act: Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The thread that begins the loop.
    Owner,
    /// Any other.
    Thief,
}

/// What a loop is to do, and what has become of its values.
struct Plan {
    strikes: Vec<Strike>,
    /// No more is wanted after so many items.
    enough: u64,
    /// The owner's first item waits until a thief has begun.
    meets: bool,
    /// The destructor of a state that the loop itself holds panics in an unwinding, too.
    bold: bool,
    /// The thief's first item waits until the task is cancelled, which happens once it has begun.
    waits_for_end: bool,
    token: CancelToken,
    owner: OnceLock<ThreadId>,
    met: AtomicBool,
    worked: AtomicU64,
    /// For each side.
    calls: [[AtomicU64; 2]; MOMENTS.len()],
    /// How often each item was dropped.
    dropped: Vec<AtomicU32>,
    /// Values of all kinds that are there.
    live: AtomicUsize,
}

impl Plan {
    fn new(items: usize, strikes: Vec<Strike>) -> Self {
        Self {
            strikes,
            enough: u64::MAX,
            meets: false,
            bold: false,
            waits_for_end: false,
            token: CancelToken::new(),
            owner: OnceLock::new(),
            met: AtomicBool::new(false),
            worked: AtomicU64::new(0),
            calls: [const { [const { AtomicU64::new(0) }; 2] }; MOMENTS.len()],
            dropped: (0..items).map(|_| AtomicU32::new(0)).collect(),
            live: AtomicUsize::new(0),
        }
    }

    fn strike(&self, moment: Moment) {
        let me = thread::current().id();
        let side = match *self.owner.get_or_init(|| me) == me {
            true => Side::Owner,
            false => Side::Thief,
        };
        match (moment, side) {
            (Moment::Begin, Side::Thief) => self.met.store(true, SeqCst),
            (Moment::Work, Side::Owner) => {
                while self.meets && !self.met.load(SeqCst) {
                    thread::yield_now();
                }
            }
            (Moment::Work, Side::Thief) => {
                while self.waits_for_end && !self.token.is_cancelled() {
                    thread::yield_now();
                }
            }
            _ => {}
        }
        let call = self.calls[moment as usize][side as usize].fetch_add(1, SeqCst);
        let mine = |s: &&Strike| (s.moment, s.side, s.call) == (moment, side, call);
        self.strikes.iter().filter(mine).for_each(|strike| self.act(strike));
    }

    fn act(&self, strike: &Strike) {
        match strike.act {
            // A second panic would end the process, by the rules of the language.
            Act::Panic | Act::EvilPayload
                if thread::panicking() && !(self.bold && strike.moment == Moment::DropState) => {}
            Act::Panic => panic_any((strike.side, strike.moment)),
            Act::EvilPayload => panic_any(Evil),
            Act::Cancel => self.token.cancel(),
            Act::Yield => yield_now(),
            Act::Sleep => sleep(Duration::from_micros(50)),
            Act::End => {
                self.token.cancel();
                sleep(Duration::from_micros(50));
            }
            Act::Nest => {
                let sum = AtomicUsize::new(0);
                par_for(0..8, |i| _ = sum.fetch_add(i, SeqCst));
                assert_eq!(sum.into_inner(), 28);
            }
            Act::Spawn => scope(|s| (0..2).for_each(|_| s.spawn(|_| yield_now()))),
            Act::Leak => std::mem::forget(join(|| Box::new(1), || Box::new(2)).1),
        }
    }

    /// The ledger: each item was dropped once, and nothing else is left.
    fn check(&self) {
        let of = |dropped: &AtomicU32| dropped.load(SeqCst);
        let dropped: Vec<u32> = self.dropped.iter().map(of).collect();
        assert!(dropped.iter().all(|n| *n == 1), "{dropped:?}: {:?}", self.strikes);
        assert_eq!(self.live.load(SeqCst), 0, "values are left: {:?}", self.strikes);
    }
}

/// Something that is counted while it is there, and strikes when it is dropped.
struct Counted(Arc<Plan>, Moment);

impl Counted {
    fn new(plan: &Arc<Plan>, moment: Moment) -> Self {
        plan.live.fetch_add(1, SeqCst);
        Self(Arc::clone(plan), moment)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, SeqCst);
        self.0.strike(self.1);
    }
}

struct Item {
    id: usize,
    counted: Counted,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.counted.0.dropped[self.id].fetch_add(1, SeqCst);
    }
}

/// Items that a destructor drops one by one, whichever of them panics.
struct Items(Vec<Item>);

impl Drop for Items {
    fn drop(&mut self) {
        run_to_end(|| self.0.pop().is_some());
    }
}

struct Rest {
    items: Items,
    counted: Counted,
}

struct State {
    done: Items,
    counted: Counted,
    /// A state stays on its thread.
    _not_send: Cell<*const ()>,
}

struct Made {
    done: Items,
    _counted: Counted,
}

struct Hostile;

impl Piece for Hostile {
    type Rest = Rest;
    type State = State;
    type Seam = Counted;
    type Output = Made;

    fn begin(rest: &Rest) -> State {
        let plan = &rest.counted.0;
        plan.strike(Moment::Begin);
        let counted = Counted::new(plan, Moment::DropState);
        State { done: Items(Vec::new()), counted, _not_send: Cell::new(std::ptr::null()) }
    }

    fn left(rest: &Rest) -> usize {
        rest.items.0.len()
    }

    fn is_full(_state: &State, rest: &Rest) -> bool {
        let plan = &rest.counted.0;
        plan.strike(Moment::IsFull);
        plan.worked.load(SeqCst) >= plan.enough
    }

    fn give_up(_: &mut State, rest: Rest) {
        rest.counted.0.strike(Moment::GiveUp);
    }

    fn work(state: &mut State, mut rest: Rest, count: usize) -> Option<Rest> {
        let plan = Arc::clone(&rest.counted.0);
        for _ in 0..count {
            plan.strike(Moment::Work);
            state.done.0.push(rest.items.0.remove(0));
            plan.worked.fetch_add(1, SeqCst);
        }
        (!rest.items.0.is_empty()).then_some(rest)
    }

    fn halve(mut rest: Rest) -> (Rest, Counted, Rest) {
        let plan = Arc::clone(&rest.counted.0);
        plan.strike(Moment::Halve);
        let middle = rest.items.0.len() / 2;
        let items = Items(rest.items.0.split_off(middle));
        let behind = Rest { items, counted: Counted::new(&plan, Moment::DropRest) };
        (rest, Counted::new(&plan, Moment::DropSeam), behind)
    }

    fn go_on(_: &mut State, seam: Counted) {
        seam.0.strike(Moment::GoOn);
    }

    fn append(state: &mut State, seam: Counted, mut output: Made) {
        seam.0.strike(Moment::Append);
        state.done.0.append(&mut output.done.0);
    }

    fn end(state: State) -> Made {
        let State { done, counted, .. } = state;
        counted.0.strike(Moment::End);
        let output = Counted::new(&counted.0, Moment::DropOutput);
        drop(counted);
        Made { done, _counted: output }
    }
}

/// The items of a loop of `plan`.
fn rest(plan: &Arc<Plan>) -> Rest {
    let item = |id| Item { id, counted: Counted::new(plan, Moment::DropItem) };
    let items = Items((0..plan.dropped.len()).map(item).collect());
    Rest { items, counted: Counted::new(plan, Moment::DropRest) }
}

/// The loop itself, with what it returns.
fn work(rest: Rest, items: usize, all: bool) {
    let made = Lazy::in_chunks(1).run::<Hostile>(rest);
    let ids: Vec<usize> = made.done.0.iter().map(|item| item.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "out of order: {ids:?}");
    assert!(!all || ids.len() == items, "an item is missing: {ids:?}");
}

/// Runs a loop of `plan` on `rt`, and checks what is left of it. Returns how it ended.
fn run(rt: &Runtime, plan: Plan) -> Result<(), JoinError> {
    let plan = Arc::new(plan);
    let (rest, items, all) = (rest(&plan), plan.dropped.len(), plan.enough == u64::MAX);
    let task = rt.spawn_with(Spawn::new().token(&plan.token), move || work(rest, items, all));
    if plan.waits_for_end {
        while !plan.met.load(SeqCst) {
            thread::yield_now();
        }
        plan.token.cancel();
    }
    let result = task.join();
    if let Err(JoinError::Panicked(payload)) = &result {
        check_payload(payload.downcast_ref(), &plan);
    }
    plan.check();
    result
}

/// The assertions of this file panic with a `String`.
fn check_payload(text: Option<&String>, plan: &Plan) {
    assert!(text.is_none(), "{text:?}: {:?}", plan.strikes);
}

/// The runtimes under test: in some a waiter keeps its thread, and helps.
fn runtimes(workers: &[usize], f: impl Fn(&Runtime, usize)) {
    let of = |workers: usize, set: fn(Builder) -> Builder| {
        let rt = set(Runtime::builder().workers(workers)).build().expect("a runtime");
        f(&rt, workers);
        rt.shutdown().expect("an orderly end");
    };
    for workers in workers {
        of(*workers, |builder| builder);
        of(*workers, |builder| builder.keep_threads(true));
    }
    of(workers[workers.len() - 1], |builder| builder.strict(true));
}

/// Each act at each moment on each side, while a thief has a half.
#[test]
fn each_act_at_each_moment_of_owner_and_thief() {
    runtimes(&[2, 4], |rt, _| {
        for moment in MOMENTS {
            for act in ACTS {
                for (side, call) in [(Side::Owner, 0), (Side::Owner, 1), (Side::Thief, 0)] {
                    let strike = Strike { moment, call, side, act };
                    watched(&format!("{strike:?}"), || {
                        let mut plan = Plan::new(8, vec![strike]);
                        plan.meets = true;
                        discard(run(rt, plan));
                    });
                }
            }
        }
    });
}

/// Of several panics the owner's goes on, or else the thief's. A destructor's panic that comes with
/// it goes nowhere.
#[test]
fn the_right_panic_goes_on() {
    use Act::{EvilPayload, Panic};
    use {Moment::*, Side::*};
    let pairs = [
        [(Owner, Work, Panic), (Thief, Work, EvilPayload)],
        [(Owner, Work, Panic), (Thief, Work, Panic)],
        [(Owner, Work, Panic), (Owner, DropOutput, Panic)],
        [(Owner, Work, Panic), (Owner, DropOutput, EvilPayload)],
        [(Thief, Work, Panic), (Owner, DropState, Panic)],
        [(Owner, Work, Panic), (Owner, DropState, Panic)],
        [(Owner, Work, Panic), (Owner, DropState, EvilPayload)],
        [(Thief, Work, Panic), (Owner, DropItem, EvilPayload)],
        [(Thief, End, Panic), (Owner, DropState, EvilPayload)],
    ];
    runtimes(&[2, 4], |rt, _| {
        for pair in pairs {
            watched(&format!("{pair:?}"), || {
                let strike = |(side, moment, act)| Strike { moment, call: 0, side, act };
                // Each half is one item.
                let mut plan = Plan::new(2, pair.map(strike).to_vec());
                (plan.meets, plan.bold) = (true, true);
                let Err(JoinError::Panicked(payload)) = run(rt, plan) else {
                    panic!("no panic: {pair:?}")
                };
                let (side, moment, _) = pair[0];
                assert_eq!(payload.downcast_ref(), Some(&(side, moment)), "{pair:?}");
            });
        }
    });
}

/// A task is cancelled while its loop waits for a thief, whose half ends as if nothing were. What
/// both have made is dropped.
#[test]
fn a_loop_is_cancelled_while_it_waits_for_a_thief() {
    runtimes(&[2, 8], |rt, _| {
        let mut cancelled = 0;
        for round in 0..200 {
            watched("a loop that is cancelled", || {
                let mut plan = Plan::new(2 + round % 3, Vec::new());
                (plan.meets, plan.waits_for_end) = (true, true);
                match run(rt, plan) {
                    Err(JoinError::Cancelled) => cancelled += 1,
                    // The thief ended before the owner came to wait for it.
                    Ok(()) => {}
                    Err(error) => panic!("{error:?}"),
                }
            });
        }
        assert!(cancelled > 0, "no loop waited");
    });
}

/// The same acts in a loop that a plain thread has begun.
#[test]
fn each_act_at_each_moment_outside() {
    for moment in MOMENTS {
        for act in ACTS {
            for side in [Side::Owner, Side::Thief] {
                let plan = Plan::new(8, vec![Strike { moment, call: 0, side, act }]);
                watched(&format!("{:?}", plan.strikes), || {
                    let plan = Arc::new(plan);
                    let rest = rest(&plan);
                    let result = catch_unwind(AssertUnwindSafe(|| work(rest, 8, true)));
                    if let Err(payload) = &result {
                        check_payload(payload.downcast_ref(), &plan);
                    }
                    discard(result);
                    plan.check();
                });
            }
        }
    }
}

/// A small generator. The sequence depends on the seed alone.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Loops of drawn lengths, with several acts at drawn calls, some with an early end.
#[test]
fn drawn_acts_on_any_number_of_workers() {
    let returned = AtomicUsize::new(0);
    runtimes(&[1, 2, 8], |rt, workers| {
        for seed in 1..=300 {
            let mut draw = Draw(0x9E37_79B9_7F4A_7C15 ^ (seed << 20) ^ workers as u64);
            let items = 1 + draw.below(60) as usize;
            let mut strike = |most| Strike {
                moment: draw.of(&MOMENTS),
                call: draw.below(most),
                side: draw.of(&[Side::Owner, Side::Thief]),
                act: draw.of(&ACTS),
            };
            let strikes: Vec<Strike> = [1, 2, 4, 20, 20].map(&mut strike).to_vec();
            let mut plan = Plan::new(items, strikes[draw.below(5) as usize..].to_vec());
            if draw.below(3) == 0 {
                plan.enough = draw.below(items as u64);
            }
            plan.meets = draw.below(2) == 0 && workers > 1 && items > 1;
            watched(&format!("seed {seed}, {workers} workers: {:?}", plan.strikes), || {
                let result = run(rt, plan);
                returned.fetch_add(usize::from(result.is_ok()), SeqCst);
                discard(result);
            });
        }
    });
    assert!(returned.into_inner() > 500, "few loops were left alone");
}
