//! The font of all pictures. It comes with the program, so they look the same on every system.

use crate::error::{Error, Result};
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

/// DejaVu Sans; its licence lies beside it.
const FILE: &[u8] = include_bytes!("font/DejaVuSans.ttf");

/// A font that was read.
pub(super) struct Typeface(FontRef<'static>);

impl Typeface {
    pub(super) fn new() -> Result<Self> {
        let font = FontRef::try_from_slice(FILE);
        font.map(Self).map_err(|e| Error::Compute(format!("the font in the program is damaged: {e}")))
    }

    /// Width and height of a line of text whose em has `size` pixels.
    pub(super) fn extent(&self, text: &str, size: f32) -> (f32, f32) {
        let font = self.0.as_scaled(self.scale(size));
        (text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum(), font.height())
    }

    /// Calls `ink` with every pixel that the text covers and the share of it, from the upper left corner of the line.
    pub(super) fn draw(&self, text: &str, size: f32, mut ink: impl FnMut(i32, i32, f32)) {
        let scale = self.scale(size);
        let font = self.0.as_scaled(scale);
        let mut right = 0.0;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            let glyph = id.with_scale_and_position(scale, point(right, font.ascent()));
            right += font.h_advance(id);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, share| ink(corner.x as i32 + x as i32, corner.y as i32 + y as i32, share));
        }
    }

    /// `ab_glyph` measures a font by its height, from the deepest descender to the highest ascender.
    fn scale(&self, size: f32) -> PxScale {
        PxScale::from(size * self.0.height_unscaled() / self.0.units_per_em().unwrap_or(1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_names_units_and_numbers_are_in_it() {
        let face = Typeface::new().unwrap();
        let font = &face.0;
        for letter in (' '..='~').chain("µ³²·⁰¹⁴⁵⁶⁷⁸⁹⁻−–…äéñłčΩλж".chars()) {
            assert_ne!(font.glyph_id(letter).0, 0, "{letter}");
        }
        let (width, height) = face.extent("mu", 20.0);
        assert!((20.0..40.0).contains(&width) && (20.0..30.0).contains(&height), "{width} {height}");
    }
}
