//! The context: what the user needs, and how the program will use it.

use super::answers::{Answers, Question};
use super::args::{self, AdviseArgs, Frees, Tool};
use super::lines;
use crate::error::{Error, input};
use crate::experiment::Group;
use crate::experiments::{counter, lock, pool};
use crate::host::{self, plural};
use std::time::Duration;

/// A context that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Lock(lock::Asked),
    Counter(counter::Asked),
    Pool(pool::Asked),
}

impl Context {
    /// Completes the options by answers.
    ///
    /// # Errors
    /// An option does not belong to the tool, or contradicts another, or there is no answer.
    pub(super) fn of(args: &AdviseArgs, answers: &mut Answers<'_>) -> Result<Self, Error> {
        let tool = answers.get(
            args.tool,
            &Question {
                option: "TOOL",
                text: "What do you need: lock, counter or pool?",
                default: String::new(),
                parse: args::tool,
            },
        )?;
        refuse_others(tool, args)?;
        let context = match tool {
            Tool::Lock => Self::lock(args, answers)?,
            Tool::Counter => Self::counter(args, answers)?,
            Tool::Pool => Self::pool(args, answers)?,
        };
        match host::most_threads() {
            Some(most) if context.threads() > most => Err(input(format!(
                "--threads {}: the system's limit of memory maps allows {most} threads",
                context.threads()
            ))),
            _ => Ok(context),
        }
    }

    fn lock(args: &AdviseArgs, answers: &mut Answers<'_>) -> Result<Self, Error> {
        let threads = threads(args, answers)?;
        let section = answers.get(
            args.section,
            &Question {
                option: "--section",
                text: "How long is the lock held (such as 50ns or 2us)?",
                default: "50ns".to_owned(),
                parse: args::time,
            },
        )?;
        // Reading makes no difference to a thread alone.
        let reads = if threads == 1 && args.reads.is_none() {
            0
        } else {
            answers.get(
                args.reads,
                &Question {
                    option: "--reads",
                    text: "Of a hundred sections, how many only read?",
                    default: "0".to_owned(),
                    parse: args::percent,
                },
            )?
        };
        let window = window(args);
        Ok(Self::Lock(lock::Asked { threads, section, between: args.between, reads, window }))
    }

    fn counter(args: &AdviseArgs, answers: &mut Answers<'_>) -> Result<Self, Error> {
        let threads = threads(args, answers)?;
        let total = answers.get(
            args.total,
            &Question {
                option: "--total",
                text: "When is the total read: only at the end, sometimes, or by each increment \
                       (end, sometimes, each)?",
                default: "sometimes".to_owned(),
                parse: args::total,
            },
        )?;
        let increments = if args.smoke { 1000 } else { 200_000 };
        Ok(Self::Counter(counter::Asked { threads, total, increments }))
    }

