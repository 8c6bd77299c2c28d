//! Colours, shapes and dashes: what tells one series from another.
//!
//! The palette is that of Okabe and Ito, darkened where a thin line on white would be too pale.
//! Ours is always blue, with a filled circle for the default, and other shapes and dashes for our
//! other kinds. Each peer has a colour and a shape of its own, so a reader who sees no colours
//! tells them apart too.

use crate::adapter::{OURS, SERIAL, STRATEGY};
use crate::ours::is_ours;

/// A colour by its part in a picture. The SVG names it as a class; a style sheet has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ink(pub(super) u8);

impl Ink {
    pub(crate) const OURS: Self = Self(0);
    /// Something that is neither ours nor a peer.
    pub(crate) const PLAIN: Self = Self(6);
    pub(super) const TEXT: Self = Self(7);
    pub(super) const FAINT: Self = Self(8);
    pub(super) const GRID: Self = Self(9);
    pub(super) const BAND: Self = Self(10);
    pub(super) const PAPER: Self = Self(11);
}

/// How many colours peers have.
const PEERS: usize = 5;

/// The values of the inks on white, in their order.
pub(super) const ON_WHITE: [&str; 12] = [
    "#0072b2", "#d55e00", "#00835f", "#aa4499", "#a36f00", "#7a2048", "#6b6b6b", "#1b1f24",
    "#59636e", "#e3e6ea", "#f1f5f9", "#ffffff",
];

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
}

/// All shapes, in the order in which they are given out.
pub(crate) const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down, Shape::Cross];

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) ink: Ink,
    pub(crate) shape: Shape,
    pub(crate) filled: bool,
    /// 0 for an unbroken line.
    pub(crate) dash: u8,
    /// Whether it is the one that a reader looks for.
    pub(crate) leads: bool,
}

/// How many patterns of dashes there are, the unbroken line among them.
const DASHES: usize = 4;
/// Their lengths.
pub(super) const DASH_ARRAYS: [&str; DASHES] = ["", "5 3", "2 3", "7 3 2 3"];

/// Returns which of `names` is our default, if any is.
pub(crate) fn leader<'a>(names: &[&'a str]) -> Option<&'a str> {
    let known = [OURS, STRATEGY, "mutex"];
    known.iter().find_map(|known| names.iter().copied().find(|name| name == known))
}

/// Returns how each of `names` looks. No two of up to thirty peers look alike.
pub(crate) fn looks(names: &[&str]) -> Vec<Look> {
    let leader = leader(names);
    let (mut kinds, mut peers) = (0, 0);
    let mut look = |name: &&str| {
        if Some(*name) == leader {
            return Look {
                ink: Ink::OURS,
                shape: Shape::Circle,
                filled: true,
                dash: 0,
                leads: true,
            };
        }
        if *name == SERIAL {
            let (ink, shape) = (Ink::PLAIN, Shape::Cross);
            return Look { ink, shape, filled: false, dash: 1, leads: false };
        }
        if is_ours(name) {
            kinds += 1;
            return Look {
                ink: Ink::OURS,
                shape: SHAPES[kinds % SHAPES.len()],
                filled: kinds / SHAPES.len() % 2 == 1,
                dash: (1 + kinds % (DASHES - 1)) as u8,
                leads: false,
            };
        }
        peers += 1;
        Look {
            ink: Ink((1 + (peers - 1) % PEERS) as u8),
            shape: SHAPES[1 + (peers - 1) % (SHAPES.len() - 1)],
            filled: ((peers - 1) / PEERS).is_multiple_of(2),
            dash: ((peers - 1) / PEERS % DASHES) as u8,
            leads: false,
        }
    };
    names.iter().map(&mut look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_blue_and_peers_differ() {
        let names = ["serial", "sateen", "sateen-local", "rayon", "tokio", "a", "b", "c", "d", "e"];
        let looks = looks(&names);
        assert!(looks[1].leads && looks[1].filled && looks[1].ink == Ink::OURS);
        assert!(looks[2].ink == Ink::OURS && looks[2].shape != Shape::Circle);
        assert!(looks[3..].iter().all(|l| l.ink != Ink::OURS));
        for (i, look) in looks.iter().enumerate() {
            assert!(!looks[..i].contains(look), "{} looks like another one", names[i]);
        }
    }
}
