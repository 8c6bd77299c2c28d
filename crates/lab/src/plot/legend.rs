//! The legend of a chart whose points have no names beside them.

use super::Series;
use super::canvas::{Canvas, Drawn, Side};
use super::pens::{Ink, Look};
use super::text::{LINE, fitted, width};

/// An entry: a point and its name.
pub(super) struct Entry {
    look: Look,
    name: String,
}

impl Entry {
    pub(super) fn new(look: Look, name: &str) -> Self {
        Self { look, name: name.to_owned() }
    }

    pub(super) fn of(series: &Series) -> Self {
        Self::new(series.look, &series.name)
    }
}

/// Where each entry of a legend lies.
pub(super) struct Legend {
    entries: Vec<(Entry, i32, i32)>,
    pub(super) height: i32,
}

/// From the left of an entry to its name.
const MARK: i32 = 14;
const GAP: i32 = 12;

/// Lays `entries` out in lines within `room` pixels.
pub(super) fn lay_out(entries: Vec<Entry>, room: i32) -> Legend {
    let (mut x, mut line) = (0, 0);
    let mut placed = Vec::with_capacity(entries.len());
    for mut entry in entries {
        entry.name = fitted(&entry.name, room - MARK);
        let wide = MARK + width(&entry.name);
        if x > 0 && x + wide > room {
            (x, line) = (0, line + 1);
        }
        placed.push((entry, x, line * LINE));
        x += wide + GAP;
    }
    let height = if placed.is_empty() { 0 } else { (line + 1) * LINE };
    Legend { entries: placed, height }
}

impl Legend {
    /// Draws it with its upper left corner there.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, (left, top): (i32, i32)) -> Drawn {
        for (entry, x, y) in &self.entries {
            let middle = top + y + LINE / 2;
            canvas.mark((left + x + 6, middle), &entry.look)?;
            canvas.text(entry.name.clone(), (left + x + MARK, middle), Side::Right, Ink::TEXT)?;
        }
        Ok(())
    }
}
