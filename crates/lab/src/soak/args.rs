//! The options of `sateen soak`.

use super::faults::Kind;
use crate::error::{Error, input};
use clap::Args;
use std::time::Duration;

/// The longest soak, in minutes: a month.
const MOST_MINUTES: f64 = 43_200.0;
/// The most workers of a runtime here: each is a thread.
const MOST_WORKERS: usize = 256;

/// `sateen soak`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sateen soak --minutes 60
  sateen soak --minutes 10 --faults all --seed 7
  sateen soak --only channels,locks")]
pub(crate) struct SoakArgs {
    /// How many minutes to run, such as 0.5 or 60
    #[arg(long, value_name = "MINUTES", default_value = "1", value_parser = minutes,
        allow_negative_numbers = true)]
    minutes: Duration,
    /// Seed of the random numbers that choose sizes, orders and faults
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Most workers of a runtime (1 to 256); there are smaller runtimes too
    #[arg(long, value_name = "N", default_value_t = 8)]
    workers: usize,
    /// Planned faults: none, all, or some of memory, guards, threads, wakes, stalls, clock
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "none")]
    faults: Vec<String>,
    /// Run only these activities, such as forkjoin,channels
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

/// The checked options.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) time: Duration,
    pub(super) seed: u64,
    pub(super) workers: usize,
    pub(super) faults: Vec<Kind>,
    /// Names of activities; all if empty.
    pub(super) only: Vec<String>,
}

impl SoakArgs {
    /// # Errors
    /// A value makes no sense; the error names it.
    pub(super) fn settings(&self, activities: &[&str]) -> Result<Settings, Error> {
        if self.workers == 0 || self.workers > MOST_WORKERS {
            return Err(input(format!(
                "--workers {}: not a number of workers from 1 to {MOST_WORKERS}",
                self.workers
            )));
        }
        if let Some(name) = self.only.iter().find(|name| !activities.contains(&name.as_str())) {
            let all = activities.join(", ");
            return Err(input(format!(
                "--only {name}: no such activity; the activities are {all}"
            )));
        }
        let mut faults = Vec::new();
        for word in &self.faults {
            match word.as_str() {
                "none" => {}
                "all" => faults.extend(Kind::ALL),
                name => faults.push(Kind::named(name).ok_or_else(|| {
                    let all = Kind::ALL.map(Kind::name).join(", ");
                    input(format!("--faults {name}: no such kind; the kinds are none, all, {all}"))
                })?),
            }
        }
        Ok(Settings {
            time: self.minutes,
            seed: self.seed,
            workers: self.workers,
            faults,
            only: self.only.clone(),
        })
    }
}

fn minutes(text: &str) -> Result<Duration, String> {
    let reason = || "not a number of minutes from 0.01 to 43,200".to_owned();
    let value: f64 = text.parse().map_err(|_| reason())?;
    if (0.01..=MOST_MINUTES).contains(&value) {
        Ok(Duration::from_secs_f64(value * 60.0))
    } else {
        Err(reason())
    }
}
