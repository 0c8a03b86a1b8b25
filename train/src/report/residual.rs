//! Where the outlines of an answer are beside those of the video.

use super::font::Typeface;
use super::paper::Picture;
use crate::error::Result;
use crate::picture::{Bits, png_bytes};
use crate::video::Video;
use diffkern::memory::with_room;
use png::ColorType;

/// What both show, the video alone, the answer alone.
const BOTH: [f64; 3] = [205.0, 205.0, 205.0];
const VIDEO: [f64; 3] = [30.0, 90.0, 220.0];
const ANSWER: [f64; 3] = [235.0, 110.0, 10.0];
const PAPER: u8 = 255;
const INK: [u8; 3] = [30, 30, 30];
/// Frames of a film, each the worst of its part.
const PARTS: usize = 6;
/// Rows above each frame, for its time, and between frames.
const HEAD: usize = 22;
const GAP: usize = 4;
/// Pixels of an em.
const SIZE: f32 = 13.0;
/// Columns of a frame, about.
const WIDE: usize = 192;

/// A PNG with a row for each film, given as its name, what it should show and what is shown: frames where they differ most.
pub(super) fn residual(films: &[(&str, &Video, &Video)], frame_rate: f64) -> Result<Vec<u8>> {
    let scale = |video: &Video| (WIDE / video.width.max(1)).max(1);
    let size = |video: &Video| [scale(video) * video.width + GAP, scale(video) * video.height + HEAD];
    let width = films.iter().map(|(_, target, _)| PARTS * size(target)[0]).max().unwrap_or(1);
    let height = films.iter().map(|(_, target, _)| size(target)[1]).sum::<usize>() + HEAD;
    let (face, mut picture) = (Typeface::new()?, Picture::new(width, height, PAPER)?);
    let middle = (HEAD as f32 - face.extent("", SIZE).1) as i32 / 2;
    let mut top = 0;
    for (name, target, found) in films {
        let [wide, high] = size(target);
        for (column, frame) in worst(target, found)?.into_iter().enumerate() {
            let left = column * wide;
            let label = format!("{name} t = {:.3} s", frame as f64 / frame_rate);
            picture.text(&face, label.trim_start(), SIZE, (left as i32 + 3, top as i32 + middle), INK);
            picture.place(&beside(target, found, frame)?, target.width, (left, top + HEAD), scale(target));
        }
        top += high;
    }
    let legend = "blue: in the video alone; orange: in the answer alone; grey: in both";
    picture.text(&face, legend, SIZE, (3, top as i32 + middle), INK);
    png_bytes(width, &picture.bytes, ColorType::Rgb, Bits::Eight)
}

/// The frame of each part in which they agree least.
fn worst(target: &Video, found: &Video) -> Result<Vec<usize>> {
    let count = target.frames.len().min(found.frames.len());
    let mut worst: [Option<(usize, f64)>; PARTS] = [None; PARTS];
    for frame in 0..count {
        let iou = target.iou(frame, &found.frames[frame].coverage()?)?;
        let own = &mut worst[frame * PARTS / count];
        if own.is_none_or(|(_, least)| iou < least) {
            *own = Some((frame, iou));
        }
    }
    Ok(worst.into_iter().flatten().map(|(frame, _)| frame).collect())
}

/// Both silhouettes of a frame on each other.
fn beside(target: &Video, found: &Video, frame: usize) -> Result<Vec<u8>> {
    let (of_video, of_answer) = (target.frames[frame].coverage()?, found.frames[frame].coverage()?);
    let mut bytes = with_room(3 * of_video.len())?;
    for (video, answer) in of_video.iter().zip(&of_answer) {
        let shares = [video.min(*answer), (video - answer).max(0.0), (answer - video).max(0.0)];
        let paper = 1.0 - shares.iter().sum::<f64>();
        for channel in 0..3 {
            let inks = [BOTH, VIDEO, ANSWER].iter().zip(shares).map(|(ink, share)| ink[channel] * share);
            bytes.push((paper * f64::from(PAPER) + inks.sum::<f64>()).round() as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::Frame;

    fn video(silhouettes: &[[f32; 4]]) -> Video {
        let frame = |silhouette: &[f32; 4]| Frame {
            silhouette: silhouette.to_vec(),
            shaded: vec![[0.0; 3]; 4],
            depth: Vec::new(),
        };
        Video { width: 2, height: 2, frames: silhouettes.iter().map(frame).collect(), masks: None }
    }

    #[test]
    fn the_worst_frame_of_each_part_shows_what_is_in_one_alone() -> Result<()> {
        let target = video(&[[1.0, 1.0, 0.0, 0.0]; 12]);
        let mut found = target.clone();
        // Off in one frame of the first part, and in both of the last, more so in the last but one.
        found.frames[1].silhouette = vec![1.0, 0.0, 0.0, 0.0];
        found.frames[10].silhouette = vec![0.0, 0.0, 1.0, 0.0];
        found.frames[11].silhouette = vec![1.0, 1.0, 0.5, 0.0];
        let frames = worst(&target, &found)?;
        assert_eq!((frames.len(), frames[0], frames[PARTS - 1]), (PARTS, 1, 10));
        let colour = |c: [f64; 3]| c.map(|c| c as u8).to_vec();
        let expected = [colour(VIDEO), colour(VIDEO), colour(ANSWER), vec![PAPER; 3]].concat();
        assert_eq!(beside(&target, &found, 10)?, expected);
        let both = [colour(BOTH), colour(VIDEO), vec![PAPER; 6]].concat();
        assert_eq!(beside(&target, &found, 1)?, both);
        Ok(())
    }
}
