//! Animated GIF files, for people to look at.

use std::path::Path;

use diffkern::memory;

use crate::error::{Error, Result};
use crate::image::{Rgb, byte, whole_file};

/// Puts images of one height next to each other, first to last from the left.
///
/// # Errors
/// No image, or images of different heights.
pub fn side_by_side(images: &[&Rgb]) -> Result<Rgb> {
    let height = images.first().map_or(0, |image| image.height);
    if height == 0 || images.iter().any(|image| image.height != height) {
        let heights: Vec<usize> = images.iter().map(|image| image.height).collect();
        return Err(Error::Value {
            what: "height of the images side by side",
            value: format!("{heights:?}"),
            expected: "at least one image, all of one height".into(),
        });
    }
    let width = images.iter().map(|image| image.width).sum();
    let row = |y: usize| images.iter().flat_map(move |i| &i.pixels[y * i.width..(y + 1) * i.width]);
    let mut pixels = memory::with_room(width * height)?;
    pixels.extend((0..height).flat_map(row).copied());
    Ok(Rgb { width, height, pixels })
}

/// A GIF counts the hundredths of a second in 16 bits.
const LONGEST_DELAY: f64 = 655.35;

/// Writes an endless animation; the delay is rounded to GIF's hundredths of a second, and at least one.
///
/// # Errors
/// No frame, frames of different sizes, a delay that is not a positive number, or a file that cannot be written whole (what was begun is removed).
pub fn write_gif(path: &Path, frames: &[Rgb], seconds_per_frame: f64) -> Result<()> {
    let size = |frame: &Rgb| (frame.width, frame.height);
    let (width, height) = frames.first().map_or((0, 0), size);
    let fits = |side: usize| (1..=usize::from(u16::MAX)).contains(&side);
    if let Some(odd) = frames.iter().find(|frame| size(frame) != (width, height)) {
        return Err(Error::Value {
            what: "size of an animation's frame",
            value: format!("{} x {}", odd.width, odd.height),
            expected: format!("{width} x {height} like the first"),
        });
    }
    if !fits(width) || !fits(height) {
        return Err(Error::Value {
            what: "size of an animation",
            value: format!("{} frames of {width} x {height}", frames.len()),
            expected: "at least one frame, sides of 1 to 65535".into(),
        });
    }
    if !(seconds_per_frame > 0.0 && seconds_per_frame <= LONGEST_DELAY) {
        return Err(Error::Value {
            what: "delay of an animation's frames",
            value: format!("{seconds_per_frame} s"),
            expected: format!("a positive time of at most {LONGEST_DELAY} s"),
        });
    }
    let delay = (seconds_per_frame * 100.0).round().clamp(1.0, 65535.0) as u16;
    whole_file(path, |file| {
        let mut encoder = gif::Encoder::new(file, width as u16, height as u16, &[]).map_err(|e| e.to_string())?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|e| e.to_string())?;
        for frame in frames {
            let bytes = memory::collect(frame.pixels.as_flattened().iter().map(|&v| byte(v)));
            let bytes = bytes.map_err(|e| e.to_string())?;
            let mut picture = gif::Frame::from_rgb_speed(width as u16, height as u16, &bytes, 10);
            picture.delay = delay;
            encoder.write_frame(&picture).map_err(|e| e.to_string())?;
        }
        Ok(())
    })
}
