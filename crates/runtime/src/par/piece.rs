//! What a loop does with its iterations.

/// What a loop does: how its parts are halved, and what becomes of their iterations.
pub trait Piece {
    /// A part of the loop that nobody has begun. Another worker may take it.
    type Rest: Send;
    /// What the iterations have made that this worker did one after the other. It stays here.
    type State;
    /// What lies between two halves, if anything is needed to join what they make.
    type Seam;
    /// What a part makes.
    type Output: Send;

    /// A state that has made nothing yet.
    fn begin(rest: &Self::Rest) -> Self::State;

    /// How many iterations are left.
    fn left(rest: &Self::Rest) -> usize;

    /// Whether no more iterations are wanted. Asked before a part is halved, and before each chunk.
    #[inline]
    fn is_full(_state: &Self::State, _rest: &Self::Rest) -> bool {
        false
    }

    /// Ends a part of which no more is wanted.
    fn give_up(state: &mut Self::State, rest: Self::Rest);

    /// How many iterations to do next, if `chunk` take as long as a chunk should: 1 or more,
    /// unless none are left.
    #[inline]
    fn portion(_state: &Self::State, rest: &Self::Rest, chunk: usize) -> usize {
        chunk.min(Self::left(rest))
    }

    /// Does `count` iterations, which is at most what is left. Returns what is left then, unless
    /// that is nothing, or is not wanted.
    fn work(state: &mut Self::State, rest: Self::Rest, count: usize) -> Option<Self::Rest>;

    /// Splits a part of at least two iterations in the middle.
    fn halve(rest: Self::Rest) -> (Self::Rest, Self::Seam, Self::Rest);

    /// Prepares a state that has done the first half for the second.
    fn go_on(state: &mut Self::State, seam: Self::Seam);

    /// Adds what another worker has made of the second half.
    fn append(state: &mut Self::State, seam: Self::Seam, output: Self::Output);

    /// What the state has made, after all its parts.
    fn end(state: Self::State) -> Self::Output;
}
