//! How models run.

/// Explores `f` in all interleavings with at most `preemptions` preemptions.
///
/// Without a bound, the search over the lanes of the searched atomics takes hours in some models.
pub fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(f);
}
