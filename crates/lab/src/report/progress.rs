//! What a person sees while it runs.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error when that is a terminal; nothing otherwise.
///
/// It draws only between turns and never from a thread of its own, which would be measured too.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar of `length` turns.
    pub(crate) fn new(length: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Names what is measured now.
    pub(crate) fn show(&self, label: &str) {
        self.0.set_message(label.to_owned());
    }

    /// One turn is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Runs `f` with the bar out of the way.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.suspend(f)
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
