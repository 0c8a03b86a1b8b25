//! Images on the host, and PNG files.
//!
//! ```
//! use diffkern_render::image::{Gray, read_gray, write_gray};
//!
//! let image = Gray { width: 2, height: 2, pixels: vec![0.0, 0.2, 0.4, 1.0] };
//! let path = std::env::temp_dir().join(format!("diffkern-doc-{}.png", std::process::id()));
//! write_gray(&path, &image)?;
//! let read = read_gray(&path)?;
//! assert_eq!(read.pixels, image.pixels); // these are whole 255ths
//! # std::fs::remove_file(path).ok();
//! # Ok::<(), diffkern_render::Error>(())
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use diffkern::{Array, Device, Float, Vec3, memory};

use crate::error::{Error, Result, same_length};

/// Most pixels of an image that is read, so that its colours as reals take less than a GiB. A file says its size in a few
/// bytes, so it may say any.
const MOST_PIXELS: usize = 1 << 25;

/// A grey image, row by row from the top left, values in 0..1 [coverage or intensity].
#[derive(Clone, Debug, PartialEq)]
pub struct Gray {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `height * width` values.
    pub pixels: Vec<f64>,
}

/// A linear colour image, row by row from the top left, components in 0..1.
#[derive(Clone, Debug, PartialEq)]
pub struct Rgb {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `height * width` colours.
    pub pixels: Vec<[f64; 3]>,
}

impl Gray {
    /// Reads the array of a renderer.
    ///
    /// # Errors
    /// When the length is not `width * height`, or the array cannot be read.
    pub fn from_array<F: Float>(array: &Array<F>, width: usize, height: usize) -> Result<Self> {
        same_length("image", array.len(), width * height)?;
        let pixels = memory::collect(array.to_vec()?.into_iter().map(Float::to_f64))?;
        Ok(Self { width, height, pixels })
    }

    /// Uploads the pixels.
    ///
    /// # Errors
    /// When the device cannot hold them.
    pub fn to_array<F: Float>(&self, device: &Device) -> Result<Array<F>> {
        let pixels: Vec<F> = memory::collect(self.pixels.iter().map(|&v| F::from_f64(v)))?;
        Ok(device.array(&pixels)?)
    }

    /// The same image in colour.
    pub fn to_rgb(&self) -> Rgb {
        Rgb { width: self.width, height: self.height, pixels: self.pixels.iter().map(|&v| [v; 3]).collect() }
    }

    /// Half the resolution; every pixel is the mean of four, so coverage stays exact coverage.
    ///
    /// # Errors
    /// When a side is odd.
    pub fn resized_half(&self) -> Result<Self> {
        let pixels = halve(&self.pixels, self.width, self.height, |[a, b, c, d]| (a + b + c + d) / 4.0)?;
        Ok(Self { width: self.width / 2, height: self.height / 2, pixels })
    }
}

impl Rgb {
    /// Reads the array of a renderer.
    ///
    /// # Errors
    /// When the length is not `width * height`, or the array cannot be read.
    pub fn from_array<F: Float>(array: &Array<Vec3<F>>, width: usize, height: usize) -> Result<Self> {
        same_length("image", array.len(), width * height)?;
        let pixels = array.to_vec()?.into_iter().map(|c| [c.x.to_f64(), c.y.to_f64(), c.z.to_f64()]);
        let pixels = memory::collect(pixels)?;
        Ok(Self { width, height, pixels })
    }

    /// Uploads the pixels.
    ///
    /// # Errors
    /// When the device cannot hold them.
    pub fn to_array<F: Float>(&self, device: &Device) -> Result<Array<Vec3<F>>> {
        let pixels = self.pixels.iter().map(|c| Vec3::new(F::from_f64(c[0]), F::from_f64(c[1]), F::from_f64(c[2])));
        Ok(device.array(&memory::collect(pixels)?)?)
    }

    /// Half the resolution; every pixel is the mean of four.
    ///
    /// # Errors
    /// When a side is odd.
    pub fn resized_half(&self) -> Result<Self> {
        let mean = |four: [[f64; 3]; 4]| [0, 1, 2].map(|k| four.iter().map(|c| c[k]).sum::<f64>() / 4.0);
        let pixels = halve(&self.pixels, self.width, self.height, mean)?;
        Ok(Self { width: self.width / 2, height: self.height / 2, pixels })
    }
}

/// Intersection over union of two coverage images at threshold 0.5; 1 when both are empty.
pub fn iou(a: &[f64], b: &[f64]) -> f64 {
    let (mut both, mut either) = (0usize, 0usize);
    for (&a, &b) in a.iter().zip(b) {
        both += usize::from(a > 0.5 && b > 0.5);
        either += usize::from(a > 0.5 || b > 0.5);
    }
    if either == 0 { 1.0 } else { both as f64 / either as f64 }
}

