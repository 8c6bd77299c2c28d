//! The record of what a fiber waits for. The fiber writes it at each wait; any thread reads it at
//! any time.
//!
//! A sequence lock with one writer, made entirely of atomics:
//!
//! | `version` | `since` | means | the fiber changes it in |
//! |---|---|---|---|
//! | even | 0 | no wait | `begin` |
//! | odd | any | a wait is being written | the same `begin` |
//! | even | not 0 | the other words describe the wait | `begin` of the next, or `end` |
//!
//! Writing costs plain stores. A reader that meets a write reads nothing. The version has 64 bits
//! because a reader that stalls between its two reads must not find the same version again.
//! Otherwise it would combine an address and a length of two waits. Proof: `README.md`, "Seeing
//! what waits"; model: `loom_wait_record.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use sateen_sync::park::{Awaited, OwnerOf};

/// A wait and when it began, in ticks, never 0.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// What the fiber waits for.
    pub what: Awaited,
    /// When it began.
    pub since: u64,
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct WaitRecord {
    version: AtomicU64,
    since: AtomicU64,
    kind: AtomicPtr<u8>,
    kind_len: AtomicUsize,
    place: AtomicPtr<()>,
    /// An [`OwnerOf`], or null.
    owner: AtomicPtr<()>,
}

impl WaitRecord {
    /// Starts without a wait.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            since: AtomicU64::new(0),
            kind: AtomicPtr::new(std::ptr::null_mut()),
            kind_len: AtomicUsize::new(0),
            place: AtomicPtr::new(std::ptr::null_mut()),
            owner: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Records that the fiber waits for `wait`. Only the fiber calls this.
    #[inline]
    pub fn begin(&self, wait: &Wait) {
        // Ordering: Relaxed; one writer.
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // Ordering: Release; a thread that reads one of the stores below finds an odd or later
        // version after its own fence in `read`.
        fence(Ordering::Release);
        let owner = wait.what.owner().map_or(std::ptr::null_mut(), |owner| owner as *mut ());
        self.kind.store(wait.what.kind().as_ptr().cast_mut(), Ordering::Relaxed);
        self.kind_len.store(wait.what.kind().len(), Ordering::Relaxed);
        self.place.store(wait.what.place().cast_mut(), Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        self.since.store(wait.since, Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `read`, which makes the words visible.
        self.version.store(version + 2, Ordering::Release);
    }

    /// Records that the fiber no longer waits. Only the fiber calls this.
    #[inline]
    pub fn end(&self) {
        // Ordering: Relaxed; a reader reads the wait whole or not at all, with or without this.
        self.since.store(0, Ordering::Relaxed);
    }

    /// Whether the fiber waits. Exact for the fiber itself.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        // Ordering: Relaxed; a flag.
        self.since.load(Ordering::Relaxed) != 0
    }

    /// What the fiber waits for; `None` also if that is changing. Any thread may call this.
    pub fn read(&self) -> Option<Wait> {
        // Ordering: Acquire pairs with the Release in `begin`.
        let version = self.version.load(Ordering::Acquire);
        let since = self.since.load(Ordering::Relaxed);
        let kind = self.kind.load(Ordering::Relaxed);
        let kind_len = self.kind_len.load(Ordering::Relaxed);
        let place = self.place.load(Ordering::Relaxed);
        let owner = self.owner.load(Ordering::Relaxed);
        // Ordering: Acquire; see `begin`.
        fence(Ordering::Acquire);
        let unchanged = self.version.load(Ordering::Relaxed) == version;
        if !version.is_multiple_of(2) || !unchanged || since == 0 {
            return None;
        }
        // SAFETY: the version shows that pointer and length belong to one `&'static str`.
        let kind =
            unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(kind, kind_len)) };
        // SAFETY: not null, so it was made from such a function.
        let owner =
            (!owner.is_null()).then(|| unsafe { std::mem::transmute::<*mut (), OwnerOf>(owner) });
        let what = Awaited::new(kind, place);
        // SAFETY: the waiting fiber has promised that, and it waits for exactly this.
        let what = owner.map_or(what, |owner| unsafe { what.with_owner(owner) });
        Some(Wait { what, since })
    }
}
