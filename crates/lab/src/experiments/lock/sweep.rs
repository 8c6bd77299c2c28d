//! The two limits of the spinning, one at a time.

use super::SECTIONS;
use super::shared::{Contest, figures, window};
use crate::adapter::LockKind;
use crate::experiment::{Group, Plan, Run};
use crate::ours::locks::Raw;
use sateen::sync::spin::{Limits, TtasAdaptiveFutex};

/// The defaults, for the limit that is not varied.
const TESTS: u32 = 100;
const COLLISIONS: u32 = 5;

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut sweep = Sweep { plan, groups: Vec::new() };
    for threads in [2, 8] {
        sweep.add::<0, COLLISIONS>("tests", threads, 0);
        sweep.add::<10, COLLISIONS>("tests", threads, 10);
        sweep.add::<50, COLLISIONS>("tests", threads, 50);
        sweep.add::<100, COLLISIONS>("tests", threads, 100);
        sweep.add::<200, COLLISIONS>("tests", threads, 200);
        sweep.add::<1000, COLLISIONS>("tests", threads, 1000);
    }
    for threads in [2, 8] {
        sweep.add::<TESTS, 0>("collisions", threads, 0);
        sweep.add::<TESTS, 2>("collisions", threads, 2);
        sweep.add::<TESTS, 5>("collisions", threads, 5);
        sweep.add::<TESTS, 8>("collisions", threads, 8);
        sweep.add::<TESTS, 16>("collisions", threads, 16);
    }
    sweep.groups
}

struct Sweep<'a> {
    plan: &'a Plan,
    groups: Vec<Group>,
}

impl Sweep<'_> {
    /// Group `sweep-TWEAK`, config `tTHREADS-nVALUE`.
    fn add<const T: u32, const C: u32>(&mut self, tweak: &str, threads: usize, value: u32) {
        let section = &SECTIONS[1];
        let contest = Contest { threads, section: *section, reads: 0, window: window(self.plan) };
        let config = format!("t{threads}-n{value}");
        let mut figures = figures(&format!("sweep-{tweak}"), &config, threads, section);
        for figure in &mut figures {
            figure.name += &format!(", {value} {tweak}");
            figure.description += &format!("; at most {T} tests, {C} collisions");
        }
        let mut group = Group::new(threads, figures);
        type Kind<const T: u32, const C: u32> = Raw<TtasAdaptiveFutex<Limits<T, C>>>;
        group.add(Kind::<T, C>::NAME, move || Ok(Run(move || contest.values::<Kind<T, C>>())));
        self.groups.push(group);
    }
}