    fn pool(args: &AdviseArgs, answers: &mut Answers<'_>) -> Result<Self, Error> {
        let size = answers.get(
            args.size,
            &Question {
                option: "--size",
                text: "How large is a block, in bytes?",
                default: "64".to_owned(),
                parse: args::size,
            },
        )?;
        let frees = answers.get(
            args.frees,
            &Question {
                option: "--frees",
                text: "Which thread gives a block back: the one that took it, or another (same, \
                       other)?",
                default: "same".to_owned(),
                parse: args::frees,
            },
        )?;
        let handed_over = frees == Frees::Other;
        let (threads, shape) = if handed_over {
            only_one_way(args)?;
            (2, pool::Shape::Fifo)
        } else {
            let shape = answers.get(
                args.lifetime,
                &Question {
                    option: "--lifetime",
                    text: "When are blocks given back: at once, all together much later, or in the \
                           order taken (short, long, fifo)?",
                    default: "short".to_owned(),
                    parse: args::lifetime,
                },
            )?;
            (threads(args, answers)?, shape)
        };
        if args.live.is_some() && shape != pool::Shape::Long {
            return Err(input("--live needs --lifetime long"));
        }
        let live = args.live.unwrap_or(if args.smoke { 300 } else { 100_000 });
        let window = window(args);
        Ok(Self::Pool(pool::Asked { threads, size, shape, live, handed_over, window }))
    }

    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Lock(asked) => asked.threads,
            Self::Counter(asked) => asked.threads,
            Self::Pool(asked) => asked.threads,
        }
    }

    /// Returns the bytes of a block, if the context is about blocks.
    pub(super) fn block(&self) -> Option<usize> {
        match self {
            Self::Pool(asked) => Some(asked.size),
            _ => None,
        }
    }

    /// Returns all candidates in this context. Exhibits are none: only the lab has them.
    pub(super) fn group(&self) -> Group {
        let mut group = match self {
            Self::Lock(asked) => asked.group(),
            Self::Counter(asked) => asked.group(),
            Self::Pool(asked) => asked.group(),
        };
        group.subjects.retain(|subject| lines::of(subject.implementation, None).is_some());
        // Enough runs for an interval, however slow the candidate.
        group.min_runs = 9;
        group
    }

    /// Describes the context for people.
    pub(super) fn words(&self) -> String {
        let n = self.threads();
        let threads = format!("{n} thread{}", plural(n));
        match self {
            Self::Lock(asked) => {
                let between = asked.between.map_or(String::new(), |t| format!(", {t:?} between"));
                let section = asked.section;
                format!(
                    "a lock for {threads}, held for {section:?}{between}, {} % reads",
                    asked.reads
                )
            }
            Self::Counter(asked) => {
                let total = match asked.total {
                    counter::Total::End => "is read only at the end",
                    counter::Total::Sometimes => "is read sometimes",
                    counter::Total::Each => "each increment reads",
                };
                format!("a counter for {threads}, which {total}")
            }
            Self::Pool(asked) if asked.handed_over => {
                format!(
                    "a pool of blocks of {} bytes that one thread takes and another gives back",
                    asked.size
                )
            }
            Self::Pool(asked) => {
                let lives = match asked.shape {
                    pool::Shape::Short => "given back at once".to_owned(),
                    pool::Shape::Long => format!("given back when a thread has {}", asked.live),
                    pool::Shape::Fifo => "given back in the order taken".to_owned(),
                };
                format!("a pool for {threads}, blocks of {} bytes, {lives}", asked.size)
            }
        }
    }
}

fn threads(args: &AdviseArgs, answers: &mut Answers<'_>) -> Result<usize, Error> {
    answers.get(
        args.threads,
        &Question {
            option: "--threads",
            text: "How many threads use it at the same time?",
            default: host::cores().min(1024).to_string(),
            parse: args::threads,
        },
    )
}

fn window(args: &AdviseArgs) -> Duration {
    Duration::from_millis(if args.smoke { 1 } else { 20 })
}

/// Refuses options of other tools, so that an option without effect is not taken for one with.
fn refuse_others(tool: Tool, args: &AdviseArgs) -> Result<(), Error> {
    use Tool::{Counter, Lock, Pool};
    let given = [
        ("--section", "a lock", Lock, args.section.is_some()),
        ("--between", "a lock", Lock, args.between.is_some()),
        ("--reads", "a lock", Lock, args.reads.is_some()),
        ("--total", "a counter", Counter, args.total.is_some()),
        ("--size", "a pool", Pool, args.size.is_some()),
        ("--lifetime", "a pool", Pool, args.lifetime.is_some()),
        ("--live", "a pool", Pool, args.live.is_some()),
        ("--frees", "a pool", Pool, args.frees.is_some()),
    ];
    match given.into_iter().find(|(.., of, given)| *given && *of != tool) {
        Some((option, what, ..)) => Err(input(format!("{option} is for {what}"))),
        None => Ok(()),
    }
}

/// Refuses options that contradict `--frees other`: blocks that go to another thread are measured
/// between two.
fn only_one_way(args: &AdviseArgs) -> Result<(), Error> {
    let but = "with --frees other, one thread takes blocks and another gives them back";
    match (args.threads, args.lifetime) {
        (Some(n), _) if n != 2 => Err(input(format!("--threads {n}: {but}"))),
        (_, Some(shape)) => {
            Err(input(format!("--lifetime {}: {but}, as soon as it can", shape.name())))
        }
        _ => Ok(()),
    }
}
