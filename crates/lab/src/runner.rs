//! Runs groups: subjects take turns (A B A B …), each turn on a fresh session.
//!
//! A turn opens the subject's session, warms it up, runs it until the turn's share of the budget is
//! spent, and closes it, so that no other implementation's threads exist meanwhile. Several turns
//! spread each subject's runs over the group's whole time: a machine that slows down half-way slows
//! all of them down alike.

use crate::apart;
use crate::error::Error;
use crate::experiment::{Experiment, Figure, Group, Plan, Subject};
use crate::host::Watch;
use crate::report::{Progress, note};
use crate::select::Selection;
use crate::stats::ENOUGH_ROUNDS;
use crate::store::{Record, Shared, identity};
use crate::turn::{self, Quota};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs the wanted part of experiments into a store.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) selection: &'a Selection,
    pub(crate) store: &'a Shared,
    pub(crate) progress: &'a Progress,
    /// Notes about implementations that are not available here; each is printed once.
    pub(crate) said: RefCell<BTreeSet<String>>,
}

/// Returns the identities of everything `experiment` measures under `plan`.
pub(crate) fn identities(experiment: &dyn Experiment, plan: &Plan) -> Vec<String> {
    let mut ids = Vec::new();
    for group in experiment.groups(plan) {
        for figure in &group.figures {
            let of = |s: &Subject| identity(experiment.name(), s.implementation, figure);
            ids.extend(group.subjects.iter().map(of));
        }
    }
    ids
}

impl Runner<'_> {
    /// Returns how many turns each subject of `group` gets.
    fn turns(&self, group: &Group) -> u32 {
        if self.plan.smoke {
            return 1;
        }
        let fine = (self.plan.budget.as_secs_f64() * 5.0).ceil() as u32;
        fine.clamp(ENOUGH_ROUNDS as u32, 25).min(group.max_runs.unwrap_or(u32::MAX)).max(1)
    }

    /// Returns the groups of `experiment` that have a wanted figure, with the wanted subjects only.
    pub(crate) fn wanted(&self, experiment: &dyn Experiment) -> Vec<Group> {
        let wants = |group: &Group, subject: &Subject| {
            let id = |f| identity(experiment.name(), subject.implementation, f);
            group.figures.iter().any(|f| self.selection.wants(&id(f)))
        };
        let mut groups = experiment.groups(self.plan);
        if self.plan.short {
            groups.retain(|g| g.in_tour);
        }
        for group in &mut groups {
            let mut subjects = std::mem::take(&mut group.subjects);
            subjects.retain(|s| wants(group, s));
            group.subjects = subjects;
        }
        groups.retain(|g| !g.subjects.is_empty());
        groups
    }

    /// Returns how many turns [`Runner::run`] will take for `groups`: the length of the progress
    /// bar.
    pub(crate) fn length(&self, groups: &[Group]) -> u64 {
        groups.iter().map(|g| g.subjects.len() as u64 * u64::from(self.turns(g))).sum()
    }

    /// Returns how many subjects of `experiment` are wanted.
    pub(crate) fn subjects(&self, experiment: &dyn Experiment) -> u64 {
        self.wanted(experiment).iter().map(|g| g.subjects.len() as u64).sum()
    }

    /// Measures `groups` of `experiment`.
    ///
    /// # Errors
    /// A session cannot be set up, or computed something wrong.
    pub(crate) fn run(&self, experiment: &dyn Experiment, groups: &[Group]) -> Result<(), Error> {
        for group in groups {
            self.run_group(experiment.name(), group)?;
        }
        Ok(())
    }

    fn run_group(&self, experiment: &'static str, group: &Group) -> Result<(), Error> {
        let rows: Vec<Vec<Option<usize>>> =
            group.subjects.iter().map(|s| self.open_records(experiment, group, s)).collect();
        let turns = self.turns(group);
        let watch = Watch::start();
        let mut absent = vec![false; rows.len()];
        for turn in 0..turns {
            for ((subject, records), absent) in group.subjects.iter().zip(&rows).zip(&mut absent) {
                if *absent {
                    self.progress.step();
                    continue;
                }
                let label = identity(experiment, subject.implementation, &group.figures[0]);
                self.progress.show(&label);
                let quota = self.quota(group, turn, turns);
                let each = |values: &[f64]| self.enter(records, values);
                let result = if subject.apart {
                    apart::take_turn(&label, self.plan, quota, subject, each)
                } else {
                    turn::take(subject, quota, each)
                };
                self.end_round(records);
                match result {
                    Ok(()) => {}
                    Err(Error::Absent(text)) => {
                        *absent = true;
                        self.say(text);
                    }
                    Err(Error::Wrong(text)) => {
                        return Err(Error::Wrong(format!("{label}: {text}")));
                    }
                    Err(Error::Input(text)) => {
                        return Err(Error::Input(format!("{label}: {text}")));
                    }
                    Err(other) => return Err(other),
                }
                self.progress.step();
            }
        }
        let notes = watch.notes(group.threads);
        let mut store = self.store.lock();
        for index in rows.into_iter().flatten().flatten() {
            store.records[index].notes.extend(notes.iter().cloned());
        }
        Ok(())
    }

    /// Prints a note, unless it was printed before.
    pub(crate) fn say(&self, text: String) {
        let text = Error::Absent(text).to_string();
        self.progress.suspend(|| {
            let fresh = !self.said.borrow().contains(&text);
            if fresh {
                note(&format!("not measured: {text}"));
            }
        });
        self.said.borrow_mut().insert(text);
    }

    /// Enters a record for each wanted figure of `subject`. Returns the records' indices by figure.
    pub(crate) fn open_records(
        &self,
        experiment: &'static str,
        group: &Group,
        subject: &Subject,
    ) -> Vec<Option<usize>> {
        let mut store = self.store.lock();
        let mut open = |figure: &Figure| {
            let implementation = subject.implementation;
            if !self.selection.wants(&identity(experiment, implementation, figure)) {
                return None;
            }
            store.records.push(Record::new(experiment, implementation, figure.clone()));
            Some(store.records.len() - 1)
        };
        group.figures.iter().map(&mut open).collect()
    }

    /// Returns how often and how long the subject runs in this turn.
    pub(crate) fn quota(&self, group: &Group, turn: u32, turns: u32) -> Quota {
        if self.plan.smoke {
            return Quota { warmups: 0, at_least: 1, at_most: 1, share: Duration::ZERO };
        }
        let at_most = group.max_runs.map_or(u32::MAX, |m| m.div_ceil(turns));
        Quota {
            warmups: if turn == 0 { group.warmups } else { group.warmups.min(1) },
            at_least: group.min_runs.div_ceil(turns).min(at_most),
            at_most,
            share: self.plan.budget / turns,
        }
    }

    /// Enters the values of one run into their records.
    pub(crate) fn enter(&self, records: &[Option<usize>], values: &[f64]) {
        let mut store = self.store.lock();
        for (value, record) in values.iter().zip(records) {
            if let Some(index) = *record {
                store.records[index].samples.push(*value);
            }
        }
    }

    /// The runs that were entered last were a round.
    pub(crate) fn end_round(&self, records: &[Option<usize>]) {
        let mut store = self.store.lock();
        records.iter().flatten().for_each(|&index| store.records[index].end_round());
    }
}
