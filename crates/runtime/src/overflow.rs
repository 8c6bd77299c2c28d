//! Stack overflow: a message that names the task, its stack and the remedy; then the process ends.
//!
//! A frame that outgrows its stack touches the guard, because Rust probes each page of a large
//! frame in turn. The system raises a signal, whose handler runs on the thread's signal stack and
//! calls this module. The thread's context names the running fiber, so a switch costs nothing
//! extra.
//!
//! The handler allocates nothing and takes no lock. It reads words that were written before: the
//! fiber's record, and the number, name and spawn location in the task's frame, which the running
//! task keeps alive.

use crate::context;
use crate::fiber::Fiber;
use crate::fresh;
use crate::stack::FiberStack;
use crate::task::Header;
use sateen_base::os;
use std::cell::Cell;

/// What the message says about a fiber. Written by its worker's thread while the fiber does not
/// run, or by the fiber itself. Read in a signal handler on that same thread.
#[derive(Debug)]
pub(crate) struct Record {
    /// Lowest address of the stack.
    bottom: Cell<usize>,
    guard: Cell<usize>,
    size: Cell<usize>,
    /// See [`Record::limit`].
    limit: Cell<usize>,
    is_thread: Cell<bool>,
}

impl Record {
    pub(crate) const fn new() -> Self {
        Self {
            bottom: Cell::new(0),
            guard: Cell::new(0),
            size: Cell::new(0),
            limit: Cell::new(0),
            is_thread: Cell::new(false),
        }
    }

    /// Records that the fiber runs on `stack` from now on.
    pub(crate) fn place(&self, stack: &FiberStack) {
        self.bottom.set(stack.bottom());
        self.guard.set(stack.guard());
        self.size.set(stack.size());
        self.limit.set(stack.bottom() + fresh::reserve(stack.size()));
        self.is_thread.set(false);
    }

    /// Records that the fiber runs on a thread's own stack, with `size` bytes left below `here`.
    /// The thread itself knows its guard.
    pub(crate) fn place_thread(&self, here: usize, size: usize) {
        self.bottom.set(here.saturating_sub(size));
        self.guard.set(0);
        self.size.set(size);
        self.limit.set(0);
        self.is_thread.set(true);
    }

    /// Nested work with a frame below this address moves to a [fresh stack](crate::fresh). 0 for a
    /// thread's own stack, after which no other can continue.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    /// Lowest address that frames may use.
    pub(crate) fn bottom(&self) -> usize {
        self.bottom.get()
    }

    /// Bytes that frames may use.
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    /// The most bytes that the fiber has ever used of its stack; `None` for a thread's stack. In
    /// debug builds only.
    ///
    /// # Safety
    /// The fiber keeps its stack meanwhile: it is suspended and cannot be resumed, or the caller is
    /// on its worker's thread.
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
    let mut line = Line::new();
    // SAFETY: what runs on the fiber lies on its stack, above the frame that overflowed, and keeps
    // its task alive.
    let running = unsafe { fiber.running().as_ref() };
    // SAFETY: as above.
    let task = running.and_then(|running| unsafe { running.task.as_ref() });
    match (task, running) {
        (Some(task), _) => line.push_task(task),
        (None, Some(running)) => {
            line.push(b"sateen: work ");
            line.push_number(running.id);
            line.push(b" ");
        }
        (None, None) => line.push(b"sateen: a fiber "),
    }
    line.push(b"overflowed its stack of ");
    line.push_number(fiber.stack_size() as u64);
    line.push(
        b" bytes; Builder::stack_size(..) sets a larger one, Spawn::stack_size(..) for one task\n",
    );
    os::write_stderr(&line.bytes[..line.len]);
}

/// A line of text, built without allocation. Text of the user's is cut to [`Line::PIECE`] bytes, so
/// that the rest fits. A name keeps its start, a path its end.
struct Line {
    bytes: [u8; Self::ROOM],
    len: usize,
}

impl Line {
    const ROOM: usize = 768;
    /// Longest text that is never cut. All of ours is shorter; a task's name or a path may be
    /// longer.
    const PIECE: usize = 200;

    fn new() -> Self {
        Self { bytes: [0; Self::ROOM], len: 0 }
    }

    /// `sateen: task 7 "a" (spawned at x.rs:3:5) `.
    fn push_task(&mut self, task: &Header) {
        self.push(b"sateen: task ");
        self.push_number(task.id().get());
        if let Some(name) = task.name() {
            self.push(b" \"");
            self.push(name.as_bytes());
            self.push(b"\"");
        }
        let location = task.location();
        self.push(b" (spawned at ");
        self.push_end(location.file().as_bytes());
        self.push(b":");
        self.push_number(location.line().into());
        self.push(b":");
        self.push_number(location.column().into());
        self.push(b") ");
    }

    fn push(&mut self, piece: &[u8]) {
        let piece = &piece[..piece.len().min(Self::PIECE).min(Self::ROOM - self.len)];
        self.bytes[self.len..][..piece.len()].copy_from_slice(piece);
        self.len += piece.len();
    }

    /// Appends as much as fits of the end of `piece`, because the end of a path names the file.
    fn push_end(&mut self, piece: &[u8]) {
        self.push(&piece[piece.len().saturating_sub(Self::PIECE)..]);
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

/// Installs the overflow handler for the whole process.
pub(crate) fn install() {
    let handler = |address| {
        let fiber = context::fiber();
        if let Some(fiber) = fiber.filter(|fiber| fiber.record().is_guard(address)) {
            report(fiber);
            std::process::abort();
        }
    };
    // SAFETY: the handler reads words that are valid at any time (a thread-local without a
    // destructor, a fiber's record, the constant parts of a running task). It writes a line by
    // system calls.
    unsafe { os::on_fault(handler) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_keep_their_end() {
        let mut line = Line::new();
        line.push_end(b"src/short.rs");
        assert_eq!(&line.bytes[..line.len], b"src/short.rs");
        let long = [&[b'd'; 1000][..], b"/long.rs"].concat();
        line.push_end(&long);
        assert_eq!(line.len, b"src/short.rs".len() + Line::PIECE);
        assert!(line.bytes[..line.len].ends_with(b"ddd/long.rs"));
    }

    #[test]
    fn lines_are_cut_and_numbers_whole() {
        let mut line = Line::new();
        line.push_number(0);
        line.push_number(u64::MAX);
        assert_eq!(&line.bytes[..line.len], b"018446744073709551615");
        (0..4).for_each(|_| line.push(&[b'x'; 1000]));
        assert_eq!(line.len, Line::ROOM);
    }
}
