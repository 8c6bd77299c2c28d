//! The guide, page by page. Every example in it is compiled and run as a test.

#[doc = include_str!("start.md")]
pub mod start {}

#[doc = include_str!("blocking.md")]
pub mod blocking {}

#[doc = include_str!("channels.md")]
pub mod channels {}

#[doc = include_str!("switching.md")]
pub mod switching {}

#[doc = include_str!("choosing.md")]
pub mod choosing {}

#[doc = include_str!("tuning.md")]
pub mod tuning {}

#[doc = include_str!("graphs.md")]
#[doc = include_str!("graph.svg")]
pub mod graphs {}

#[doc = include_str!("queues.md")]
#[doc = include_str!("flow.svg")]
pub mod queues {}
