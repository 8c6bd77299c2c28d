//! Stack overflow: one message that names the fiber, its stack and the remedy, then the end.
//!
//! Frames that outgrow a stack touch its guard: Rust touches each page of a large frame in turn. The
//! system raises a signal, whose handler runs on the thread's signal stack and asks here. The running fiber is
//! known from the thread's context, so all this costs a switch nothing.

use crate::context;
use crate::stack::FiberStack;
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
    id: Cell<u64>,
    /// Valid as long as it is here.
    name: Cell<Option<*const str>>,
}

impl Record {
    pub(crate) const fn new() -> Self {
        Self {
            bottom: Cell::new(0),
            guard: Cell::new(0),
            size: Cell::new(0),
            id: Cell::new(0),
            name: Cell::new(None),
        }
    }

    /// The fiber runs on `stack` from now on.
    pub(crate) fn place(&self, stack: &FiberStack) {
        self.bottom.set(stack.bottom());
        self.guard.set(stack.guard());
        self.size.set(stack.size());
    }

    /// Lowest address that frames may use.
    pub(crate) fn bottom(&self) -> usize {
        self.bottom.get()
    }

    /// The task on the fiber: its id, not 0, and its name.
    ///
    /// # Safety
    /// The name stays valid until this is called again.
    pub(crate) unsafe fn set_task(&self, id: u64, name: Option<*const str>) {
        self.name.set(name);
        self.id.set(id);
    }

    /// Bytes of its stack that the fiber has ever used. In debug builds only.
    ///
    /// # Safety
    /// The fiber keeps its stack for as long as this takes: it is suspended and cannot be resumed, or the
    /// caller is on its worker's thread.
    #[cfg(debug_assertions)]
    pub(crate) unsafe fn high_water(&self) -> usize {
        // SAFETY: passed on to the caller.
        unsafe { crate::stack::high_water(self.bottom.get() + self.size.get(), self.size.get()) }
    }

    fn is_guard(&self, address: usize) -> bool {
        (self.bottom.get() - self.guard.get()..self.bottom.get()).contains(&address)
    }

    /// Runs in a signal handler.
    fn report(&self) {
        let mut line = Line { bytes: [0; Line::ROOM], len: 0 };
        line.push(b"sateen: fiber ");
        if self.id.get() != 0 {
            line.push_number(self.id.get());
            line.push(b" ");
        }
        if let Some(name) = self.name.get() {
            line.push(b"\"");
            // SAFETY: see `set_task`.
            line.push(unsafe { &*name }.as_bytes());
            line.push(b"\" ");
        }
        line.push(b"overflowed its stack of ");
        line.push_number(self.size.get() as u64);
        line.push(b" bytes; Builder::stack_size(..) sets a larger one\n");
        os::write_stderr(&line.bytes[..line.len]);
    }
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
    os::on_fault(|address| {
        let fiber = context::with(context::Context::fiber);
        if let Some(record) = fiber.map(|f| f.record()).filter(|r| r.is_guard(address)) {
            record.report();
            std::process::abort();
        }
    });
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
