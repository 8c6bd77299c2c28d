//! A lock that nobody else wants.

use super::{Counter, Section, figure, work};
use crate::adapter::{LockKind, LockVisitor, SharedLockKind, visit_locks};
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan, Run, per_call};
use std::hint::black_box;

/// Group `uncontended-SECTION`.
pub(super) fn group(plan: &Plan, section: &Section) -> Group {
    let what = match section.name {
        // The time of the pair alone: nothing is counted.
        "empty" => "a thread alone locks and unlocks: time by pairs".to_owned(),
        _ => format!(
            "a thread alone locks, computes, and unlocks, {}: time by pairs",
            section.words()
        ),
    };
    let case = format!("uncontended-{}", section.name);
    let mut group = Group::new(1, vec![figure(case, "t1".to_owned(), 1, what)]);
    group.figures[0].name = format!("time per {} critical section/1 thread", section.name);
    let pairs = match section.name {
        "empty" => plan.size(1 << 20, 1 << 8),
        "short" => plan.size(1 << 18, 1 << 8),
        _ => plan.size(1 << 13, 1 << 6),
    };
    visit_locks(plan.peers, &mut AddAll { group: &mut group, section: *section, pairs });
    group
}

pub(super) struct AddAll<'a> {
    pub(super) group: &'a mut Group,
    pub(super) section: Section,
    pub(super) pairs: u32,
}

impl AddAll<'_> {
    fn add_counted<L: LockKind>(&mut self) {
        let (pairs, length) = (self.pairs, self.section.length);
        self.group.add(L::NAME, move || {
            let (lock, steps) = (L::new(Counter::default()), work::within(length));
            Ok(Run(move || counted::<L>(&lock, pairs, steps)))
        });
    }
}

impl LockVisitor for AddAll<'_> {
    fn visit<L: SharedLockKind>(&mut self) {
        if !self.section.length.is_zero() {
            return self.add_counted::<L>();
        }
        let pairs = self.pairs;
        self.group.add(L::NAME, move || {
            let lock = L::new(());
            Ok(Run(move || per_call(pairs, || L::with(black_box(&lock), |()| ()))))
        });
    }

    fn visit_local<L: LockKind>(&mut self) {
        if !self.section.length.is_zero() {
            return self.add_counted::<L>();
        }
        let pairs = self.pairs;
        self.group.add(L::NAME, move || {
            let lock = L::new(());
            // Else the compiler leaves out what nobody can see.
            let pair = move || L::with(black_box(&lock), |()| _ = black_box(&lock));
            Ok(Run(move || per_call(pairs, &pair)))
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
