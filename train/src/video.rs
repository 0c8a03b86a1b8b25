//! Frames of a video, read with every check before any work, and written.

pub use crate::picture::{Bits, frame_path};

use crate::depth;
use crate::error::{Error, Result};
use crate::files;
use crate::picture::{encode, is_frame, png_bytes, read_png};
use crate::scene::{Film, Scene};
use crate::text::shown;
use diffkern::interrupt;
use diffkern::memory::{collect, filled};
use diffkern_render::image;
use png::ColorType;
use std::fs;
use std::path::Path;

/// One frame: coverage and colour, row by row from the top left, in 0..1, and depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Coverage per pixel, `width * height` of them.
    pub silhouette: Vec<f32>,
    /// Linear RGB per pixel.
    pub shaded: Vec<[f32; 3]>,
    /// Depth per pixel along the optical axis \[m\], 0 where none was measured; empty where the film has none.
    pub depth: Vec<f32>,
}

/// All frames, of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Frames in order of time.
    pub frames: Vec<Frame>,
    /// How much each pixel of each frame counts, in 0..1; all alike where there are none.
    pub masks: Option<Vec<Vec<f32>>>,
}

impl Video {
    /// Reads the frames that `scene` announces, of each of its films from the folders that it names below `folder`. A film that does not
    /// count need not be there, and has no frames then.
    ///
    /// # Errors
    /// Names the frame that is missing, cut off, or not of the camera's size and of 8 or 16 bits; [`Error::Interrupted`]
    /// between two frames, see [`interrupt::scope`].
    pub fn read(folder: &Path, scene: &Scene) -> Result<Vec<Self>> {
        let film = |film: &Film| {
            let camera = &scene.cameras[film.camera];
            let (width, height) = (camera.width, camera.height);
            if film.weights == [0.0; 3] && !folder.join(&film.silhouette).exists() {
                // It is drawn, and compared with nothing.
                return Ok(Self { width, height, frames: Vec::new(), masks: None });
            }
            let frames = (0..scene.num_frames).map(|k| {
                interrupt::check()?;
                read_frame(folder, scene, film, k)
            });
            let frames = frames.collect::<Result<Vec<Frame>>>()?;
            let mask = |k: usize| {
                interrupt::check()?;
                let masks = film.masks.as_deref().unwrap_or_default();
                let mask = read_png(&frame_path(folder, masks, k), ColorType::Grayscale, width, height);
                mask.map_err(|error| counted(error, folder, masks, scene, k))
            };
            if film.weights[0] > 0.0 {
                shows_bodies(&frame_path(folder, &film.silhouette, 0), &frames)?;
            }
            if film.weights[2] > 0.0 {
                let pairs: Vec<_> = frames.iter().map(|frame| (&frame.depth[..], &frame.silhouette[..])).collect();
                depth::check(scene, film, folder, &pairs)?;
            }
            let masks = film.masks.is_some().then(|| (0..scene.num_frames).map(mask).collect::<Result<_>>());
            Ok(Self { width, height, frames, masks: masks.transpose()? })
        };
        scene.films.iter().map(film).collect()
    }

    /// Intersection over union of a coverage with the silhouette of a frame, of the pixels that count.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn iou(&self, frame: usize, coverage: &[f64]) -> diffkern::Result<f64> {
        let own = self.frames[frame].coverage()?;
        let Some(masks) = &self.masks else { return Ok(image::iou(coverage, &own)) };
        let seen = |pixels: &[f64]| collect(pixels.iter().zip(&masks[frame]).map(|(v, mask)| v * f64::from(*mask)));
        Ok(image::iou(&seen(coverage)?, &seen(&own)?))
    }

    /// Factors of the differences of each pixel of a frame, of a video whose squared differences count `weight` times; none where each is
    /// 1.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn factors(&self, frame: usize, weight: f64) -> diffkern::Result<Option<Vec<f64>>> {
        let factor = weight.sqrt();
        match &self.masks {
            Some(masks) => Ok(Some(collect(masks[frame].iter().map(|&mask| factor * f64::from(mask)))?)),
            None if weight == 1.0 => Ok(None),
            None => Ok(Some(filled(self.width * self.height, factor)?)),
        }
    }
}

