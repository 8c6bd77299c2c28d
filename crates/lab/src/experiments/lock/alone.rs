//! A lock that no other thread wants.

use super::{Section, figure, work};
use crate::adapter::{Counter, LockKind};
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan, Run, per_call};
use crate::registry::for_each;
use std::hint::black_box;

/// Group `uncontended-SECTION`.
pub(super) fn group(plan: &Plan, section: &Section) -> Group {
    let what = match section.name {
        // Only the pair is timed: nothing is counted.
        "empty" => "a thread alone locks and unlocks: time per pair".to_owned(),
        _ => format!(
            "a thread alone locks, computes, and unlocks, {}: time per pair",
            section.words()
        ),
    };
    let case = format!("uncontended-{}", section.name);
    let mut group = Group::new(1, vec![figure(case, "t1".to_owned(), 1, what)]);
    group.figures[0].name = format!("time per {} critical section/1 thread", section.name);
    let pairs = match section.name {
        // A kernel's lock takes half a second for all, and the tour runs ten times.
        "empty" => plan.size(if plan.short { 1 << 17 } else { 1 << 20 }, 1 << 8),
        "short" => plan.size(1 << 18, 1 << 8),
        _ => plan.size(1 << 13, 1 << 6),
    };
    for_each!(L in locks(plan.peers) => add::<L>(&mut group, section, pairs));
    group
}

/// Adds `pairs` pairs of locking and unlocking, around sections of the length of `section`.
pub(super) fn add<L: LockKind>(group: &mut Group, section: &Section, pairs: u32) {
    if !section.length.is_zero() {
        let length = section.length;
        group.add(L::NAME, move || {
            let (lock, steps) = (L::new(Counter::default()), work::within(length));
            Ok(Run(move || counted::<L>(&lock, pairs, steps)))
        });
    } else if L::LOCAL {
        group.add(L::NAME, move || {
            let lock = L::new(());
            // Otherwise the compiler removes a section that no code can observe.
            let pair = move || L::with(black_box(&lock), |()| _ = black_box(&lock));
            Ok(Run(move || per_call(pairs, &pair)))
        });
    } else {
        group.add(L::NAME, move || {
            let lock = L::new(());
            Ok(Run(move || per_call(pairs, || L::with(black_box(&lock), |()| ()))))
        });
    }
}

fn counted<L: LockKind>(lock: &L::Of<Counter>, pairs: u32, steps: u32) -> Result<Vec<f64>, Error> {
    L::with(lock, |counter| *counter = Counter { count: 0, state: 1 });
    let values = per_call(pairs, || {
        L::with(black_box(lock), |counter| {
            counter.count += 1;
            counter.state = work::steps(counter.state, steps);
        });
    });
    expect("sections", L::with(lock, |counter| counter.count), u64::from(pairs))?;
    black_box(L::with(lock, |counter| counter.state));
    values
}
