//! Loops on the calling thread, in one piece or in pieces of a fixed grain.

use crate::par::piece::Piece;
use crate::unwind::Held;

/// How a loop is divided.
#[derive(Debug)]
pub struct Lazy(());

impl Lazy {
    /// A loop in one piece.
    #[inline]
    pub fn at_least(_: usize) -> Self {
        Self(())
    }

    /// Runs `rest`.
    #[inline]
    pub fn run<P: Piece>(self, rest: P::Rest) -> P::Output {
        let mut state = Held::new(P::begin(&rest));
        let mut rest = Some(rest);
        while let Some(some) = rest {
            if P::is_full(&state, &some) {
                P::give_up(&mut state, some);
                break;
            }
            let count = P::portion(&state, &some, usize::MAX);
            rest = P::work(&mut state, some, count);
        }
        P::end(state.release())
    }
}
