#![doc = include_str!("../README.md")]

mod buffer;
mod index;
mod injector;
mod inner;
mod prim;
mod split;
mod stage;
mod steal;
mod stealer;
mod worker;

pub use injector::Injector;
pub use stage::{Asymmetric, Cached, Padded, Plain, Stage};
pub use steal::Steal;
pub use stealer::Stealer;
pub use worker::Worker;
