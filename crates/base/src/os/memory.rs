//! Reserved memory with inaccessible pages, of which stacks are made.

#[cfg(feature = "faults")]
use super::faults::{self, Fault};
use super::{Host, Os};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Guards made by changing the mapping's protection, in the whole process. Each splits its mapping
/// into up to three. The number of mappings is limited, and at the limit allocation fails too.
static SPLITS: AtomicUsize = AtomicUsize::new(0);

/// Total size of all mappings of the process.
static RESERVED: AtomicUsize = AtomicUsize::new(0);
/// How much address space must remain after a reservation, and the fraction of all reserved memory
/// that must also remain. Otherwise a program that blocks ever more tasks would use its limit to
/// the last byte, and the next heap allocation would end it.
const SPARE: usize = 16 << 20;
const SPARE_PART: usize = 8;

/// How pages of a [`Mapping`] are made inaccessible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StackGuard {
    /// Marks in the page table (Linux 6.13), which do not split the mapping. If the system has none
    /// or refuses (locked memory), the same as [`StackGuard::Protected`].
    #[default]
    Light,
    /// A change of protection, which splits the mapping.
    Protected,
}

/// A range of zeroed memory straight from the system. Its pages cost nothing until touched.
///
/// ```
/// use sateen_base::os::{StackGuard, Mapping};
///
/// let map = Mapping::reserve(16 * Mapping::PAGE)?;
/// // SAFETY: nothing uses the first page.
/// unsafe { map.guard(0, Mapping::PAGE, StackGuard::Light)? };
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    size: usize,
    /// Its guards that are counted in [`SPLITS`].
    splits: AtomicUsize,
}

