//! Names of tasks, in sheds and in templates.

use core::fmt;

/// The name of a task: which of the shed's slots it has, and its generation, which tells it from
/// other tasks in the same slot.
///
/// Generations have 32 bits and start at another value in each shed. So the name of a task that has
/// ended, or of another shed's task, is noticed. A name has eight bytes and is copied freely.
///
/// ```
/// let shed = sateen::shed::Shed::<u32>::builder().tasks(1).build()?;
/// let [first] = shed.create([7]).unwrap();
/// shed.free(&[first])?;
/// let [second] = shed.create([8]).unwrap();
/// assert_ne!(first, second); // the same slot, another task
/// assert_eq!(shed.ready(&[first]), Err(sateen::shed::Error::StaleTask(first)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

impl TaskId {
    /// A name that no shed gives, to fill arrays with.
    pub const NONE: Self = Self(u64::MAX);

    #[inline(always)]
    pub(crate) const fn new(index: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The name as a number, for tables and foreign interfaces.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The name that [`to_bits`](Self::to_bits) gave. A number that no shed gave is an error where
    /// it is used.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.index(), self.generation())
    }
}

/// A task of a [`Template`](crate::Template). It names the same task in the template's clones, and
/// in instances of all of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub(crate) template: u32,
    pub(crate) index: u32,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}
