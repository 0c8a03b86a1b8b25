//! A picture to draw lines, boxes and text on.

use crate::error::Result;
use diffkern::memory::with_room;
use font8x8::legacy::BASIC_LEGACY;

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// Columns and rows of a letter at scale 1.
pub(super) const LETTER: i64 = 8;

/// An RGB picture; what is drawn outside of it is dropped.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Rows from the top, three bytes a pixel.
    pub(super) bytes: Vec<u8>,
}

/// A part of a picture: left, top, width and height.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) w: i64,
    pub(super) h: i64,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, colour: Colour) -> Self {
        Self { width, height, bytes: colour.repeat(width * height) }
    }

    /// One whose size follows from the input.
    pub(super) fn try_new(width: usize, height: usize, colour: Colour) -> Result<Self> {
        let mut bytes = with_room(3 * width * height)?;
        (0..width * height).for_each(|_| bytes.extend(colour));
        Ok(Self { width, height, bytes })
    }

    pub(super) fn set(&mut self, x: i64, y: i64, colour: Colour) {
        let inside = |v: i64, n: usize| usize::try_from(v).ok().filter(|v| *v < n);
        if let (Some(x), Some(y)) = (inside(x, self.width), inside(y, self.height)) {
            let at = 3 * (y * self.width + x);
            self.bytes[at..at + 3].copy_from_slice(&colour);
        }
    }

    pub(super) fn fill(&mut self, area: Area, colour: Colour) {
        for y in area.y..area.y + area.h {
            for x in area.x..area.x + area.w {
                self.set(x, y, colour);
            }
        }
    }

    /// A line of `pen` pixels; the ends may be far outside.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: i64, colour: Colour) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = dx.abs().max(dy.abs()).ceil().clamp(1.0, 20_000.0) as usize;
        for k in 0..=steps {
            let t = k as f64 / steps as f64;
            let (x, y) = ((from.0 + t * dx).round() as i64, (from.1 + t * dy).round() as i64);
            self.fill(Area { x: x - pen / 2, y: y - pen / 2, w: pen, h: pen }, colour);
        }
    }

    /// Text whose upper left corner is at `x`, `y`.
    pub(super) fn text(&mut self, text: &str, x: i64, y: i64, scale: i64, colour: Colour) {
        for (k, letter) in text.chars().enumerate() {
            let rows = BASIC_LEGACY.get(letter as usize).copied().unwrap_or([0xff; 8]);
            for (row, bits) in rows.into_iter().enumerate() {
                for column in (0..LETTER).filter(|c| bits >> c & 1 == 1) {
                    let x = x + (k as i64 * LETTER + column) * scale;
                    self.fill(Area { x, y: y + row as i64 * scale, w: scale, h: scale }, colour);
                }
            }
        }
    }
}

/// Width of a text in pixels.
pub(super) fn text_width(text: &str, scale: i64) -> i64 {
    text.chars().count() as i64 * LETTER * scale
}
