//! The functions of `on.rs` in a build without the feature `trace`: empty.

use crate::fiber::Fiber;
use crate::metrics::Doing;
use crate::shared::Shared;
use crate::task::Header;
use crate::worker::{Owner, Worker};

#[derive(Debug)]
pub(crate) struct Slot;

impl Slot {
    pub(crate) const fn new() -> Self {
        Self
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Traces;

impl Traces {
    pub(crate) const fn new() -> Self {
        Self
    }
}

pub(crate) struct InBranch;

#[inline(always)]
pub(crate) fn worker_begins(_: &Owner) {}

#[inline(always)]
pub(crate) fn spawned(_: &Shared, _: u64) {}

#[inline(always)]
pub(crate) fn started(_: &Fiber, _: &Header) {}

#[inline(always)]
pub(crate) fn ended(_: &Fiber, _: u64) {}

#[inline(always)]
pub(crate) fn in_branch(_: &Fiber, _: u64, _: *const Header, _: bool) -> InBranch {
    InBranch
}

#[inline(always)]
pub(crate) fn poll_began(_: &Fiber, _: &Header) {}

#[inline(always)]
pub(crate) fn poll_ended(_: &Fiber, _: u64, _: bool) {}

#[inline(always)]
pub(crate) fn suspended(_: &Fiber) {}

#[inline(always)]
pub(crate) fn resumed(_: &Fiber) {}

#[inline(always)]
pub(crate) fn woken(_: &Shared, _: &Fiber) {}

#[inline(always)]
pub(crate) fn future_woken(_: &Shared, _: u64) {}

#[inline(always)]
pub(crate) fn stole_task(_: &Worker, _: usize) {}

#[inline(always)]
pub(crate) fn stole_branch(_: &Worker, _: usize) {}

#[inline(always)]
pub(crate) fn worker_woken(_: &Worker, _: usize) {}

#[inline(always)]
pub(crate) fn turned(_: &Worker, _: Doing, _: Doing) {}

#[inline(always)]
pub(crate) fn timers_fired(_: &Worker, _: usize) {}

#[inline(always)]
pub(crate) fn waits_for_stolen() {}

#[inline(always)]
pub(crate) fn sampled(_: &Worker) {}
