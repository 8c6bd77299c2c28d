//! One context that a user asks about, with all kinds of locks.

use super::alone;
use super::shared::{self, Contest, figures};
use super::{Section, figure};
use crate::experiment::Group;
use crate::registry::for_each;
use std::time::Duration;

/// The context that the user asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    /// Length of the critical sections.
    pub(crate) section: Duration,
    /// Time between a thread's own sections; as long as a section if not given.
    pub(crate) between: Option<Duration>,
    /// How many of a hundred sections only read.
    pub(crate) reads: usize,
    /// Length of a run.
    pub(crate) window: Duration,
}

impl Asked {
    /// Returns the group. Its first figure is the time per section; several threads also have the
    /// figures of a contest.
    pub(crate) fn group(&self) -> Group {
        let section = Section::asked(self.section, self.between);
        if self.threads == 1 {
            return self.alone(section);
        }
        let (case, config) = (self.case(), format!("t{}", self.threads));
        let contest =
            Contest { threads: self.threads, section, reads: self.reads, window: self.window };
        let mut all = figures(&case, &config, self.threads, &section);
        all.push(shared::longest(&case, &config, self.threads));
        let mut group = Group::new(self.threads, all);
        for_each!(L in shared_locks(true) => shared::add::<L>(&mut group, contest));
        if self.reads > 0 {
            for_each!(L in read_write_locks(true) => shared::add::<L>(&mut group, contest));
        }
        group
    }

    /// Reading makes no difference to a thread alone.
    fn alone(&self, section: Section) -> Group {
        let what = format!("a thread alone, {}: time per section", section.words());
        let mut group = Group::new(1, vec![figure(self.case(), "t1".to_owned(), 1, what)]);
        let pair = section.length.as_nanos().max(20);
        let pairs = (self.window.as_nanos() / pair).clamp(16, 1 << 20) as u32;
        for_each!(L in locks(true) => alone::add::<L>(&mut group, &section, pairs));
        group
    }

    fn case(&self) -> String {
        format!("lock-{}ns-reads{}", self.section.as_nanos(), self.reads)
    }
}
