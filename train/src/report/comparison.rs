//! Videos beside each other, as an animation.

use super::font::Typeface;
use super::paper::Picture;
use crate::error::{Error, Result};
use crate::files;
use crate::video::Video;
use diffkern::memory::collect;
use diffkern_render::animation::write_gif;
use diffkern_render::image::Rgb;
use std::io;
use std::path::Path;

/// Grey around the frames.
const PAPER: u8 = 245;
const INK: [u8; 3] = [30, 30, 30];
/// Rows above the frames, for the names.
const HEAD: usize = 24;
/// Pixels of an em.
const SIZE: f32 = 13.0;
/// Columns between two videos.
const GAP: usize = 6;

/// Writes an endless animation of named videos side by side, at their own speed.
///
/// # Errors
/// When it cannot be written; no part of it is left then.
pub fn animation(path: &Path, videos: &[(&str, &Video)], frame_rate: f64) -> Result<()> {
    let count = videos.iter().map(|(_, video)| video.frames.len()).min().unwrap_or(0);
    let face = Typeface::new()?;
    let frames = (0..count).map(|k| page(&face, videos, k, frame_rate)).collect::<Result<Vec<Rgb>>>()?;
    files::write_with(path, |temporary| {
        write_gif(temporary, &frames, 1.0 / frame_rate).map_err(|e| match e {
            // It names the temporary file as well.
            diffkern_render::Error::File { problem, .. } => Error::write(path, io::Error::other(problem)),
            other => other.into(),
        })
    })
}

fn page(face: &Typeface, videos: &[(&str, &Video)], k: usize, frame_rate: f64) -> Result<Rgb> {
    let scale = |video: &Video| (256 / video.width.max(1)).max(1);
    let width = videos.iter().map(|(_, video)| video.width * scale(video) + GAP).sum::<usize>().saturating_sub(GAP);
    let high = videos.iter().map(|(_, video)| video.height * scale(video)).max().unwrap_or(0);
    let mut picture = Picture::new(width, HEAD + high + HEAD, PAPER)?;
    let middle = (HEAD as f32 - face.extent("", SIZE).1) as i32 / 2;
    let mut left = 0;
    for (name, video) in videos {
        picture.text(face, name, SIZE, (left as i32 + 5, middle), INK);
        picture.place(&video.frames[k].shaded_bytes()?, video.width, (left, HEAD), scale(video));
        left += video.width * scale(video) + GAP;
    }
    let time = format!("t = {:.3} s", k as f64 / frame_rate);
    picture.text(face, &time, SIZE, (5, (HEAD + high) as i32 + middle), INK);
    let pixels = picture.bytes.as_chunks::<3>().0.iter();
    let pixels = collect(pixels.map(|p| p.map(|c| f64::from(c) / 255.0)))?;
    Ok(Rgb { width: picture.width, height: picture.height, pixels })
}
