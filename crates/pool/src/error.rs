//! Why a pool could not be made.

use std::fmt;

/// Why a pool could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A pool of 0 blocks.
    ZeroCapacity,
    /// Blocks of 0 bytes.
    ZeroSize,
    /// An alignment that is no power of two.
    Alignment(usize),
    /// More blocks than the strategy can number.
    Capacity {
        /// Blocks asked for.
        asked: usize,
        /// Blocks possible.
        most: usize,
    },
    /// The pool would need more bytes than an address can reach.
    Overflow {
        /// Blocks asked for.
        capacity: usize,
        /// Bytes of a block asked for.
        size: usize,
        /// Alignment asked for.
        align: usize,
    },
    /// Impossible growth: to fewer blocks, in steps of 0, or in more than 31 steps.
    Growth {
        /// Blocks asked for at first.
        capacity: usize,
        /// Blocks asked for by the first step.
        step: usize,
        /// Most blocks asked for.
        most: usize,
    },
    /// The system has not enough memory.
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroCapacity => f.write_str("a pool of 0 blocks"),
            Self::ZeroSize => f.write_str("blocks of 0 bytes"),
            Self::Alignment(align) => {
                write!(f, "an alignment of {align}, which is no power of two")
            }
            Self::Capacity { asked, most } => {
                write!(f, "{asked} blocks, where at most {most} are possible")
            }
            Self::Overflow { capacity, size, align } => {
                write!(
                    f,
                    "{capacity} blocks of {size} bytes, aligned to {align}: too large to address"
                )
            }
            Self::Growth { capacity, step, most } => write!(
                f,
                "a pool of {capacity} blocks cannot grow to {most} in 31 steps of {step} or fewer"
            ),
            Self::OutOfMemory { bytes } => write!(f, "the system has no {bytes} bytes of memory"),
        }
    }
}

impl std::error::Error for BuildError {}
