//! Videos beside each other, as an animation.

use super::canvas::{Area, Canvas, Colour, LETTER};
use crate::error::{Error, Result};
use crate::files;
use crate::video::{Frame, Video};
use diffkern::memory::collect;
use diffkern_render::animation::write_gif;
use diffkern_render::image::Rgb;
use std::io;
use std::path::Path;

const PAPER: Colour = [245, 245, 245];
const INK: Colour = [30, 30, 30];
/// Rows above the frames, for the names.
const HEAD: i64 = 22;
/// Columns between two videos.
const GAP: i64 = 6;

/// Writes an endless animation of named videos side by side, at their own speed.
///
/// # Errors
/// When it cannot be written; no part of it is left then.
pub fn animation(path: &Path, videos: &[(&str, &Video)], frame_rate: f64) -> Result<()> {
    let count = videos.iter().map(|(_, video)| video.frames.len()).min().unwrap_or(0);
    let frames = (0..count).map(|k| page(videos, k, frame_rate)).collect::<Result<Vec<Rgb>>>()?;
    files::write_with(path, |temporary| {
        write_gif(temporary, &frames, 1.0 / frame_rate).map_err(|e| match e {
            // It names the temporary file as well.
            diffkern_render::Error::File { problem, .. } => Error::write(path, io::Error::other(problem)),
            other => other.into(),
        })
    })
}

fn page(videos: &[(&str, &Video)], k: usize, frame_rate: f64) -> Result<Rgb> {
    let scale = |video: &Video| (256 / video.width.max(1)).max(1) as i64;
    let wide = |video: &Video| video.width as i64 * scale(video);
    let width: i64 = videos.iter().map(|(_, video)| wide(video) + GAP).sum::<i64>() - GAP;
    let high = videos.iter().map(|(_, v)| v.height as i64 * scale(v)).max().unwrap_or(0);
    let mut canvas = Canvas::try_new(width as usize, (HEAD + high + HEAD) as usize, PAPER)?;
    let mut left = 0;
    for (name, video) in videos {
        canvas.text(name, left + 4, (HEAD - LETTER) / 2, 1, INK);
        place(&mut canvas, &video.frames[k], video.width, left, scale(video))?;
        left += wide(video) + GAP;
    }
    let time = format!("t = {:.3} s", k as f64 / frame_rate);
    canvas.text(&time, 4, HEAD + high + (HEAD - LETTER) / 2, 1, INK);
    let pixels = canvas.bytes.as_chunks::<3>().0.iter();
    let pixels = collect(pixels.map(|p| p.map(|c| f64::from(c) / 255.0)))?;
    Ok(Rgb { width: canvas.width, height: canvas.height, pixels })
}

fn place(canvas: &mut Canvas, frame: &Frame, width: usize, left: i64, scale: i64) -> Result<()> {
    for (at, pixel) in frame.shaded_bytes()?.chunks_exact(3).enumerate() {
        let (x, y) = ((at % width) as i64, (at / width) as i64);
        let area = Area { x: left + x * scale, y: HEAD + y * scale, w: scale, h: scale };
        canvas.fill(area, [pixel[0], pixel[1], pixel[2]]);
    }
    Ok(())
}
