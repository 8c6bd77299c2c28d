//! The options of `sateen advise`, and how their values are read.

use crate::experiments::counter::Total;
use crate::experiments::pool::Shape;
use crate::report::ViewArgs;
use crate::values::{one_of, seconds, whole};
use std::path::PathBuf;
use std::time::Duration;

/// Most threads that can be measured.
const MOST_THREADS: u64 = 1024;
const LONGEST: Duration = Duration::from_millis(10);
const LARGEST: u64 = 64 << 10;
const MOST_LIVE: u32 = 1_000_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
On a terminal, `advise` asks for what no option says. Elsewhere, and with --no-questions, TOOL
must be given. Then `advise` assumes the rest and says so: as many threads as there are cores;
sections of 50 ns and 0 % reads; a total that is read sometimes; blocks of 64 bytes that are
given back at once, by the thread that took them.

Examples:
  sateen advise                                                # asks
  sateen advise lock --threads 8 --section 2us --reads 90
  sateen advise counter --threads 8 --total sometimes
  sateen advise pool --size 64 --lifetime long --frees same --threads 4")]
pub(crate) struct AdviseArgs {
    /// What you need: lock, counter or pool
    #[arg(value_parser = tool)]
    pub(super) tool: Option<Tool>,
    /// Number of threads that use it at the same time
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
    /// lock: how long it is held, such as 50ns or 2us
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub(super) section: Option<Duration>,
    /// lock: time between a thread's sections (if not given, as long as a section, at least 50ns)
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub(super) between: Option<Duration>,
    /// lock: percentage of sections that only read
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    pub(super) reads: Option<usize>,
    /// counter: when the total is read: at the end, sometimes, or by each increment (end,
    /// sometimes, each)
    #[arg(long, value_name = "WHEN", value_parser = total)]
    pub(super) total: Option<Total>,
    /// pool: size of a block in bytes
    #[arg(long, value_name = "BYTES", value_parser = size, allow_negative_numbers = true)]
    pub(super) size: Option<usize>,
    /// pool: blocks are given back at once, all together much later, or in the order taken (short,
    /// long, fifo)
    #[arg(long, value_name = "HOW", value_parser = lifetime)]
    pub(super) lifetime: Option<Shape>,
    /// pool: with --lifetime long, how many blocks a thread has at once (if not given, 100000)
    #[arg(long, value_name = "N", value_parser = live, allow_negative_numbers = true)]
    pub(super) live: Option<u32>,
    /// pool: which thread gives a block back: the one that took it, or another (same, other)
    #[arg(long, value_name = "WHO", value_parser = frees)]
    pub(super) frees: Option<Frees>,
    /// How long to measure in total
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds,
        allow_negative_numbers = true)]
    pub(super) seconds: Duration,
    /// Ask nothing, and assume what is not given
    #[arg(long)]
    pub(super) no_questions: bool,
    /// Write the figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Take single, short runs: this shows that all works, and measures nothing
    #[arg(long)]
    pub(super) smoke: bool,
    #[command(flatten)]
    pub(super) view: ViewArgs,
}

/// A tool that the user can ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Lock,
    Counter,
    Pool,
}

/// Which thread gives a block back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frees {
    Same,
    Other,
}

pub(super) fn tool(text: &str) -> Result<Tool, String> {
    one_of(text, &[("lock", Tool::Lock), ("counter", Tool::Counter), ("pool", Tool::Pool)])
}

pub(super) fn total(text: &str) -> Result<Total, String> {
    let all = [Total::End, Total::Sometimes, Total::Each];
    one_of(text, &all.map(|total| (total.name(), total)))
}

pub(super) fn lifetime(text: &str) -> Result<Shape, String> {
    one_of(text, &[Shape::Short, Shape::Long, Shape::Fifo].map(|shape| (shape.name(), shape)))
}

pub(super) fn frees(text: &str) -> Result<Frees, String> {
    one_of(text, &[("same", Frees::Same), ("other", Frees::Other)])
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    whole(text, 1, MOST_THREADS)
}

pub(super) fn percent(text: &str) -> Result<usize, String> {
    whole(text.trim().trim_end_matches('%'), 0, 100)
}

pub(super) fn size(text: &str) -> Result<usize, String> {
    whole(text, 1, LARGEST)
}

pub(super) fn live(text: &str) -> Result<u32, String> {
    whole(text, 1, MOST_LIVE.into()).map(|n| n as u32)
}

/// Parses a time with its unit; without one it is in nanoseconds.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        _ => f64::NAN,
    };
    let ns = number.parse::<f64>().unwrap_or(f64::NAN) * scale;
    let time = (ns >= 0.0 && ns <= LONGEST.as_nanos() as f64)
        .then(|| Duration::from_nanos(ns.round() as u64));
    time.ok_or_else(|| "not a time from 0ns to 10ms, such as 50ns or 2us".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let ns = |text| time(text).map(|t| t.as_nanos());
        assert_eq!(ns("50"), Ok(50));
        assert_eq!(ns("0"), Ok(0));
        assert_eq!(ns("50ns"), Ok(50));
        assert_eq!(ns("2us"), Ok(2000));
        assert_eq!(ns(" 1.5 µs "), Ok(1500));
        assert_eq!(ns("10ms"), Ok(10_000_000));
        for wrong in ["", "ns", "-1", "11ms", "2s", "1e3", "NaN", "2 fortnights", "1..2ns"] {
            assert!(ns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_have_limits() {
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        assert_eq!((percent("0"), percent("100%")), (Ok(0), Ok(100)));
        assert_eq!((size("12"), lifetime("fifo")), (Ok(12), Ok(Shape::Fifo)));
        assert_eq!((tool("pool"), total("each")), (Ok(Tool::Pool), Ok(Total::Each)));
        let wrong = [
            threads("0").err(),
            threads("1025").err(),
            percent("101").err(),
            size("0").err(),
            size("65537").err(),
            live("0").err(),
            tool("mutex").err(),
            frees("nobody").err(),
        ];
        assert!(wrong.iter().all(Option::is_some), "{wrong:?}");
    }
}
