//! Where the output of all workers comes together.

use super::mebibytes;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes are written at once.
const BUFFER: usize = 64 << 10;

/// Writes pieces as they come, or in the order of their numbers.
#[derive(Debug)]
pub(super) struct Sink<W> {
    ordered: bool,
    /// The most bytes of pieces that came too early.
    waiting: usize,
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    out: W,
    buffer: Vec<u8>,
    /// How many pieces were written; in order, also the number of the next one.
    through: u64,
    /// Pieces that came too early, and the room that each takes.
    early: BTreeMap<u64, (Vec<u8>, usize)>,
    /// Their bytes.
    waiting: usize,
    failed: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(out: W, ordered: bool, waiting: usize) -> Self {
        let (buffer, early) = (Vec::new(), BTreeMap::new());
        let state = State { out, buffer, through: 0, early, waiting: 0, failed: None };
        Self { ordered, waiting, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the `number`-th piece, from 0, whose line takes so much `room`. Returns the room of
    /// all pieces that were written by this call. Flushes if `flush`, for when it is unknown when
    /// the next piece comes.
    pub(super) fn put(&self, number: u64, piece: Vec<u8>, room: usize, flush: bool) -> usize {
        let mut state = self.lock();
        let mut written = room;
        if !self.ordered {
            state.add(&piece);
        } else if number == state.through {
            state.add(&piece);
            while let Some((piece, room)) = state.next_early() {
                state.add(&piece);
                written += room;
            }
        } else if state.failed.is_none() {
            state.waiting += piece.len();
            if state.waiting > self.waiting {
                let (most, line) = (mebibytes(self.waiting), state.through + 1);
                let reason = format!("more than {most} of output waits for that of line {line}");
                state.failed = Some(io::Error::other(reason));
                return written;
            }
            state.early.insert(number, (piece, room));
            written = 0;
        }
        if flush || state.buffer.len() >= BUFFER {
            state.write();
        }
        written
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
        early.values().for_each(|(piece, _)| state.add(piece));
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
    fn next_early(&mut self) -> Option<(Vec<u8>, usize)> {
        let next = self.early.remove(&self.through);
        self.waiting -= next.as_ref().map_or(0, |(piece, _)| piece.len());
        next
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

    fn through(ordered: bool, numbers: &[u64]) -> (Vec<usize>, String) {
        let mut out = Vec::new();
        let sink = Sink::new(&mut out, ordered, 8);
        let piece = |n: &u64| sink.put(*n, n.to_string().into_bytes(), 1, false);
        let through: Vec<usize> = numbers.iter().map(piece).collect();
        assert_eq!(sink.through(), through.iter().sum::<usize>() as u64);
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
        let sink = Sink::new(small.as_mut_slice(), false, 8);
        sink.put(0, b"ab".to_vec(), 1, true);
        assert!(!sink.has_failed());
        sink.put(1, b"c".to_vec(), 1, true);
        assert!(sink.has_failed());
        assert_eq!(sink.finish(b"").expect_err("no room").kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn what_waits_is_limited() {
        let mut out = Vec::new();
        let sink = Sink::new(&mut out, true, 2 << 20);
        let piece = || vec![b'x'; 1 << 20];
        assert_eq!((sink.put(1, piece(), 3, false), sink.put(2, piece(), 4, false)), (0, 0));
        // What has been written waits no more, and its room is free.
        assert_eq!(sink.put(0, piece(), 5, false), 12);
        assert_eq!((sink.put(5, piece(), 1, false), sink.put(4, piece(), 1, false)), (0, 0));
        assert!(!sink.has_failed());
        // The room of the others stays taken, as nothing is read any more.
        assert_eq!((sink.put(6, b"x".to_vec(), 2, false), sink.put(7, piece(), 2, false)), (2, 2));
        let reason = sink.finish(b"").expect_err("too much").to_string();
        assert_eq!(reason, "more than 2 MiB of output waits for that of line 4");
        drop(sink);
        assert_eq!(out.len(), 3 << 20);
    }

    #[test]
    fn an_early_end_leaves_out_only_what_is_missing() {
        let mut out = Vec::new();
        let sink = Sink::new(&mut out, true, 8);
        for number in [4, 0, 2] {
            sink.put(number, number.to_string().into_bytes(), 1, false);
        }
        sink.finish_early(b".").expect("a vector takes everything");
        drop(sink);
        assert_eq!(out, b"024.");
    }
}
