//! The operations of a parallel loop on its iterations.

/// Defines how a loop's parts are halved, and how its iterations run.
pub trait Piece {
    /// A part of the loop that has not begun. Another worker may take it.
    type Rest: Send;
    /// What this worker's consecutive iterations have produced. It stays on this worker.
    type State;
    /// The data needed to join the results of two halves.
    type Seam;
    /// The result of a part.
    type Output: Send;

    /// An initial state.
    fn begin(rest: &Self::Rest) -> Self::State;

    /// How many iterations are left.
    fn left(rest: &Self::Rest) -> usize;

    /// Whether to stop early. Checked before a part is halved, and before each chunk.
    #[inline]
    fn is_full(_state: &Self::State, _rest: &Self::Rest) -> bool {
        false
    }

    /// Drops a part that is no longer wanted.
    fn give_up(state: &mut Self::State, rest: Self::Rest);

    /// How many iterations to run next, if `chunk` is the target: at least 1, unless none are left.
    #[inline]
    fn portion(_state: &Self::State, rest: &Self::Rest, chunk: usize) -> usize {
        chunk.min(Self::left(rest))
    }

    /// Runs `count` iterations, which is at most what is left. Returns the remaining part, unless
    /// it is empty or no longer wanted.
    fn work(state: &mut Self::State, rest: Self::Rest, count: usize) -> Option<Self::Rest>;

    /// Splits a part of at least two iterations in the middle.
    fn halve(rest: Self::Rest) -> (Self::Rest, Self::Seam, Self::Rest);

    /// Prepares a state that has run the first half for the second.
    fn go_on(state: &mut Self::State, seam: Self::Seam);

    /// Appends the result of another worker for the second half.
    fn append(state: &mut Self::State, seam: Self::Seam, output: Self::Output);

    /// The result of the state, after all its parts.
    fn end(state: Self::State) -> Self::Output;
}
