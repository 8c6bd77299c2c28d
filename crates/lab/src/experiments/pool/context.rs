//! The state of a pool before a run.

use crate::adapter::{Content, Pool};
use crate::error::{Error, expect};

/// Which blocks are in use besides the measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// None.
    Fresh,
    /// Every second block.
    Polluted,
    /// The first half of the pool.
    FirstHalf,
    /// All but what is needed and a few more, scattered.
    AlmostFull,
}

impl Context {
    pub(super) const ALL: [Self; 4] =
        [Self::Fresh, Self::Polluted, Self::FirstHalf, Self::AlmostFull];

    /// The name in identities.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Polluted => "polluted",
            Self::FirstHalf => "firsthalf",
            Self::AlmostFull => "almostfull",
        }
    }

    /// Describes the context.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Fresh => "nothing else in use",
            Self::Polluted => {
                "every second block in use (of an allocator: a quarter allocated before)"
            }
            Self::FirstHalf => "the first half in use (of an allocator: as many allocated before)",
            Self::AlmostFull => "all in use but what is needed and 1 in 256, here and there",
        }
    }

    /// Takes blocks of a fresh pool of `capacity` blocks until it is in this state. At least
    /// `needed` blocks are left.
    ///
    /// It takes all blocks, then gives some back. So all memory has been touched, and a search that
    /// continues where it last stopped begins at the beginning.
    pub(super) fn take<P: Pool>(
        self,
        pool: &P,
        capacity: usize,
        needed: usize,
    ) -> Result<Vec<P::Handle>, Error> {
        let all = match self {
            Self::Fresh if !P::BOUNDED => 0,
            // As published: half of the most blocks of a general allocator are allocated before.
            Self::Polluted if !P::BOUNDED => capacity / 4,
            Self::FirstHalf if !P::BOUNDED => capacity / 2,
            _ => capacity,
        };
        let taken: Vec<P::Handle> =
            (0..all).map_while(|number| pool.take(stranger(number))).collect();
        expect("blocks to be had", taken.len(), all)?;
        // Of the numbers of `capacity` blocks, `needed` are below this.
        let below = u64::MAX / capacity as u64 * needed as u64;
        let mut kept = Vec::with_capacity(all);
        for (number, block) in taken.into_iter().enumerate() {
            let position = if P::BOUNDED { pool.position(&block) } else { number };
            let keep = match self {
                Self::Fresh => false,
                Self::Polluted => !P::BOUNDED || position % 2 == 0,
                Self::FirstHalf => !P::BOUNDED || position < capacity / 2,
                Self::AlmostFull => scattered(position) >= below,
            };
            if keep {
                kept.push(block);
            } else {
                pool.give(block);
            }
        }
        Ok(kept)
    }
}

/// The content of blocks that are not measured.
fn stranger(number: usize) -> Content {
    [u32::MAX, number as u32, 0]
}

/// Returns a number that looks random, the same for each pool: the finalizer of SplitMix64.
fn scattered(position: usize) -> u64 {
    let mut z = (position as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
