//! Pictures to draw on: pixels with text, and the backend by which `plotters` draws on them.
//!
//! Plots are drawn three times as large as they are shown and averaged, because the lines of `plotters` begin and end at whole
//! pixels. Text is set here: `plotters` would leave out the space beside each letter.

use super::font::Typeface;
use crate::error::{Error, Result};
use crate::picture::{Bits, png_bytes};
use diffkern::memory::{collect, filled};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use std::convert::Infallible;

/// What `plotters` draws on.
pub(super) type Sheet<'a> = DrawingArea<Paper<'a>, Shift>;
/// Whether something was drawn.
pub(super) type Drawn<T = ()> = std::result::Result<T, DrawingAreaErrorKind<Infallible>>;
type Done = std::result::Result<(), DrawingErrorKind<Infallible>>;

/// Pixels of a sheet in one of the picture, each way.
const FINE: usize = 3;

/// Pixels of a sheet in so many of the picture.
pub(super) fn px(pixels: i32) -> i32 {
    pixels * FINE as i32
}

/// A PNG of what `draw` draws.
pub(super) fn png(width: usize, height: usize, draw: impl FnOnce(&Sheet<'_>) -> Drawn) -> Result<Vec<u8>> {
    let mut picture = Picture::new(FINE * width, FINE * height, 255)?;
    let paper = Paper { picture: &mut picture, face: &Typeface::new()? };
    draw(&paper.into_drawing_area()).map_err(|e| Error::Compute(format!("a plot cannot be drawn: {e}")))?;
    png_bytes(width, &picture.reduced()?, png::ColorType::Rgb, Bits::Eight)
}

/// Red, green and blue of each pixel, row by row from the top.
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) bytes: Vec<u8>,
}

impl Picture {
    /// One of a single grey.
    pub(super) fn new(width: usize, height: usize, grey: u8) -> Result<Self> {
        Ok(Self { width, height, bytes: filled(3 * width * height, grey)? })
    }

    /// Covers a share of a pixel; outside of the picture there is none.
    pub(super) fn blend(&mut self, (x, y): (i32, i32), colour: [u8; 3], share: f64) {
        let inside = |v: i32, n: usize| usize::try_from(v).ok().filter(|v| *v < n);
        let (Some(x), Some(y)) = (inside(x, self.width), inside(y, self.height)) else { return };
        let at = 3 * (y * self.width + x);
        let share = share.clamp(0.0, 1.0);
        for (old, new) in self.bytes[at..at + 3].iter_mut().zip(colour) {
            *old = (f64::from(*old) * (1.0 - share) + f64::from(new) * share).round() as u8;
        }
    }

    /// A line of text whose upper left corner is at `x`, `y`.
    pub(super) fn text(&mut self, face: &Typeface, text: &str, size: f32, (x, y): (i32, i32), colour: [u8; 3]) {
        face.draw(text, size, |dx, dy, share| self.blend((x + dx, y + dy), colour, share.into()));
    }

    /// Another picture of so many columns, each pixel as a square of `scale`, its upper left corner at `x`, `y`.
    pub(super) fn place(&mut self, bytes: &[u8], width: usize, (x, y): (usize, usize), scale: usize) {
        for (row, pixels) in bytes.chunks_exact(3 * width).enumerate() {
            for line in 0..scale {
                let begin = 3 * ((y + row * scale + line) * self.width + x);
                let line = &mut self.bytes[begin..begin + 3 * width * scale];
                for (to, pixel) in line.chunks_exact_mut(3 * scale).zip(pixels.as_chunks::<3>().0) {
                    to.as_chunks_mut::<3>().0.fill(*pixel);
                }
            }
        }
    }

    /// The mean of every square of pixels.
    fn reduced(&self) -> Result<Vec<u8>> {
        let (width, height) = (self.width / FINE, self.height / FINE);
        let mean = |at: usize| {
            let (pixel, channel) = (at / 3, at % 3);
            let (x, y) = (pixel % width * FINE, pixel / width * FINE);
            let row = |row: usize| (0..FINE).map(move |column| 3 * (row * self.width + x + column) + channel);
            let sum: usize = (y..y + FINE).flat_map(row).map(|at| usize::from(self.bytes[at])).sum();
            ((sum + FINE * FINE / 2) / (FINE * FINE)) as u8
        };
        Ok(collect((0..3 * width * height).map(mean))?)
    }
}

/// A picture under the pen.
pub(super) struct Paper<'a> {
    picture: &'a mut Picture,
    face: &'a Typeface,
}

impl DrawingBackend for Paper<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.picture.width as u32, self.picture.height as u32)
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Done {
        let (red, green, blue) = colour.rgb;
        self.picture.blend(at, [red, green, blue], colour.alpha);
        Ok(())
    }

    /// With round ends, so that the lines of a path join.
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        let pen = f64::from(style.stroke_width()) / 2.0;
        let around = pen.ceil() as i32;
        let (along_x, along_y) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let square = along_x.powi(2) + along_y.powi(2);
        for y in from.1.min(to.1) - around..=from.1.max(to.1) + around {
            for x in from.0.min(to.0) - around..=from.0.max(to.0) + around {
                let (dx, dy) = (f64::from(x - from.0), f64::from(y - from.1));
                let nearest = if square > 0.0 { ((dx * along_x + dy * along_y) / square).clamp(0.0, 1.0) } else { 0.0 };
                if (dx - nearest * along_x).hypot(dy - nearest * along_y) <= pen {
                    self.draw_pixel((x, y), style.color())?;
                }
            }
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let points: Vec<BackendCoord> = path.into_iter().collect();
        points.windows(2).try_for_each(|ends| self.draw_line(ends[0], ends[1], style))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        let (width, height) = self.face.extent(text, style.size() as f32);
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0.0,
            VPos::Center => -height / 2.0,
            VPos::Bottom => -height,
        };
        let (turn, colour) = (style.transform(), style.color());
        let face = self.face;
        face.draw(text, style.size() as f32, |x, y, share| {
            let (x, y) = turn.transform(x + left as i32, y + top as i32);
            let (red, green, blue) = colour.rgb;
            self.picture.blend((at.0 + x, at.1 + y), [red, green, blue], colour.alpha * f64::from(share));
        });
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> std::result::Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let (width, height) = self.face.extent(text, style.size() as f32);
        Ok((width.ceil() as u32, height.ceil() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_blended_and_reduced_and_has_no_outside() {
        let mut picture = Picture::new(6, 3, 255).unwrap();
        for x in -1..3 {
            (-1..4).for_each(|y| picture.blend((x, y), [0, 90, 255], 1.0));
        }
        picture.blend((5, 0), [0, 0, 0], 0.5);
        // A ninth of a pixel is half black.
        assert_eq!(picture.reduced().unwrap(), [0, 90, 255, 241, 241, 241]);
    }
}
