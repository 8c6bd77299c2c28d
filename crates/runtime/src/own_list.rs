//! A scope's list of its spawns that have not started, so that the scope can run them itself.
//!
//! A scope needs this if its task keeps its thread. Its spawns may be queued at workers that wait
//! for a lock which the scope's own task holds.
//!
//! Each spawn has a [`Shell`] on the heap, linked in its scope's list. A queue has an entry for it.
//! States of a shell:
//!
//! | state | means | changed by |
//! |---|---|---|
//! | `QUEUED` | in the list, with an entry in a queue | the taker: to `TAKEN`; the scope: `OWNED` |
//! | `TAKEN` | the taker unlinks the shell, runs its closure and frees it | |
//! | `OWNED` | unlinked; the scope takes the closure out | the scope: to `EMPTY`; taker: `LEFT` |
//! | `EMPTY` | the entry's taker frees the shell | |
//! | `LEFT` | the entry is gone; the scope frees the shell | |
//!
//! A taker that finds the shell not `QUEUED` may touch the shell but not the scope, which may have
//! ended.
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
    /// Guarded by the list's lock.
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

// SAFETY: its shells are Sync except for their links, which the list's lock guards.
unsafe impl Send for OwnList {}
// SAFETY: as above.
unsafe impl Sync for OwnList {}

impl Shell {
    /// Starts outside of any list.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let links = Links { older: std::ptr::null(), younger: std::ptr::null() };
        Self { state: AtomicU8::new(QUEUED), links: UnsafeCell::new(links) }
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        // Ordering: AcqRel. Either side may free the shell after the other has left it, and must
        // see all that the other did to it.
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Claims the shell for the taker of its entry. On success the caller
    /// [unlinks](OwnList::unlink) it and owns it alone. Otherwise the caller may only free it, and
    /// only if the result says so.
    pub fn take(&self) -> Result<(), Left> {
        if self.moves(QUEUED, TAKEN) {
            return Ok(());
        }
        Err(if self.moves(OWNED, LEFT) { Left::Alone } else { Left::Free })
    }

    /// Called when the scope has taken the closure out. Says whether the scope frees the shell.
    pub fn emptied(&self) -> Left {
        if self.moves(OWNED, EMPTY) { Left::Alone } else { Left::Free }
    }
}

/// What a thread must do with a shell that it has finished with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The other side frees it.
    Alone,
    /// The caller frees it.
    Free,
}

impl OwnList {
    /// Creates an empty list.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(SpinLock::from_raw(RawSpinLock::new(), std::ptr::null()))
    }

    /// Whether the list is empty, possibly stale.
    #[cfg(not(loom))]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_null()
    }

    /// Adds `shell` as the youngest.
    ///
    /// # Safety
    /// `shell` is in no list, and stays valid until it is taken or its scope has emptied it.
    pub unsafe fn link(&self, shell: *const Shell) {
        let mut youngest = self.0.lock();
        // SAFETY: linked shells are valid; the lock guards all links.
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
    /// `shell` is in this list.
    pub unsafe fn unlink(&self, shell: *const Shell) {
        let mut youngest = self.0.lock();
        // SAFETY: by contract.
        unsafe { Self::remove(&mut youngest, shell) };
    }

    /// # Safety
    /// `shell` is in the list, whose lock the caller holds.
    unsafe fn remove(youngest: &mut *const Shell, shell: *const Shell) {
        // SAFETY: linked shells are valid; the lock guards all links.
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

    /// Claims and removes the youngest shell that nobody has taken, for the scope. The caller takes
    /// the closure out and then calls [`Shell::emptied`].
    pub fn take_youngest(&self) -> Option<*const Shell> {
        let mut youngest = self.0.lock();
        let mut shell = *youngest;
        while !shell.is_null() {
            // SAFETY: linked shells stay valid while the lock is held; see `remove`.
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
