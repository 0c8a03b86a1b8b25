//! Depths that were measured: pictures of 16 bits, in counts of a length along the optical axis; 0 where nothing was measured.

use crate::error::{Error, Result};
use crate::files;
use crate::picture::{Bits, frame_path, png_bytes, read_counts};
use crate::scene::{DepthFrames, Film, Quantity, Scene, Target};
use crate::text::rounded;
use diffkern::memory::{collect, with_room};
use png::ColorType;
use std::path::Path;

/// A pixel of a silhouette that is white to half a grey level of 8 bits: all of it shows a body.
pub(crate) const WHITE: f32 = 254.5 / 255.0;
/// Depths that are so many times nearer or farther than the scene has its bodies are in another unit: of the first frame, and of those after it,
/// in which bodies have moved.
const UNLIKELY: [f64; 2] = [2.0, 10.0];

/// The depths of a frame \[m\].
pub(crate) fn read(folder: &Path, own: &DepthFrames, number: usize, width: usize, height: usize) -> Result<Vec<f32>> {
    let what = format!("counts of {} m, 0 where nothing was measured", rounded(own.scale));
    let counts = read_counts(&frame_path(folder, &own.folder, number), &what, width, height)?;
    Ok(collect(counts.iter().map(|&count| (f64::from(count) * own.scale) as f32))?)
}

/// Writes the depths of a frame \[m\] to `part` below `folder`, in counts of `scale` \[m\].
///
/// # Errors
/// When a depth has no count of 16 bits, or the file cannot be written.
pub(crate) fn write(
    depths: &[f32],
    folder: &Path,
    (part, scale): (&str, f64),
    number: usize,
    width: usize,
) -> Result<()> {
    let file = frame_path(folder, part, number);
    let mut bytes = with_room(2 * depths.len())?;
    for &depth in depths {
        let count = (f64::from(depth) / scale).round();
        if !(count == 0.0 || (1.0..=f64::from(u16::MAX)).contains(&count)) || (count == 0.0 && depth > 0.0) {
            let (depth, scale, most) = (rounded(depth.into()), rounded(scale), rounded(scale * f64::from(u16::MAX)));
            let problem = format!(
                "a depth of {depth} m is not 1 to 65535 counts of {scale} m, expected another scale of the depths, up to {most} m"
            );
            return Err(Error::file(&file, problem));
        }
        bytes.extend((count as u16).to_be_bytes());
    }
    files::write(&file, &png_bytes(width, &bytes, ColorType::Grayscale, Bits::Sixteen)?)
}

/// Refuses depths of nothing, and those in another unit than the scene says: the first frame shows bodies about where they begin. `frames` have the
/// depths and the silhouette of each.
pub(crate) fn check(scene: &Scene, film: &Film, folder: &Path, frames: &[(&[f32], &[f32])]) -> Result<()> {
    let Some(own) = &film.depth else { return Ok(()) };
    let on_bodies = |(depths, silhouette): &(&[f32], &[f32])| -> Vec<f32> {
        depths.iter().zip(*silhouette).filter(|(d, s)| **d > 0.0 && **s >= WHITE).map(|(d, _)| *d).collect()
    };
    let scale = rounded(own.scale);
    if frames.iter().all(|frame| on_bodies(frame).is_empty()) {
        let problem = format!(
            "no pixel that is white in the silhouettes has a depth in any frame, expected counts of {scale} m there"
        );
        return Err(Error::file(&frame_path(folder, &own.folder, 0), problem));
    }
    let [nearest, farthest] = begins(scene, film);
    for (number, frame) in frames.iter().enumerate() {
        let mut depths = on_bodies(frame);
        if depths.is_empty() {
            continue;
        }
        depths.sort_by(f32::total_cmp);
        let (middle, unlikely) = (f64::from(depths[depths.len() / 2]), UNLIKELY[number.min(1)]);
        if middle < nearest / unlikely || middle > farthest * unlikely {
            let [middle, nearest, farthest] = [middle, nearest, farthest].map(|x| (1e4 * x).round() / 1e4);
            let problem = format!(
                "bodies are about {middle} m from the camera where a count is {scale} m, but the scene has them begin {nearest} to {farthest} m \
                 from it along its axis, expected another scale (or another camera)"
            );
            return Err(Error::file(&frame_path(folder, &own.folder, number), problem));
        }
    }
    Ok(())
}

/// Depths between which the bodies of a film begin, wherever they are looked for \[m\].
fn begins(scene: &Scene, film: &Film) -> [f64; 2] {
    let camera = &scene.cameras[film.camera];
    let away = [0, 1, 2].map(|a| camera.look_at[a] - camera.position[a]);
    let length = away.iter().map(|x| x * x).sum::<f64>().sqrt();
    let forward = away.map(|x| x / length);
    let from = (0..3).map(|a| forward[a] * camera.position[a]).sum::<f64>();
    let ends = scene.bodies.iter().enumerate().map(|(k, body)| {
        let start = &body.starts[film.take];
        let at = start.position();
        let slack = |a: usize| {
            let target = Target { take: film.take, ..Target::new(k, Quantity::StartPosition(a)) };
            scene.range(target).map_or(0.0, |range| (range.max - at[a]).abs().max((range.min - at[a]).abs()))
        };
        let slack = (0..3).map(|a| forward[a].abs() * slack(a)).sum::<f64>();
        let [near, far] = start.shape.span(forward);
        [near - from - slack, far - from + slack]
    });
    ends.fold([f64::INFINITY, 0.0], |[low, high], [near, far]| [low.min(near), high.max(far)])
}