/// Reads an 8-bit grey PNG of up to 2^25 pixels; value 255 becomes 1.
///
/// # Errors
/// A file that is missing, truncated, larger, or not 8-bit grey.
pub fn read_gray(path: &Path) -> Result<Gray> {
    let (width, height, bytes) = read(path, png::ColorType::Grayscale)?;
    Ok(Gray { width, height, pixels: memory::collect(bytes.iter().map(|&b| f64::from(b) / 255.0))? })
}

/// Reads an 8-bit RGB PNG of up to 2^25 pixels; value 255 becomes 1.
///
/// # Errors
/// A file that is missing, truncated, larger, or not 8-bit RGB.
pub fn read_rgb(path: &Path) -> Result<Rgb> {
    let (width, height, bytes) = read(path, png::ColorType::Rgb)?;
    let pixels = bytes.as_chunks::<3>().0.iter().map(|c| c.map(|b| f64::from(b) / 255.0));
    Ok(Rgb { width, height, pixels: memory::collect(pixels)? })
}

/// Writes an 8-bit grey PNG, `round(255 v)` with `v` clipped to 0..1.
///
/// # Errors
/// When the file cannot be written whole; what was begun is removed.
pub fn write_gray(path: &Path, image: &Gray) -> Result<()> {
    let bytes = memory::collect(image.pixels.iter().map(|&v| byte(v)))?;
    write(path, image.width, image.height, png::ColorType::Grayscale, &bytes)
}

/// Writes an 8-bit RGB PNG, `round(255 v)` with `v` clipped to 0..1.
///
/// # Errors
/// When the file cannot be written whole; what was begun is removed.
pub fn write_rgb(path: &Path, image: &Rgb) -> Result<()> {
    let bytes = memory::collect(image.pixels.as_flattened().iter().map(|&v| byte(v)))?;
    write(path, image.width, image.height, png::ColorType::Rgb, &bytes)
}

pub(crate) fn byte(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

pub(crate) fn file_error(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::File { path: path.to_path_buf(), problem: problem.to_string() }
}

fn halve<T: Copy>(pixels: &[T], width: usize, height: usize, mean: impl Fn([T; 4]) -> T) -> Result<Vec<T>> {
    if width % 2 == 1 || height % 2 == 1 {
        return Err(Error::Value {
            what: "image to halve",
            value: format!("{width} x {height} pixels"),
            expected: "even sides".into(),
        });
    }
    same_length("image", pixels.len(), width * height)?;
    let at = |x: usize, y: usize| pixels[y * width + x];
    let four = |(x, y): (usize, usize)| mean([at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)]);
    let half = width / 2;
    Ok(memory::collect((0..half * (height / 2)).map(|k| four((k % half * 2, k / half * 2))))?)
}

/// Opens a regular file. To open a pipe would wait for its writer, and to read a device has no end.
fn open(path: &Path) -> std::io::Result<File> {
    match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("not a regular file")),
    }
}

fn read(path: &Path, color: png::ColorType) -> Result<(usize, usize, Vec<u8>)> {
    let file = open(path).map_err(|e| file_error(path, format!("{e}; expected a PNG image")))?;
    let not_png = |e: png::DecodingError| file_error(path, format!("{e}; expected a whole PNG image"));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().map_err(not_png)?;
    let info = reader.info();
    if info.color_type != color || info.bit_depth != png::BitDepth::Eight {
        return Err(file_error(
            path,
            format!("colour type {:?}, depth {:?}; expected {color:?}, 8 bits", info.color_type, info.bit_depth),
        ));
    }
    let (width, height) = (info.width as usize, info.height as usize);
    if width.saturating_mul(height) > MOST_PIXELS {
        return Err(file_error(path, format!("{width} x {height} pixels; expected at most {MOST_PIXELS}")));
    }
    let size = reader.output_buffer_size().ok_or_else(|| file_error(path, "the image is too large for memory"))?;
    let mut bytes = memory::filled(size, 0)?;
    let frame = reader.next_frame(&mut bytes).map_err(not_png)?;
    bytes.truncate(frame.buffer_size());
    Ok((frame.width as usize, frame.height as usize, bytes))
}

fn write(path: &Path, width: usize, height: usize, color: png::ColorType, bytes: &[u8]) -> Result<()> {
    same_length("image", bytes.len() / color.samples(), width * height)?;
    whole_file(path, |file| {
        let mut encoder = png::Encoder::new(file, width as u32, height as u32);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        writer.write_image_data(bytes).map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())
    })
}

/// Creates the file and fills it; removes it again when that fails, so that no half-written file stays behind.
pub(crate) fn whole_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::result::Result<(), String>,
) -> Result<()> {
    let file = File::create(path).map_err(|e| file_error(path, format!("{e}; expected a writable folder")))?;
    let mut buffer = BufWriter::new(file);
    let filled = fill(&mut buffer).and_then(|()| buffer.flush().map_err(|e| e.to_string()));
    drop(buffer);
    filled.map_err(|problem| {
        drop(std::fs::remove_file(path));
        file_error(path, format!("cannot be written whole: {problem}"))
    })
}