// SAFETY: this value owns the mapping alone; any thread may use or unmap it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives out addresses; the unsafe methods state their requirements.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// A multiple of the system's page size, and the size of a guard.
    pub const PAGE: usize = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        4096
    } else if cfg!(target_vendor = "apple") {
        16 * 1024
    } else {
        64 * 1024
    };

    /// Reserves `size` bytes, a multiple of [`Mapping::PAGE`]. Two or three system calls.
    ///
    /// # Errors
    /// The system's error if its limit on maps or memory is reached, or nearly so. `InvalidInput`
    /// for a size that is 0, not a multiple, or absurd.
    pub fn reserve(size: usize) -> io::Result<Self> {
        // Ordering: Relaxed, a sum that guards no data. The same holds below.
        Self::reserve_beside(size, SPARE + RESERVED.load(Relaxed) / SPARE_PART)
    }

    /// [`Mapping::reserve`] that may use the last memory. For the few callers that cannot wait.
    ///
    /// # Errors
    /// As [`Mapping::reserve`].
    pub fn reserve_last(size: usize) -> io::Result<Self> {
        Self::reserve_beside(size, 0)
    }

    fn reserve_beside(size: usize, spare: usize) -> io::Result<Self> {
        if size == 0 || !size.is_multiple_of(Self::PAGE) || size > isize::MAX as usize {
            let reason = format!("cannot reserve {size} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        #[cfg(feature = "faults")]
        if faults::strikes(Fault::Memory) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let base = NonNull::new(Host::reserve(size, spare)?)
            .ok_or_else(|| io::Error::other("the system mapped memory at address 0"))?;
        RESERVED.fetch_add(size, Relaxed);
        Ok(Self { base, size, splits: AtomicUsize::new(0) })
    }

    /// The lowest address.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The `len` bytes at `offset`; both must be whole pages of the mapping.
    fn part(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(
            offset.is_multiple_of(Self::PAGE)
                && len.is_multiple_of(Self::PAGE)
                && offset.checked_add(len).is_some_and(|end| end <= self.size),
            "{len} bytes at {offset} of a mapping of {}",
            self.size
        );
        self.base.as_ptr().wrapping_add(offset)
    }

    /// Makes `len` bytes at `offset` inaccessible as long as the mapping lives. One system call, or
    /// two.
    ///
    /// # Errors
    /// The system's error, for example near its limit on maps.
    ///
    /// # Panics
    /// If the range is not whole pages of the mapping.
    ///
    /// # Safety
    /// Nothing uses that memory, now or later.
    pub unsafe fn guard(&self, offset: usize, len: usize, how: StackGuard) -> io::Result<()> {
        let part = self.part(offset, len);
        if len == 0 {
            return Ok(());
        }
        // Tried each time: it fails on locked memory, which may be unlocked later.
        #[cfg(feature = "faults")]
        let how = if faults::strikes(Fault::Guard) { StackGuard::Protected } else { how };
        // SAFETY: the range belongs to this mapping, and the caller says that nothing uses it.
        if how == StackGuard::Light && unsafe { Host::guard(part, len) }.is_ok() {
            return Ok(());
        }
        // Ordering: Relaxed, counts that guard no data.
        if SPLITS.fetch_add(1, Relaxed) >= Host::map_limit() / 4 {
            SPLITS.fetch_sub(1, Relaxed);
            return Err(io::Error::other("more guards would use up the system's limit on maps"));
        }
        self.splits.fetch_add(1, Relaxed);
        // SAFETY: as above.
        unsafe { Host::protect(part, len) }
    }

    /// [`Mapping::guard`] for `count` ranges, the first at 0 and then one every `stride` bytes. One
    /// system call for 64 ranges where the system supports that (Linux 6.14).
    ///
    /// # Errors
    /// As [`Mapping::guard`].
    ///
    /// # Panics
    /// As [`Mapping::guard`].
    ///
    /// # Safety
    /// As for [`Mapping::guard`].
    pub unsafe fn guard_each(
        &self,
        len: usize,
        stride: usize,
        count: usize,
        how: StackGuard,
    ) -> io::Result<()> {
        let mut done = 0;
        let at_once = how == StackGuard::Light && count > 1 && len != 0;
        #[cfg(feature = "faults")]
        let at_once = at_once && !faults::strikes(Fault::Guard);
        if at_once {
            self.part((count - 1) * stride, len);
            // SAFETY: the ranges belong to this mapping, and the caller says that nothing uses
            // them.
            done = unsafe { Host::guard_each(self.base.as_ptr(), len, stride, count) };
        }
        // SAFETY: passed on to the caller.
        (done..count).try_for_each(|index| unsafe { self.guard(index * stride, len, how) })
    }

    /// Returns the `len` bytes of pages at `offset` to the system, where it takes them. Their
    /// contents are unspecified afterwards; guards stay. One system call.
    ///
    /// # Panics
    /// If the range is not whole pages of the mapping.
    ///
    /// # Safety
    /// No code needs the contents of that memory.
    pub unsafe fn discard(&self, offset: usize, len: usize) {
        let part = self.part(offset, len);
        #[cfg(feature = "faults")]
        if faults::strikes(Fault::Discard) {
            return;
        }
        // SAFETY: the range belongs to this mapping, and the caller says that its contents are not
        // needed.
        unsafe { Host::discard(part, len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: as returned by `reserve`; the owner is gone, so no user is left.
        unsafe { Host::release(self.base.as_ptr(), self.size) }
        // Ordering: Relaxed, counts.
        RESERVED.fetch_sub(self.size, Relaxed);
        SPLITS.fetch_sub(*self.splits.get_mut(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const PAGE: usize = Mapping::PAGE;

    #[test]
    fn many_guards_at_once_leave_what_is_between_them_alone() {
        for how in [StackGuard::Light, StackGuard::Protected] {
            // More than fit into one call.
            let map = Mapping::reserve(301 * PAGE).expect("301 pages");
            // SAFETY: the pages that are guarded are used by no code.
            unsafe { map.guard_each(PAGE, 3 * PAGE, 101, how) }.expect("guards");
            for page in (0..300).filter(|page| page % 3 != 0) {
                // SAFETY: the page lies in the mapping and has no guard.
                unsafe { map.base().add(page * PAGE).write(1) };
            }
        }
    }

    #[test]
    fn memory_is_writable_from_end_to_end_and_can_be_discarded() {
        let map = Mapping::reserve(25 * PAGE).expect("25 pages");
        let (low, high) = (map.base().as_ptr(), map.base().as_ptr().wrapping_add(25 * PAGE - 1));
        // SAFETY: both addresses lie within the mapping, which no other thread uses.
        unsafe {
            assert_eq!((low.read(), high.read()), (0, 0));
            low.write(1);
            high.write(2);
            map.guard(PAGE, PAGE, StackGuard::Light).expect("a guard");
            map.discard(0, map.size());
            low.write(3);
            assert_eq!(low.read(), 3);
        }
    }

    #[test]
    fn an_absurd_size_is_an_error() {
        for size in [0, 1, usize::MAX, 1 << (usize::BITS - 1)] {
            assert!(Mapping::reserve(size).is_err(), "{size}");
        }
        #[cfg(target_pointer_width = "64")]
        assert!(Mapping::reserve(1 << 60).is_err());
    }

    /// Locked memory refuses light guards (Linux); a guard then splits the mapping.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn locked_memory_is_guarded_all_the_same() {
        let map = Mapping::reserve(5 * PAGE).expect("5 pages");
        // SAFETY: this value owns the mapping.
        let locked = unsafe { libc::mlock(map.base().as_ptr().cast(), map.size()) } == 0;
        let before = SPLITS.load(Relaxed);
        // SAFETY: nothing uses the memory.
        unsafe { map.guard(2 * PAGE, PAGE, StackGuard::Light) }.expect("a guard of some kind");
        if locked {
            assert!(SPLITS.load(Relaxed) > before);
        }
        let readable = |offset: usize| {
            let mut ends = [0; 2];
            // SAFETY: `pipe` fills two descriptors; the kernel checks the address that `write`
            // reads.
            unsafe {
                assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
                let n = libc::write(ends[1], map.base().as_ptr().wrapping_add(offset).cast(), 1);
                let _ = ends.map(|end| libc::close(end));
                n == 1
            }
        };
        assert_eq!([0, 1, 2, 3, 4].map(|p| readable(p * PAGE)), [true, true, false, true, true]);
    }

    /// How many mappings of the process, as the kernel counts them, any of `kept` lies in.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn mappings_of(kept: &[Mapping]) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the kernel's list");
        let ends = |line: &str| {
            let (low, high) = line.split_once(' ')?.0.split_once('-')?;
            let parse = |text| usize::from_str_radix(text, 16).ok();
            Some(parse(low)?..parse(high)?)
        };
        let holds = |range: &std::ops::Range<usize>| {
            kept.iter().any(|map| range.contains(&map.base().as_ptr().addr()))
        };
        maps.lines().filter_map(ends).filter(holds).count()
    }

    /// Adjacent slabs are one mapping to the kernel, with all their guards.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn light_guards_do_not_use_up_maps() {
        let probe = Mapping::reserve(PAGE).expect("a page");
        // SAFETY: nothing uses the memory.
        if unsafe { Host::guard(probe.base().as_ptr(), PAGE) }.is_err() {
            return; // An older kernel.
        }
        let kept: Vec<_> = (0..200)
            .map(|_| {
                let map = Mapping::reserve(8 * PAGE).expect("8 pages");
                for page in [0, 3, 6] {
                    // SAFETY: nothing uses the memory.
                    unsafe { map.guard(page * PAGE, PAGE, StackGuard::Light) }.expect("a guard");
                }
                // SAFETY: not guarded.
                unsafe { map.base().as_ptr().add(PAGE).write(1) };
                map
            })
            .collect();
        // Other tests map at the same time, perhaps in between.
        let count = mappings_of(&kept);
        assert!((1..100).contains(&count), "{count} mappings");
    }
}
