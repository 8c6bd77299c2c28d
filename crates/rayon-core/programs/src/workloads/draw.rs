//! Numbers that look random and are the same in each process.

/// An endless row of numbers (Marsaglia's xorshift).
pub(crate) fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}
