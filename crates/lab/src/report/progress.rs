//! What a person sees during a run.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ratatui::crossterm::terminal;
use sateen_top::foreign;

/// A narrower terminal has no room for a bar.
const NARROW: u16 = 60;

/// A bar on standard error if that is a terminal, else nothing.
///
/// It draws only between turns and never from a thread of its own, which would be measured too.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar of `length` turns.
    pub(crate) fn new(length: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        // What a line has no room for is cut off.
        let narrow = terminal::size().is_ok_and(|(columns, _)| (1..NARROW).contains(&columns));
        let form =
            if narrow { "{pos}/{len} {wide_msg}" } else { "{bar:30} {pos}/{len} {wide_msg}" };
        let style = ProgressStyle::with_template(form);
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows what is measured now, which a child process may have said.
    pub(crate) fn show(&self, label: &str) {
        self.0.set_message(foreign::visible(label).into_owned());
    }

    /// Counts a turn that is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Runs `f` while the bar is hidden.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.suspend(f)
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
