//! What a chart draws with: lines, points, bars and texts in pixels.

use super::pens::{Ink, Look, Shape};
use super::svg::{Svg, TIP};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Why a picture could not be drawn.
pub(super) type Failure = Box<dyn std::error::Error>;
pub(super) type Drawn = Result<(), Failure>;

/// A place in pixels, from the upper left corner.
pub(super) type At = (i32, i32);

/// The area of a picture.
pub(super) struct Canvas<'a> {
    area: DrawingArea<Svg<'a>, Shift>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    ink: Ink,
    dash: u8,
    width: u32,
}

impl Pen {
    pub(super) fn thin(ink: Ink) -> Self {
        Self { ink, dash: 0, width: 1 }
    }

    pub(super) fn dashed(ink: Ink) -> Self {
        Self { ink, dash: 2, width: 1 }
    }

    pub(super) fn of(look: &Look) -> Self {
        Self { ink: look.ink, dash: look.dash, width: if look.leads { 3 } else { 2 } }
    }

    fn style(self) -> ShapeStyle {
        ShapeStyle {
            color: key(self.ink, self.dash, 0).to_rgba(),
            filled: false,
            stroke_width: self.width,
        }
    }
}

/// Where a text lies beside its place. All are centred vertically.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    /// It begins there.
    Right,
    Middle,
    /// It ends there.
    Left,
}

/// The colour that the back end takes as a key.
fn key(ink: Ink, dash: u8, bold: u8) -> RGBColor {
    RGBColor(dash, bold, ink.0)
}

impl<'a> Canvas<'a> {
    pub(super) fn new(out: &'a mut String, size: (u32, u32)) -> Self {
        Self { area: Svg::new(out, size).into_drawing_area() }
    }

    pub(super) fn path(&self, points: &[At], pen: Pen) -> Drawn {
        Ok(self.area.draw(&PathElement::new(points.to_vec(), pen.style()))?)
    }

    pub(super) fn rect(&self, from: At, to: At, ink: Ink) -> Drawn {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        let style = key(ink, 0, 0).filled();
        Ok(self.area.draw(&Rectangle::new([(left, top), (right, bottom)], style))?)
    }

    /// Draws a point in the shape of `look`.
    pub(super) fn mark(&self, at: At, look: &Look) -> Drawn {
        let r = if look.leads { 5 } else { 4 };
        let fill = key(look.ink, 0, 0).filled();
        if !look.filled {
            // A hollow point hides the line behind it.
            self.outline(at, r, look.shape, key(Ink::PAPER, 0, 0).filled())?;
            let line = Pen { ink: look.ink, dash: 0, width: 2 }.style();
            return self.outline(at, r - 1, look.shape, line);
        }
        self.outline(at, r, look.shape, fill)
    }

    fn outline(&self, (x, y): At, r: i32, shape: Shape, style: ShapeStyle) -> Drawn {
        let corners = match shape {
            Shape::Circle => {
                return Ok(self.area.draw(&Circle::new((x, y), r.max(1) as u32, style))?);
            }
            Shape::Cross => {
                // Its fill is nothing but the two lines.
                let line = ShapeStyle { filled: false, stroke_width: 2, ..style };
                let strokes =
                    vec![(x - r, y - r), (x + r, y + r), (x, y), (x - r, y + r), (x + r, y - r)];
                return Ok(self.area.draw(&PathElement::new(strokes, line))?);
            }
            Shape::Square => vec![(-r, -r), (r, -r), (r, r), (-r, r)],
            Shape::Up => vec![(0, -r - 1), (r + 1, r), (-r - 1, r)],
            Shape::Down => vec![(0, r + 1), (r + 1, -r), (-r - 1, -r)],
            Shape::Diamond => vec![(0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)],
        };
        let mut corners: Vec<At> = corners.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        if style.filled {
            return Ok(self.area.draw(&Polygon::new(corners, style))?);
        }
        corners.push(corners[0]);
        Ok(self.area.draw(&PathElement::new(corners, style))?)
    }

    /// Makes `text` the tooltip of the shape that was drawn last.
    pub(super) fn tip(&self, text: String) -> Drawn {
        self.write(text, (0, 0), Side::Right, RGBColor(0, 0, TIP))
    }

    pub(super) fn text(&self, text: impl Into<String>, at: At, side: Side, ink: Ink) -> Drawn {
        self.write(text.into(), at, side, key(ink, 0, 0))
    }

    pub(super) fn bold(&self, text: impl Into<String>, at: At, side: Side, ink: Ink) -> Drawn {
        self.write(text.into(), at, side, key(ink, 0, 1))
    }

    fn write(&self, text: String, at: At, side: Side, color: RGBColor) -> Drawn {
        let anchor = match side {
            Side::Right => HPos::Left,
            Side::Middle => HPos::Center,
            Side::Left => HPos::Right,
        };
        let font = ("sans-serif", super::text::SIZE).into_font().color(&color);
        let style = font.pos(Pos::new(anchor, VPos::Center));
        Ok(self.area.draw(&Text::new(text, at, style))?)
    }
}
