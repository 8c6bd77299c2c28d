//! Wakers that were taken out under an internal lock and are woken outside of it.

use sateen_base::unwind::{FirstPanic, discard, run_and_discard};
use std::mem::MaybeUninit;
use std::task::Waker;
use std::thread::panicking;

/// Wakes `waker`. Its panic continues, unless the thread is already unwinding, where it would end
/// the process.
#[inline]
pub(crate) fn wake(waker: Waker) {
    if panicking() { wake_quietly(waker) } else { waker.wake() }
}

#[cold]
fn wake_quietly(waker: Waker) {
    run_and_discard(|| waker.wake());
}

/// Drops an unused waker. Its panic is discarded, because the caller, or its caller, has more to
/// do.
#[inline]
pub(crate) fn let_go(waker: Option<Waker>) {
    if let Some(waker) = waker {
        discard(waker);
    }
}

/// A batch of wakers, small enough for a fiber's one-page stack. An empty one costs nothing.
pub(crate) struct Batch {
    /// The first `len` are initialised.
    wakers: [MaybeUninit<Waker>; Batch::SIZE],
    len: usize,
}

impl Batch {
    const SIZE: usize = if cfg!(loom) { 1 } else { 16 };

    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { wakers: [const { MaybeUninit::uninit() }; Batch::SIZE], len: 0 }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len == Self::SIZE
    }

    /// Under the lock: adds a waker. There must be room.
    #[inline]
    pub(crate) fn push(&mut self, waker: Waker) {
        self.wakers[self.len].write(waker);
        self.len += 1;
    }

    /// Wakes and removes all of them, even if some panic, and returns how many there were.
    #[inline]
    pub(crate) fn wake_all(&mut self, panics: &mut FirstPanic) -> usize {
        self.hand_out(panics, Waker::wake)
    }

    /// The same, by calling `wake`.
    #[inline]
    pub(crate) fn hand_out(
        &mut self,
        panics: &mut FirstPanic,
        mut wake: impl FnMut(Waker),
    ) -> usize {
        let len = std::mem::take(&mut self.len);
        for waker in &self.wakers[..len] {
            // SAFETY: `push` has written the first `len`. The length is already 0, so each is moved
            // out once.
            let waker = unsafe { waker.assume_init_read() };
            panics.catch(|| wake(waker));
        }
        len
    }
}

impl Drop for Batch {
    /// Some are left only if something under the lock unwound.
    #[inline]
    fn drop(&mut self) {
        if self.len != 0 {
            self.hand_out(&mut FirstPanic::default(), drop);
        }
    }
}
