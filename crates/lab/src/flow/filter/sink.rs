//! Where the output of all workers comes together.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes are written at once.
const BUFFER: usize = 64 << 10;

/// Writes pieces as they come, or in the order of their numbers.
#[derive(Debug)]
pub(super) struct Sink<W> {
    ordered: bool,
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    out: W,
    buffer: Vec<u8>,
    /// How many pieces were written; in order, also the number of the next one.
    through: u64,
    /// Pieces that came too early.
    early: BTreeMap<u64, Vec<u8>>,
    failed: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(out: W, ordered: bool) -> Self {
        let state =
            State { out, buffer: Vec::new(), through: 0, early: BTreeMap::new(), failed: None };
        Self { ordered, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the `number`-th piece, from 0. Returns how many pieces were written by this call.
    /// Flushes if `flush`, for when it is unknown when the next piece comes.
    pub(super) fn put(&self, number: u64, piece: Vec<u8>, flush: bool) -> u64 {
        let mut state = self.lock();
        let before = state.through;
        if !self.ordered {
            state.add(&piece);
        } else if number == state.through {
            state.add(&piece);
            while let Some(piece) = state.next_early() {
                state.add(&piece);
            }
        } else {
            state.early.insert(number, piece);
        }
        if flush || state.buffer.len() >= BUFFER {
            state.write();
        }
        state.through - before
    }

    /// Writes the buffered pieces.
    pub(super) fn flush(&self) {
        self.lock().write();
    }

    /// Returns how many pieces were written.
    pub(super) fn through(&self) -> u64 {
        self.lock().through
    }

    /// Writes what is left, and then `last`.
    ///
    /// # Errors
    /// The first failure to write.
    pub(super) fn finish(&self, last: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        state.buffer.extend_from_slice(last);
        state.write();
        state.failed.take().map_or(Ok(()), Err)
    }

    /// The same for a run that ends early: pieces that wait for one that will not come are written,
    /// in their order.
    ///
    /// # Errors
    /// The first failure to write.
    pub(super) fn finish_early(&self, last: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        let early = std::mem::take(&mut state.early);
        early.values().for_each(|piece| state.add(piece));
        drop(state);
        self.finish(last)
    }

    /// Returns whether writing has failed, so that no more output is needed.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().failed.is_some()
    }
}

impl<W: Write> State<W> {
    fn add(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
        self.through += 1;
    }

    /// Returns the next piece in order, if it has come.
    fn next_early(&mut self) -> Option<Vec<u8>> {
        self.early.remove(&self.through)
    }

    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.buffer).and_then(|()| self.out.flush()).err();
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(ordered: bool, numbers: &[u64]) -> (Vec<u64>, String) {
        let mut out = Vec::new();
        let sink = Sink::new(&mut out, ordered);
        let piece = |n: &u64| sink.put(*n, n.to_string().into_bytes(), false);
        let through: Vec<u64> = numbers.iter().map(piece).collect();
        assert_eq!(sink.through(), through.iter().sum::<u64>());
        sink.finish(b".").expect("a vector takes everything");
        drop(sink);
        (through, String::from_utf8(out).expect("digits"))
    }

    #[test]
    fn pieces_come_in_order_if_asked() {
        let numbers = [2, 0, 1, 4, 5, 3];
        assert_eq!(through(true, &numbers), (vec![0, 1, 2, 0, 0, 3], "012345.".to_owned()));
        assert_eq!(through(false, &numbers), (vec![1; 6], "201453.".to_owned()));
    }

    #[test]
    fn a_failure_is_kept() {
        let mut small = [0u8; 2];
        let sink = Sink::new(small.as_mut_slice(), false);
        sink.put(0, b"ab".to_vec(), true);
        assert!(!sink.has_failed());
        sink.put(1, b"c".to_vec(), true);
        assert!(sink.has_failed());
        assert_eq!(sink.finish(b"").expect_err("no room").kind(), io::ErrorKind::WriteZero);
    }
}
