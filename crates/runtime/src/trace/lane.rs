//! A worker's track.

use super::packets::{Details, Packets};
use crate::metrics::Doing;
use std::io::{self, Write};

/// The state of a worker during the pass over its events.
pub(super) struct Lane {
    pub(super) runtime: u64,
    pub(super) worker: usize,
    pub(super) track: u64,
    pub(super) since: u64,
    pub(super) lost: u64,
    /// The track of the thread of the next event, if that is not a worker.
    pub(super) thread: u64,
    /// The outer slice: none, `working` or `idle`.
    pub(super) base: Doing,
    pub(super) asleep: bool,
    /// The fiber whose slices are open, and how many are.
    pub(super) fiber: u32,
    pub(super) shown: usize,
    pub(super) name: Vec<u8>,
    pub(super) queued: u64,
    pub(super) fibers: u64,
}

impl Lane {
    /// Shows the slices of `fiber` on the track.
    pub(super) fn show<W: Write>(
        &mut self,
        out: &mut Packets<W>,
        at: u64,
        fiber: u32,
    ) -> io::Result<()> {
        if self.fiber != fiber {
            self.hide(out, at)?;
            self.fiber = fiber;
        }
        Ok(())
    }

    /// Ends the slices of what runs.
    pub(super) fn hide<W: Write>(&mut self, out: &mut Packets<W>, at: u64) -> io::Result<()> {
        for _ in 0..std::mem::take(&mut self.shown) {
            out.end(at, self.track)?;
        }
        Ok(())
    }

    /// Records that the worker does `doing` from now on.
    pub(super) fn turn<W: Write>(
        &mut self,
        out: &mut Packets<W>,
        at: u64,
        doing: Doing,
    ) -> io::Result<()> {
        if std::mem::take(&mut self.asleep) {
            out.end(at, self.track)?;
        }
        let worker = |category| Details { category, ..Details::default() };
        // While asleep, a worker continues what it did before, or is idle.
        let base = match (doing, self.base) {
            (Doing::Sleep, Doing::Nothing) => Doing::Search,
            (Doing::Sleep, base) => base,
            (doing, _) => doing,
        };
        if base != self.base {
            self.hide(out, at)?;
            if self.base != Doing::Nothing {
                out.end(at, self.track)?;
            }
            match base {
                Doing::Work => out.begin(at, self.track, "working", worker("worker"))?,
                Doing::Search => out.begin(at, self.track, "idle", worker("worker"))?,
                _ => {}
            }
            self.base = base;
        }
        if doing == Doing::Sleep {
            out.begin(at, self.track, "asleep", worker("worker"))?;
            self.asleep = true;
        }
        Ok(())
    }
}
