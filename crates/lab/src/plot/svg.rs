//! The back end of the plotting library: SVG in few bytes, whose colours are classes.
//!
//! A page with many pictures must be small, and its colours change with the reader's preference. So
//! a colour is a key: its blue part is the number of an [`Ink`](super::pens::Ink), its red part the
//! pattern of dashes, its green part marks a bold text. A text in [`TIP`] is not drawn: it becomes
//! the tooltip of the shape drawn before it.

use super::pens::{DASH_ARRAYS, ON_WHITE};
use super::text::SIZE;
use plotters::prelude::DrawingBackend;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle};
use plotters_backend::{DrawingErrorKind, FontTransform};
use sateen_top::foreign::html as escaped;
use std::convert::Infallible;
use std::fmt::Write;

/// The blue part of the colour of a tooltip.
pub(super) const TIP: u8 = 255;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// Writes shapes to a string, without the element `svg` around them.
pub(super) struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
}

impl<'a> Svg<'a> {
    pub(super) fn new(out: &'a mut String, size: (u32, u32)) -> Self {
        Self { out, size }
    }

    /// Writes an element with a class for the colour of `style`.
    fn shape<S: BackendStyle>(&mut self, tag: &str, geometry: &str, style: &S, filled: bool) {
        let BackendColor { alpha, rgb: (dash, _, ink) } = style.color();
        if alpha == 0.0 {
            return;
        }
        let mut class = format!("{}{ink}", if filled { 'f' } else { 's' });
        if !filled && dash > 0 {
            let _ = write!(class, " d{dash}");
        }
        if !filled && style.stroke_width() > 1 {
            let _ = write!(class, " w{}", style.stroke_width());
        }
        // Lines that follow each other and look alike are one element.
        let line = format!("<path class=\"{class}\" d=\"");
        let last = self.out.rfind('<').unwrap_or(0);
        if let (false, Some(data)) = (filled, geometry.strip_prefix("d=\""))
            && self.out[last..].starts_with(&line)
            && self.out.ends_with("\"/>")
        {
            self.out.truncate(self.out.len() - 3);
            let _ = write!(self.out, "{data}/>");
            return;
        }
        let _ = write!(self.out, "<{tag} class=\"{class}\" {geometry}/>");
    }

    fn path<I: IntoIterator<Item = BackendCoord>>(points: I, closed: bool) -> String {
        let mut data = String::from("d=\"");
        let mut last = None;
        for (x, y) in points {
            let _ = match last {
                None => write!(data, "M{x} {y}"),
                Some((_, before)) if before == y => write!(data, "H{x}"),
                Some((before, _)) if before == x => write!(data, "V{y}"),
                Some(_) => write!(data, "L{x} {y}"),
            };
            last = Some((x, y));
        }
        data + if closed { "Z\"" } else { "\"" }
    }

    /// Makes `text` the tooltip of the last shape.
    fn tip(&mut self, text: &str) {
        let Some(at) = self.out.rfind('<') else { return };
        if !self.out.ends_with("/>") {
            return;
        }
        let tag: String = self.out[at + 1..].chars().take_while(char::is_ascii_lowercase).collect();
        self.out.truncate(self.out.len() - 2);
        let _ = write!(self.out, "><title>{}</title></{tag}>", escaped(text));
    }
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S) -> Drawn {
        self.draw_path([a, b], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let (w, h) = (right - x, bottom - y);
        let geometry = format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        self.shape("rect", &geometry, style, fill);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.shape("path", &Self::path(path, false), style, false);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let geometry = format!("cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"");
        self.shape("circle", &geometry, style, fill);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.shape("path", &Self::path(vert, true), style, true);
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Drawn {
        let (_, bold, ink) = style.color().rgb;
        if ink == TIP {
            self.tip(text);
            return Ok(());
        }
        let mut class = format!("f{ink}");
        class += match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " m",
            HPos::Right => " e",
        };
        class += if bold > 0 { " b" } else { "" };
        // From the middle of the letters to their base line.
        let y = y + 4;
        let turned = match style.transform() {
            FontTransform::Rotate270 => format!(" transform=\"rotate(-90 {x} {y})\""),
            _ => String::new(),
        };
        let text = escaped(text);
        let _ =
            write!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{turned}>{text}</text>");
        Ok(())
    }
}

/// Returns the style sheet of a picture that stands alone, on white.
pub(super) fn style_sheet() -> String {
    let mut css = format!(
        "text{{font:{SIZE}px system-ui,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif}}\
         .m{{text-anchor:middle}}.e{{text-anchor:end}}.b{{font-weight:600}}\
         path,rect,circle{{fill:none}}.w2{{stroke-width:2}}.w3{{stroke-width:3}}"
    );
    for (i, color) in ON_WHITE.iter().enumerate() {
        let _ = write!(css, ".f{i}{{fill:{color};stroke:none}}.s{i}{{stroke:{color}}}");
    }
    for (i, dash) in DASH_ARRAYS.iter().enumerate().skip(1) {
        let _ = write!(css, ".d{i}{{stroke-dasharray:{dash}}}");
    }
    css
}
