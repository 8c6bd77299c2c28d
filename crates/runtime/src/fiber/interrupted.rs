//! Points where a fiber may be interrupted, by a cancellation of its task or by its time limit.

use super::Fiber;
use crate::latch::Waiter;
use crate::task::{Running, cancel_unwind};
use sateen_base::prim::thread;

impl Fiber {
    /// A cancellation point: unwinds if the task has been cancelled and may be interrupted here.
    #[inline]
    pub(crate) fn check_interrupted(&self) {
        if self.is_cancelled() {
            self.check_interrupted_slow();
        }
    }

    #[cold]
    fn check_interrupted_slow(&self) {
        if self.may_unwind() && self.is_interrupted() {
            cancel_unwind();
        }
    }

    /// Whether a panic may begin here: the fiber neither unwinds nor is masked.
    fn may_unwind(&self) -> bool {
        // (The count is this fiber's; see `panic_count.rs`.)
        self.masks.get() == 0 && !thread::panicking()
    }

    /// Whether a limit in force here has passed, or the task was cancelled and the joiner of this
    /// piece consents; see `consent.rs`.
    pub(crate) fn is_interrupted(&self) -> bool {
        // (A limit ends in this fiber's own frames.)
        self.is_over_limit() || self.is_task_cancelled() && self.has_consent()
    }

    /// Whether the joiner of what runs here consents. True if nobody joins it.
    fn has_consent(&self) -> bool {
        let mut running = self.running();
        loop {
            // SAFETY: it runs here, or in a later round waits for that on another stack of this
            // thread.
            let Some(piece) = (unsafe { running.as_ref() }) else { return true };
            // SAFETY: null, or an activation that waits for `piece`. Other threads read only the
            // consent and fields that never change.
            let Some(caller) = (unsafe { piece.caller.as_ref() }) else { return true };
            if piece.task != caller.task {
                // A task that is joined in place ends by itself.
                return true;
            }
            if piece.id != caller.id {
                return caller.consent.is_given();
            }
            // The caller continues here on a fresh stack; its own joiner decides.
            running = caller;
        }
    }
}

/// The running fiber's wait for what others run for `activation`. That work may be interrupted
/// meanwhile, if the fiber may.
pub(crate) struct Joining<'a> {
    fiber: &'a Fiber,
    /// None if no task could be cancelled.
    activation: Option<&'a Running>,
}

impl<'a> Joining<'a> {
    /// # Safety
    /// `activation` is null, or runs on `fiber`, the caller's, as long as this lives.
    pub(crate) unsafe fn begin(fiber: &'a Fiber, activation: *const Running) -> Self {
        // SAFETY: by contract.
        let activation = unsafe { activation.as_ref() };
        let joining = Self { fiber, activation: activation.filter(|a| !a.task.is_null()) };
        joining.look();
        joining
    }

    /// Consents if the fiber may be interrupted now. Called before each park, because the
    /// activation's own joiner may have consented meanwhile.
    pub(crate) fn look(&self) {
        if let Some(activation) = self.activation.filter(|a| !a.consent.is_noted())
            && self.fiber.may_unwind()
            && self.fiber.has_consent()
        {
            activation.consent.give();
            if self.fiber.is_task_cancelled() {
                self.wake_branches(activation);
            }
        }
    }

    /// Wakes branches that saw the cancellation before the consent.
    #[cold]
    fn wake_branches(&self, activation: &Running) {
        let task = activation.task;
        let runners = self.fiber.shared.fibers_that(|fiber| std::ptr::eq(fiber.task(), task));
        runners.iter().for_each(|fiber| fiber.unpark());
    }
}

impl Drop for Joining<'_> {
    fn drop(&mut self) {
        self.activation.inspect(|activation| activation.consent.take_back());
    }
}