impl Frame {
    /// Its coverage in 64 bits.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn coverage(&self) -> diffkern::Result<Vec<f64>> {
        collect(self.silhouette.iter().map(|&v| f64::from(v)))
    }

    /// A channel of its colours in 64 bits.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn channel(&self, channel: usize) -> diffkern::Result<Vec<f64>> {
        collect(self.shaded.iter().map(|rgb| f64::from(rgb[channel])))
    }

    /// A copy.
    ///
    /// # Errors
    /// When memory is short.
    pub fn copied(&self) -> Result<Self> {
        let silhouette = collect(self.silhouette.iter().copied())?;
        let (shaded, depth) = (collect(self.shaded.iter().copied())?, collect(self.depth.iter().copied())?);
        Ok(Self { silhouette, shaded, depth })
    }

    /// Colour as bytes, red, green and blue of each pixel.
    ///
    /// # Errors
    /// When memory is short.
    pub fn shaded_bytes(&self) -> Result<Vec<u8>> {
        encode(self.shaded.as_flattened(), Bits::Eight)
    }

    /// Writes frame `number` to two folders below `folder`, of silhouettes and of shaded pictures, in the format that
    /// [`Video::read`] reads.
    ///
    /// # Errors
    /// When a file cannot be written; no part of it is left then.
    pub fn write(
        &self,
        folder: &Path,
        [silhouette, shaded]: [&str; 2],
        number: usize,
        width: usize,
        bits: Bits,
    ) -> Result<()> {
        let grey = encode(&self.silhouette, bits)?;
        let grey = png_bytes(width, &grey, ColorType::Grayscale, bits)?;
        files::write(&frame_path(folder, silhouette, number), &grey)?;
        let rgb = encode(self.shaded.as_flattened(), bits)?;
        let rgb = png_bytes(width, &rgb, ColorType::Rgb, bits)?;
        files::write(&frame_path(folder, shaded, number), &rgb)
    }

    /// Writes the depths of frame `number` to the folder `part` below `folder`, in counts of `scale` \[m\]; nothing where there are none.
    ///
    /// # Errors
    /// When a depth has no count of 16 bits, or the file cannot be written.
    pub fn write_depth(&self, folder: &Path, part: &str, scale: f64, number: usize, width: usize) -> Result<()> {
        match self.depth.is_empty() {
            true => Ok(()),
            false => depth::write(&self.depth, folder, (part, scale), number, width),
        }
    }
}

/// Refuses silhouettes of nothing: masks of 0 and 1 in place of 0 and 255, or none at all; and those of everything.
fn shows_bodies(first: &Path, frames: &[Frame]) -> Result<()> {
    let pixels = || frames.iter().flat_map(|frame| &frame.silhouette);
    let (dark, bright) = (pixels().copied().fold(1.0, f32::min), pixels().copied().fold(0.0, f32::max));
    let of_255 = |value: f32| (255.0 * value).round();
    let problem = match (dark > 0.5, bright < 0.5) {
        (_, true) => format!("no pixel of any frame is white, the brightest is {} of 255", of_255(bright)),
        (true, _) => format!("no pixel of any frame is black, the darkest is {} of 255", of_255(dark)),
        (false, false) => return Ok(()),
    };
    Err(Error::file(first, format!("{problem}: expected silhouettes, white where bodies are and black elsewhere")))
}

fn read_frame(folder: &Path, scene: &Scene, film: &Film, k: usize) -> Result<Frame> {
    let (width, height) = (scene.cameras[film.camera].width, scene.cameras[film.camera].height);
    let picture = |part: &str, color: ColorType| {
        let read = read_png(&frame_path(folder, part, k), color, width, height);
        read.map_err(|error| counted(error, folder, part, scene, k))
    };
    let silhouette = picture(&film.silhouette, ColorType::Grayscale)?;
    let rgb = picture(&film.shaded, ColorType::Rgb)?;
    let depth = match &film.depth {
        // It is drawn, and compared with nothing.
        Some(own) if film.weights[2] > 0.0 => {
            let read = depth::read(folder, own, k, width, height);
            read.map_err(|error| counted(error, folder, &own.folder, scene, k))?
        }
        Some(_) | None => Vec::new(),
    };
    Ok(Frame { silhouette, shaded: collect(rgb.as_chunks::<3>().0.iter().copied())?, depth })
}

/// The error of frame `k` of `part`, with how many frames are there where that one is not.
fn counted(error: Error, folder: &Path, part: &str, scene: &Scene, k: usize) -> Error {
    if frame_path(folder, part, k).symlink_metadata().is_ok() {
        return error;
    }
    let there = match fs::read_dir(folder.join(part)) {
        Ok(files) => {
            let count = files.flatten().filter(|file| is_frame(&file.file_name().to_string_lossy())).count();
            format!("{} holds {count} of them", shown(part))
        }
        Err(_) => format!("there is no folder {}", shown(part)),
    };
    let (field, frames) = (scene.field("num_frames"), scene.num_frames);
    error.and(&format!("the scene says {field}: {frames}, from frame_0000.png on, and {there}"))
}
