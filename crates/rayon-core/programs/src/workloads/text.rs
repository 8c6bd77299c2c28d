//! A text is split at its spaces, where nobody knows how long the parts are.

use crate::draw::numbers;
use crate::{Made, Workload, expect};
use rayon::prelude::*;

struct Text {
    text: String,
    /// Words, and their bytes.
    found: (usize, usize),
    wanted: (usize, usize),
}

/// The size is the number of bytes.
pub(crate) fn make(size: usize) -> Made {
    let letter = |n: u64| if n >> 61 == 0 { ' ' } else { char::from(b'a' + (n % 26) as u8) };
    let text: String = numbers().map(letter).take(size).collect();
    let words = || text.split_whitespace();
    let wanted = (words().count(), words().map(str::len).sum());
    Ok(Box::new(Text { found: (0, 0), wanted, text }))
}

impl Workload for Text {
    fn reset(&mut self) {
        self.found = (0, 0);
    }

    fn run(&mut self) {
        let words = self.text.par_split_whitespace().map(|word| (1, word.len()));
        self.found = words.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    }

    fn check(&self) -> Result<(), String> {
        expect("words and their bytes", self.found, self.wanted)
    }
}
