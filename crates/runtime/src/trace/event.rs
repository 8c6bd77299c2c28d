//! Encoding of events in a ring: four words each.
//!
//! | word | bits | holds |
//! |---|---|---|
//! | 0 | all | when, in ticks |
//! | 1 | low 8 | the [`Kind`] |
//! | 1 | next 24 | a small number |
//! | 1 | high 32 | the number of a fiber |
//! | 2, 3 | all | what the kind says |
//!
//! A static string is stored as its address, with its length in the upper 16 bits. Other names
//! precede their event, in events of their own.

use crate::trace_ring::WORDS;
use std::panic::Location;

/// An event's words.
pub(crate) type Words = [u64; WORDS];

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The kind of an event. Words 2 and 3 are in brackets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

kinds! {
    /// A piece of the name of what the next event begins (16 bytes). The small number is the count
    /// of bytes.
    Name,
    /// A task was spawned (task).
    Spawn,
    /// A task begins on the fiber (task, place of its spawn).
    Start,
    /// A task ends (task).
    End,
    /// A branch, a scoped spawn or a call begins (its number; the task that it works for, or 0).
    /// The small number is 0 for a call.
    BranchStart,
    /// It ends (its number).
    BranchEnd,
    /// A future's poll begins (task, place of its spawn).
    PollStart,
    /// It ends (task). The small number is 1 if the future is over.
    PollEnd,
    /// The fiber is suspended (what it waits for as a string, 0 for a yield; its address).
    Suspend,
    /// It resumes (number of what runs there).
    Resume,
    /// The fiber was made ready (number of what runs there).
    Wake,
    /// A future was made ready (task).
    WakeFuture,
    /// A task was stolen (victim).
    StealTask,
    /// A branch was stolen (victim).
    StealBranch,
    /// A sleeping worker was woken (worker).
    WakeWorker,
    /// The worker changes what it does (before, now).
    Turn,
    /// Timers fired (how many).
    Timers,
    /// The fiber's task waits for a branch that was stolen.
    JoinStolen,
    /// A named slice begins within the task (a string for its kind; the arrow that ends here, or
    /// 0).
    SliceStart,
    /// A task of a shed begins (place where the shed was built, its number there).
    ShedTask,
    /// It ends.
    SliceEnd,
    /// An arrow begins (arrow, a string for its kind).
    ArrowStart,
    /// An item of a channel is sent (the address through which it goes).
    Send,
    /// It is received (that address).
    Receive,
    /// The next event of the ring comes from this thread, which is not a worker (its name as the
    /// system knows it, padded with zeros). The small number is the thread's.
    Thread,
    /// Queue lengths (queued and ready, stacks and suspended; 32 bits each).
    Sample,
}

/// No fiber in particular.
pub(crate) const NONE: u32 = u32::MAX;

/// The second word.
#[inline(always)]
pub(crate) fn head(kind: Kind, small: u32, fiber: u32) -> u64 {
    kind as u64 | u64::from(small & 0xff_ffff) << 8 | u64::from(fiber) << 32
}

/// The parts of the second word.
pub(crate) fn split(head: u64) -> Option<(Kind, u32, u32)> {
    let kind = *Kind::ALL.get((head & 0xff) as usize)?;
    Some((kind, (head >> 8) as u32 & 0xff_ffff, (head >> 32) as u32))
}

const ADDRESS: u64 = (1 << 48) - 1;

/// Encodes a static string in a word.
#[inline(always)]
pub(crate) fn pack(text: &'static str) -> u64 {
    let len = text.len().min(u16::MAX as usize) as u64;
    len << 48 | text.as_ptr().expose_provenance() as u64 & ADDRESS
}

/// The string; `None` for 0.
///
/// # Safety
/// The word is 0, or was made by [`pack`] in this process.
pub(crate) unsafe fn unpack(word: u64) -> Option<&'static str> {
    let address = usize::try_from(word & ADDRESS).unwrap_or(0);
    if address == 0 {
        return None;
    }
    let pointer = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: `pack` was given a `&'static str` of this address and at least this length.
    let bytes = unsafe { std::slice::from_raw_parts(pointer, (word >> 48) as usize) };
    // A string that was too long may have been cut within a character.
    Some(std::str::from_utf8(bytes).unwrap_or("?"))
}

/// Encodes a source location in a word.
#[inline(always)]
pub(crate) fn pack_place(place: &'static Location<'static>) -> u64 {
    std::ptr::from_ref(place).expose_provenance() as u64
}

/// The location; `None` for 0.
///
/// # Safety
/// The word is 0, or was made by [`pack_place`] in this process.
pub(crate) unsafe fn unpack_place(word: u64) -> Option<&'static Location<'static>> {
    let address = usize::try_from(word).unwrap_or(0);
    // SAFETY: null, or a `&'static`.
    unsafe { std::ptr::with_exposed_provenance::<Location<'static>>(address).as_ref() }
}

/// The longest name kept whole, in bytes.
pub(crate) const LONGEST: usize = 64;
/// Bytes of a name in one event.
const PIECE: usize = 16;

/// Calls `write` with the last three words of each event that `name` takes.
pub(crate) fn pieces(name: &str, mut write: impl FnMut(u64, u64, u64)) {
    let name = &name.as_bytes()[..name.len().min(LONGEST)];
    for piece in name.chunks(PIECE) {
        let mut bytes = [0; PIECE];
        bytes[..piece.len()].copy_from_slice(piece);
        let [low, high] = [0, 8].map(|at| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        });
        write(head(Kind::Name, piece.len() as u32, 0), low, high);
    }
}

/// Adds a piece to `name`.
pub(crate) fn add_piece(name: &mut Vec<u8>, len: u32, low: u64, high: u64) {
    let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
    name.extend_from_slice(&bytes[..(len as usize).min(PIECE)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_strings_come_back() {
        for (number, &kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(split(head(kind, 0xab_cdef, u32::MAX)), Some((kind, 0xab_cdef, u32::MAX)));
        }
        assert_eq!(split(0xff), None);
        let place = Location::caller();
        // SAFETY: packed here.
        unsafe {
            assert_eq!(unpack(pack("mutex")), Some("mutex"));
            assert_eq!(unpack(0), None);
            assert_eq!(unpack_place(pack_place(place)), Some(place));
            assert_eq!(unpack_place(0), None);
        }
    }

    #[test]
    fn names_are_cut_into_pieces() {
        for name in ["", "a", "sixteen letters!", "seventeen letters", &"x".repeat(100)] {
            let mut whole = Vec::new();
            pieces(name, |head, low, high| {
                let (kind, len, _) = split(head).expect("a kind");
                assert_eq!(kind, Kind::Name);
                add_piece(&mut whole, len, low, high);
            });
            assert_eq!(whole, name.as_bytes()[..name.len().min(LONGEST)]);
        }
    }
}
