//! `sateen flow`: the throttled worker queue at work.
//!
//! * `args`: the options, and what is refused.
//! * `load`: senders and workers, and what can be changed while they run.
//! * `lines`: the run in lines; `view`: the run on a terminal; `watch`: what both show.
//! * `filter`: the lines of standard input instead of numbers.

mod args;
mod filter;
mod lines;
mod load;
mod units;
mod view;
mod watch;

pub(crate) use args::FlowArgs;

use crate::error::Error;
use crate::host::plural;
use crate::{interrupt, report};
use args::{ClockKind, Goal, Policy, Settings};
use lines::Csv;
use load::Load;
use sateen_flow::{Overflow, WorkerQueue, WorkerQueueBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use view::Title;
use watch::{Look, Rates};

/// Time between two lines.
const LINE: Duration = Duration::from_secs(1);
/// Time between two checks whether to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs `sateen flow`.
///
/// # Errors
/// The options make no sense, or the run lost an item.
pub(crate) fn run(args: &FlowArgs) -> Result<(), Error> {
    let settings = args.settings()?;
    match &settings.goal {
        Goal::Numbers { duration, csv } => {
            let csv = csv.as_deref().map(Csv::create).transpose()?;
            numbers(&settings, *duration, csv)
        }
        Goal::Lines { work, ordered } => filter::run(&settings, work.clone(), *ordered),
    }
}

impl Settings {
    /// Configures the queue that is asked for, except for its rate and clock.
    fn builder<T>(&self) -> WorkerQueueBuilder<T> {
        let builder = WorkerQueue::builder().workers(self.threads).queues(self.queues);
        builder.capacity(self.capacity).steal(self.steal).overflow(match self.policy {
            Policy::Block => Overflow::Block,
            Policy::Error => Overflow::Error,
            Policy::DropOldest => Overflow::DropOldest,
            Policy::DropNewest => Overflow::DropNewest,
        })
    }

    /// Describes the run in a line.
    fn words(&self) -> String {
        let Self { threads, queues, .. } = *self;
        let clock = match self.clock {
            ClockKind::Exact => "exact".to_owned(),
            ClockKind::Sampled(every) => format!("sampled:{every}"),
            ClockKind::Tsc => "tsc".to_owned(),
        };
        let policy = match self.policy {
            Policy::Block => "",
            Policy::Error => ", refuses when full",
            Policy::DropOldest => ", drops the oldest when full",
            Policy::DropNewest => ", drops the newest when full",
        };
        format!(
            "{threads} thread{}, {queues} queue{} of {}{policy}, clock {clock}, steal {}",
            plural(threads),
            plural(queues),
            units::grouped(self.capacity as u64),
            if self.steal { "on" } else { "off" }
        )
    }
}

fn numbers(
    settings: &Settings,
    duration: Option<Duration>,
    mut csv: Option<Csv>,
) -> Result<(), Error> {
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::raise(&stop)?;
    let load = Load::start(settings)?;
    if duration.is_none() && csv.is_none() && view::is_possible() {
        let title = Title { threads: settings.threads, rest: settings.words() };
        if view::show(&load, &title, &stop) {
            return match finish(load, None) {
                // The terminal is gone, which ends the view like `q`.
                Err(Error::Output(_)) => Err(Error::Gone),
                other => other,
            };
        }
    }
    report::print(&format!(
        "{}: {}/s sent and {}/s received by each",
        settings.words(),
        units::per_second(settings.send_rate),
        units::per_second(settings.receive_rate)
    ))?;
    let start = Instant::now();
    let (mut before, mut next) = (Look::default(), LINE);
    let end = duration.unwrap_or(Duration::MAX);
    let (mut stopped, mut written) = (false, Ok(()));
    while start.elapsed() < end && !stopped && written.is_ok() {
        let left = next.min(end).saturating_sub(start.elapsed());
        if left.is_zero() {
            let look = load.look();
            let rates = Rates::between(&before, &look);
            let in_file = csv.as_mut().map_or(Ok(()), |csv| csv.add(&look, &rates));
            written = report::print(&lines::line(&look, &rates)).and(in_file);
            (before, next) = (look, next + LINE);
        }
        thread::sleep(left.min(GLANCE));
        stopped = stop.load(Ordering::Relaxed);
    }
    if written.is_err() {
        // What was done until then is said, as far as that goes.
        return match finish(load, None) {
            Err(lost @ Error::Wrong(_)) => Err(lost),
            _ => written,
        };
    }
    finish(load, csv.map(|csv| (csv, before)))?;
    // Without a duration nothing else ends the run.
    if stopped && duration.is_some() {
        return Err(interrupt::ended());
    }
    Ok(())
}

/// Stops, says how it went, and checks the counts.
fn finish(load: Load, csv: Option<(Csv, Look)>) -> Result<(), Error> {
    let end = load.stop();
    if let Some((mut csv, before)) = csv {
        csv.add(&end, &Rates::between(&before, &end))?;
    }
    lines::judge(&end)?;
    report::print(&lines::summary(&end))
}
