//! Frames of a video, read with every check before any work, and written.

use crate::error::{Error, Result};
use crate::files;
use crate::input;
use crate::limits::Bytes;
use crate::scene::{Film, Scene};
use diffkern::interrupt;
use diffkern::memory::{collect, filled, with_room};
use diffkern_render::image;
use png::{BitDepth, ColorType};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Bits of a colour in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Depth {
    /// Values are multiples of 1/255.
    #[default]
    Eight,
    /// Values are multiples of 1/65535.
    Sixteen,
}

impl Depth {
    /// From text, for the command line.
    ///
    /// # Errors
    /// When it is not 8 or 16.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        text.parse::<u8>().map_err(|_| UNKNOWN_DEPTH.to_owned()).and_then(Self::try_from)
    }

    fn png(self) -> BitDepth {
        match self {
            Self::Eight => BitDepth::Eight,
            Self::Sixteen => BitDepth::Sixteen,
        }
    }

    /// A value in 0..1 as it stands in a file, most significant byte first.
    fn encode(self, v: f32, bytes: &mut Vec<u8>) {
        let v = v.clamp(0.0, 1.0);
        match self {
            Self::Eight => bytes.push((v * 255.0).round() as u8),
            Self::Sixteen => bytes.extend(((v * 65535.0).round() as u16).to_be_bytes()),
        }
    }
}

const UNKNOWN_DEPTH: &str = "expected 8 or 16";

impl TryFrom<u8> for Depth {
    type Error = String;

    fn try_from(bits: u8) -> std::result::Result<Self, String> {
        match bits {
            8 => Ok(Self::Eight),
            16 => Ok(Self::Sixteen),
            _ => Err(UNKNOWN_DEPTH.to_owned()),
        }
    }
}

impl From<Depth> for u8 {
    fn from(depth: Depth) -> u8 {
        match depth {
            Depth::Eight => 8,
            Depth::Sixteen => 16,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", u8::from(*self))
    }
}

/// One frame: coverage and colour, row by row from the top left, in 0..1.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Coverage per pixel, `width * height` of them.
    pub silhouette: Vec<f32>,
    /// Linear RGB per pixel.
    pub shaded: Vec<[f32; 3]>,
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
            if film.weights == [0.0; 2] && !folder.join(&film.silhouette).exists() {
                // It is drawn, and compared with nothing.
                return Ok(Self { width, height, frames: Vec::new(), masks: None });
            }
            let frames = (0..scene.num_frames).map(|k| {
                interrupt::check()?;
                read_frame(folder, film, k, width, height)
            });
            let frames = frames.collect::<Result<Vec<Frame>>>()?;
            let mask = |k: usize| {
                interrupt::check()?;
                let masks = film.masks.as_deref().unwrap_or_default();
                read_png(&frame_path(folder, masks, k), ColorType::Grayscale, width, height)
            };
            if film.weights[0] > 0.0 {
                shows_bodies(&frame_path(folder, &film.silhouette, 0), &frames)?;
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
        Ok(Self { silhouette, shaded: collect(self.shaded.iter().copied())? })
    }

    /// Colour as bytes, red, green and blue of each pixel.
    ///
    /// # Errors
    /// When memory is short.
    pub fn shaded_bytes(&self) -> Result<Vec<u8>> {
        encode(self.shaded.as_flattened(), Depth::Eight)
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
        depth: Depth,
    ) -> Result<()> {
        let grey = encode(&self.silhouette, depth)?;
        let grey = png_bytes(width, &grey, ColorType::Grayscale, depth)?;
        files::write(&frame_path(folder, silhouette, number), &grey)?;
        let rgb = encode(self.shaded.as_flattened(), depth)?;
        let rgb = png_bytes(width, &rgb, ColorType::Rgb, depth)?;
        files::write(&frame_path(folder, shaded, number), &rgb)
    }
}

fn encode(values: &[f32], depth: Depth) -> Result<Vec<u8>> {
    let mut bytes = with_room(values.len() * usize::from(u8::from(depth) / 8))?;
    values.iter().for_each(|&v| depth.encode(v, &mut bytes));
    Ok(bytes)
}

/// `folder/part/frame_0007.png`.
pub fn frame_path(folder: &Path, part: &str, number: usize) -> PathBuf {
    folder.join(part).join(format!("frame_{number:04}.png"))
}

/// A PNG of `width` columns.
pub(crate) fn png_bytes(width: usize, pixels: &[u8], color: ColorType, depth: Depth) -> Result<Vec<u8>> {
    let rows = pixels.len() / (color.samples() * usize::from(u8::from(depth) / 8)) / width.max(1);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, rows as u32);
    encoder.set_color(color);
    encoder.set_depth(depth.png());
    let encode = || -> std::result::Result<(), png::EncodingError> {
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()
    };
    encode().map_err(|e| Error::Compute(format!("cannot encode a {width}x{rows} image: {e}")))?;
    Ok(bytes)
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

fn read_frame(folder: &Path, film: &Film, k: usize, width: usize, height: usize) -> Result<Frame> {
    let silhouette = read_png(&frame_path(folder, &film.silhouette, k), ColorType::Grayscale, width, height)?;
    let rgb = read_png(&frame_path(folder, &film.shaded, k), ColorType::Rgb, width, height)?;
    Ok(Frame { silhouette, shaded: collect(rgb.as_chunks::<3>().0.iter().copied())? })
}

fn read_png(file: &Path, color: ColorType, width: usize, height: usize) -> Result<Vec<f32>> {
    let expected = format!("expected {width}x{height} pixels of 8- or 16-bit {}", color_name(color));
    let values = width * height * color.samples();
    // Twice the pixels of 16 bits: compression may add to them, and there may be a remark.
    let opened = input::open(file, Bytes(4 * values as u64 + (1 << 20)), &expected)?;
    let broken = |e: png::DecodingError| Error::file(file, format!("frame is damaged or cut off: {e}; {expected}"));
    let mut reader = png::Decoder::new(BufReader::new(opened)).read_info().map_err(broken)?;
    let info = reader.info();
    let (seen_color, bits) = (info.color_type, info.bit_depth);
    let seen = (info.width as usize, info.height as usize);
    if seen != (width, height) {
        let (w, h) = seen;
        let problem = format!("frame is {w}x{h} pixels, expected {width}x{height} (camera.width x camera.height)");
        return Err(Error::file(file, problem));
    }
    let depth = Depth::try_from(bits as u8).ok().filter(|_| seen_color == color);
    let depth = depth.ok_or_else(|| {
        let problem = format!("frame is {}-bit {}, {expected}", bits as u8, color_name(seen_color));
        Error::file(file, problem)
    })?;
    let mut bytes = filled(values * usize::from(u8::from(depth) / 8), 0)?;
    reader.next_frame(&mut bytes).map_err(broken)?;
    reader.finish().map_err(broken)?;
    Ok(match depth {
        Depth::Eight => collect(bytes.iter().map(|&byte| f32::from(byte) / 255.0)),
        Depth::Sixteen => {
            let pairs = bytes.as_chunks::<2>().0.iter();
            collect(pairs.map(|&pair| f32::from(u16::from_be_bytes(pair)) / 65535.0))
        }
    }?)
}

fn color_name(color: ColorType) -> &'static str {
    match color {
        ColorType::Grayscale => "grey",
        ColorType::Rgb => "RGB",
        ColorType::Indexed => "palette",
        ColorType::GrayscaleAlpha => "grey with alpha",
        ColorType::Rgba => "RGB with alpha",
    }
}
