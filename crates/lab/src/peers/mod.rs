//! The other libraries, one adapter a folder. Compiled only with the Cargo feature `peers`; without
//! it the visits find nobody.

use crate::adapter::{DequeVisitor, ForkJoinVisitor, SubmitVisitor, TasksVisitor};

#[cfg(feature = "peers")]
mod chili;
#[cfg(feature = "peers")]
mod crossbeam;
#[cfg(feature = "peers")]
mod forte;
#[cfg(feature = "peers")]
mod rayon;
#[cfg(feature = "peers")]
mod st3;
#[cfg(feature = "peers")]
mod tokio;

/// Shows `visitor` the other libraries' deques.
pub(crate) fn visit_deques(visitor: &mut impl DequeVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<crossbeam::Crossbeam>();
        visitor.visit::<st3::St3>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other fork-join libraries.
pub(crate) fn visit_fork_joins(visitor: &mut impl ForkJoinVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<rayon::Rayon>();
        visitor.visit::<chili::Chili>();
        visitor.visit::<forte::Forte>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries that take closures from outside.
pub(crate) fn visit_submits(visitor: &mut impl SubmitVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<rayon::Rayon>();
        visitor.visit::<tokio::Tokio>();
        visitor.visit::<forte::Forte>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries whose tasks have handles.
pub(crate) fn visit_tasks(visitor: &mut impl TasksVisitor) {
    #[cfg(feature = "peers")]
    visitor.visit::<tokio::Tokio>();
    let _ = visitor;
}
