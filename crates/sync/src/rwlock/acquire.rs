//! A locker that must wait, as a future; blocking forms run it too.

use super::raw::{Kind, RawRwLock};
use crate::mutex::{self, BARGE_LIMIT};
use crate::spin_phase::SpinPhase;
use crate::wait_queue::{Position, Waiter};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Ready when the lock is held. Dropped before, it has no effect.
pub(super) struct Acquire<'a> {
    raw: &'a RawRwLock,
    kind: Kind,
    stage: Stage,
    gate: mutex::Acquire<'a>,
    waiter: Waiter<'a>,
    /// Whether its caller blocks; otherwise it belongs to a future.
    blocks: bool,
    /// How often it checked again without success.
    lost: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    AtTheGate,
    /// It holds the gate, or upgrades.
    Head,
    Done,
}

impl<'a> Acquire<'a> {
    pub(super) fn new(raw: &'a RawRwLock, kind: Kind, blocks: bool) -> Self {
        let (gate, waiter) = (mutex::Acquire::new(&raw.gate, blocks), Waiter::new(&raw.queue));
        Self { raw, kind, stage: Stage::New, gate, waiter, blocks, lost: 0 }
    }

    /// This locker has the lock: the next may come to the gate.
    fn done(&mut self) {
        self.stage = Stage::Done;
        if self.kind == Kind::Upgrade {
            return;
        }
        // A waker's panic is discarded, so that no lock stays held without a guard.
        self.raw.gate.release_quietly();
    }
}

impl Future for Acquire<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `gate` and `waiter` are pinned with us and never moved; the others are plain
        // values.
        let this = unsafe { self.get_unchecked_mut() };
        let (raw, kind) = (this.raw, this.kind);
        // The caller creates a guard for each `Ready`: this lock was taken once.
        assert!(this.stage != Stage::Done, "a lock's future was polled after it was ready");
        if this.stage == Stage::New {
            if kind != Kind::Upgrade && raw.spin(kind, false, SpinPhase::of(this.blocks)) {
                this.stage = Stage::Done;
                return Poll::Ready(());
            }
            this.stage = if kind == Kind::Upgrade { Stage::Head } else { Stage::AtTheGate };
        }
        if this.stage == Stage::AtTheGate {
            // SAFETY: as above.
            ready!(unsafe { Pin::new_unchecked(&mut this.gate) }.poll(cx));
            this.stage = Stage::Head;
        }
        // SAFETY: as above.
        let mut waiter = unsafe { Pin::new_unchecked(&mut this.waiter) };
        while this.stage == Stage::Head {
            ready!(waiter.as_mut().poll_wait(cx));
            // A head that was woken may find that a newcomer has taken the lock.
            let again = this.lost > 0 && kind != Kind::Upgrade;
            let phase = if again { SpinPhase::of(this.blocks) } else { SpinPhase::over() };
            if raw.spin(kind, true, phase) {
                this.done();
                return Poll::Ready(());
            }
            let bar = this.lost >= BARGE_LIMIT;
            this.lost = this.lost.saturating_add(1);
            if waiter
                .as_mut()
                .enqueue(Position::Back, cx.waker().clone(), || raw.cannot_join(kind, bar))
            {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if self.stage == Stage::Head {
            self.raw.give_up(self.kind);
        }
    }
}
