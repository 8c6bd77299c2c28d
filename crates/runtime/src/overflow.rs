//! Stack overflow: one message that names the fiber, its stack and the remedy, then the end.
//!
//! Frames that outgrow a stack touch its guard: Rust touches each page of a large frame in turn. The
//! system raises a signal, whose handler runs on the thread's signal stack and asks here. The running fiber is
//! known from the thread's context, so all this costs a switch nothing.

use crate::context;
use crate::fiber::Fiber;
use crate::stack::FiberStack;
use crate::task::Header;
use sateen_base::os;
use std::cell::Cell;

/// What is said of a fiber should it overflow. Written by its worker's thread while the fiber does not
/// run, or by the fiber itself; read in a signal handler on that same thread.
#[derive(Debug)]
pub(crate) struct Record {
    /// Lowest address of the stack.
    bottom: Cell<usize>,
    guard: Cell<usize>,
    size: Cell<usize>,
    is_thread: Cell<bool>,
}

impl Record {
    pub(crate) const fn new() -> Self {
        Self {
            bottom: Cell::new(0),
            guard: Cell::new(0),
            size: Cell::new(0),
            is_thread: Cell::new(false),
        }
    }

    /// The fiber runs on `stack` from now on.
    pub(crate) fn place(&self, stack: &FiberStack) {
        self.bottom.set(stack.bottom());
        self.guard.set(stack.guard());
        self.size.set(stack.size());
        self.is_thread.set(false);
    }

    /// The fiber has a thread, on which `size` bytes are left below `here`, and whose guard the thread
    /// knows.
    pub(crate) fn place_thread(&self, here: usize, size: usize) {
        self.bottom.set(here.saturating_sub(size));
        self.guard.set(0);
        self.size.set(size);
        self.is_thread.set(true);
    }

    /// Lowest address that frames may use.
    pub(crate) fn bottom(&self) -> usize {
        self.bottom.get()
    }

    /// Bytes that frames may use.
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    /// Bytes of its stack that the fiber has ever used; not known of a thread's. In debug builds only.
    ///
    /// # Safety
    /// The fiber keeps its stack for as long as this takes: it is suspended and cannot be resumed, or the
    /// caller is on its worker's thread.
    #[cfg(debug_assertions)]
    pub(crate) unsafe fn high_water(&self) -> Option<usize> {
        let (bottom, size) = (self.bottom.get(), self.size.get());
        // SAFETY: passed on to the caller.
        (!self.is_thread.get()).then(|| unsafe { crate::stack::high_water(bottom + size, size) })
    }

    fn is_guard(&self, address: usize) -> bool {
        (self.bottom.get() - self.guard.get()..self.bottom.get()).contains(&address)
    }
}

/// Runs in a signal handler, on the thread of the fiber's worker.
fn report(fiber: &Fiber) {
    let mut line = Line { bytes: [0; Line::ROOM], len: 0 };
    line.push(b"sateen: fiber ");
    // SAFETY: what runs on the fiber lies on its stack, above the frame that overflowed, and keeps its
    // task.
    let running = unsafe { fiber.running().as_ref() };
    if let Some(running) = running {
        line.push_number(running.id);
        line.push(b" ");
    }
    // SAFETY: as above.
    let task = running.and_then(|running| unsafe { running.task.as_ref() });
    if let Some(name) = task.and_then(Header::name) {
        line.push(b"\"");
        line.push(name.as_bytes());
        line.push(b"\" ");
    }
    line.push(b"overflowed its stack of ");
    line.push_number(fiber.stack_size() as u64);
    line.push(
        b" bytes; Builder::stack_size(..) sets a larger one, Spawn::stack_size(..) for one task\n",
    );
    os::write_stderr(&line.bytes[..line.len]);
}

/// A line of text made without allocation; what does not fit is cut off, but for the end.
struct Line {
    bytes: [u8; Self::ROOM],
    len: usize,
}

impl Line {
    const ROOM: usize = 512;
    /// Longest piece taken whole: all of ours are shorter, a user's name may not be.
    const PIECE: usize = 200;

    fn push(&mut self, piece: &[u8]) {
        let piece = &piece[..piece.len().min(Self::PIECE).min(Self::ROOM - self.len)];
        self.bytes[self.len..][..piece.len()].copy_from_slice(piece);
        self.len += piece.len();
    }

    fn push_number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }
}

/// Has overflows reported from now on, in the whole process.
pub(crate) fn install() {
    let handler = |address| {
        let fiber = context::fiber();
        if let Some(fiber) = fiber.filter(|fiber| fiber.record().is_guard(address)) {
            report(fiber);
            std::process::abort();
        }
    };
    // SAFETY: it reads words that are whole at any time (a thread-local without a destructor, a fiber's record), and
    // writes a line by system calls.
    unsafe { os::on_fault(handler) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_numbers_whole() {
        let mut line = Line { bytes: [0; Line::ROOM], len: 0 };
        line.push_number(0);
        line.push_number(u64::MAX);
        assert_eq!(&line.bytes[..line.len], b"018446744073709551615");
        (0..4).for_each(|_| line.push(&[b'x'; 1000]));
        assert_eq!(line.len, Line::ROOM);
    }
}
