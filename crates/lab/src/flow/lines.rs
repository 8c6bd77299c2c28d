//! A run in lines: one a second, and a summary; with commas for a file.

use super::units::{grouped, per_second, time};
use super::watch::{Look, Rates};
use crate::error::{Error, input, unwritten};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns one line: the run at `look`, with the rates since the look before.
pub(super) fn line(look: &Look, rates: &Rates) -> String {
    format!(
        "{:>7.1} s  sent {:>14} ({:>8}/s)  received {:>14} ({:>8}/s)  in queue {:>9}  dropped \
         {:>7}  wait {} (99 %: {})",
        look.at.as_secs_f64(),
        grouped(look.sent),
        per_second(rates.sent),
        grouped(look.received),
        per_second(rates.received),
        grouped(look.in_queue()),
        grouped(look.dropped),
        time(look.waits.p50),
        time(look.waits.p99),
    )
}

/// Returns the last lines: what became of what was sent, at `end`, when nothing runs any more.
pub(super) fn summary(end: &Look) -> String {
    let all = Rates::between(&Look::default(), end);
    let waits = end.waits;
    format!(
        "{} in {:.2} s: {}/s sent, {}/s received; wait in queue {} (90 %: {}, 99 %: {}, at most \
         {})",
        balance(end),
        end.at.as_secs_f64(),
        per_second(all.sent),
        per_second(all.received),
        time(waits.p50),
        time(waits.p90),
        time(waits.p99),
        time(waits.max),
    )
}

fn balance(end: &Look) -> String {
    let equal = if is_balanced(end) { "=" } else { "≠" };
    format!(
        "sent {} {equal} received {} + in queue {} + dropped {}",
        grouped(end.sent),
        grouped(end.received),
        grouped(end.in_queue()),
        grouped(end.dropped)
    )
}

fn is_balanced(end: &Look) -> bool {
    end.sent == end.received + end.in_queue() + end.dropped
}

/// Checks that no item was lost and none came twice.
///
/// # Errors
/// An item was lost, or came twice.
pub(super) fn judge(end: &Look) -> Result<(), Error> {
    if is_balanced(end) {
        return Ok(());
    }
    Err(Error::Wrong(format!("wrong result: {}", balance(end))))
}

/// A file of lines with commas.
#[derive(Debug)]
pub(super) struct Csv {
    file: File,
    path: PathBuf,
}

impl Csv {
    const HEAD: &str = "seconds,sent,received,in_queue,dropped,sent_per_second,received_per_second,\
                        wait_p50_us,wait_p90_us,wait_p99_us,wait_max_us";

    /// Creates a file at `path`, with the names of the columns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let file = File::create(path);
        let file = file.map_err(|e| input(format!("cannot write `{}`: {e}", path.display())))?;
        let mut csv = Self { file, path: path.to_owned() };
        csv.write(Self::HEAD)?;
        Ok(csv)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn add(&mut self, look: &Look, rates: &Rates) -> Result<(), Error> {
        let us = |time: std::time::Duration| time.as_nanos() as f64 / 1e3;
        let waits = look.waits;
        self.write(&format!(
            "{:.3},{},{},{},{},{:.1},{:.1},{:.3},{:.3},{:.3},{:.3}",
            look.at.as_secs_f64(),
            look.sent,
            look.received,
            look.in_queue(),
            look.dropped,
            rates.sent,
            rates.received,
            us(waits.p50),
            us(waits.p90),
            us(waits.p99),
            us(waits.max),
        ))
    }

    fn write(&mut self, line: &str) -> Result<(), Error> {
        // One call, so that a reader never sees half a line.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|e| unwritten(&format!("`{}`", self.path.display()), &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::watch::Waits;
    use std::time::Duration;

    fn look(received: u64) -> Look {
        Look {
            at: Duration::from_millis(2_500),
            sent: 1_000_000,
            received,
            dropped: 5,
            depths: vec![1, 4],
            workers: vec![received],
            waits: Waits { p50: Duration::from_nanos(1_500), ..Waits::default() },
        }
    }

    #[test]
    fn a_loss_is_seen() {
        let (good, bad) = (look(999_990), look(999_989));
        assert!(judge(&good).is_ok());
        let text = summary(&good);
        assert!(text.starts_with(
            "sent 1,000,000 = received 999,990 + in queue 5 + dropped 5 in 2.50 s: 400 k/s sent"
        ));
        let error = judge(&bad).expect_err("one is missing").to_string();
        assert!(
            error.contains("sent 1,000,000 ≠ received 999,989 + in queue 5 + dropped 5"),
            "{error}"
        );
    }

    #[test]
    fn lines_have_columns() {
        let rates = Rates::between(&Look::default(), &look(7));
        assert!(
            line(&look(7), &rates)
                .contains("received              7 (    2.80/s)  in queue         5")
        );
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("flow.csv");
        let mut csv = Csv::create(&path).expect("created");
        csv.add(&look(7), &rates).expect("written");
        let text = std::fs::read_to_string(&path).expect("written");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
        assert_eq!(lines[1], "2.500,1000000,7,5,5,400000.0,2.8,1.500,0.000,0.000,0.000");
        let missing = dir.path().join("missing/flow.csv");
        let error = Csv::create(&missing).expect_err("no such folder").to_string();
        assert!(error.contains("missing/flow.csv"), "{error}");
    }
}
