//! The spawns of a scope that have not started: the scope can take them from here, wherever their
//! entries lie.
//!
//! A scope whose task keeps its thread needs this. Its spawns may lie in the queues of workers that
//! wait for a lock which the scope's own task holds.
//!
//! Each spawn has a [`Shell`] on the heap, linked in its scope's list. A queue has an entry for it.
//! States of a shell:
//!
//! | state | means | moved on by |
//! |---|---|---|
//! | `QUEUED` | in the list, with an entry in a queue | the taker: to `TAKEN`; the scope: `OWNED` |
//! | `TAKEN` | the taker unlinks it, and runs what is in it; then it is gone | |
//! | `OWNED` | unlinked; the scope takes out what is in it | the scope: to `EMPTY`; taker: `LEFT` |
//! | `EMPTY` | the entry's taker frees it | |
//! | `LEFT` | the entry is gone: the scope frees it | |
//!
//! The taker of an entry that is not `QUEUED` may touch the shell, but not the scope, which may
//! have ended.
//!
//! Proof: `README.md`, "A scope's own list"; model: `loom_own_list.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU8;
use sateen_base::prim::{Ordering, UnsafeCell};
use sateen_base::{RawSpinLock, SpinLock};

const QUEUED: u8 = 0;
const TAKEN: u8 = 1;
const OWNED: u8 = 2;
const EMPTY: u8 = 3;
const LEFT: u8 = 4;

/// The head of a spawn's allocation. See the [module's documentation](self).
#[derive(Debug)]
pub struct Shell {
    state: AtomicU8,
    /// Under the list's lock.
    links: UnsafeCell<Links>,
}

#[derive(Debug)]
struct Links {
    older: *const Shell,
    younger: *const Shell,
}

/// The youngest shell of a scope's spawns that have not started; null for none.
#[derive(Debug)]
pub struct OwnList(SpinLock<*const Shell>);

// SAFETY: the shells that it leads to are Sync but for their links, which its lock guards.
unsafe impl Send for OwnList {}
// SAFETY: as above.
unsafe impl Sync for OwnList {}

impl Shell {
    /// Not in a list yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let links = Links { older: std::ptr::null(), younger: std::ptr::null() };
        Self { state: AtomicU8::new(QUEUED), links: UnsafeCell::new(links) }
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        // Ordering: AcqRel. Either side may free the shell after the other has left it, and has
        // seen all that the other did with it.
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Claims the shell for the taker of its entry. If that succeeds the caller
    /// [unlinks](OwnList::unlink) it, and has it alone. If not it may only free the shell, and only
    /// if it is told to.
    pub fn take(&self) -> Result<(), Left> {
        if self.moves(QUEUED, TAKEN) {
            return Ok(());
        }
        Err(if self.moves(OWNED, LEFT) { Left::Alone } else { Left::Free })
    }

    /// The scope has taken out what was in the shell. Says whether the scope frees it.
    pub fn emptied(&self) -> Left {
        if self.moves(OWNED, EMPTY) { Left::Alone } else { Left::Free }
    }
}

/// What a thread does with a shell that it has finished with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The other side frees it.
    Alone,
    /// The caller frees it.
    Free,
}

impl OwnList {
    /// Without shells.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(SpinLock::from_raw(RawSpinLock::new(), std::ptr::null()))
    }

    /// Whether it has no shells; recent.
    #[cfg(not(loom))]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_null()
    }

    /// Adds `shell` as the youngest.
    ///
    /// # Safety
    /// It is in no list, and stays until it has been taken or its scope has emptied it.
    pub unsafe fn link(&self, shell: *const Shell) {
        let mut youngest = self.0.lock();
        // SAFETY: those in the list exist; the lock guards all links.
        unsafe {
            (*shell).links.with_mut(|links| (*links).older = *youngest);
            if let Some(older) = youngest.as_ref() {
                older.links.with_mut(|links| (*links).younger = shell);
            }
        }
        *youngest = shell;
    }

    /// Removes `shell`, which the caller has [taken](Shell::take).
    ///
    /// # Safety
    /// It is in this list.
    pub unsafe fn unlink(&self, shell: *const Shell) {
        let mut youngest = self.0.lock();
        // SAFETY: by contract.
        unsafe { Self::remove(&mut youngest, shell) };
    }

    /// # Safety
    /// `shell` is in the list, whose lock the caller holds.
    unsafe fn remove(youngest: &mut *const Shell, shell: *const Shell) {
        // SAFETY: those in the list exist; the lock guards all links.
        unsafe {
            let (older, younger) = (*shell).links.with(|links| ((*links).older, (*links).younger));
            match younger.as_ref() {
                Some(younger) => younger.links.with_mut(|links| (*links).older = older),
                None => *youngest = older,
            }
            if let Some(older) = older.as_ref() {
                older.links.with_mut(|links| (*links).younger = younger);
            }
        }
    }

    /// Claims the youngest that nobody has taken, for the scope, and removes it. The caller takes
    /// out what is in it, and then calls [`Shell::emptied`].
    pub fn take_youngest(&self) -> Option<*const Shell> {
        let mut youngest = self.0.lock();
        let mut shell = *youngest;
        while !shell.is_null() {
            // SAFETY: those in the list exist while the lock is held; see `remove`.
            unsafe {
                if (*shell).moves(QUEUED, OWNED) {
                    Self::remove(&mut youngest, shell);
                    return Some(shell);
                }
                shell = (*shell).links.with(|links| (*links).older);
            }
        }
        None
    }
}
