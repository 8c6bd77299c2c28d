//! All placements of n queens: an irregular search with a join for each alternative.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "nqueens",
        unit: "ms",
        title: "time of 13 queens",
        description: "all placements of 13 queens, a join for each further alternative".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| {
            if smoke { Queens { n: 6, count: 4 } } else { Queens { n: 13, count: 73_712 } }
        },
        serial: true,
    };
    super::groups(plan, workers, &case)
}

struct Queens {
    n: u32,
    count: u64,
}

/// Occupied columns and diagonals, as seen from the next row.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn empty(n: u32) -> Self {
        Self { all: (1 << n) - 1, columns: 0, left: 0, right: 0 }
    }

    fn free(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }

    fn with(self, square: u32) -> Self {
        Self {
            columns: self.columns | square,
            left: (self.left | square) << 1,
            right: (self.right | square) >> 1,
            ..self
        }
    }
}

impl Program for Queens {
    type Out = u64;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) -> u64 {
        rows::<L>(ctx, Board::empty(self.n))
    }

    fn serial(&self) -> Option<u64> {
        Some(rows_serial(Board::empty(self.n)))
    }

    fn check(&self, out: u64) -> Result<(), Error> {
        expect("the number of placements", out, self.count)
    }
}

/// Counts the placements of the remaining rows.
fn rows<L: ForkJoin>(ctx: &mut L::Ctx<'_>, board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    match board.free() {
        0 => 0,
        free => alternatives::<L>(ctx, board, free),
    }
}

/// Counts the placements with the next queen on any of the squares `free`, of which there is at
/// least one.
fn alternatives<L: ForkJoin>(ctx: &mut L::Ctx<'_>, board: Board, free: u32) -> u64 {
    let square = free & free.wrapping_neg();
    let others = free ^ square;
    if others == 0 {
        return rows::<L>(ctx, board.with(square));
    }
    let (a, b) =
        L::join(ctx, |c| rows::<L>(c, board.with(square)), |c| alternatives::<L>(c, board, others));
    a + b
}

fn rows_serial(board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    let (mut free, mut count) = (board.free(), 0);
    while free != 0 {
        let square = free & free.wrapping_neg();
        free ^= square;
        count += rows_serial(board.with(square));
    }
    count
}
