//! Libraries whose tasks spawn others, into a scope that waits for all of them.

use super::ForkJoin;

/// A fork-join library with scopes.
pub(crate) trait Scopes: ForkJoin {
    /// Name in identities, beside what the library has for dependencies.
    const BY_HAND: &'static str;
    type Scope<'s>;

    /// Worker: runs `f`, and waits for all that was spawned.
    fn scope<'s>(f: impl FnOnce(&Self::Scope<'s>) + Send);

    /// Spawns `f`, which may spawn in turn.
    fn spawn<'s>(scope: &Self::Scope<'s>, f: impl FnOnce(&Self::Scope<'s>) + Send + 's);
}

/// Does something with each library that has scopes.
pub(crate) trait ScopesVisitor {
    fn visit<S: Scopes>(&mut self);
}

/// Shows `visitor` our runtime and, if asked, the peers.
pub(crate) fn visit_scopes(peers: bool, visitor: &mut impl ScopesVisitor) {
    crate::ours::visit_scopes(visitor);
    if peers {
        crate::peers::visit_scopes(visitor);
    }
}
