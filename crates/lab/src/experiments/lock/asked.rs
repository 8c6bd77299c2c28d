//! One context that somebody asks about, with all kinds.

use super::alone;
use super::shared::{self, Contest, figures};
use super::{Section, figure};
use crate::adapter::{visit_locks, visit_read_write};
use crate::experiment::Group;
use std::time::Duration;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    /// Length of the critical sections.
    pub(crate) section: Duration,
    /// Time between a thread's own; as long as a section if not said.
    pub(crate) between: Option<Duration>,
    /// Of a hundred sections, those that only read.
    pub(crate) reads: usize,
    /// Length of a run.
    pub(crate) window: Duration,
}

impl Asked {
    /// Time by sections first; several threads also have the figures of a contest.
    pub(crate) fn group(&self) -> Group {
        let section = Section::asked(self.section, self.between);
        if self.threads == 1 {
            return self.alone(section);
        }
        let (case, config) = (self.case(), format!("t{}", self.threads));
        let contest =
            Contest { threads: self.threads, section, reads: self.reads, window: self.window };
        let mut group = Group::new(self.threads, figures(&case, &config, self.threads, &section));
        let mut add = shared::AddAll { group: &mut group, contest };
        visit_locks(true, &mut add);
        if self.reads > 0 {
            visit_read_write(true, &mut add);
        }
        group
    }

    /// Reading makes no difference to a thread alone.
    fn alone(&self, section: Section) -> Group {
        let what = format!("a thread alone, {}: time by sections", section.words());
        let mut group = Group::new(1, vec![figure(self.case(), "t1".to_owned(), 1, what)]);
        let pair = section.length.as_nanos().max(20);
        let pairs = (self.window.as_nanos() / pair).clamp(16, 1 << 20) as u32;
        visit_locks(true, &mut alone::AddAll { group: &mut group, section, pairs });
        group
    }

    fn case(&self) -> String {
        format!("lock-{}ns-reads{}", self.section.as_nanos(), self.reads)
    }
}
