//! Provided methods of [`ParallelIterator`](super::ParallelIterator), one file a family.
//!
//! A trait is one block of code, and this one would be too long for a file. So a macro holds the
//! methods of each family that programs use less. The others stand in the trait: what the compiler
//! says of a wrong argument is six lines longer for a method that comes out of a macro.

mod collect;
mod early;
mod find;
mod fold;
mod least;
mod scan;

pub(super) use collect::collect;
pub(super) use early::early;
pub(super) use find::find;
pub(super) use fold::fold;
pub(super) use least::least;
pub(super) use scan::scan;
