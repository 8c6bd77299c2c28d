//! What a person sees during a run.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error if that is a terminal, else nothing.
///
/// It draws only between turns and never from a thread of its own, which would be measured too.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar of `length` turns.
    pub(crate) fn new(length: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows what is measured now.
    pub(crate) fn show(&self, label: &str) {
        self.0.set_message(label.to_owned());
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
