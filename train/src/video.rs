//! Frames of a video, read with every check before any work, and written.

use crate::error::{Error, Result};
use crate::files;
use crate::scene::Scene;
use png::{BitDepth, ColorType};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

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
}

impl Video {
    /// Reads the frames that `scene` announces from `folder/silhouette` and `folder/shaded`.
    ///
    /// # Errors
    /// Names the frame that is missing, cut off, or not of the camera's size and of 8 bits.
    pub fn read(folder: &Path, scene: &Scene) -> Result<Self> {
        let (width, height) = (scene.camera.width, scene.camera.height);
        let frames = (0..scene.num_frames).map(|k| read_frame(folder, k, width, height));
        Ok(Self { width, height, frames: frames.collect::<Result<_>>()? })
    }
}

impl Frame {
    /// Coverage as bytes, rounded as the format says.
    pub fn silhouette_bytes(&self) -> Vec<u8> {
        self.silhouette.iter().map(|&v| to_byte(v)).collect()
    }

    /// Colour as bytes, red, green and blue of each pixel.
    pub fn shaded_bytes(&self) -> Vec<u8> {
        self.shaded.iter().flatten().map(|&v| to_byte(v)).collect()
    }

    /// Writes frame `number` below `folder` in the format that [`Video::read`] reads.
    ///
    /// # Errors
    /// When a file cannot be written; no part of it is left then.
    pub fn write(&self, folder: &Path, number: usize, width: usize) -> Result<()> {
        let grey = png_bytes(width, &self.silhouette_bytes(), ColorType::Grayscale)?;
        files::write(&frame_path(folder, "silhouette", number), &grey)?;
        let rgb = png_bytes(width, &self.shaded_bytes(), ColorType::Rgb)?;
        files::write(&frame_path(folder, "shaded", number), &rgb)
    }
}

/// `folder/part/frame_0007.png`.
pub fn frame_path(folder: &Path, part: &str, number: usize) -> PathBuf {
    folder.join(part).join(format!("frame_{number:04}.png"))
}

/// An 8-bit PNG of `width` columns.
pub(crate) fn png_bytes(width: usize, pixels: &[u8], color: ColorType) -> Result<Vec<u8>> {
    let rows = pixels.len() / color.samples() / width.max(1);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, rows as u32);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let encode = || -> std::result::Result<(), png::EncodingError> {
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()
    };
    encode().map_err(|e| Error::Compute(format!("cannot encode a {width}x{rows} image: {e}")))?;
    Ok(bytes)
}

fn to_byte(v: f32) -> u8 {
    (v.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn read_frame(folder: &Path, k: usize, width: usize, height: usize) -> Result<Frame> {
    let grey = read_png(&frame_path(folder, "silhouette", k), ColorType::Grayscale, width, height)?;
    let rgb = read_png(&frame_path(folder, "shaded", k), ColorType::Rgb, width, height)?;
    let real = |&byte: &u8| f32::from(byte) / 255.0;
    Ok(Frame {
        silhouette: grey.iter().map(real).collect(),
        shaded: rgb.chunks_exact(3).map(|p| [real(&p[0]), real(&p[1]), real(&p[2])]).collect(),
    })
}

fn read_png(file: &Path, color: ColorType, width: usize, height: usize) -> Result<Vec<u8>> {
    let expected = format!("expected {width}x{height} pixels of 8-bit {}", color_name(color));
    let opened = File::open(file).map_err(|e| Error::file(file, format!("frame cannot be read: {e}; {expected}")))?;
    let broken = |e: png::DecodingError| Error::file(file, format!("frame is damaged or cut off: {e}; {expected}"));
    let mut reader = png::Decoder::new(BufReader::new(opened)).read_info().map_err(broken)?;
    let info = reader.info();
    let (seen_color, depth) = (info.color_type, info.bit_depth);
    let seen = (info.width as usize, info.height as usize);
    if seen != (width, height) {
        let (w, h) = seen;
        let problem = format!("frame is {w}x{h} pixels, expected {width}x{height} (camera.width x camera.height)");
        return Err(Error::file(file, problem));
    }
    if seen_color != color || depth != BitDepth::Eight {
        let problem = format!("frame is {}-bit {}, {expected}", depth as u8, color_name(seen_color));
        return Err(Error::file(file, problem));
    }
    let mut pixels = vec![0; width * height * color.samples()];
    reader.next_frame(&mut pixels).map_err(broken)?;
    reader.finish().map_err(broken)?;
    Ok(pixels)
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
