//! The provided methods of the traits, one file a family.
//!
//! A trait is one block of code, and this one would be too long to read. So a macro holds the
//! methods of each family. The trait's own file imports what the methods name.

mod adapt;
mod collect;
mod find;
mod flatten;
mod fold;
mod for_each;
mod indexed;
mod least;
mod reduce;
mod scan;

pub(super) use adapt::adapt;
pub(super) use collect::{collect, collect_indexed};
pub(super) use find::find;
pub(super) use flatten::flatten;
pub(super) use fold::fold;
pub(super) use for_each::for_each;
pub(super) use indexed::{cut, place};
pub(super) use least::least;
pub(super) use reduce::reduce;
pub(super) use scan::scan;
