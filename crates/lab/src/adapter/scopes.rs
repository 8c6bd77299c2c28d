//! Libraries whose tasks spawn others into a scope that waits for all of them.

use super::forkjoin::ForkJoin;

/// A fork-join library with scopes.
pub(crate) trait Scopes: ForkJoin {
    /// Third part of the identity, beside what the library has for dependencies.
    const BY_HAND: &'static str;
    type Scope<'s>;

    /// Worker: runs `f`, and waits for all spawned tasks.
    fn scope<'s>(f: impl FnOnce(&Self::Scope<'s>) + Send);

    /// Spawns `f`, which may spawn in turn.
    fn spawn<'s>(scope: &Self::Scope<'s>, f: impl FnOnce(&Self::Scope<'s>) + Send + 's);
}
