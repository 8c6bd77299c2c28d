//! The provided methods of the traits, one file a family.
//!
//! A trait is one block of code, and this one would be too long to read. So a macro holds the
//! methods of each family. The trait's own file imports what the methods name.

mod adapt;
mod chunks;
mod collect;
mod compare;
mod early;
mod find;
mod flatten;
mod fold;
mod for_each;
mod indexed;
mod least;
mod position;
mod reduce;
mod scan;

pub(super) use adapt::adapt;
pub(super) use chunks::chunks;
pub(super) use collect::{collect, collect_indexed};
pub(super) use compare::compare;
pub(super) use early::early;
pub(super) use find::find;
pub(super) use flatten::flatten;
pub(super) use fold::fold;
pub(super) use for_each::for_each;
pub(super) use indexed::{cut, place};
pub(super) use least::least;
pub(super) use position::position;
pub(super) use reduce::reduce;
pub(super) use scan::scan;
